"""Fingerprints of examples: equal for equal content."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import polars as pl

from easeci.vault.fingerprints import canonical, fingerprints
from easeci.vault.intake import load_offered
from easeci.vault.key import Key
from easeci.vault.overlap import leave_out_known
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import write


def test_files_overlap_by_their_bytes(tmp_path: Path) -> None:
    """A file under another name is the same; another file under the same name is not."""
    for name, content in (("old/1", "one"), ("old/2", "two"), ("new/a", "two"), ("new/1", "three")):
        write(tmp_path / name, content)
    vault = open_vault(tmp_path / "store", "demo")
    first = write(tmp_path / "e.csv", "id,path\n1,1\n2,2\n")
    seal(vault, 1, load_offered(first, files=tmp_path / "old"))
    second = write(tmp_path / "f.csv", "id,path\n1,1\n2,a\n")
    offer = load_offered(second, files=tmp_path / "new")
    (found,) = leave_out_known(offer, [SealedTestset(vault, 1)]).overlaps
    assert found.by_content == 1


def test_numbers_are_the_same_in_any_format(tmp_path: Path) -> None:
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(write(tmp_path / "e.csv", "id,x,n\n1,0.10,3\n2,1e-07,4.0\n")))
    frame = pl.DataFrame({"id": [1, 2], "x": [0.1, 1e-7], "n": [3, 4]})
    frame.write_parquet(tmp_path / "e.parquet")
    frame.write_ndjson(tmp_path / "e.jsonl")
    for name in ("e.parquet", "e.jsonl"):
        (found,) = leave_out_known(
            load_offered(tmp_path / name), [SealedTestset(vault, 1)]
        ).overlaps
        assert found.by_content == 2


def test_examples_of_nothing_but_ids_are_their_ids(tmp_path: Path) -> None:
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(write(tmp_path / "e.csv", "id\n1\n2\n")))
    offer = load_offered(write(tmp_path / "f.csv", "id\n2\n3\n"))
    (found,) = leave_out_known(offer, [SealedTestset(vault, 1)]).overlaps
    assert (found.shared, found.by_id, found.by_content) == (1, 1, 1)


def test_equal_numbers_are_spelt_alike_and_texts_stay() -> None:
    """Two spellings of numbers become one exactly if the numbers are equal."""
    numbers = ["3", "3.0", "3.00", "0.5", ".5", "5e-1", "1e3", "1000", "-0.5", "-.50", "30"]
    spelt = canonical(pl.Series(numbers))
    for (one, first), (other, second) in combinations(zip(numbers, spelt, strict=True), 2):
        assert (first == second) == (float(one) == float(other)), (one, other)
    texts = ["a", "1.0.0", "e5", "", "3 ", "v1.0"]
    assert canonical(pl.Series([*texts, "1.0"])).to_list() == [*texts, "1"]
    assert canonical(pl.Series([1.0, None, 2.5])).to_list() == ["1", "", "2.5"]


def test_fingerprints_stand_for_contents_under_one_key() -> None:
    """Equal contents and only they share a fingerprint, and another key gives other ones."""
    rows = pl.Series(["a", "b", "a", "ab", ""])
    first, second = (fingerprints(rows, Key(bytes([i]) * 32)).tolist() for i in (1, 2))
    for (i, one), (j, other) in combinations(enumerate(rows), 2):
        assert (first[i] == first[j]) == (one == other)
    assert set(first).isdisjoint(second)
