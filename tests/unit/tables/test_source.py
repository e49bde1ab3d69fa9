"""Columns from files and from memory: what is read, and what is refused with which words."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from easeci.errors import DataError, ExitCode
from easeci.tables.align import align
from easeci.tables.column import ColumnRole
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


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", "id,prediction\n1,3\n2,cat\n"),
        ("bom.csv", b"\xef\xbb\xbfid,prediction\n1,3\n2,cat\n"),
        ("crlf.csv", "id,prediction\r\n1,3\r\n2,cat\r\n"),
        ("more.csv", 'score,prediction,id\n0.5,3,1\n0.1,"cat",2\n'),
        ("plain.jsonl", '{"id": 1, "prediction": "3"}\n\n{"prediction": "cat", "id": 2}\n'),
        (
            "bom.jsonl",
            b'\xef\xbb\xbf{"id": 1, "prediction": "3"}\r\n{"id": 2, "prediction": "cat"}',
        ),
    ],
)
def test_spellings_of_the_same_table(tmp_path: Path, name: str, content: str | bytes) -> None:
    column = load_column(write(tmp_path / name, content), ColumnRole.NEW)
    assert column.ids.cast(pl.String).to_list() == ["1", "2"]
    assert column.values.to_list() == ["3", "cat"]


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([1, 2], dtype=pl.Int8),
        pl.Series([1, 2], dtype=pl.UInt64),
        pl.Series(["1", "2"]),
        pl.Series(["1", "2"], dtype=pl.Categorical),
        pl.Series(["1", "2"], dtype=pl.Enum(["1", "2"])),
    ],
)
def test_parquet_of_any_type(tmp_path: Path, values: pl.Series) -> None:
    path = tmp_path / "x.parquet"
    pl.DataFrame({"other": [0, 0], "id": [10, 20], "label": values}).write_parquet(path)
    assert load_column(path, ColumnRole.LABELS).values.cast(pl.String).to_list() == ["1", "2"]


@each_case(
    "source",
    [
        [1, 2],
        (1, 2),
        np.array([1, 2]),
        np.array([1, 2], dtype=np.uint8),
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        {0: 1, 1: 2},
        pl.DataFrame({"id": [0, 1], "prediction": [1, 2]}),
        pd.DataFrame({"id": [0, 1], "prediction": [1, 2]}),
    ],
)
def test_memory_of_any_kind(source: Any) -> None:
    column = load_column(source, ColumnRole.NEW)
    assert (column.ids.to_list(), column.values.to_list()) == ([0, 1], [1, 2])


@each_case("source", [np.array(["a", "b"]), pd.Series(["a", "b"]), ["a", "b"]])
def test_texts_in_memory(source: Any) -> None:
    assert load_column(source, ColumnRole.NEW).values.to_list() == ["a", "b"]


@pytest.mark.parametrize("content", ["id,label\n1,a\n2,\n", 'id,label\n1,a\n2,""\n'])
def test_an_empty_label_is_not_yet_known(tmp_path: Path, content: str) -> None:
    column = load_column(write(tmp_path / "l.csv", content), ColumnRole.LABELS)
    assert column.values.to_list() == ["a", None]


@pytest.mark.parametrize("name", ["e.csv", "e.jsonl", "e.parquet"])
def test_an_empty_file(tmp_path: Path, name: str) -> None:
    refused(write(tmp_path / name, b""), ColumnRole.NEW, "is empty")


@pytest.mark.parametrize(
    ("name", "content"),
    [("x.csv", "id,{}\n"), ("x.jsonl", ""), ("x.jsonl", "\n\n"), ("x.ndjson", "")],
)
def test_a_file_without_rows(tmp_path: Path, name: str, content: str) -> None:
    """Labels may cover any part of the examples, so also none. Predictions cover all of them."""
    path = write(tmp_path / name, content.format("label"))
    assert len(load_column(path, ColumnRole.LABELS)) == 0
    path = write(tmp_path / name, content.format("prediction"))
    refused(path, ColumnRole.NEW, "has no rows" if name == "x.csv" else "is empty")


BAD_FILES: Mapping[str, tuple[str, str | bytes, list[str]]] = {
    "nothing": ("x.csv", "", ["is empty"]),
    "no id": ("x.csv", f"label\n{SECRET}\n", ["no column 'id'", "It has 1 columns"]),
    "no label": ("x.csv", f"id,lable\n1,{SECRET}\n", ["no column 'label'", "first row id,label"]),
    "semicolons": ("x.csv", f"id;label\n1;{SECRET}\n", ["no column 'id'", "by commas"]),
    "utf-16": ("x.csv", f"id,label\n1,{SECRET}\n".encode("utf-16"), ["is UTF-16", "UTF-8"]),
    "latin-1": ("x.csv", f"id,label\n1,é{SECRET}\n".encode("latin-1"), ["is not UTF-8"]),
    "ragged": ("x.csv", f"id,label\n1,{SECRET},3\n", ["cannot be read as CSV", "as many cells"]),
    "empty id": ("x.csv", f"id,label\n1,{SECRET}\n,{SECRET}\n", ["data row 2 has no id"]),
    "empty ids": ("x.csv", f"id,label\n,{SECRET}\n,{SECRET}\n", ["2 data rows have (1, 2) no id"]),
    "NaN": ("x.csv", f"id,label\n1,{SECRET}\n2,NaN\n", ["labels that are NaN: 1, at data row 2"]),
    "long": (
        "x.csv",
        f"id,label\n1,{SECRET * 9999}\n",
        ["longer than 10,000 bytes", "at data row 1"],
    ),
    "mixed ids": (
        "x.jsonl",
        f'{{"id": 1, "label": "{SECRET}"}}\n{{"id": "b", "label": "x"}}\n',
        ["ids of mixed types", "line 2"],
    ),
    "no header": ("x.csv", f"1,{SECRET}\n2,x\n", ["no column 'id'", "It has 2 columns"]),
    "two columns of labels": ("x.csv", f"id,label,label\n1,x,{SECRET}\n", ["two columns 'label'"]),
    "numbers and digits as ids": (
        "x.jsonl",
        f'{{"id": 1, "label": "{SECRET}"}}\n{{"id": "2", "label": "x"}}\n',
        ["ids of mixed types", "line 2"],
    ),
    "no JSON": ("x.jsonl", f'{{"id": 1, "label": "{SECRET}"}}\n{{"id": \n', ["line 2", "not JSON"]),
    "JSON NaN": ("x.jsonl", '{"id": 1, "label": NaN}\n', ["line 1", "not JSON"]),
    "a JSON list": ("x.jsonl", f'["{SECRET}"]\n', ["line 1", "JSON object"]),
    "decimal ids": (
        "x.jsonl",
        '{"id": 1.5, "label": "x"}\n',
        ["ids must be whole numbers or text"],
    ),
    "nested": ("x.jsonl", '{"id": 1, "label": {"a": 1}}\n', ["not lists or objects"]),
    "no parquet": ("x.parquet", f"id,label\n1,{SECRET}\n", ["cannot be read as Parquet"]),
    "unknown ending": ("x.xlsx", "id,label\n", ["unknown kind of file", ".csv"]),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(tmp_path: Path, name: str) -> None:
    """Each mistake has its own message, which never quotes a label."""
    file, content, fragments = BAD_FILES[name]
    refused(write(tmp_path / file, content), ColumnRole.LABELS, *fragments)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    refused(tmp_path, ColumnRole.NEW, "is a folder")
    refused(tmp_path / "none.csv", ColumnRole.NEW, "there is no file")


def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    """As root every file may be read, so a device that answers with an error stands in there."""
    if os.geteuid() == 0:
        path = tmp_path / "x.csv"
        path.symlink_to("/proc/self/mem")
        refused(path, ColumnRole.NEW, "x.csv")
    else:
        path = write(tmp_path / "x.csv", "id,prediction\n1,2\n")
        path.chmod(0)
        refused(path, ColumnRole.NEW, "permission denied")


@each_case(
    ("source", "fragment"),
    [
        ([], "has no rows"),
        ([1, "a"], "mixed types"),
        (np.array([[1, 2], [3, 4]]), "2 dimensions"),
        (np.array([1.0, np.nan]), "that are NaN"),
        ([float("nan")], "that are NaN"),
        ([None, 1], "predictions that are missing"),
        ({"a": 1, 2: 1}, "mixed types"),
        (pd.DataFrame({"id": [1], "pred": [1]}), "no column 'prediction'"),
        (pl.DataFrame({"id": [1.0], "prediction": [1]}), "not decimal numbers"),
        (pl.Series([[1], [2]]), "not lists or objects"),
    ],
)
def test_bad_memory(source: Any, fragment: str) -> None:
    refused(source, ColumnRole.NEW, fragment)


def test_json_types_survive(tmp_path: Path) -> None:
    """3 and 3.0 are told apart, which a reader that turns all into text would not do."""
    rows = [{"id": i, "prediction": v} for i, v in enumerate((3.0, 4.0))]
    path = write(tmp_path / "p.jsonl", "\n".join(json.dumps(row) for row in rows))
    assert load_column(path, ColumnRole.NEW).values.dtype == pl.Float64


def test_json_numbers_and_digits_may_mix(tmp_path: Path) -> None:
    """3 and "3" are the same class, in one file as across files."""
    path = write(tmp_path / "l.jsonl", '{"id": 1, "label": "3"}\n{"id": 2, "label": 3}\n')
    assert load_column(path, ColumnRole.LABELS).values.to_list() == ["3", "3"]


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    """At this byte polars panics, which is no Exception to Python."""
    path = tmp_path / "l.parquet"
    pl.DataFrame({"id": [1, 2, 3], "label": ["a", "b", "c"]}).write_parquet(path)
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + b"\x00" + whole[101:])
    refused(path, ColumnRole.LABELS, "cannot be read as Parquet")


def test_a_series_is_matched_by_its_index() -> None:
    """Never by order: a shuffled pandas Series means the same as before."""
    labels = pd.Series(["a", "b", "c", "d"])
    shuffled = load_column(labels.sample(frac=1.0, random_state=1), ColumnRole.LABELS)
    testset = align(load_column(labels, ColumnRole.NEW), None, shuffled)
    assert set(testset.cells.tolist()) == {0}
    part = align(
        load_column(labels, ColumnRole.NEW), None, load_column(labels[[2]], ColumnRole.LABELS)
    )
    assert sorted(part.cells.tolist()) == [0, 5, 5, 5]


@each_case(
    "labels", [pd.Series(["a", None]), pd.Series([1, None], dtype="Int64"), pd.Series(["a", pd.NA])]
)
def test_what_pandas_calls_missing_is_not_yet_known(labels: Any) -> None:
    assert load_column(labels, ColumnRole.LABELS).values.null_count() == 1
