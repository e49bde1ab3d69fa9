"""Texts and ranks as plain bytes, for a process that does not trust the one that wrote them.

Every size is known beforehand, so reading them is a few copies, and no format is parsed. Classes
are few, so each different text is written once. Outputs can be long and many, so texts are turned
into objects of Python a part after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

_NUMBER = np.dtype("<u4")
_SCORE = np.dtype("<f8")
PART_BYTES = 1 << 24
TEXT_BYTES = 64
"""What a text takes as an object of Python, besides its characters."""


def pack_classes(values: pl.Series) -> tuple[int, bytes]:
    """The number of different texts; and as bytes the place of each value among them, and them."""
    classes = values.unique(maintain_order=True)
    numbers = pl.DataFrame({"value": classes}).with_row_index("class")
    places = pl.DataFrame({"value": values}).join(numbers, on="value", maintain_order="left")
    packed = places["class"].to_numpy().astype(_NUMBER).tobytes()
    return len(classes), packed + _pack_texts(classes)


def unpack_classes(content: bytes, count: int, classes: int) -> pl.Series:
    """The values that :func:`pack_classes` wrote. ValueError if that is not what it is."""
    places = np.frombuffer(content, _NUMBER, count)
    texts = _unpack_texts(memoryview(content)[count * _NUMBER.itemsize :], classes)
    if count and int(places.max()) >= classes:
        raise ValueError("a value without its text")
    return texts.gather(places.astype(np.uint32))


def pack_ranks(values: pl.Series) -> bytes:
    """Scores as bytes: 8 for each."""
    return values.to_numpy().astype(_SCORE).tobytes()


def unpack_ranks(content: bytes, count: int) -> pl.Series:
    """The ranks that :func:`pack_ranks` wrote. ValueError if one is not a number from 0 to 1."""
    ranks = np.frombuffer(content, _SCORE, count).astype(np.float64)
    if not bool(((ranks >= 0.0) & (ranks <= 1.0)).all()):  # false for NaN
        raise ValueError("a score outside 0 to 1")
    return pl.Series(ranks)


def _pack_texts(values: pl.Series) -> bytes:
    """Texts as bytes: the number of bytes of each, then all of them."""
    lengths = values.str.len_bytes().to_numpy().astype(_NUMBER).tobytes()
    return b"".join([lengths, *encoded_parts(values)])


def encoded_parts(values: pl.Series) -> Iterator[bytes]:
    """The bytes of all texts, one after the other, in parts of a few MB."""
    for start, end in _parts(values.str.len_bytes().to_numpy()):
        yield "".join(values.slice(start, end - start)).encode()


def _unpack_texts(content: memoryview, count: int) -> pl.Series:
    """The texts that :func:`_pack_texts` wrote. ValueError if that is not what it is."""
    lengths = np.frombuffer(content, _NUMBER, count)
    texts = content[count * _NUMBER.itemsize :]
    ends = np.cumsum(lengths, dtype=np.int64)
    if len(texts) != (ends[-1] if count else 0):
        raise ValueError("lengths and texts do not fit together")
    starts = ends - lengths
    done = [pl.Series(dtype=pl.String)]
    for first, last in _parts(lengths):
        places = zip(starts[first:last].tolist(), ends[first:last].tolist(), strict=True)
        done.append(
            pl.Series([str(texts[start:end], "utf-8") for start, end in places], dtype=pl.String)
        )
    return pl.concat(done)


def _parts(lengths: npt.NDArray[Any]) -> Iterator[tuple[int, int]]:
    """First and last place of parts with a few MB of text each, or a single long text."""
    part = (np.cumsum(lengths, dtype=np.int64) + TEXT_BYTES * np.arange(len(lengths))) // PART_BYTES
    edges = [0, *(np.flatnonzero(np.diff(part)) + 1).tolist(), len(lengths)]
    yield from pairwise(edges)
