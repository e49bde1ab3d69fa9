"""One column of values: what is refused, and that no message quotes a label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from easeci.errors import DataError, ExitCode
from easeci.tables.align import align
from easeci.tables.column import ColumnRole
from easeci.tables.source import load_column

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
