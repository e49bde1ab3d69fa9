"""Intervals against brute force, three-valued logic against its truth table."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from easeci.script import Comparison, Mode
from easeci.verdict.logic import Interval, Result, conjunction, passes
from tests.cases import each_case

T, F, U = Result.TRUE, Result.FALSE, Result.UNKNOWN
ends = st.fractions(-2, 2, max_denominator=20)
intervals = st.builds(lambda a, b: Interval(min(a, b), max(a, b)), ends, ends)
inside = st.fractions(0, 1, max_denominator=10)


def at(interval: Interval, share: Fraction) -> Fraction:
    return interval.low + share * (interval.high - interval.low)


@given(intervals, intervals, inside, inside)
def test_negation_and_hull_contain_every_value(
    first: Interval, second: Interval, s: Fraction, t: Fraction
) -> None:
    """−interval has every value negated, a hull every value of both; and neither has more."""
    x, y = at(first, s), at(second, t)
    for whole, value in ((-first, -x), (first.hull(second), x), (second.hull(first), y)):
        assert whole.low <= value <= whole.high
    assert (-first).low == -first.high
    hull = first.hull(second)
    assert hull.low in (first.low, second.low)
    assert hull.high in (first.high, second.high)


@given(intervals, ends, st.sampled_from(Comparison))
def test_an_outcome_holds_for_every_value(
    interval: Interval, threshold: Fraction, comparison: Comparison
) -> None:
    result = interval.compare(comparison, threshold)
    greater = comparison is Comparison.GREATER
    holds = {(v > threshold) if greater else (v < threshold) for v in (interval.low, interval.high)}
    if result is T:
        assert holds == {True}
    elif result is F:
        assert holds == {False}
        assert threshold not in (interval.low, interval.high)
    else:
        assert interval.low <= threshold <= interval.high


def test_the_papers_example() -> None:
    """x < 0.1 +/- 0.01: False above 0.11, True below 0.09, Unknown between."""
    for hundredths, result in ((112, F), (110, U), (100, U), (90, U), (88, T)):
        interval = Interval.around(Fraction(hundredths, 1000), Fraction(1, 100))
        assert interval.compare(Comparison.LESS, Fraction(1, 10)) is result


def test_conjunction_is_kleenes() -> None:
    """Unknown exactly where replacing it by True and by False gives both answers."""
    for results in product((T, F, U), repeat=3):
        answers = {
            all(values)
            for values in product(*([o is T] if o is not U else [True, False] for o in results))
        }
        expected = U if len(answers) == 2 else (T if answers.pop() else F)
        assert conjunction(results) is expected


@each_case(("result", "fp_free", "fn_free"), [(T, True, True), (F, False, False), (U, False, True)])
def test_modes(result: Result, fp_free: bool, fn_free: bool) -> None:
    assert passes(result, Mode.FP_FREE) is fp_free
    assert passes(result, Mode.FN_FREE) is fn_free
