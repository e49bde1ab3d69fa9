"""The order in which ``check`` looks at examples: by a keyed hash of their ids.

It depends on the seed and the ids alone, never on the order of a file, which may be sorted by
class. It must never change between versions: labels that were asked for are asked for again.

Up to :data:`MOST_DIGESTS` ids are sorted by blake2b. For a million ids that would take most of the
time of a check, so more of them are sorted by a quick hash of 64 bits, the finaliser of splitmix64
with a key. It spreads ids evenly, but an expert who chooses ids could choose their places. That
gives away nothing: the default seed is public, so anyone who chooses ids can steer either order by
trying some, and nobody else can steer any. A developer chooses predictions, never ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

MOST_DIGESTS = 100_000
"""So many ids are sorted by blake2b, as in all earlier versions; more by the quick hash."""
PART = 1 << 14
"""So many ids are hashed at a time: few enough for the processor's cache."""
MIX = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
"""Shifts and factors of splitmix64, then a shift by 31 (Steele, Lea and Flood, 2014)."""

Positions = npt.NDArray[np.intp]
_Words = npt.NDArray[np.uint64]


def keyed_order(ids: pl.Series, seed: str) -> Positions:
    """Positions sorted by a keyed hash of the id: random to people without the seed.

    Ids are distinct, and Int64 or String. Digits as text have the place of the number.
    """
    key = hashlib.blake2b(seed.encode(), digest_size=32).digest()
    if len(ids) <= MOST_DIGESTS:
        first, second = _digests(ids, key)
        return _sorted_positions(first, lambda tied: second[tied])
    # Only equal hashes need a digest. Whole numbers never have one, other ids hardly ever.
    return _sorted_positions(_quick_hashes(ids, key), lambda tied: _digests(ids[tied], key)[0])


def _digests(ids: pl.Series, key: bytes) -> tuple[_Words, _Words]:
    """The two halves of a digest of each id."""
    digests = np.frombuffer(b"".join(_each_digest(ids, key)), ">u8").reshape(-1, 2)
    return digests[:, 0].astype(np.uint64), digests[:, 1].astype(np.uint64)


def _each_digest(ids: pl.Series, key: bytes) -> Iterator[bytes]:
    keyed = hashlib.blake2b(key=key, digest_size=16)  # copied: setting a key up takes longer
    for text in ids.cast(pl.String).cast(pl.Binary).to_list():
        one = keyed.copy()
        one.update(text)
        yield one.digest()


# -- the quick hash


def _quick_hashes(ids: pl.Series, key: bytes) -> _Words:
    """A hash of 64 bits for each id; that of a number, also if it is written as text."""
    words = np.frombuffer(key, "<u8").astype(np.uint64)
    found = np.empty(len(ids), np.uint64)
    for start in range(0, len(ids), PART):
        part = ids.slice(start, PART)
        hashes = _whole_hashes if part.dtype == pl.Int64 else _text_or_whole_hashes
        found[start : start + PART] = hashes(part, words)
    return found


def _text_or_whole_hashes(ids: pl.Series, key: _Words) -> _Words:
    whole = ids.cast(pl.Int64, strict=False)
    if whole.null_count() == len(ids):
        return _text_hashes(ids, key)
    numbers = whole.fill_null(0).to_numpy()
    # 007 and +7 are other ids than 7; no spelling of a number is shorter than the usual one.
    usual = _usual_lengths(numbers) == ids.str.len_bytes().to_numpy()
    usual &= whole.is_not_null().to_numpy()
    if usual.all():
        return _whole_hashes(whole, key)
    found = _text_hashes(ids, key)
    found[usual] = _whole_hashes(whole.filter(pl.Series(usual)), key)
    return found


