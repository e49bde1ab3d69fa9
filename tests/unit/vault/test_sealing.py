"""From examples to a testset: what programs see, the secret order, and files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import SECRET, exported, offered, sealed, write, written


@pytest.mark.parametrize("ending", ["csv", "jsonl", "ndjson", "parquet"])
def test_programs_see_no_labels(tmp_path: Path, ending: str) -> None:
    """Not in any byte of what they are given, in any format; nor is the order of it secret."""
    labels = [f"{SECRET}{i % 2}" for i in range(30)]
    columns = {"id": range(30), "text": [f"text {i * i}" for i in range(30)], "y": labels}
    vault = open_vault(tmp_path / "store", "demo")
    given = written(tmp_path / f"e.{ending}", columns)
    sealed_as = seal(vault, 1, load_offered(given, label_column="y"))
    testset = SealedTestset(vault, 1, sealed_as.digests)
    seen = exported(testset)
    assert set(seen) == {f"examples.{ending}", "examples.jsonl"}
    assert SECRET.encode() not in b"".join(seen.values())
    assert [str(i) for i in testset.examples.ids] == [str(i) for i in range(30)]
    again = load_offered(testset.examples_folder / f"examples.{ending}")
    assert again.examples.ids.to_list() == testset.examples.ids.to_list()
    assert testset.labels.values(sealed_as.label_files).to_list() == labels
    assert sealed_as.labels_known == sealed_as.examples == 30


def test_without_labels_the_given_file_is_copied_as_it_is(tmp_path: Path) -> None:
    _, sealed_as, testset = sealed(tmp_path)
    assert exported(testset)["examples.csv"] == (tmp_path / "offered.csv").read_bytes()
    assert sealed_as.label_files == ()
    assert testset.labels.values([]).to_list() == [None] * 5


def test_the_order_is_a_secret_permutation(tmp_path: Path) -> None:
    vault = open_vault(tmp_path / "store", "demo")
    orders = []
    for number in (1, 2):
        seal(vault, number, offered(tmp_path, 100))
        orders.append(SealedTestset(vault, number).examples.order)
        assert sorted(orders[-1].tolist()) == list(range(100))
    assert not np.array_equal(orders[0], orders[1])
    assert not np.array_equal(orders[0], np.arange(100))


def test_times_say_nothing(tmp_path: Path) -> None:
    """Neither when a file was changed, nor which files a labeller has seen."""
    write(tmp_path / "files" / "a" / "1.txt", "one")
    examples = write(tmp_path / "e.csv", "id,path\n1,a/1.txt\n")
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(examples, files=tmp_path / "files"))
    folder = SealedTestset(vault, 1).examples_folder
    names = [folder, *folder.rglob("*")]
    before = {(path.stat().st_mtime, path.stat().st_atime) for path in names}
    assert len(before) == 1
    if not os.statvfs(folder).f_flag & (os.ST_NOATIME | os.ST_RELATIME):
        pytest.skip("this file system is mounted with strictatime, where every access is noted")
    (folder / "files" / "a" / "1.txt").read_bytes()
    assert {(path.stat().st_mtime, path.stat().st_atime) for path in names} == before
