"""Conditions as linear clauses."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from itertools import product

from easeci.script import compile_condition, parse_condition
from easeci.script.syntax import Comparison
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


@each_case(
    "text",
    [
        "n - 1.1 * o > 0.25",
        "0.25 < n - o",
        "2 * (n - o) + d < 3 * 0.25",
        "-n - (o - d) * 0.5 < -(0.25 + n)",
        "n - 0.25 > o - 0.5 * d",
        "0.75 > d",
    ],
)
def test_the_normal_form_is_true_where_the_clause_is(text: str) -> None:
    """Python reads the clause; both agree at every point of a grid, also written as Φ > c."""
    (clause,) = compile_condition(parse_condition(f"{text} +/- 0.1"))
    exact = re.sub(r"[0-9.]+", lambda found: f"F('{found[0]}')", text)
    grid = [Fraction(i, 4) for i in range(5)]
    truths = set()
    for n, o, d in product(grid, repeat=3):
        expected = eval(exact, {"F": Fraction, "n": n, "o": o, "d": d})
        truths.add(expected)
        for form in (clause, clause.greater):
            score = form.score.new * n + form.score.old * o + form.score.difference * d
            greater = form.comparison is Comparison.GREATER
            assert (score > form.threshold if greater else score < form.threshold) == expected
    assert truths == {True, False}
