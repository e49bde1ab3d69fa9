"""Files of predictions that are made to harm the process that reads them."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

EXAMPLES = 1000
MIB = 1 << 20


def ids() -> pl.Series:
    """The ids of the testset that is attacked."""
    return pl.int_range(EXAMPLES, eager=True)


def honest(folder: Path) -> Path:
    """Predictions as they should be."""
    path = folder / "honest.csv"
    pl.DataFrame({"id": ids(), "prediction": ["a"] * EXAMPLES}).write_csv(path)
    return path


def many_rows(folder: Path, rows: int = 8_000_000) -> Path:
    """A few kB that hold one value many times."""
    path, part = folder / f"{rows}.parquet", 4_000_000
    table = pa.table({"id": pa.repeat(7, part), "prediction": pa.repeat("a", part)})
    with pq.ParquetWriter(path, table.schema, compression="zstd") as writer:
        for _ in range(rows // part):
            writer.write_table(table, row_group_size=part)
    return path


def very_many_rows(folder: Path) -> Path:
    """400 million rows in 3 MB: read in the usual way, they took 7.7 GB."""
    return many_rows(folder, 400_000_000)


def hidden_rows(folder: Path) -> Path:
    """The same, but the footer says that there are few rows."""
    path = many_rows(folder).rename(folder / "hidden.parquet")
    content = path.read_bytes()
    for rows in (8_000_000, 4_000_000):
        content = content.replace(_varint(2 * rows), _varint(2, len(_varint(2 * rows))))
    path.write_bytes(content)
    return path


def boasting_footer(folder: Path) -> Path:
    """A small file whose footer says that it has a million million rows."""
    path = folder / "boasting.parquet"
    rows = 1_000_000
    table = pa.table({"id": pa.repeat(7, rows), "prediction": pa.repeat("a", rows)})
    pq.write_table(table, path, compression="zstd", row_group_size=rows)
    # A number of as many bytes: the rest of the file stays in its place.
    path.write_bytes(path.read_bytes().replace(_varint(2 * rows), _varint((1 << 21) - 1)))
    return path


def endless_footer(folder: Path) -> Path:
    """A file whose footer is larger than the file."""
    path = folder / "endless.parquet"
    path.write_bytes(b"PAR1" + b"\xff\xff\xff\x7f" + b"PAR1")
    return path


def huge_metadata(folder: Path) -> Path:
    """A file that is almost nothing but metadata."""
    path = folder / "metadata.parquet"
    table = pa.table({"id": [1], "prediction": ["a"]})
    with pq.ParquetWriter(path, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({str(number): "x" * 100 for number in range(400_000)})
    return path


def bomb(folder: Path, groups: int = 1, column: str = "prediction") -> Path:
    """Texts that unpack to a thousand times their size."""
    path, texts = folder / "bomb.parquet", ["a" * MIB] * 80
    table = pa.table({"id": range(len(texts)), "prediction": ["a"] * len(texts)} | {column: texts})
    with pq.ParquetWriter(path, table.schema, compression="zstd", use_dictionary=False) as writer:
        for _ in range(groups):
            writer.write_table(table)
    return path


def hidden_bomb(folder: Path) -> Path:
    """2 GiB of text, but the footer says that they unpack to a byte."""
    path = bomb(folder, groups=26).rename(folder / "hidden.parquet")
    size = pq.read_metadata(path).row_group(0).column(1).total_uncompressed_size
    told = _varint(2 * size)
    path.write_bytes(path.read_bytes().replace(told, _varint(2, len(told))))
    return path


def sparse(folder: Path) -> Path:
    """1 GiB of nothing, which takes no space on the disk."""
    path = folder / "sparse.csv"
    path.write_bytes(b"id,prediction\n")
    os.truncate(path, 1 << 30)
    return path


def endless_line(folder: Path) -> Path:
    """A line without an end."""
    path = folder / "line.csv"
    path.write_bytes(b"id,prediction\n1," + b"a" * (60 * MIB))
    return path


def endless_header(folder: Path) -> Path:
    """60 million columns."""
    path = folder / "header.csv"
    path.write_bytes(b"id,prediction" + b"," * (60 * MIB))
    return path


def many_columns(folder: Path) -> Path:
    """A million columns, and a row for each example."""
    path = folder / "columns.csv"
    header = ",".join(["id", "prediction", *(f"c{number}" for number in range(1_000_000))])
    path.write_text(f"{header}\n" + "".join(f"{number},a\n" for number in range(EXAMPLES)))
    return path


def many_short_rows(folder: Path) -> Path:
    """As many rows as fit into the size that is allowed."""
    path = folder / "short.csv"
    path.write_bytes(b"id,prediction\n" + b"1,1\n" * (15 * MIB))
    return path


def many_keys(folder: Path) -> Path:
    """Other keys on every line, so that a table of it has a million columns of a thousand rows."""
    path, numbers = folder / "keys.jsonl", itertools.count()
    with path.open("w") as file:
        for number in range(EXAMPLES):
            more = {f"k{next(numbers)}": 1 for _ in range(1000)}
            file.write(json.dumps({"id": number, "prediction": "a", **more}) + "\n")
    return path


def deep(folder: Path) -> Path:
    """A value that is nested half a million times."""
    path, depth = folder / "deep.jsonl", 500_000
    path.write_text('{"id": 1, "prediction": ' + "[" * depth + "]" * depth + "}\n")
    return path


def deep_objects(folder: Path) -> Path:
    """The same with objects."""
    path, depth = folder / "objects.jsonl", 500_000
    path.write_text('{"id": 1, "prediction": ' + '{"a":' * depth + "1" + "}" * depth + "}\n")
    return path


def pipe(folder: Path) -> Path:
    """A pipe that nobody writes to."""
    path = folder / "pipe.csv"
    os.mkfifo(path)
    return path


QUICK: tuple[Callable[[Path], Path], ...] = (
    many_rows,
    hidden_rows,
    boasting_footer,
    endless_footer,
    huge_metadata,
    bomb,
    sparse,
    endless_line,
    endless_header,
    deep,
    deep_objects,
    pipe,
)
LONG: tuple[Callable[[Path], Path], ...] = (
    very_many_rows,
    hidden_bomb,
    many_columns,
    many_short_rows,
    many_keys,
)


def _varint(value: int, length: int = 1) -> bytes:
    """A number as Parquet's footer has it, of at least this many bytes."""
    found = bytearray()
    while value > 127 or len(found) + 1 < length:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])
