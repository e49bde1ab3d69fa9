"""Sequential verdicts: they stop at the same label however labels come in."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.evidence.cells import Code, Codes
from easeci.evidence.endings import Ending
from easeci.evidence.levels import StepLevels
from easeci.script import LinearClause, Mode, compile_condition, parse_condition
from easeci.verdict.logic import Result
from easeci.verdict.result import Verdict
from easeci.verdict.sequential import decide_sequentially
from tests.cases import each_case

STRICT = StepLevels(math.log(1e-4), math.log(1e-4), math.log(1e-4))
LOOSE = StepLevels(math.log(0.3), math.log(0.3), math.log(0.3))


def clauses(condition: str) -> tuple[LinearClause, ...]:
    return compile_condition(parse_condition(condition))


def draw(size: int, law: list[float], seed: int = 0) -> Codes:
    return np.random.default_rng(seed).choice(5, size, p=law).astype(np.uint8)


def unlabelled(codes: Codes) -> Codes:
    hidden = np.where(codes < Code.NEW_RIGHT, Code.AGREE_UNLABELLED, Code.DIFFER_UNLABELLED)
    return hidden.astype(np.uint8)


def feed(
    condition: str, mode: Mode, levels: StepLevels, codes: Codes, batch: int
) -> tuple[Verdict, int]:
    """Give labels only as they are asked for; the verdict, and how many were asked for."""
    known, asked = unlabelled(codes), 0
    while True:
        verdict = decide_sequentially(clauses(condition), mode, levels, known, batch=batch)
        if verdict.passed is not None:
            return verdict, asked
        assert verdict.wanted
        wanted = list(verdict.wanted)
        assert np.all(known[wanted] >= Code.AGREE_UNLABELLED)
        known[wanted] = codes[wanted]
        asked += len(wanted)


CONDITIONS = [
    "n - o > 0.02 +/- 0.1",
    "n - o > -0.2 +/- 0.1",
    "n - o < 0.1 +/- 0.2",
    "n > 0.6 +/- 0.1",
    "d < 0.4 +/- 0.1",
    "n - 1.1 * o > -0.1 +/- 0.2",
    "n - o > 0.02 +/- 0.1 /\\ d < 0.6 +/- 0.1",
    "n > 0.5 +/- 0.1 /\\ n - o > 0.02 +/- 0.1",
    "n - o > 0 +/- 0.2 /\\ n > 0.4 +/- 0.2 /\\ d < 0.9 +/- 0.05",
]


@settings(max_examples=60, deadline=None)
@given(
    condition=st.sampled_from(CONDITIONS),
    mode=st.sampled_from(list(Mode)),
    codes=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    batch=st.integers(1, 20),
)
def test_the_verdict_is_the_same_however_labels_come(
    condition: str, mode: Mode, codes: list[int], batch: int
) -> None:
    """One by one, in batches or all at once: the same answer from the same labels."""
    testset = np.array(codes, np.uint8)
    at_once = decide_sequentially(clauses(condition), mode, LOOSE, testset)
    assert at_once.passed is not None
    fed, asked = feed(condition, mode, LOOSE, testset, batch=1)
    assert fed == at_once
    # Not a single label was asked for that the verdict doesn't rest on.
    assert asked == at_once.labels
    in_batches, asked = feed(condition, mode, LOOSE, testset, batch)
    assert in_batches == at_once
    # Each clause may be given the rest of one batch that it no longer needed.
    assert asked <= at_once.labels + (batch - 1) * len(at_once.clauses)


@settings(max_examples=30, deadline=None)
@given(
    condition=st.sampled_from(CONDITIONS),
    mode=st.sampled_from(list(Mode)),
    codes=st.lists(st.integers(0, 4), min_size=1, max_size=40),
    hidden=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_labels_known_in_any_pattern_never_change_the_answer(
    condition: str, mode: Mode, codes: list[int], hidden: list[bool]
) -> None:
    testset = np.array(codes, np.uint8)
    partly = np.where(hidden[: len(codes)], unlabelled(testset), testset).astype(np.uint8)
    verdict = decide_sequentially(clauses(condition), mode, LOOSE, partly)
    if verdict.passed is not None:
        assert verdict == decide_sequentially(clauses(condition), mode, LOOSE, testset)


GOOD = [0.75, 0.1, 0.12, 0.02, 0.01]
SAME = [0.75, 0.15, 0.05, 0.05, 0.0]
BAD = [0.7, 0.1, 0.03, 0.16, 0.01]


def test_a_clear_gain_passes_and_a_clear_loss_fails() -> None:
    gain = decide_sequentially(
        clauses("n - o > 0.02 +/- 0.01"), Mode.FP_FREE, STRICT, draw(20_000, GOOD)
    )
    assert (gain.passed, gain.result) == (True, Result.TRUE)
    assert gain.labels < 250
    evidence = gain.clauses[0].evidence
    assert evidence is not None
    assert evidence.proof.evidence >= evidence.proof.target
    loss = decide_sequentially(
        clauses("n - o > 0.02 +/- 0.01"), Mode.FP_FREE, STRICT, draw(20_000, BAD)
    )
    assert loss.passed is False
    futile = loss.clauses[0].evidence
    assert futile is not None
    assert futile.ending is Ending.FUTILE
    assert loss.labels < 60


def test_fn_free_passes_what_is_not_shown_to_be_false() -> None:
    condition = clauses("n - o > 0.02 +/- 0.01")
    for law, passed in ((GOOD, True), (BAD, False)):
        verdict = decide_sequentially(condition, Mode.FN_FREE, STRICT, draw(20_000, law))
        assert verdict.passed is passed
    assert verdict.result is Result.FALSE


def test_a_loss_far_below_the_threshold_is_claimed_false() -> None:
    law = [0.5, 0.0, 0.0, 0.5, 0.0]
    verdict = decide_sequentially(
        clauses("n - o > 0.02 +/- 0.01"), Mode.FP_FREE, STRICT, draw(20_000, law)
    )
    assert verdict.passed is False
    evidence = verdict.clauses[0].evidence
    assert evidence is not None
    claim = evidence.claim
    assert (verdict.result is Result.FALSE) == (claim.evidence >= claim.target)


def test_conditions_on_d_alone_need_no_labels() -> None:
    codes = unlabelled(draw(5000, SAME))
    for condition, passed in (("d < 0.2 +/- 0.01", True), ("d < 0.1 +/- 0.01", False)):
        verdict = decide_sequentially(clauses(condition), Mode.FP_FREE, STRICT, codes)
        assert (verdict.passed, verdict.labels) == (passed, 0)


def test_a_failing_clause_without_labels_spares_the_others_theirs() -> None:
    condition = clauses("n - o > 0.02 +/- 0.01 /\\ d < 0.05 +/- 0.01")
    verdict = decide_sequentially(condition, Mode.FP_FREE, STRICT, unlabelled(draw(5000, GOOD)))
    assert (verdict.passed, verdict.labels) == (False, 0)
    assert verdict.result is Result.FALSE


def test_labels_are_asked_for_only_where_they_matter() -> None:
    codes = unlabelled(draw(2000, SAME))
    difference = decide_sequentially(clauses("n - o > 0.02 +/- 0.01"), Mode.FP_FREE, STRICT, codes)
    assert all(codes[p] == Code.DIFFER_UNLABELLED for p in difference.wanted)
    accuracy = decide_sequentially(clauses("n > 0.8 +/- 0.05"), Mode.FP_FREE, STRICT, codes)
    assert accuracy.wanted == tuple(range(len(accuracy.wanted)))


@each_case("mode", list(Mode))
@each_case("condition", CONDITIONS)
@each_case("code", list(range(5)))
@each_case("size", [1, 2, 3000])
def test_degenerate_testsets_get_an_answer(
    mode: Mode, condition: str, code: int, size: int
) -> None:
    """Extreme testsets get an answer: one example, no or full disagreement, all right or wrong."""
    codes = np.full(size, code, np.uint8)
    verdict = decide_sequentially(clauses(condition), mode, STRICT, codes)
    assert verdict.passed is not None
    assert verdict.labels <= size
    if size < 3 and condition != "n - o > -0.2 +/- 0.1":
        assert verdict.passed is (mode is Mode.FN_FREE) or verdict.result is not Result.UNKNOWN


def test_models_that_never_differ_fail_a_required_gain_without_labels() -> None:
    codes = np.full(10_000, Code.AGREE_UNLABELLED, np.uint8)
    verdict = decide_sequentially(clauses("n - o > 0.02 +/- 0.01"), Mode.FP_FREE, STRICT, codes)
    assert (verdict.passed, verdict.labels) == (False, 0)


def test_a_model_that_changes_nothing_is_no_loss() -> None:
    codes = np.full(10_000, Code.AGREE_UNLABELLED, np.uint8)
    verdict = decide_sequentially(clauses("n - o > -0.02 +/- 0.01"), Mode.FP_FREE, STRICT, codes)
    assert (verdict.passed, verdict.labels) == (True, 0)


def test_constants_at_the_end_of_the_range() -> None:
    always = np.full(5000, Code.NEW_RIGHT, np.uint8)
    for condition in ("n - o > -1 +/- 0.01", "n > 0.98 +/- 0.01", "n > 0 +/- 0.01"):
        verdict = decide_sequentially(clauses(condition), Mode.FP_FREE, STRICT, always)
        assert verdict.passed is True
    out_of_reach = decide_sequentially(clauses("n > 0.995 +/- 0.01"), Mode.FP_FREE, STRICT, always)
    assert out_of_reach.passed is True
