"""Fingerprints of examples: the same for equal content, even with other ids and names of files.

Two examples have the same content if all their columns are equal, with the bytes of a file in place
of its path. Only keyed hashes of the content are stored.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.vault.key import Key

if TYPE_CHECKING:
    from easeci.tables.examples import Examples

Fingerprints = npt.NDArray[np.uint64]
ROW_NUMBERS = r"^(Unnamed: [0-9]+|)$"
"""Names that pandas gives to its column of row numbers. Row numbers are not content."""


def content_rows(examples: Examples, hashes: Mapping[str, Mapping[str, str]]) -> pl.Series:
    """The content of each example as one text.

    ``hashes`` holds, for each column of paths, the hash of the file that a path stands for.
    """
    columns = examples.columns
    names = sorted(n for n in columns.columns if not pl.Series([n]).str.contains(ROW_NUMBERS)[0])
    if not names:
        return examples.ids.cast(pl.String)
    chosen = [
        columns[name].replace_strict(hashes[name], default="", return_dtype=pl.String)
        if name in hashes
        else canonical(columns[name])
        for name in names
    ]
    frame = pl.DataFrame({str(i): values for i, values in enumerate(chosen)})
    rows = frame.select(pl.struct(pl.all()).struct.json_encode()).to_series()
    return rows + "\n".join(names)


def canonical(values: pl.Series) -> pl.Series:
    """Values as texts, with equal numbers spelt alike (3.0, 3.00 and 3), and null as empty."""
    number = pl.col("v").str.contains(r"^[+-]?[0-9]*\.?[0-9]+([eE][+-]?[0-9]+)?$")
    decimal = number & pl.col("v").str.contains(r"[.eE]")
    spelt = pl.col("v").cast(pl.Float64, strict=False).cast(pl.String).str.replace(r"\.0$", "")
    frame = pl.DataFrame({"v": values.cast(pl.String).fill_null("")})
    if not frame.select(decimal.any()).item():
        return frame["v"]
    return frame.select(pl.when(decimal).then(spelt).otherwise(pl.col("v")).alias("v"))["v"]


def fingerprints(rows: pl.Series, key: Key) -> Fingerprints:
    """A keyed hash of each content.

    64 bits: among a million examples and ten million earlier ones, two different contents share one
    with probability below one in a million.
    """
    secret = key.derived("content")
    digests = b"".join(
        hashlib.blake2b(row.encode(), key=secret, digest_size=8).digest() for row in rows
    )
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)
