"""Sequential verdicts: they stop at the same label however labels come in."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.evidence.cells import Code, differs
from easeci.evidence.clause_test import SequentialTest
from easeci.evidence.codes import Codes, Flags, at_worst
from easeci.evidence.endings import Ending
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.levels import StepLevels
from easeci.script import Mode, NormalClause, compile_condition, parse_condition
from easeci.script.outcomes import CELLS
from easeci.service.scripts import make_script
from easeci.verdict.decide import levels_of
from easeci.verdict.logic import Result
from easeci.verdict.result import ClauseResult, Verdict
from easeci.verdict.sequential import ConditionTest, decide_sequentially
from tests.cases import each_case

STRICT = StepLevels(math.log(1e-4), math.log(1e-4), math.log(1e-4))
LOOSE = StepLevels(math.log(0.3), math.log(0.3), math.log(0.3))


def clauses(condition: str) -> tuple[NormalClause, ...]:
    return compile_condition(parse_condition(condition))


def draw(size: int, law: list[float], seed: int = 0) -> Codes:
    return np.random.default_rng(seed).choice(5, size, p=law).astype(np.uint8)


def unlabelled(codes: Codes) -> Codes:
    hidden = np.where(codes < Code.NEW_RIGHT, Code.AGREE_UNLABELLED, Code.DIFFER_UNLABELLED)
    return hidden.astype(np.uint8)


def feed(
    condition: str,
    mode: Mode,
    levels: StepLevels,
    codes: Codes,
    batch: int,
    at_hand: Flags | None = None,
) -> tuple[Verdict, int]:
    """Give labels only as they are asked for; the verdict, and how many were asked for."""
    known, asked = unlabelled(codes), 0
    if at_hand is not None:
        known[at_hand] = codes[at_hand]
    while True:
        verdict = decide_sequentially(
            clauses(condition), mode, levels, known, batch=batch, at_hand=at_hand
        )
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


def by_the_letter(
    condition: str, mode: Mode, codes: Codes, at_hand: Flags
) -> tuple[bool, list[tuple[Ending, int]]]:
    """The rule, label by label: the answer, and of each clause its ending and its labels."""
    made = ConditionTest.of(clauses(condition), mode, LOOSE, LabelledTestset(codes)).tests
    tests = [test for test in made if isinstance(test, SequentialTest)]
    assert len(tests) == len(made)
    decisive = (Ending.FUTILE, Ending.EXHAUSTED) if mode is Mode.FP_FREE else (Ending.PROVEN,)
    tracks = [
        np.flatnonzero(codes >= 0 if t.goal.proof.everywhere else differs(codes))
        if t.goal.score.needs_labels
        else np.zeros(0, np.intp)
        for t in tests
    ]
    used, ends = [0] * len(tests), [Ending.OPEN] * len(tests)

    def walk_free(i: int) -> None:
        while ends[i] is Ending.OPEN:
            proof, futility, _ = tests[i].curves(codes[tracks[i][: used[i]]])
            over = used[i] == len(tracks[i])
            if proof.evidence >= proof.target:
                ends[i] = Ending.PROVEN
            elif over or not at_hand[tracks[i][used[i]]]:
                stands = futility.evidence >= futility.target and tests[i].goal.score.needs_labels
                if over or stands:
                    ends[i] = Ending.FUTILE if stands else Ending.EXHAUSTED
                return
            else:
                used[i] += 1

    for i in range(len(tests)):
        walk_free(i)
    while not any(end in decisive for end in ends) and Ending.OPEN in ends:
        for i in range(len(tests)):
            if ends[i] is Ending.OPEN:
                used[i] += 1
                walk_free(i)
                if ends[i] in decisive:
                    break
    decided = any(end in decisive for end in ends)
    return not decided, list(zip(ends, used, strict=True))


@settings(max_examples=150, deadline=None)
@given(
    condition=st.sampled_from(CONDITIONS),
    mode=st.sampled_from(list(Mode)),
    codes=st.lists(st.integers(0, 4), min_size=1, max_size=60),
    share=st.sampled_from([0.0, 0.3, 0.7, 0.95, 1.0]),
    seed=st.integers(0, 99),
    batch=st.integers(1, 20),
)
def test_labels_at_hand_are_used_and_only_others_are_asked_for(
    condition: str, mode: Mode, codes: list[int], share: float, seed: int, batch: int
) -> None:
    """The verdict is the rule's, label by label, and the same however later labels come."""
    testset = np.array(codes, np.uint8)
    at_hand = np.random.default_rng(seed).random(len(codes)) < share
    at_once = decide_sequentially(clauses(condition), mode, LOOSE, testset, at_hand=at_hand)
    passed, ends = by_the_letter(condition, mode, testset, at_hand)
    found = [(c.evidence.ending, c.evidence.labels) for c in at_once.clauses if c.evidence]
    assert (at_once.passed, found) == (passed, ends)
    fed, asked = feed(condition, mode, LOOSE, testset, 1, at_hand)
    assert fed == at_once
    assert asked <= at_once.labels
    in_batches, in_all = feed(condition, mode, LOOSE, testset, batch, at_hand)
    assert in_batches == at_once
    assert in_all <= asked + (batch - 1) * len(at_once.clauses)


