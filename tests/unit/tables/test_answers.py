"""Answers of several labellers: folded into one, and how well they agree."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.tables.answers import agreement, cohen, fold_answers


def frame(*rows: tuple[str, str | None, str, str]) -> pl.DataFrame:
    return pl.DataFrame(
        [(*row, "") for row in rows], schema=["id", "label", "state", "by", "at"], orient="row"
    )


def test_answers_of_several_are_folded() -> None:
    """Agreement is a label; a dispute keeps all that was said; who skipped has no say."""
    found = fold_answers(
        frame(
            ("1", "a", "label", "x"), ("1", "a", "label", "y"),
            ("2", "a", "label", "x"), ("2", "b", "label", "y"),
            ("3", "a", "label", "x"), ("3", None, "skipped", "y"),
            ("4", None, "skipped", "x"), ("4", None, "skipped", "y"),
            ("5", "a", "label", "x"), ("5", None, "cannot tell", "y"),
            ("6", "b", "label", "x"), ("6", "a", "label", "x"),
        )
    )  # fmt: skip
    states = {row["id"]: (row["state"], row["label"]) for row in found.to_dicts()}
    assert states == {
        "1": ("label", "a"),
        "2": ("disputed", None),
        "3": ("label", "a"),
        "4": ("skipped", None),
        "5": ("disputed", None),
        "6": ("label", "a"),
    }
    kept = json.loads(found.filter(pl.col("id") == "2")["answers"][0])
    assert [(one["by"], one["label"]) for one in kept] == [("x", "a"), ("y", "b")]


def test_agreement() -> None:
    """Cohen's kappa of a table of counts that is easy to reckon; means over pairs beyond two."""
    pairs = [("a", "a")] * 20 + [("a", "b")] * 5 + [("b", "a")] * 10 + [("b", "b")] * 15
    share, kappa = cohen(pairs)
    assert share == pytest.approx(0.7)
    assert kappa == pytest.approx(0.4)
    assert cohen([("a", "a")]) == (1.0, None)
    assert agreement(frame(("1", "a", "label", "x"), ("2", "a", "label", "y"))) is None
    three = agreement(
        frame(*((str(i), label, "label", by) for by, labels in
                {"x": "ab", "y": "ab", "z": "aa"}.items() for i, label in enumerate(labels)))
    )  # fmt: skip
    assert three is not None
    assert (three.labellers, three.examples) == (3, 2)
    assert three.share == pytest.approx((1.0 + 0.5 + 0.5) / 3)


answers = st.tuples(
    st.sampled_from("12"),
    st.sampled_from("xyz"),
    st.sampled_from([("a", "label"), ("b", "label"), (None, "cannot tell"), (None, "skipped")]),
)


@given(st.lists(answers, min_size=1, max_size=10))
@settings(max_examples=40, deadline=None)
def test_folded_answers_are_those_of_a_loop(given_answers: list[Any]) -> None:
    """The last answer of each labeller counts, skips only if nobody else answered."""
    last: dict[str, dict[str, tuple[str | None, str]]] = {}
    for example, by, answer in given_answers:
        last.setdefault(example, {})[by] = answer
    expected = {}
    for example, by_labeller in last.items():
        known = {answer for answer in by_labeller.values() if answer[1] != "skipped"}
        said = known or set(by_labeller.values())
        expected[example] = said.pop() if len(said) == 1 else (None, "disputed")
    found = fold_answers(
        frame(*((example, label, state, by) for example, by, (label, state) in given_answers))
    )
    assert found["id"].n_unique() == len(found)
    assert {row["id"]: (row["label"], row["state"]) for row in found.to_dicts()} == expected
