"""Labels at an assumed truth: close to what happens, with the answer that is promised."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from easeci.evidence.cells import Code
from easeci.evidence.codes import Codes
from easeci.plan import Promise, Truth
from easeci.plan.assumptions import typical_step
from easeci.plan.sequential import sequential
from easeci.plan.truth import labels_at_truth, likely_truth, out_of_reach, promised
from easeci.script import Script
from easeci.service.scripts import make_script
from easeci.verdict.sequential import decide_sequentially
from tests.cases import each_case

RUNS = 40


def wanted(condition: str, **keys: object) -> Script:
    return make_script(condition, **{"steps": 8, "reliability": "0.99", **keys})


def draw(truth: Truth, gain: float, accuracy: float, size: int, rng: np.random.Generator) -> Codes:
    """A testset of models with this n - o and this n, that differ as supposed."""
    share = float(truth.difference)
    right = (1.0 + gain / share) / 2.0
    agreeing = (accuracy - share * right) / (1.0 - share)
    lot = rng.random(size)
    differing = np.where(lot < right, Code.NEW_RIGHT, Code.OLD_RIGHT)
    alike = np.where(lot < agreeing, Code.AGREE_RIGHT, Code.AGREE_WRONG)
    return np.where(rng.random(size) < share, differing, alike).astype(np.uint8)


@each_case(
    ("condition", "mode", "effect"),
    [
        ("n - o > 0.02 +/- 0.02", "fp-free", "-0.02"),
        ("n - o > 0.02 +/- 0.02", "fp-free", "0.02"),
        ("n - o > 0.02 +/- 0.02", "fp-free", "0.06"),
        ("n - o > 0.02 +/- 0.02", "fn-free", "-0.04"),
        ("n > 0.8 +/- 0.03", "fp-free", "0.06"),
        ("n - o > 0 +/- 0.03 /\\ n > 0.8 +/- 0.03", "fp-free", "0.06"),
        ("n - o > 0 +/- 0.03 /\\ n > 0.8 +/- 0.03", "fp-free", "-0.02"),
    ],
)
def test_a_forecast_at_any_effect_is_near_the_mean_of_verdicts(
    condition: str, mode: str, effect: str
) -> None:
    """40 verdicts of the real engine, whose mean is known to a tenth.

    In the middle of the zone, where chance decides, the forecast may be half too high; elsewhere
    a quarter.
    """
    script = wanted(condition, mode=mode)
    truth = likely_truth(script, Fraction(effect))
    size = sequential(script).examples
    assert size is not None
    levels, rng = typical_step(script).levels, np.random.default_rng(7)
    gaps = [c.threshold for c in script.clauses if not c.score.counts_everywhere]
    gain = float(gaps[0] + truth.effect) if gaps else 0.0
    labels = [
        decide_sequentially(
            script.clauses,
            script.mode,
            levels,
            draw(truth, gain, 0.8 + float(truth.effect), size, rng),
        ).labels
        for _ in range(RUNS)
    ]
    most = 1.5 if promised(script, truth) is Promise.EITHER else 1.25
    assert 0.8 < labels_at_truth(script, size, truth) / np.mean(labels) < most


def test_a_clause_on_d_that_fails_takes_no_labels() -> None:
    script = wanted("n - o > 0 +/- 0.03 /\\ d < 0.1 +/- 0.02")
    size = sequential(script).examples or 0
    good, bad = (Truth(Fraction("0.06"), Fraction(d)) for d in ("0.06", "0.3"))
    assert labels_at_truth(script, size, bad) == 0 < labels_at_truth(script, size, good)
    assert [promised(script, truth) for truth in (good, bad)] == [Promise.PASS, Promise.FAIL]


@each_case(
    ("mode", "effect", "promise"),
    [
        ("fp-free", "0.02", Promise.PASS),
        ("fp-free", "0.0199", Promise.EITHER),
        ("fp-free", "0", Promise.FAIL),
        ("fn-free", "0.0001", Promise.PASS),
        ("fn-free", "0", Promise.EITHER),
        ("fn-free", "-0.0199", Promise.EITHER),
        ("fn-free", "-0.02", Promise.FAIL),
    ],
)
def test_the_promise_is_that_of_the_contract(mode: str, effect: str, promise: Promise) -> None:
    script = wanted("n - o > 0.02 +/- 0.01", mode=mode)
    assert promised(script, Truth(Fraction(effect), Fraction(1, 10))) is promise


def test_defaults_are_what_a_plan_assumes() -> None:
    script = wanted("n - o > 0.02 +/- 0.01")
    assert likely_truth(script) == Truth(Fraction("0.02"), Fraction("0.1"))
    far = likely_truth(script, Fraction("0.3"))
    assert far.difference == Fraction("0.32") * Fraction("1.01")
    assert out_of_reach(script, far) is None


def test_no_gain_is_larger_than_the_share_that_differs() -> None:
    script = wanted("n - o > 0.02 +/- 0.01")
    assert out_of_reach(script, Truth(Fraction("0.03"), Fraction("0.05"))) is None
    assert out_of_reach(script, Truth(Fraction("0.04"), Fraction("0.05"))) is script.clauses[0]
    accuracy = wanted("n > 0.9 +/- 0.01")
    assert out_of_reach(accuracy, Truth(Fraction("0.11"), Fraction(1))) is accuracy.clauses[0]
