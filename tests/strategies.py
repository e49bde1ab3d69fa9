"""What hypothesis draws conditions from."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from easeci.script.syntax import (
    Argument,
    Clause,
    Comparison,
    Condition,
    Expression,
    Measure,
    Negation,
    Number,
    Operation,
    Operator,
    Slice,
    SliceTest,
)

decimals = st.decimals(min_value=0, max_value=1000, places=4).map(abs)
numbers = st.builds(Number, decimals, st.booleans())
variables = st.builds(Measure, st.sampled_from("nod"))

words = st.one_of(
    st.sampled_from(["fraud", "very bad", "-1", "and", "*", "a-b", "3.5", 'say "no"', "a\\b", "ü"]),
    st.text(min_size=1, max_size=5),
)
arguments = st.one_of(st.builds(Argument, words), st.just(Argument("*", every=True)))
slices = st.one_of(
    st.builds(Slice, words, st.sampled_from(SliceTest), words),
    st.builds(Slice, words, st.sampled_from(SliceTest), st.just("*"), st.just(True)),
)
names = st.sampled_from(["n", "o", "d", "recall", "f1", "auc", "top", "e1", "or", "unknown"])
measures = st.builds(Measure, names, st.none() | names, st.none() | arguments, st.none() | slices)


def _operations(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Negation, inner),
        st.builds(Operation, st.sampled_from(Operator), inner, inner),
    )


plain_expressions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(numbers, variables), _operations, max_leaves=12
)
"""Of n, o and d alone."""
expressions: st.SearchStrategy[Expression] = st.recursive(
    st.one_of(numbers, variables, measures), _operations, max_leaves=12
)
signed_numbers = st.builds(
    Number,
    st.builds(lambda d, s: s * d, decimals, st.sampled_from([Decimal(1), Decimal(-1)])),
    st.booleans(),
)
clauses = st.builds(
    Clause, expressions, st.sampled_from(Comparison), expressions, signed_numbers, st.booleans()
)
conditions = st.builds(Condition, st.lists(clauses, min_size=1, max_size=4).map(tuple))

_PIECES = (
    r"n o d + - * / \ /\ & and ∧ +/- ± > < >= <= ( ) 0.02 1.1 2% .5 1e9 1e-99 % , . or new "
    "n. recall recall(a) recall(*) f1( top(5) auc [ ] [lang=de] [x>=2] [x=*] 'very \" = -1 /"
)
fragments = st.sampled_from(_PIECES.split())
almost_conditions = st.lists(fragments, max_size=20).map(" ".join)
"""Texts made of the language's own pieces, most of them wrong."""
