"""One column of values: what is refused, and that no message quotes a label."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.errors import DataError, ExitCode
from easeci.tables.align import align
from easeci.tables.column import (
    Column,
    ColumnRole,
    Kind,
    as_text,
    checked,
    comparable,
    repeated_ids,
    where,
)
from easeci.tables.source import load_column
from tests.cases import each_case

SECRET = "topsecretlabel"


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(source: Any, role: ColumnRole, *fragments: str) -> str:
    with pytest.raises(DataError) as caught:
        load_column(source, role)
    message = str(caught.value)
    for fragment in fragments:
        assert fragment in message
    assert SECRET not in message
    assert caught.value.exit_code == ExitCode.USAGE
    return message


def test_labels_may_be_unknown() -> None:
    assert load_column(["a", None, "b"], ColumnRole.LABELS).values.to_list() == ["a", None, "b"]


def test_missing_predictions_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "id,prediction\n1,a\n2,\n3,b\n")
    refused(path, ColumnRole.NEW, "predictions that are missing: 1, at id 2")


def test_swapped_columns_do_not_show_labels(tmp_path: Path) -> None:
    """Where the header is wrong, what looks like an id may be a label."""
    rows = "".join(f"{i},{SECRET}\n" for i in range(5))
    labels = load_column(write(tmp_path / "l.csv", f"label,id\n{rows}"), ColumnRole.LABELS)
    with pytest.raises(DataError) as caught:
        align(load_column([0] * 5, ColumnRole.NEW), None, labels)
    assert SECRET not in str(caught.value)
    assert "occur more than once: 1, at data row 1" in str(caught.value)


@given(st.lists(st.integers(0, 12), min_size=1), st.booleans(), st.booleans())
@settings(max_examples=40, deadline=None)
def test_repeated_ids_are_those_that_a_count_finds(
    raw: list[int], ascending: bool, as_text: bool
) -> None:
    """Against a plain count, whatever quick check answers first."""
    ids = [str(i) if as_text else i for i in (sorted(raw) if ascending else raw)]
    counts = Counter(ids)
    expected = [counts[i] > 1 and ids.index(i) == place for place, i in enumerate(ids)]
    found = repeated_ids(pl.Series(ids))
    assert (found.to_list() if found is not None else [False] * len(ids)) == expected


@each_case(
    ("values", "kind"),
    [
        (["1", "-2", "+3"], Kind.WHOLE),
        (["1", "2.0"], Kind.DECIMAL),
        ([".5", "1.", "1.5e-3"], Kind.DECIMAL),
        (["1", "2a"], Kind.TEXT),
        (["1e5"], Kind.TEXT),
        ([1, 2], Kind.WHOLE),
        ([1.0, 2.0], Kind.DECIMAL),
    ],
)
def test_kinds_of_values(values: list[Any], kind: Kind) -> None:
    """Digits in a text are numbers, and a null says nothing about the kind."""
    column = checked(
        "x",
        ColumnRole.LABELS,
        pl.Series(range(len(values) + 1)),
        pl.Series([*values, None], strict=False),
    )
    assert column.kind is kind


def test_a_number_and_a_text_are_compared_as_texts() -> None:
    """3 equals "3"; columns of one type stay as they are."""
    first, second = comparable(pl.Series([3, 4]), pl.Series(["3", "x"]))
    assert (first == second).to_list() == [True, False]
    same = comparable(pl.Series([1]), pl.Series([2]))
    assert [series.dtype for series in same] == [pl.Int64, pl.Int64]


def test_rows_with_labels_are_named_by_number() -> None:
    """If the header is wrong, ids are labels: only their rows are named, and only a few."""
    rows = pl.Series([True] * 5)
    ids = pl.Series([f"{SECRET}{i}" for i in range(5)])
    labels = Column("l", ColumnRole.LABELS, ids, ids)
    assert where(labels, rows) == "5, at data row 1, 2, 3 and 2 more"
    assert where(Column("p", ColumnRole.NEW, ids, ids), rows).count(SECRET) == 3


def test_equal_numbers_are_stored_as_the_same_text() -> None:
    """-0.0 equals 0.0: as a prediction it must match the label 0.0."""
    stored = as_text(pl.Series("prediction", [-0.0, 0.0, -1.5, None]))
    assert stored.to_list() == ["0.0", "0.0", "-1.5", None]
    assert stored.name == "prediction"
