"""Some columns of examples: the same from every format, and only those that are wanted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from easeci.errors import DataError
from easeci.tables.example_columns import load_example_columns, read_example_columns
from tests.unit.vault.making import write, written


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_only_wanted_columns(tmp_path: Path, ending: str) -> None:
    """Empty texts are no values. From a path and from its content."""
    table: dict[str, Any] = {"id": [1, 2, 3], "lang": ["de", "", None], "age": [7, 8, None]}
    path = written(tmp_path / f"e.{ending}", table)
    for source in (path, path.read_bytes()):
        found = read_example_columns(
            "e", source, f".{ending}", ["id", "lang", "age", "none", "age"]
        )
        assert found.columns.columns == ["id", "lang", "age"]
        assert found.columns["lang"].to_list() == ["de", None, None]
        assert found.columns["age"].cast(pl.String).to_list() == ["7", "8", None]
        assert set(found.names) == {"id", "lang", "age"}


def test_types_of_parquet(tmp_path: Path) -> None:
    """All become whole numbers, decimal numbers or texts, as people write them."""
    frame = pl.DataFrame(
        {
            "short": pl.Series([0.1, None], dtype=pl.Float32),
            "nan": [1.5, float("nan")],
            "flag": [True, False],
            "day": pl.Series(["2024-01-02", None]).str.to_date(),
            "cat": pl.Series(["a", "b"], dtype=pl.Categorical),
            "big": pl.Series([2**63, 1], dtype=pl.UInt64),
            "money": pl.Series(["1.50", "2.00"]).str.to_decimal(scale=2),
        }
    )
    found = load_example_columns(frame, frame.columns).columns
    assert found.to_dict(as_series=False) == {
        "short": [0.1, None],
        "nan": [1.5, None],
        "flag": ["true", "false"],
        "day": ["2024-01-02", None],
        "cat": ["a", "b"],
        "big": [str(2**63), "1"],
        "money": ["1.50", "2.00"],
    }


def test_json_that_only_python_reads(tmp_path: Path) -> None:
    """Lines may end in other ways, and numbers may be longer than those of a computer."""
    content = (
        b'\xef\xbb\xbf{"id": 1, "v": 1.0}\r{"id": 2, "v": true}\r{"id": 3, "v": [1]}\r{"v": 2.5}'
    )
    found = load_example_columns(write(tmp_path / "e.jsonl", content), ["id", "v"])
    assert found.columns["v"].to_list() == ["1", "true", "[1]", "2.5"]


@pytest.mark.parametrize(
    ("name", "content", "fragment"),
    [
        ("e.jsonl", '{"id": 1}\n{"id": \n', "line 2, is not JSON"),
        ("e.csv", "id,lang,lang\n1,a,b\n", "two columns 'lang'"),
        ("e.csv", "id,lang\n1,a\n".encode("utf-16"), "is UTF-16"),
        ("e.csv", b"id,lang\n1,\xff\n", "is not UTF-8"),
        ("e.parquet", "PAR1", "cannot be read as Parquet"),
        ("e.txt", "id,lang\n", "unknown kind of file"),
        ("e.csv", "", "is empty"),
        ("none.csv", None, "there is no file"),
    ],
)
def test_files_that_cannot_be_read(
    tmp_path: Path, name: str, content: str | bytes | None, fragment: str
) -> None:
    if content is not None:
        write(tmp_path / name, content)
    with pytest.raises(DataError, match=fragment):
        load_example_columns(tmp_path / name, ["id", "lang"])
