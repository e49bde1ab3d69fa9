"""The grammar of conditions: which spellings mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from hypothesis import given, settings

from easeci.script import parse_condition
from easeci.script.grammar import parse_tree
from easeci.script.syntax import (
    Condition,
    Expression,
    Measure,
    Negation,
    Number,
    Operation,
    unparse,
)
from tests.cases import each_case
from tests.strategies import conditions


@each_case(
    ("text", "meaning"),
    [
        ("n-o>0.02+/-0.01", "n - o > 0.02 +/- 0.01"),
        ("n - o > 2% ± 1%", "n - o > 2% +/- 1%"),
        ("n > .5 +/- .1 & d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n > .5 +/- .1 and d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n > .5 +/- .1 AND d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n > .5 +/- .1 ∧ d < .1 +/- .1", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("(n > .5 +/- .1) /\\ ((d) < .1 +/- .1)", r"n > 0.5 +/- 0.1 /\ d < 0.1 +/- 0.1"),
        ("n - (o - d) > 0 +/- 1e-2", "n - (o - d) > 0 +/- 0.01"),
        ("(n - o) - d > 0 +/- .1", "n - o - d > 0 +/- 0.1"),
        ("-(n + o) * 2 > -1 +/- .1", "-(n + o) * 2 > -1 +/- 0.1"),
        ("n\n  - o >\t0.1 +/- 0.1", "n - o > 0.1 +/- 0.1"),
        ("0.1 +/- 0.01 > d", "0.1 +/- 0.01 > d"),
        ("n/o>1.1+/-0.05/\\d<.1±.01", r"n / o > 1.1 +/- 0.05 /\ d < 0.1 +/- 0.01"),
        ("n / (o / 2) > 1 +/- .1", "n / (o / 2) > 1 +/- 0.1"),
        ("(n / o) / 2 * 3 > 1 +/- .1", "n / o / 2 * 3 > 1 +/- 0.1"),
        ("n . recall ( fraud ) > .8 +/- .1", "n.recall(fraud) > 0.8 +/- 0.1"),
        ("recall('very bad') > .8 +/- .1", 'recall("very bad") > 0.8 +/- 0.1'),
        ('recall("fraud") > .8 +/- .1', "recall(fraud) > 0.8 +/- 0.1"),
        ("recall(-1)-recall(two-words)>0+/-.1", "recall(-1) - recall(two-words) > 0 +/- 0.1"),
        ("n [ lang == de ] > .8 +/- .1", "n[lang=de] > 0.8 +/- 0.1"),
        ("n[age≥-6.5] > .8 +/- .1", "n[age>=-6.5] > 0.8 +/- 0.1"),
        ("n['my column'!='a=b'] > .8 +/- .1", 'n["my column"!="a=b"] > 0.8 +/- 0.1'),
        ("recall(*)[lang=*] > .8 +/- .1", "recall(*)[lang=*] > 0.8 +/- 0.1"),
        ('recall("*")[lang="*"] > .8 +/- .1', 'recall("*")[lang="*"] > 0.8 +/- 0.1'),
        ("recall(and)[and=or] > .8 +/- .1", "recall(and)[and=or] > 0.8 +/- 0.1"),
    ],
)
def test_spellings(text: str, meaning: str) -> None:
    assert str(parse_condition(text)) == meaning


def leaves(expression: Expression) -> Iterator[Number | Measure]:
    match expression:
        case Negation():
            yield from leaves(expression.operand)
        case Operation():
            yield from leaves(expression.left)
            yield from leaves(expression.right)
        case _:
            yield expression


@given(conditions)
@settings(max_examples=30, deadline=None)
def test_spans_show_where_measures_and_numbers_stand(condition: Condition) -> None:
    """Cut out of the text, the span of a measure is the measure, that of a number the number."""
    text = unparse(condition)
    for clause in parse_tree(text).clauses:
        for leaf in (*leaves(clause.left), *leaves(clause.right), clause.tolerance):
            cut = text[leaf.span.start : leaf.span.end]
            if isinstance(leaf, Measure):
                assert cut == str(leaf)
            else:
                assert Decimal(cut.removesuffix("%")) == leaf.literal
                assert cut.endswith("%") == leaf.percent
