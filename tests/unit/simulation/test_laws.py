"""The laws that models are drawn from are where they claim to be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.plan import plan
from easeci.script import Mode, Script
from easeci.script.outcomes import Cell
from easeci.simulation import Developer
from easeci.simulation.developers import developers_for
from easeci.simulation.laws import CELLS, Law, Laws
from tests.cases import each_case
from tests.scripts import script

CONDITIONS = [
    "n - o > 0.02 +/- 0.01",
    "n - o > -0.05 +/- 0.02",
    "n - o > 0.3 +/- 0.1",
    "n > 0.8 +/- 0.05",
    "n > 0.97 +/- 0.01",
    "o < 0.9 +/- 0.02",
    "d < 0.1 +/- 0.01",
    "n - 1.1*o > 0.01 +/- 0.02",
    "2*n - o - 0.5*d > 0.6 +/- 0.1",
    r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
    r"n > 0.7 +/- 0.02 /\ n - o > 0 +/- 0.02 /\ d < 0.3 +/- 0.05",
]


def phi(asked: Script, index: int, law: Law) -> float:
    """Φ of a clause in the form Φ > c, recomputed from n, o and d."""
    cells = list(zip(law.tolist(), CELLS, strict=True))
    n, o, d = (math.fsum(p * cell.value[i] for p, cell in cells) for i in range(3))
    score = asked.clauses[index].greater.score
    return float(score.new) * n + float(score.old) * o + float(score.difference) * d


@each_case("mode", Mode)
@each_case("condition", CONDITIONS)
def test_laws_are_where_they_claim_to_be(condition: str, mode: Mode) -> None:
    """At the threshold, ±ε and ±2ε from it; the other clauses do not spoil what is at stake."""
    asked = script(condition, mode=mode)
    laws = Laws.of(asked)
    assert CELLS == (
        Cell.AGREE_RIGHT, Cell.AGREE_WRONG, Cell.NEW_RIGHT, Cell.OLD_RIGHT, Cell.BOTH_WRONG,
    )  # fmt: skip
    sign = 1.0 if mode is Mode.FP_FREE else -1.0
    for place, found in enumerate((laws.edge, laws.middle, laws.clear)):
        for index, law in enumerate(found):
            assert isinstance(law, np.ndarray)
            assert np.all(law >= 0.0)
            assert math.isclose(law.sum(), 1.0, abs_tol=1e-12)
            form = asked.clauses[index].greater
            expected = float(form.threshold) + sign * place * float(form.tolerance)
            assert math.isclose(phi(asked, index, law), expected, abs_tol=1e-12)
            for other in range(len(asked.clauses)):
                beyond = phi(asked, other, law) - float(asked.clauses[other].greater.threshold)
                if other != index:
                    assert beyond >= 2 * float(asked.clauses[other].tolerance) - 1e-7


def test_a_plausible_model_is_chosen() -> None:
    law = Laws.of(script("n - o > 0.02 +/- 0.01")).edge[0]
    assert law == pytest.approx([0.74, 0.16, 0.06, 0.04, 0.0])
    expected = Laws.of(script("n - o > 0.02 +/- 0.01", difference=0.3)).edge[0]
    assert isinstance(expected, np.ndarray)
    assert expected[2:].sum() == pytest.approx(0.3)


def test_places_beyond_the_end_of_a_score_are_left_out() -> None:
    """n > .95 ± .1 can be false but never clearly true, so there is no law for that."""
    asked = script("n > 0.95 +/- 0.1", adaptivity="full", steps=4)
    laws = Laws.of(asked)
    assert laws.edge[0] is not None
    assert laws.clear == (None,)
    assert laws.middle == (None,)
    assert developers_for(plan(asked), laws) == (Developer.EDGE, Developer.MIXED)
