"""Texts and ranks as plain bytes, for a process that does not trust the one that wrote them.

Every size is known beforehand, so reading them is a few copies, and no format is parsed. Classes
are few, so each different text is written once.
"""

from __future__ import annotations

import numpy as np
import polars as pl

_NUMBER = np.dtype("<u4")
_SCORE = np.dtype("<f8")


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
    texts = _unpack_texts(content[count * _NUMBER.itemsize :], classes)
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
    """Texts as bytes: the number of characters of each, then all of them."""
    lengths = values.str.len_chars().to_numpy().astype(_NUMBER)
    return lengths.tobytes() + "".join(values).encode()


def _unpack_texts(content: bytes, count: int) -> pl.Series:
    """The texts that :func:`_pack_texts` wrote. ValueError if that is not what it is."""
    ends = np.cumsum(np.frombuffer(content, _NUMBER, count), dtype=np.int64).tolist()
    text = content[count * _NUMBER.itemsize :].decode()
    if len(text) != (ends[-1] if ends else 0):
        raise ValueError("lengths and texts do not fit together")
    parts = [text[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return pl.Series(parts, dtype=pl.String)
