"""The probability of a pass, against the real engine on drawn testsets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from easeci.plan import Truth
from easeci.plan.assumptions import typical_step
from easeci.plan.chance import chances_of_a_pass
from easeci.plan.sequential import sequential_size
from easeci.plan.truth import likely_truth
from easeci.service.scripts import make_script
from easeci.verdict.sequential import decide_sequentially
from tests.cases import each_case
from tests.unit.plan.test_truth import draw

ALLOWED = 0.1
"""How far the approximation may be off. Independent clauses are the least exact."""

CASES = [
    ("n - o > 0.02 +/- 0.02", "fp-free", 0.1, (0.0, 0.015, 0.02, 0.025, 0.04)),
    ("n - o > 0.02 +/- 0.02", "fn-free", 0.1, (-0.04, -0.03, -0.02, -0.01, 0.0)),
    ("n > 0.8 +/- 0.03", "fp-free", 0.1, (0.0, 0.02, 0.03, 0.04, 0.06)),
    (r"n - o > 0 +/- 0.03 /\ n > 0.8 +/- 0.03", "fp-free", 0.1, (0.02, 0.03, 0.04, 0.06)),
    (r"n - o > 0 +/- 0.03 /\ d < 0.1 +/- 0.02", "fp-free", 0.075, (0.0, 0.02, 0.03, 0.05)),
]


def compare(runs: int) -> None:
    """A false alarm has a chance of 1 in 10,000 at each of the points."""
    for condition, mode, difference, effects in CASES:
        script = make_script(condition, steps=8, reliability="0.99", mode=mode)
        size, rng = sequential_size(script), np.random.default_rng(3)
        levels = typical_step(script).levels
        gaps = [c for c in script.clauses if c.score.new == -c.score.old != 0]
        found = chances_of_a_pass(script, size, effects, difference)
        for effect, chance in zip(effects, found, strict=True):
            truth = Truth(Fraction(str(effect)), Fraction(str(difference)))
            gain = float(gaps[0].threshold) + effect if gaps else 0.0
            passed = [
                decide_sequentially(
                    script.clauses,
                    script.mode,
                    levels,
                    draw(truth, gain, 0.8 + effect, size, rng),
                ).passed
                for _ in range(runs)
            ]
            share = sum(map(bool, passed)) / runs
            noise = 3.9 * math.sqrt(max(share * (1.0 - share), 1.0 / runs) / runs)
            assert abs(chance - share) < ALLOWED + noise, (condition, effect, chance, share)


@pytest.mark.long
def test_chances_are_near_those_of_real_verdicts() -> None:
    compare(runs=40)


@pytest.mark.long
def test_chances_are_near_those_of_many_real_verdicts() -> None:
    compare(runs=600)


@each_case("mode", ["fp-free", "fn-free"])
@each_case("condition", ["n - o > 0.02 +/- 0.01", "n > 0.9 +/- 0.01"])
def test_the_ends_of_the_zone_are_what_is_promised(condition: str, mode: str) -> None:
    """The chance grows with the effect; at the ends of the zone it is nearly 0 and nearly 1."""
    script = make_script(condition, mode=mode)
    difference = float(likely_truth(script).difference)
    width = 0.02 if mode == "fp-free" else -0.02
    effects = np.linspace(min(0.0, width), max(0.0, width), 21)
    found = chances_of_a_pass(script, sequential_size(script), list(effects), difference)
    assert found[0] < 0.005
    assert found[-1] > 0.995
    assert (np.diff(found) > -1e-6).all()


def test_a_clause_on_d_alone_has_its_exact_chance() -> None:
    """Against the definition: the sum over all counts that the exact test takes for a proof."""
    script = make_script("d < 0.2 +/- 0.05", steps=1, reliability="0.9", adaptivity="none")
    size = 60
    levels = typical_step(script).levels
    from easeci.evidence.cells import Code

    passes = [
        decide_sequentially(
            script.clauses,
            script.mode,
            levels,
            np.where(np.arange(size) < count, Code.NEW_RIGHT, Code.AGREE_RIGHT).astype(np.uint8),
        ).passed
        for count in range(size + 1)
    ]
    for difference in (0.05, 0.12, 0.2):
        exact = sum(
            math.comb(size, k) * difference**k * (1 - difference) ** (size - k)
            for k, passed in enumerate(passes)
            if passed
        )
        found = chances_of_a_pass(script, size, [0.0], difference)
        assert found[0] == pytest.approx(exact, abs=1e-12)
