"""Published estimators: the paper's tests, small testsets, and missing labels."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.bounds import Hoeffding
from easeci.evidence.cells import Code
from easeci.evidence.codes import Codes, Counts
from easeci.plan import plan
from easeci.script import Score
from easeci.verdict.decide import decide
from easeci.verdict.logic import Result
from tests.cases import each_case
from tests.cells import codes_of
from tests.scripts import script

CONDITIONS = [
    "n > 0.5 +/- 0.2",
    "d < 0.5 +/- 0.2",
    "n - o > 0 +/- 0.3",
    "n - 1.1*o > -0.1 +/- 0.3",
    "n + d > 0.6 +/- 0.3",
    r"n - o > 0 +/- 0.3 /\ d < 0.6 +/- 0.2",
    r"n > 0.4 +/- 0.3 /\ d < 0.6 +/- 0.2 /\ o < 0.9 +/- 0.3",
]


def completions(codes: Codes) -> list[Codes]:
    """Every testset that the missing labels could turn this one into."""
    choices = [{5: (0, 1), 6: (2, 3, 4)}.get(int(code), (int(code),)) for code in codes]
    return [np.array(choice, dtype=np.uint8) for choice in product(*choices)]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(CONDITIONS),
    st.sampled_from(["fp-free", "fn-free"]),
    st.lists(st.integers(0, 6), min_size=1, max_size=6),
)
def test_no_missing_label_can_change_an_answer(condition: str, mode: str, raw: list[int]) -> None:
    """Against every completion: if an answer is given, all of them agree on it; and with a single
    clause, if they all agree an answer is given.

    With so few examples no sample is cut off, so every completion is judged on the same ones.
    """
    made = script(condition, reliability=0.6, mode=mode, estimator="hoeffding")
    codes = np.array(raw, dtype=np.uint8)
    verdict = decide(made, codes)
    full = [decide(made, completed) for completed in completions(codes)]
    answers = {other.passed for other in full}
    results = {other.result for other in full}
    if verdict.passed is None:
        # Clauses are looked at one by one: what each could still become, not what all could at once.
        assert len(answers) == 2 or len(verdict.clauses) > 1
        assert verdict.wanted
    else:
        assert answers == {verdict.passed}
        assert verdict.wanted == ()
    if verdict.result is not Result.UNKNOWN:
        assert results == {verdict.result}
    for index, result in enumerate(verdict.clauses):
        assert {other.clauses[index].result for other in full} <= result.possible


@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), st.tuples(*[st.integers(-2, 2)] * 3))
def test_the_mean_lies_between_the_extremes_of_all_labellings(
    raw: list[int], coefficients: tuple[int, int, int]
) -> None:
    score = Score.linear(*(Fraction(c) for c in coefficients))
    codes = np.array(raw, dtype=np.uint8)
    means = [Counts.of(full).mean_range(score)[0] for full in completions(codes)]
    assert Counts.of(codes).mean_range(score) == (min(means), max(means))
    assert (min(means) == max(means)) or Counts.of(codes).missing_labels(score) > 0


def test_the_scripts_tolerance_if_the_testset_is_large_enough() -> None:
    made = script("n > 0.5 +/- 0.05", reliability=0.99, estimator="hoeffding")
    assert plan(made).chosen.examples == 922
    verdict = decide(made, codes_of(agree_right=600, agree_wrong=322))
    (result,) = verdict.clauses
    assert result.tolerance == Fraction(1, 20)
    assert result.estimate == Fraction(600, 922)
    assert result.interval.high - result.interval.low == Fraction(1, 10)
    assert (verdict.passed, verdict.result, verdict.widened) == (True, Result.TRUE, False)


def test_a_wider_tolerance_if_it_is_too_small_and_it_says_so() -> None:
    made = script("n > 0.5 +/- 0.05", reliability=0.99, estimator="hoeffding")
    verdict = decide(made, codes_of(agree_right=560, agree_wrong=361))
    (result,) = verdict.clauses
    assert verdict.widened
    assert (result.sample, result.needed) == (921, 922)
    level = plan(made).chosen.tests[0]
    assert float(result.tolerance or 0) == pytest.approx(
        Hoeffding().tolerance(921, level.log_level)  # type: ignore[attr-defined]
    )
    assert result.tolerance is not None
    assert result.tolerance > Fraction(1, 20)


@each_case(
    ("right", "result"),
    [(551, Result.TRUE), (550, Result.UNKNOWN), (450, Result.UNKNOWN), (449, Result.FALSE)],
)
def test_comparisons_are_exact_at_the_edge(right: int, result: Result) -> None:
    """0.55 − 0.05 > 0.5 is false, though not in floating point."""
    made = script("n > 0.5 +/- 0.05", reliability=0.99, estimator="hoeffding")
    verdict = decide(made, codes_of(agree_right=right, agree_wrong=1000 - right))
    assert verdict.result is result


def test_an_answer_that_is_sure_is_not_waited_for() -> None:
    made = script("n > 0.5 +/- 0.05", reliability=0.99, estimator="hoeffding")
    verdict = decide(made, codes_of(agree_wrong=600, agree_unlabelled=322))
    assert (verdict.passed, verdict.result) == (False, Result.FALSE)


def test_a_false_clause_decides_a_conjunction() -> None:
    """d is known without labels and false, so no labels are asked for n - o."""
    made = script(
        r"n - o > 0.1 +/- 0.1 /\ d < 0.2 +/- 0.1", reliability=0.9, estimator="pattern1-active"
    )
    verdict = decide(made, codes_of(agree_unlabelled=300, differ_unlabelled=700))
    assert (verdict.passed, verdict.result, verdict.wanted) == (False, Result.FALSE, ())


def test_pattern2_takes_its_variance_from_the_data() -> None:
    made = script("n - o > 0.02 +/- 0.02", reliability=0.99, estimator="pattern2")
    alike = decide(made, codes_of(agree_right=9500, new_right=400, old_right=100))
    apart = decide(made, codes_of(agree_right=2000, new_right=4150, old_right=3850))
    assert (alike.widened, apart.widened) == (False, True)
    assert (alike.clauses[0].needed or 0) < (apart.clauses[0].needed or 0)


@each_case("code", [c for c in Code if c < Code.AGREE_UNLABELLED])
def test_one_example(code: Code) -> None:
    made = script(r"n > 0.5 +/- 0.1 /\ d < 0.5 +/- 0.1", reliability=0.9, estimator="hoeffding")
    verdict = decide(made, np.array([code], dtype=np.uint8))
    assert (verdict.result, verdict.passed, verdict.widened) == (Result.UNKNOWN, False, True)


def test_many_clauses_are_decided_quickly() -> None:
    many = r" /\ ".join(f"n > 0.{i:03} +/- 0.3" for i in range(100, 160))
    made = script(many, reliability=0.5, estimator="hoeffding")
    assert decide(made, codes_of(agree_right=5, agree_unlabelled=30)).passed is None


@each_case(
    ("condition", "estimator", "draws"),
    [
        ("n - o > 0.1 +/- 0.2", "pattern2", 40),
        ("n > 0.97 +/- 0.01", "pattern3", 40),
        (r"n - o > 0.1 +/- 0.2 /\ d < 0.5 +/- 0.2", "pattern1", 40),
        ("n > 0.5 +/- 0.2", "exact", 10),
        ("n - o > -0.5 +/- 0.2", "exact", 3),
    ],
)
@each_case("mode", ["fp-free", "fn-free"])
def test_missing_labels_by_every_estimator(
    condition: str, estimator: str, draws: int, mode: str
) -> None:
    """An answer is given only if every completion of the missing labels has that answer."""
    made = script(condition, reliability=0.6, mode=mode, estimator=estimator)
    draw = np.random.default_rng(4)
    answered = 0
    for _ in range(draws):
        codes = draw.choice(7, 4, p=[0.3, 0.05, 0.25, 0.05, 0.05, 0.15, 0.15]).astype(np.uint8)
        verdict = decide(made, codes)
        if verdict.passed is not None:
            answered += 1
            assert {decide(made, full).passed for full in completions(codes)} == {verdict.passed}
    assert answered > 0


def test_a_label_that_cannot_matter_changes_nothing() -> None:
    """If one label of many is missing, the others decide, on the whole testset."""
    made = script("n > 0.5 +/- 0.05", reliability=0.99, estimator="hoeffding")
    random = np.random.default_rng(8)
    codes = (random.random(5000) > 0.547).astype(np.uint8)
    known = decide(made, codes)
    for position in (0, 17, 4999):
        missing = codes.copy()
        missing[position] = Code.AGREE_UNLABELLED
        verdict = decide(made, missing)
        assert verdict.passed == known.passed
        assert verdict.clauses[0].sample == 5000
