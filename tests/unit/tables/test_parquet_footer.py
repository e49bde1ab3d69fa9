"""The footer of a Parquet file: the same numbers as another reader finds, or none."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.tables.parquet_footer import load_footer

LONGEST = 1 << 20


@pytest.mark.parametrize("groups", [1, 20])
@pytest.mark.parametrize("writer", ["polars", "pyarrow"])
def test_rows_and_sizes_are_those_of_another_reader(
    tmp_path: Path, writer: str, groups: int
) -> None:
    path, rows = tmp_path / "p.parquet", 1000
    columns = {
        "id": [f"id {number}" for number in range(rows)],
        "prediction": [number % 7 for number in range(rows)],
        "more": [[{"a": 1.5, "b": number % 2 == 0}] * 3 for number in range(rows)],
    }
    if writer == "polars":
        pl.DataFrame(columns).write_parquet(path, row_group_size=rows // groups)
    else:
        pq.write_table(pa.table(columns), path, row_group_size=rows // groups)
    found = load_footer(path, ("id", "prediction"), LONGEST)
    known = pq.read_metadata(path)
    assert found is not None
    assert found.rows == rows == known.num_rows
    assert found.unpacked_bytes == sum(
        known.row_group(group).column(column).total_uncompressed_size
        for group in range(known.num_row_groups)
        for column in (0, 1)
    )


@given(content=st.binary(max_size=200), valid=st.booleans())
def test_any_other_content_is_no_footer(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, valid: bool
) -> None:
    """And never an unexpected error."""
    path = tmp_path_factory.getbasetemp() / "any.parquet"
    ending = len(content).to_bytes(4, "little") + b"PAR1" if valid else b""
    path.write_bytes(content + ending)
    found = load_footer(path, ("id",), LONGEST)
    assert found is None or isinstance(found.rows, int)


def test_deep_and_long_footers_are_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    for content in (b"\x19" * 100_000, b"\x1c" * 100_000, b"\x00" * (LONGEST + 1)):
        path.write_bytes(content + len(content).to_bytes(4, "little") + b"PAR1")
        assert load_footer(path, ("id",), LONGEST) is None
