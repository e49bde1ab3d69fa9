"""Texts as plain bytes: what is written is read, and nothing else is."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.tables.packed import pack_classes, unpack_classes

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])))


@given(values=TEXTS)
def test_what_is_written_is_read(values: list[str]) -> None:
    classes, packed = pack_classes(pl.Series(values, dtype=pl.String))
    assert classes == len(set(values))
    assert unpack_classes(packed, len(values), classes).to_list() == values


@given(content=st.binary(), count=st.integers(0, 5), classes=st.integers(0, 5))
def test_other_bytes_are_refused_or_are_so_many_texts(
    content: bytes, count: int, classes: int
) -> None:
    try:
        values = unpack_classes(content, count, classes)
    except ValueError:
        return
    assert len(values) == count
    assert values.null_count() == 0
    assert values.n_unique() <= max(classes, 1)


def test_a_place_without_a_text_is_refused() -> None:
    with pytest.raises(ValueError, match="without its text"):
        unpack_classes(b"\1\0\0\0" + b"\1\0\0\0a", 1, 1)
