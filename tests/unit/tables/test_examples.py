"""Examples from files: what programs will see of them, and what is refused with which words."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from easeci.errors import DataError
from easeci.tables.examples import load_examples
from easeci.tables.source import BYTE_ORDER_MARK

SECRET = "topsecretlabel"


def load_rows(jsonl: bytes, positions: list[int]) -> list[dict[str, Any]]:
    lines = [line for line in jsonl.removeprefix(BYTE_ORDER_MARK).splitlines() if line.strip()]
    return [json.loads(lines[position]) for position in positions]


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The same rows in the format that the file's ending names."""
    frame = pl.DataFrame(rows)
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_ndjson(path)
    return path


def refused(path: Path, *fragments: str, label_column: str | None = None) -> None:
    with pytest.raises(DataError) as caught:
        load_examples(path, label_column)
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("ending", ["csv", "jsonl", "ndjson", "parquet"])
def test_without_a_label_column_the_file_stays_as_it_is(tmp_path: Path, ending: str) -> None:
    path = written(tmp_path / f"e.{ending}", [{"id": 1, "x": "a"}, {"id": 2, "x": None}])
    examples, labels = load_examples(path)
    assert labels is None
    assert examples.content == path.read_bytes()
    assert examples.suffix == f".{ending}"
    assert [str(row["id"]) for row in load_rows(examples.jsonl, [0, 1])] == ["1", "2"]
    assert examples.columns.to_dict(as_series=False) == {"x": ["a", None]}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "ndjson", "parquet"])
def test_a_label_column_is_split_off(tmp_path: Path, ending: str) -> None:
    """The file for programs has the same format, the same other columns, and no labels."""
    rows = [{"x": "a,b", "y": SECRET, "id": 7}, {"x": 'say "hi"\n', "y": SECRET + "2", "id": 8}]
    examples, labels = load_examples(written(tmp_path / f"e.{ending}", rows), "y")
    assert labels is not None
    assert labels.values.to_list() == [SECRET, SECRET + "2"]
    assert SECRET.encode() not in examples.content + examples.jsonl
    again, _ = load_examples(write(tmp_path / f"again.{ending}", examples.content))
    assert again.ids.to_list() == examples.ids.to_list()
    assert again.columns.to_dict(as_series=False) == {"x": ["a,b", 'say "hi"\n']}


def test_nested_objects_survive(tmp_path: Path) -> None:
    """Objects with different keys are neither merged nor filled up, also if a label goes."""
    lines: list[dict[str, Any]] = [
        {"id": "a", "turns": [{"who": "u", "n": 1}], "y": SECRET},
        {"id": "b", "turns": {"deep": [1, [2.5, None]]}, "extra": True, "y": SECRET},
    ]
    text = "\n\n".join(json.dumps(line) for line in lines)
    path = write(tmp_path / "e.jsonl", b"\xef\xbb\xbf" + text.encode())
    whole, _ = load_examples(path)
    assert whole.jsonl == path.read_bytes()
    assert load_rows(whole.jsonl, [1, 0]) == lines[::-1]
    examples, _ = load_examples(path, "y")
    expected = [{key: value for key, value in line.items() if key != "y"} for line in lines]
    assert load_rows(examples.jsonl, [0, 1]) == expected
    assert examples.columns["extra"].to_list() == [None, "true"]


def test_values_of_any_type_survive_parquet(tmp_path: Path) -> None:
    """Bytes become base64 at any depth; dates text; durations a number; NaN null."""
    frame = pl.DataFrame(
        {
            "id": [1, 2],
            "image": [{"bytes": b"ab", "path": "p"}, None],
            "parts": [[b"x"], []],
            "day": [date(2020, 1, 2), None],
            "lasts": [timedelta(seconds=1), None],
            "score": [float("nan"), 0.5],
            "pair": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
        }
    )
    frame.write_parquet(tmp_path / "e.parquet")
    examples, _ = load_examples(tmp_path / "e.parquet")
    assert load_rows(examples.jsonl, [0, 1]) == [
        {
            "id": 1,
            "image": {"bytes": "YWI=", "path": "p"},
            "parts": ["eA=="],
            "day": "2020-01-02",
            "lasts": 1_000_000,
            "score": None,
            "pair": [1, 2],
        },
        {
            "id": 2,
            "image": None,
            "parts": [],
            "day": None,
            "lasts": None,
            "score": 0.5,
            "pair": [3, 4],
        },
    ]
    assert examples.columns["pair"].to_list() == ["[1,2]", "[3,4]"]


@pytest.mark.parametrize(
    ("name", "content", "fragments"),
    [
        ("e.csv", f"1,{SECRET}\n2,x\n", ["no column 'id'", "2 columns"]),
        ("e.csv", f"id,x\n1,{SECRET},3\n", ["cannot be read as CSV"]),
        ("e.csv", f"id,x,x\n1,{SECRET},3\n", ["two columns 'x'"]),
        ("e.csv", f"id,x\n{SECRET},1\n{SECRET},2\n", ["more than once", "data row 1"]),
        ("e.csv", "id,x\n", ["no rows"]),
        ("e.csv", "id,x\n,3\n", ["data row 1 has no id"]),
        ("e.csv", "id,x\n1,\u00e9\n".encode("latin-1"), ["not UTF-8"]),
        ("e.csv", "id,x\n".encode("utf-16"), ["UTF-16"]),
        ("e.csv", "", ["is empty"]),
        ("e.txt", "id\n", ["unknown kind of file"]),
        ("e.jsonl", f'{{"x": "{SECRET}"}}', ["no column 'id'"]),
        ("e.jsonl", f'{{"id": 1}}\n{{"id": "{SECRET}"}}', ["mixed types"]),
        ("e.jsonl", '{"id": [1]}', ["whole numbers or text"]),
        ("e.jsonl", f"{{{SECRET}}}", ["line 1, is not JSON"]),
        ("e.jsonl", '{"id": 1, "x": NaN}', ["line 1, is not JSON"]),
        ("e.jsonl", f'{{"id": 1, "x": "{SECRET}\\ud800"}}', ["cannot be written"]),
        ("e.jsonl", "\n \n", ["no column 'id'"]),
        ("e.parquet", SECRET, ["cannot be read as Parquet"]),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, name: str, content: str | bytes, fragments: list[str]
) -> None:
    refused(write(tmp_path / name, content), *fragments)


def test_a_wrong_label_column_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "e.csv", f"id,x\n1,{SECRET}\n")
    refused(path, "no column 'y'", "Columns found: id, x", label_column="y")
    refused(path, "cannot be the label column", label_column="id")
    mixed = write(tmp_path / "e.jsonl", f'{{"id": 1, "y": "{SECRET}"}}\n{{"id": 2, "y": 3}}\n')
    refused(mixed, "mixed types", label_column="y")
    refused(mixed, "no column 'z'", label_column="z")
    huge = write(tmp_path / "h.jsonl", '{"id": 1, "y": 3, "x": 1e999}\n')
    refused(huge, "cannot be written as JSON", label_column="y")
    refused(tmp_path / "none.csv", "there is no file")
    refused(tmp_path, "is a folder")


def test_large_ids_and_many_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples, _ = load_examples(write(tmp_path / "e.jsonl", f'{{"id": {2**70}}}\n{{"id": 3}}'))
    assert examples.ids.to_list() == [str(2**70), "3"]
    monkeypatch.setattr("easeci.tables.examples.MOST_COLUMNS", 1_000)
    many = "\n".join(f'{{"id": {i}, "k{i}": 1}}' for i in range(1_002))
    refused(write(tmp_path / "m.jsonl", many), "more than 1,000 different keys")
