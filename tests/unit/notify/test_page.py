"""Blocks of a letter: wrapped to a narrow width."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from easeci.notify.page import COLUMNS, columns, wrapped


@given(st.text(), st.sampled_from(["", "  Name   "]))
def test_wrapping_keeps_every_character_and_the_limit(text: str, first: str) -> None:
    lines = list(wrapped(text, first, " " * len(first)))
    assert all(columns(line) <= COLUMNS for line in lines)
    visible = "".join(c if c.isprintable() else " " for c in text)
    assert "".join("".join(lines).split()) == first.strip() + "".join(visible.split())


def test_wide_characters_count_twice() -> None:
    assert columns("模型") == 4
    assert [columns(line) for line in wrapped("模" * 80)] == [78, 78, 4]
