"""An attack has the truth that it claims."""

from __future__ import annotations

import math

import numpy as np

from easeci.script import Mode
from easeci.simulation.attack import Attack
from easeci.simulation.laws import CELLS, Laws
from tests.cases import each_case
from tests.scripts import script


@each_case(
    ("condition", "mode"),
    [
        ("n - o > 0.1 +/- 0.1", Mode.FP_FREE),
        ("n - o > 0.1 +/- 0.1", Mode.FN_FREE),
        ("n > 0.6 +/- 0.1", Mode.FP_FREE),
        ("n - 1.1*o > 0.05 +/- 0.05", Mode.FP_FREE),
        ("d < 0.3 +/- 0.1", Mode.FN_FREE),
    ],
)
@each_case("leanings", [[1, -1, -1], [1, 1, 1], [-1, -1]])
def test_an_attack_has_the_truth_that_it_claims(
    condition: str, mode: Mode, leanings: list[int]
) -> None:
    """Over half a million fresh examples, with leanings that know nothing of them, its mean is the
    threshold's: the attack's true Φ. More than 5 standard errors off: once in a million."""
    asked = script(condition, mode=mode)
    middle = Laws.of(asked).middle[0]
    assert isinstance(middle, np.ndarray)
    attack = Attack(asked.clauses[0], (), mode, middle)
    draw = np.random.default_rng(1)
    pattern = attack.pattern(500_000, draw)
    probes = [attack.probe(pattern, draw) for _ in leanings]
    codes = attack.commit(pattern, probes, leanings, draw)
    assert codes is not None
    clause = asked.clauses[0]
    scores = np.array([float(clause.score.of(cell)) for cell in CELLS])[codes]
    error = 5 * scores.std() / math.sqrt(len(scores))
    assert abs(scores.mean() - float(clause.threshold)) <= error
