"""Texts of unknown authors: short, visible, and JSON as it was written."""

from __future__ import annotations

import json
import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.views.readable import (
    LONGEST_JSON,
    MOST_CHARACTERS,
    Readable,
    TextKind,
    fair_limit,
    looks_like_code,
    readable,
    readable_value,
)

HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
MARKS = "\u061c\u200c\u200d\u200e\u200f"
"""Of scripts that are written with them."""
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)
NOT_JSON = st.text().filter(lambda text: text.lstrip()[:1] not in ("{", "["))


@given(st.text(), st.integers(1, 50))
def test_it_is_never_longer_and_hides_nothing(text: str, most: int) -> None:
    """Whatever the text is, and wherever it is cut."""
    shown = readable(text, most)
    assert len(shown.text) <= most
    hidden = {c for c in shown.text if unicodedata.category(c) in HIDDEN}
    assert hidden <= {"\n", "\t", *MARKS}


@given(NOT_JSON, st.integers(1, 50))
def test_every_character_is_shown_or_counted(text: str, most: int) -> None:
    text = text.replace("\r\n", "\n")
    shown = readable(text, most)
    assert len(shown.text) + shown.cut == len(text)
    kept = [(a, b) for a, b in zip(shown.text, text, strict=False) if a != b]
    assert all(a == "�" and unicodedata.category(b) in HIDDEN for a, b in kept)


@given(st.lists(VALUES, max_size=4), st.booleans())
def test_indented_json_is_the_same_json(value: object, ascii_only: bool) -> None:
    """Only white space between its parts is changed, also in numbers such as 1.10."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    shown = readable(text, 1_000_000)
    if len(text) > LONGEST_JSON:
        return
    assert (shown.kind, shown.cut) == (TextKind.JSON, 0)
    if ascii_only and "\x7f" not in text:
        assert json.loads(shown.text) == value


@given(st.lists(VALUES, min_size=1, max_size=4), st.integers(1, 60))
def test_cut_json_shows_the_beginning_and_counts_the_rest(value: object, most: int) -> None:
    text = json.dumps(value)
    shown = readable(text, most)
    assert len(shown.text) <= most
    bare = "".join(text[: len(text) - shown.cut].split())
    assert "".join(shown.text.split()) == bare.replace("\x7f", "�")


def test_json_is_indented_and_numbers_stay_as_written() -> None:
    text = '{"a": [1.10, 1e400, {}], "b": "x: {,}", "a": []}'
    expected = '{\n  "a": [\n    1.10,\n    1e400,\n    {}\n  ],\n  "b": "x: {,}",\n  "a": []\n}'
    assert readable(text) == Readable(expected, TextKind.JSON)
    assert readable_value({"a": [1]}).text == '{\n  "a": [\n    1\n  ]\n}'
    assert readable_value(None) == Readable("")
    assert readable_value(0.5).text == "0.5"


@pytest.mark.parametrize("text", ["[" * 25_000 + "]" * 25_000, "[" * 10_000_000, "{" + "x" * 9])
def test_what_only_begins_like_json_is_shown_as_it_is(text: str) -> None:
    """Deep nesting breaks nothing and takes no time, and neither do long texts."""
    begun = time.process_time()
    shown = readable(text)
    assert time.process_time() - begun < 1.0
    assert shown == Readable(
        text[:MOST_CHARACTERS], TextKind.CODE, max(len(text) - MOST_CHARACTERS, 0)
    )


def test_nesting_is_indented_up_to_a_depth() -> None:
    """Otherwise a few thousand brackets would be megabytes of blanks."""
    shown = readable("[" * 200 + "]" * 200, 1_000_000)
    assert max(len(line) for line in shown.text.split("\n")) < 50
    assert shown.cut == 0


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("def f(x):\n    return x\n", True),
        ("int main() {\n  return 0;\n}\n", True),
        ("```python\nprint(1)\n```", True),
        ("SELECT a\nFROM b\nWHERE c;", True),
        ("The answer is 42.", False),
        ("First paragraph; it goes on.\n\nSecond paragraph, with a list:\n- one\n- two", False),
        ("", False),
    ],
)
def test_code_is_told_from_prose(text: str, is_code: bool) -> None:
    assert looks_like_code(text) is is_code


def test_line_breaks_stay_and_a_long_text_scrolls() -> None:
    assert readable("a\r\nb\tc\rd").text == "a\nb\tc�d"
    assert not readable("a\nb").is_long
    assert readable("a\n" * 30).is_long
    assert readable("a" * 3_000).is_long


@given(st.lists(st.integers(0, 10_000)), st.integers(1, 20_000))
def test_a_fair_limit_keeps_to_the_budget_and_wastes_nothing(
    lengths: list[int], budget: int
) -> None:
    """With one character more for each, all texts together would not fit, unless none is cut."""
    limit = fair_limit(lengths, budget)

    def size(limit: int) -> int:
        return sum(min(length, limit) for length in lengths)

    assert 1 <= limit <= MOST_CHARACTERS
    assert size(limit) <= max(budget, len(lengths))
    assert limit == MOST_CHARACTERS or size(limit + 1) > budget or limit == 1