def _usual_lengths(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    """How many characters each number has: its digits, and a sign if it is negative."""
    magnitudes = np.abs(numbers).view(np.uint64)  # also of -2**63, whose abs is itself
    lengths = (numbers < 0).astype(np.uint8) + np.uint8(1)
    for digits in range(1, len(str(int(magnitudes.max())))):
        lengths += magnitudes >= np.uint64(10**digits)
    return lengths


def _whole_hashes(ids: pl.Series, key: _Words) -> _Words:
    """One to one: no two numbers have the same hash."""
    found = np.full(len(ids), key[2])
    _mix(found, ids.to_numpy().view(np.uint64), key[3])
    _mix(found, np.uint64(8 << 56), key[3])
    return found


def _text_hashes(ids: pl.Series, key: _Words) -> _Words:
    """Eight bytes of UTF-8 at a time; the last word has the rest, and the length above it."""
    lengths = ids.str.len_bytes().to_numpy().astype(np.int64)
    content = ids.str.join("").item().encode() + bytes(8)
    word_from = np.ndarray((len(content) - 7,), "<u8", content, strides=(1,))  # from each byte on
    starts = np.cumsum(lengths) - lengths
    found, whole_words = np.full(len(ids), key[0]), lengths >> 3
    for count in np.flatnonzero(np.bincount(whole_words)).tolist():
        chosen = np.flatnonzero(whole_words == count)
        start, length, state = starts[chosen], lengths[chosen], found[chosen]
        for word in range(count):
            _mix(state, word_from[start + 8 * word], key[1])
        _mix(state, _last_words(word_from[start + 8 * count], length), key[1])
        found[chosen] = state
    return found


def _last_words(words: _Words, lengths: npt.NDArray[np.int64]) -> _Words:
    """The bytes of each text after its last whole word; the highest byte has the length."""
    used = _USED_BITS[lengths & 7]
    return np.asarray(words & used | (lengths << 56).view(np.uint64))


_USED_BITS = np.array([(1 << 8 * used) - 1 for used in range(8)], np.uint64)


def _mix(state: _Words, word: _Words | np.uint64, key: np.uint64) -> None:
    """Take one more word into each state, in place. One to one for a given word."""
    state ^= word
    for shift, factor in MIX:
        state ^= state >> np.uint64(shift)
        state *= np.uint64(factor)
    state ^= state >> np.uint64(31)
    state += key


# -- sorting


def _sorted_positions(first: _Words, second: Callable[[Positions], _Words]) -> Positions:
    """Positions by ``first``, then by ``second`` of some positions, then as they are.

    The highest byte of many hashes splits them into parts that fit the processor's cache. Each part
    is sorted by its highest 32 bits, and the few hashes that are equal there among themselves.
    """
    order, cuts = np.arange(len(first)), [0, len(first)]
    if len(first) > PART:
        highest = np.empty(len(first), np.uint8)
        np.right_shift(first, np.uint64(56), out=highest, casting="unsafe")
        order = np.argsort(highest, kind="stable")
        starts = np.searchsorted(highest, np.arange(256, dtype=np.uint8), sorter=order)
        cuts = [*starts.tolist(), len(first)]
    upper = np.empty(len(first), np.uint32)
    np.right_shift(first, np.uint64(32), out=upper, casting="unsafe")
    upper = upper[order]
    for start, end in pairwise(cuts):
        local = _sorted_words(upper[start:end])
        order[start:end] = order[start:end][local]
        upper[start:end] = upper[start:end][local]
    tied = _in_runs(upper)
    among = np.sort(order[tied])
    among = among[np.argsort(first[among], kind="stable")]
    equal = _in_runs(first[among])
    if len(equal):
        rest = among[equal]
        among[equal] = rest[np.lexsort((second(rest), first[rest]))]
    order[tied] = among
    return order


def _sorted_words(words: npt.NDArray[np.uint32]) -> Positions:
    """Positions by value; numpy sorts numbers of 16 bits in linear time."""
    order = np.argsort(words.astype(np.uint16), kind="stable")
    upper = (words >> np.uint32(16)).astype(np.uint16)[order]
    return np.asarray(order[np.argsort(upper, kind="stable")])


def _in_runs(values: npt.NDArray[np.unsignedinteger[Any]]) -> Positions:
    """The places of sorted values that occur more than once."""
    same = values[1:] == values[:-1]
    return np.flatnonzero(np.append(same, False) | np.append(False, same))
