"""Fingerprints of examples: equal for equal content."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.sealing import overlaps, seal
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
    (found,) = overlaps(offer, [SealedTestset(vault, 1)])
    assert (found.shared, found.identical) == (1, False)


def test_numbers_are_the_same_in_any_format(tmp_path: Path) -> None:
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(write(tmp_path / "e.csv", "id,x,n\n1,0.10,3\n2,1e-07,4.0\n")))
    frame = pl.DataFrame({"id": [1, 2], "x": [0.1, 1e-7], "n": [3, 4]})
    frame.write_parquet(tmp_path / "e.parquet")
    frame.write_ndjson(tmp_path / "e.jsonl")
    for name in ("e.parquet", "e.jsonl"):
        (found,) = overlaps(load_offered(tmp_path / name), [SealedTestset(vault, 1)])
        assert found.identical


def test_examples_of_nothing_but_ids_are_their_ids(tmp_path: Path) -> None:
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(write(tmp_path / "e.csv", "id\n1\n2\n")))
    offer = load_offered(write(tmp_path / "f.csv", "id\n2\n3\n"))
    (found,) = overlaps(offer, [SealedTestset(vault, 1)])
    assert found.shared == 1
