"""Conditions as linear clauses."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from easeci.script import compile_condition, parse_condition
from tests.cases import each_case


@each_case(
    ("text", "coefficients", "comparison", "threshold"),
    [
        ("n - 1.1 * o > 0.01 +/- 0.01", (1, "-1.1", 0), ">", "0.01"),
        ("n - o * 1.1 > 1% +/- 1%", (1, "-1.1", 0), ">", "0.01"),
        ("0.02 < n - o +/- 0.01", (1, -1, 0), ">", "0.02"),
        ("0.02 +/- 0.01 > d", (0, 0, 1), "<", "0.02"),
        ("n > o + 0.02 +/- 0.01", (1, -1, 0), ">", "0.02"),
        ("n - 0.02 > o +/- 0.01", (1, -1, 0), ">", "0.02"),
        ("2 * (n - o) + d > 3 * 0.1 +/- 0.1", (2, -2, 1), ">", "0.3"),
        ("-n + -o < -0.5 +/- 0.1", (-1, -1, 0), "<", "-0.5"),
        ("0.1*n + 0.2*n - 0.3*o > 0.1 +/- 0.01", ("0.3", "-0.3", 0), ">", "0.1"),
        ("n * 2 * 3 > 1 +/- 1", (6, 0, 0), ">", "1"),
    ],
)
def test_linear_normal_form(
    text: str, coefficients: tuple[object, ...], comparison: str, threshold: str
) -> None:
    """The normal form has all terms on the left and the constant on the right, exactly."""
    (clause,) = compile_condition(parse_condition(text))
    score = clause.score
    assert (score.new, score.old, score.difference) == tuple(
        Fraction(Decimal(str(c))) for c in coefficients
    )
    assert (clause.comparison, clause.threshold) == (comparison, Fraction(Decimal(threshold)))