@settings(max_examples=30, deadline=None)
@given(
    condition=st.sampled_from(CONDITIONS),
    mode=st.sampled_from(list(Mode)),
    codes=st.lists(st.integers(0, 4), min_size=1, max_size=60),
)
def test_with_every_label_at_hand_only_a_proof_or_the_end_counts(
    condition: str, mode: Mode, codes: list[int]
) -> None:
    testset = np.array(codes, np.uint8)
    everything = np.ones(len(codes), bool)
    verdict = decide_sequentially(clauses(condition), mode, LOOSE, testset, at_hand=everything)
    for found in verdict.clauses:
        assert found.evidence is not None
        walk = len(codes) if found.clause.score.counts_everywhere else None
        if walk is None:
            walk = int(differs(testset).sum()) if found.clause.score.needs_labels else 0
        assert found.evidence.ending is Ending.PROVEN or found.evidence.labels == walk


def test_a_clause_that_is_futile_by_labels_at_hand_asks_nothing_of_the_others() -> None:
    """Labels at hand decide in round 0, before anything is asked for."""
    condition = "n > 0.5 +/- 0.1 /\\ n - o > 0.02 +/- 0.1"
    codes = draw(600, [0.5, 0.2, 0.02, 0.26, 0.02])
    at_hand = differs(codes)
    known = np.where(at_hand, codes, unlabelled(codes)).astype(np.uint8)
    verdict = decide_sequentially(clauses(condition), Mode.FP_FREE, LOOSE, known, at_hand=at_hand)
    assert verdict.passed is False
    asked = decide_sequentially(clauses(condition), Mode.FP_FREE, LOOSE, known)
    assert asked.passed is None
    assert asked.wanted


def test_a_label_at_hand_that_is_missing_is_asked_for() -> None:
    codes = np.full(500, Code.DIFFER_UNLABELLED, np.uint8)
    at_hand = np.ones(500, bool)
    verdict = decide_sequentially(
        clauses("n - o > 0.02 +/- 0.01"), Mode.FP_FREE, STRICT, codes, batch=5, at_hand=at_hand
    )
    assert verdict.wanted[:5] == (0, 1, 2, 3, 4)


def trial() -> Codes:
    """Two models of a user's first trial: accuracies .884 and .908, 6,000 examples."""
    law = [0.880, 0.082, 0.028, 0.004, 0.006]
    counts = np.round(np.array(law) * 6_000).astype(int)
    codes = np.repeat(np.arange(5, dtype=np.uint8), counts)
    return np.random.default_rng(14).permutation(codes)


TRIAL = "n - o > 0.01 +/- 0.02"


def test_the_better_model_of_the_trial_passes_if_its_labels_are_there() -> None:
    """It passes with every label at hand, also if they came after the testset was sealed.

    With none at hand it is given up after few labels: +2.4 points lie in the zone.
    """
    codes, levels = trial(), levels_of(make_script(TRIAL), "")
    accuracy = {
        name: np.isin(codes, cells).mean() for name, cells in (("n", (0, 2)), ("o", (0, 3)))
    }
    assert accuracy == {"n": pytest.approx(0.908), "o": pytest.approx(0.884)}
    everything = np.ones(len(codes), bool)
    at_hand = decide_sequentially(clauses(TRIAL), Mode.FP_FREE, levels, codes, at_hand=everything)
    assert (at_hand.passed, at_hand.result) == (True, Result.TRUE)
    asked, count = feed(TRIAL, Mode.FP_FREE, levels, codes, batch=20)
    assert asked.passed is False
    assert asked.clauses[0].evidence is not None
    assert asked.clauses[0].evidence.ending is Ending.FUTILE
    assert count < 100


@each_case("condition", ["n - o > 0.02 +/- 0.05", "n > 0.6 +/- 0.05", "n - 1.1 * o > 0 +/- 0.1"])
def test_unsettled_labels_widen_the_interval_and_leave_an_estimate(condition: str) -> None:
    """The interval covers both extremes, and the estimate is the middle between theirs."""
    codes = draw(400, [0.5, 0.1, 0.25, 0.1, 0.05])
    everything = np.ones(len(codes), bool)
    skipped = np.arange(len(codes)) % 20 == 0
    unsettled = codes.copy()
    unsettled[skipped] = np.where(differs(codes), Code.DIFFER_UNSETTLED, Code.AGREE_UNSETTLED)[
        skipped
    ]
    (clause,) = clauses(condition)
    never = StepLevels(-1e6, -1e6, math.log(0.01))  # so that every label is used

    def found(seen: Codes) -> ClauseResult:
        verdict = decide_sequentially([clause], Mode.FP_FREE, never, seen, at_hand=everything)
        return verdict.clauses[0]

    tables = (clause.score.ratio.numerator, (-clause.score).ratio.numerator)
    extremes = [found(at_worst(unsettled, CELLS, table)) for table in tables]
    shown = found(unsettled)
    assert shown.interval.low == extremes[0].interval.low
    assert shown.interval.high == extremes[1].interval.high
    assert shown.interval.low < found(codes).interval.low
    assert shown.interval.high > found(codes).interval.high
    ends = [result.estimate for result in extremes if result.estimate is not None]
    assert len(ends) == 2
    assert shown.estimate == (ends[0] + ends[1]) / 2
