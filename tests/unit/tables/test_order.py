"""The order of a check: by digests of few ids, by quick hashes of many; the same in all versions."""

from __future__ import annotations

import hashlib
import re

import numpy as np
import polars as pl
import pytest

from easeci.tables import order
from easeci.tables.order import keyed_order
from tests.cases import each_case


@each_case("seed", ["", "other"])
@each_case(
    "ids",
    [
        pl.int_range(-50, 1500, eager=True),
        pl.Series(["a", "b" * 200, "ü😀", "007", "7"]),
        pl.Series([7]),
        pl.Series([], dtype=pl.Int64),
    ],
)
def test_it_sorts_by_a_keyed_digest(ids: pl.Series, seed: str) -> None:
    key = hashlib.blake2b(seed.encode(), digest_size=32).digest()
    digests = [hashlib.blake2b(str(v).encode(), key=key, digest_size=16).digest() for v in ids]
    expected = sorted(range(len(ids)), key=lambda place: digests[place])
    assert keyed_order(ids, seed).tolist() == expected


def test_hashes_that_begin_alike_are_sorted_by_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first 32 bits are sorted quickly; they decide nearly always, and never wrongly."""
    monkeypatch.setattr(order, "PART", 100)
    random = np.random.default_rng(1)
    for size in (0, 1, 2, 99, 1000):
        first = random.integers(0, 40, size).astype(np.uint64) << np.uint64(31)
        first |= random.integers(0, 3, size).astype(np.uint64) << np.uint64(60)
        second = random.integers(0, 3, size).astype(np.uint64)
        found = order._sorted_positions(first, second.__getitem__)
        assert found.tolist() == np.lexsort((second, first)).tolist()


def test_the_order_never_changes_between_versions(quick: None) -> None:
    """Labels already asked for must be the ones that are asked for again."""
    ids = pl.Series([*"abcdefg", "example-0000001", "ü" * 300, "7", "-12"])
    assert keyed_order(ids, "s").tolist() == [1, 3, 7, 6, 9, 10, 4, 2, 0, 8, 5]
    assert keyed_order(pl.Series(range(8)), "s").tolist() == [6, 3, 5, 4, 7, 2, 0, 1]


def test_the_older_order_never_changes_either() -> None:
    assert keyed_order(pl.Series(list("abcdefgh")), "s").tolist() == [5, 4, 2, 3, 6, 0, 7, 1]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were many ids, in several parts."""
    monkeypatch.setattr(order, "MOST_DIGESTS", 0)
    monkeypatch.setattr(order, "PART", 1000)


IDS = {
    "rising": pl.int_range(-500, 3500, eager=True),
    "sparse": pl.int_range(4000, eager=True) * 2**40,
    "digits": pl.int_range(4000, eager=True).cast(pl.String),
    "names": pl.Series([f"example-{i:07}" for i in range(4000)]),
    "mixed": pl.Series([str(i) if i % 3 else f"{'ü' * (i % 20)}{i}" for i in range(1, 4001)]),
    "edges": pl.Series(
        [
            *(
                spelt
                for power in range(19)
                for n in (10**power, 10**power - 1)
                for spelt in (f"{n}", f"-{n}", f"+{n}", f"0{n}", f"-0{n}", f" {n}", f"{n}.0")
            ),
            *(str(n) for n in (2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**19, 10**30)),
        ]
    ).unique(maintain_order=True),
    "spaced": pl.Series([f"{i}\0" if i % 2 else f"0{i}" for i in range(4000)]),
}


@each_case("ids", list(IDS.values()))
def test_the_quick_order_depends_on_ids_and_seed_alone(quick: None, ids: pl.Series) -> None:
    """Not on the order of a file, nor on whether whole numbers are written as text."""
    found = keyed_order(ids, "")
    assert sorted(found.tolist()) == list(range(len(ids)))
    shuffled = np.random.default_rng(2).permutation(len(ids))
    assert (shuffled[keyed_order(ids.gather(shuffled), "")] == found).all()
    assert (keyed_order(ids.cast(pl.String), "") == found).all()
    assert (keyed_order(ids, "other") != found).any()


@each_case("ids", list(IDS.values()))
def test_the_quick_order_looks_random(quick: None, ids: pl.Series) -> None:
    """Ranks, neighbours and the parity of ids say nothing of the place: five deviations each."""
    for seed in ("", "a", "b"):
        place = np.argsort(keyed_order(ids, seed)).astype(float)
        size = len(ids)
        for other in (np.arange(size), np.roll(place, 1), np.roll(place, 2), np.arange(size) % 2):
            assert abs(np.corrcoef(place, other)[0, 1]) < 5 / np.sqrt(size)
        thirds = np.bincount((place * 3 // size).astype(int) * 10 + np.arange(size) * 10 // size)
        expected = size / 30
        assert ((thirds - expected) ** 2 / expected).sum() < 18 + 5 * 6  # 18 degrees of freedom


def slow_hash(id_: str, key: bytes) -> int:
    """The quick hash of one id, in plain Python."""
    words = [int.from_bytes(key[start : start + 8], "little") for start in range(0, 32, 8)]
    content = id_.encode()
    whole = re.fullmatch("0|-?[1-9][0-9]*", id_) and -(2**63) <= int(id_) < 2**63
    if whole:
        content = int(id_).to_bytes(8, "little", signed=True)
    state, step = words[2:] if whole else words[:2]
    blocks = [content[start : start + 8] for start in range(0, len(content) // 8 * 8, 8)]
    blocks.append(content[len(blocks) * 8 :].ljust(7, b"\0") + bytes([len(content) % 256]))
    for block in blocks:
        state ^= int.from_bytes(block, "little")
        state = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ state >> 27) * 0x94D049BB133111EB % 2**64
        state = ((state ^ state >> 31) + step) % 2**64
    return state


@each_case("ids", list(IDS.values()))
def test_the_quick_hash_against_plain_python(ids: pl.Series) -> None:
    key = hashlib.blake2b(b"some seed", digest_size=32).digest()
    expected = [slow_hash(str(value), key) for value in ids]
    assert order._quick_hashes(ids, key).tolist() == expected


def test_each_bit_of_an_id_changes_half_of_its_hash() -> None:
    key = bytes(range(32))
    ids = np.random.default_rng(3).integers(0, 2**20, 400)
    before = order._quick_hashes(pl.Series(ids), key)
    for bit in range(0, 63, 7):
        after = order._quick_hashes(pl.Series(ids ^ (1 << bit)), key)
        changed = np.unpackbits((before ^ after).view(np.uint8)).reshape(len(ids), 64)
        assert abs(changed.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(len(ids))


def test_equal_quick_hashes_are_sorted_by_their_digests(
    quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that the order of the file never decides, even then."""
    monkeypatch.setattr(order, "_quick_hashes", lambda ids, _: np.zeros(len(ids), np.uint64))
    ids = IDS["names"].head(50)
    found = ids.gather(keyed_order(ids, ""))
    assert found.to_list() == ids.reverse().gather(keyed_order(ids.reverse(), "")).to_list()
    monkeypatch.undo()
    assert found.to_list() == ids.gather(keyed_order(ids, "")).to_list()
