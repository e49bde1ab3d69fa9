"""Which results missing labels can still lead to."""

from __future__ import annotations

from fractions import Fraction

from easeci.script import compile_condition, parse_condition
from easeci.verdict.logic import Interval
from easeci.verdict.result import possible_results
from tests.cases import each_case


@each_case("comparison", [">", "<"])
def test_every_mean_between_the_ends_is_considered(comparison: str) -> None:
    """Against a scan of all means in steps that are smaller than the tolerance."""
    (clause,) = compile_condition(parse_condition(f"n {comparison} 0.5 +/- 0.03"))

    def interval(mean: int) -> Interval:
        return Interval.around(Fraction(mean, 100), clause.tolerance)

    def result(mean: int) -> str:
        return interval(mean).compare(clause.comparison, clause.threshold)

    for low in range(40, 61):
        for high in range(low, 61):
            found = possible_results([interval(low), interval(high)], clause)
            assert found == {result(mean) for mean in range(low, high + 1)}
