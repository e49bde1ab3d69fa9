"""Conditions in normal form: linear clauses, ratios, differences of ratios, blocks, slices."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from itertools import product

import pytest

from easeci.errors import ScriptError
from easeci.script import (
    NormalClause,
    Score,
    Slice,
    SliceTest,
    compile_condition,
    expand_slices,
    parse_condition,
)
from easeci.script.normal import MOST_CLAUSES
from easeci.script.outcomes import CELLS, ExampleAlphabet
from easeci.script.problem import Problem
from easeci.script.score import Blocks, Ratio
from easeci.script.syntax import Comparison
from tests.cases import each_case
from tests.scripts import script
from tests.unit.script.test_resolve import message_of


def compiled(text: str, *classes: str) -> NormalClause:
    (clause,) = compile_condition(parse_condition(text), classes)
    return clause


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


# -- n, o and d


@each_case(
    ("text", "score"),
    [
        ("n > 0.8", Score.linear(Fraction(1), Fraction(0), Fraction(0))),
        ("n.accuracy > o.accuracy", Score.linear(Fraction(1), Fraction(-1), Fraction(0))),
        ("n / 2 - o / 4 > 0", Score.linear(Fraction(1, 2), Fraction(-1, 4), Fraction(0))),
        ("n + recall(a) - recall(a) > 0", Score.linear(Fraction(1), Fraction(0), Fraction(0))),
    ],
)
def test_without_a_slice_a_linear_score_names_itself(text: str, score: Score) -> None:
    """However it is spelt, it is the score of its coefficients, with their name."""
    found = compiled(f"{text} +/- 0.01").score
    assert found == score
    assert found.named == score.named
    assert found.is_linear


def test_a_sliced_linear_score_keeps_its_coefficients() -> None:
    found = compiled("n[lang=de] - 1.1 * o[lang = de] > 0.01 +/- 0.01").score
    assert found.slice == Slice("lang", SliceTest.EQUAL, "de")
    assert found.named == "n[lang=de] - 1.1 * o[lang=de]"
    assert (found.new, found.old) == (Fraction(1), Fraction(-11, 10))
    assert not found.is_linear
    assert found.alphabet is CELLS


# -- ratios


def test_a_recall_is_a_ratio_over_the_outcomes_of_its_class() -> None:
    found = compiled("0.8 < n.recall(fraud)[lang=de] +/- 0.02")
    assert found.score.named == "n.recall(fraud)[lang=de]"
    assert (found.comparison, found.threshold) == (Comparison.GREATER, Fraction(4, 5))
    alphabet = ExampleAlphabet.of(("fraud",))
    assert found.score.alphabet is alphabet
    assert found.score.ratio == Ratio(
        tuple(Fraction(int(x.new == x.label == 0)) for x in alphabet.shown),
        tuple(Fraction(int(x.label == 0)) for x in alphabet.shown),
    )
    assert found.score.classes == ("fraud",)
    assert not found.score.needs_old_model


def test_a_difference_with_one_denominator_is_one_ratio() -> None:
    found = compiled("n.recall(k) > o.recall(k) - 0.01 +/- 0.01")
    assert found.score.subtracted is None
    assert found.score.class_share == "k"
    assert found.score.named == "n.recall(k) - o.recall(k)"
    assert found.threshold == Fraction(-1, 100)


@each_case(
    ("text", "named", "lowest", "highest"),
    [
        ("n.precision(k) - o.precision(k) > 0", "n.precision(k) - o.precision(k)", -1, 1),
        ("o.f1(k) < n.f1(k)", "o.f1(k) - n.f1(k)", -1, 1),
        ("recall(a) - recall(b) > 0", "recall(a) - recall(b)", -1, 1),
        ("-o.f1(k) + f1(k) > 0", "-o.f1(k) + f1(k)", -1, 1),
        ("recall(a) + recall(b) > 1.5", "recall(a) + recall(b)", 0, 2),
        ("2 * (recall(a) - 1) - n > -1", "2 * (recall(a) - 1) - n + 2", -1, 2),
    ],
)
def test_two_denominators_are_a_difference_of_ratios(
    text: str, named: str, lowest: int, highest: int
) -> None:
    score = compiled(f"{text} +/- 0.01").score
    assert score.named == named
    assert score.subtracted is not None
    assert score.ratio.denominator != score.subtracted.denominator
    assert [score.lowest, score.highest] == [Fraction(lowest), Fraction(highest)]
    assert max(score.ratio.numerator) > 0
    assert (-score).subtracted == -score.subtracted


def test_classes_are_numbered_in_the_order_in_which_they_appear() -> None:
    assert compiled("recall(b) - recall(a) > 0 +/- 0.1").score.classes == ("b", "a")


def test_the_constant_inside_a_ratio_goes_to_the_threshold() -> None:
    """2 · (n / o − 1) > 0.1 is 2 · n / o > 2.1, and its name says so."""
    found = compiled("2 * (n / o - 1) > 0.1 +/- 0.1")
    assert (found.threshold, found.score.named) == (Fraction(21, 10), "2 * (n / o - 1) + 2")


# -- auc and top


def test_auc_is_a_score_of_blocks() -> None:
    clauses = compile_condition(
        parse_condition("2 * n.auc(k) - o.auc(k) > 0.1 +/- 0.01"),
        ("k", "other"),
        (("other", Fraction(9, 10)),),
    )
    score = clauses[0].score
    assert score.blocks == Blocks("k", 1, 9, Fraction(2), Fraction(-1))
    assert score.named == "2 * n.auc(k) - o.auc(k)"
    assert score.needs_old_model
    alone = compiled("1 - auc[lang=*] < 0.1 +/- 0.01", "bad", "good")
    assert alone.score.blocks == Blocks("good", 2, 2, Fraction(-1), Fraction(0))
    assert alone.score.slice is not None
    assert alone.score.slice.every
    assert alone.text == "1 - auc(good)[lang=*] < 0.1 +/- 0.01"
    assert compiled(alone.text) == alone


@each_case("text", ["n - top(5) > 0.01", "top(5) < n - 0.01", "0.01 < -top(5) + n"])
def test_top_is_a_linear_score_against_a_rank(text: str) -> None:
    clause = compiled(f"{text} +/- 0.01").greater
    assert clause.score.top == 5
    assert clause.score.coefficients == (Fraction(1), Fraction(-1), Fraction(0))
    assert clause.threshold == Fraction(1, 100)
    assert not clause.score.is_linear


@each_case(
    ("text", "fragments"),
    [
        ("auc(fraud) - n > 0", ["auc cannot be mixed", "Write two clauses"]),
        ("auc(fraud) > recall(fraud)", ["auc cannot be mixed"]),
        ("n.auc(fraud) > o.auc(legit)", ["auc of one class only", "n.auc(fraud) - o.auc(fraud)"]),
        ("top(5) > 0.8", ["top(5) can only be compared with n", "Write n - top(5) > 0"]),
        ("o - top(5) > 0", ["top(5) can only be compared with n"]),
        ("n - 0.9 * top(5) > 0", ["top(5) can only be compared with n"]),
        ("n - o - top(5) > 0", ["top(5) can only be compared with n"]),
        ("n - top(5) - top(6) > 0", ["top(5) can only be compared with n"]),
        ("recall(fraud) - top(5) > 0", ["top(5) can only be compared with n"]),
        ("n - top(5) < 0", ["only ask that the new model is better", "Write n - top(5) > 0"]),
        ("top(5) - n > 0", ["only ask that the new model is better"]),
        ("n.f1(fraud) - o.f1(fraud) - n > 0", ["at most two measures", "recall(*)"]),
        ('f1(fraud) + f1(legit) - f1("very bad") > 0', ["at most two measures", "column 25"]),
        ("n / o - recall(fraud) > 0", ["a ratio such as n / o cannot be mixed"]),
        ("recall(fraud) > 1", ["can never be true", "recall(fraud) lies between 0 and 1."]),
        ("recall(fraud) > -0.1", ["is always true", "between 0 and 1."]),
        ("n / o > -0.1", ["is always true", "n / o is at least 0."]),
        ("-n / o > 0.1", ["can never be true", "-n / o is at most 0."]),
        ("n[lang=de] > 1", ["can never be true", "n[lang=de] lies between 0 and 1."]),
        ("1e-30 * recall(fraud) > 0", ["too large or too small"]),
        ("n / (1e30 * 1e10 * o) > 0", ["too large or too small"]),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, fragments: list[str]) -> None:
    message = message_of(f"{text} +/- 0.01")
    for fragment in fragments:
        assert fragment in message


# -- one clause for each class and slice


def test_each_class_has_a_clause_that_compiles_on_its_own() -> None:
    found = compile_condition(
        parse_condition(r"f1(*) > 0.8 +/- 0.02 /\ d < 0.1 +/- 0.01"), ("a", "b")
    )
    assert [c.text for c in found] == [
        "f1(a) > 0.8 +/- 0.02",
        "f1(b) > 0.8 +/- 0.02",
        "d < 0.1 +/- 0.01",
    ]
    assert found == tuple(compiled(clause.text) for clause in found)


def test_too_many_classes_are_refused() -> None:
    classes = [str(i) for i in range(MOST_CLAUSES + 1)]
    condition = parse_condition("recall(*) > 0.8 +/- 0.02")
    assert len(compile_condition(condition, classes[1:])) == MOST_CLAUSES
    with pytest.raises(Problem, match="more than 1,000 clauses"):
        compile_condition(condition, classes)


def test_each_value_of_a_column_has_a_clause() -> None:
    """Names and texts have the value; a text in quotes that looks like the slice stays."""
    clauses = compile_condition(
        parse_condition(
            r'n > 0.8 +/- 0.02 /\ n.recall("[my-x=*]")[my-x=*] - o.recall("[my-x=*]")[my-x=*] > 0 +/- 0.01'
        )
    )
    found = expand_slices(clauses, {"my-x": ["de", "a b"]})
    assert found[0] == clauses[0]
    assert [clause.text for clause in found[1:]] == [
        'n.recall("[my-x=*]")[my-x=de] - o.recall("[my-x=*]")[my-x=de] > 0 +/- 0.01',
        'n.recall("[my-x=*]")[my-x="a b"] - o.recall("[my-x=*]")[my-x="a b"] > 0 +/- 0.01',
    ]
    assert found == tuple(compiled(clause.text) for clause in found)
    assert expand_slices(found, {}) == found


@each_case(
    ("values", "fragments"),
    [
        ({}, ["no column 'lang'"]),
        ({"land": ["de"]}, ["no column 'lang'", "Did you mean 'land'?"]),
        ({"lang": []}, ["'lang' of the examples has no values"]),
        ({"lang": [str(i) for i in range(1001)]}, ["1,001 values", "more than 1,000 clauses"]),
    ],
)
def test_a_column_must_have_values_and_not_too_many(
    values: dict[str, list[str]], fragments: list[str]
) -> None:
    with pytest.raises(ScriptError) as caught:
        expand_slices((compiled("n[lang=*] > 0.8 +/- 0.02"),), values)
    for fragment in fragments:
        assert fragment in str(caught.value)


def test_a_script_knows_its_classes_slices_and_scores() -> None:
    text = (
        r"f1(*)[lang=*] > 0.8 +/- 0.02 /\ recall(b)[age>=65] > 0.8 +/- 0.02 "
        r"/\ n[lang=*] - o[lang=*] > 0 +/- 0.01"
    )
    made = script(text, classes=["a", "b"])
    assert made.named_classes == ("a", "b")
    assert [str(where) for where in made.slices] == ["[lang=*]", "[age>=65]"]
    assert not made.needs_ranks
    assert script("auc(b) > 0.8 +/- 0.02").needs_ranks
    assert script("auc(b) > 0.8 +/- 0.02").named_classes == ("b",)
    full = made.expanded({"lang": ["de", "fr"]})
    assert len(full.clauses) == 7
    assert [str(where) for where in full.slices] == ["[lang=de]", "[lang=fr]", "[age>=65]"]
    assert full.condition == made.condition


def test_expected_shares_give_the_shape_of_blocks() -> None:
    made = script("auc > 0.8 +/- 0.02", classes=["legit", "fraud"], expected={"fraud": "10%"})
    blocks = made.clauses[0].score.blocks
    assert blocks is not None
    assert (blocks.positive, blocks.positives, blocks.negatives) == ("fraud", 1, 9)
