"""Examples that an earlier testset or its sample had are left out of a new testset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from easeci.vault.intake import Offered, load_offered
from easeci.vault.overlap import Overlap, leave_out_known
from easeci.vault.paths import Vault, open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import write, written


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    return open_vault(tmp_path / "store", "demo")


def offer(folder: Path, ids: list[str], texts: list[str], ending: str = "csv") -> Offered:
    return load_offered(written(folder / f"o.{ending}", {"id": ids, "text": texts}))


def numbered(start: int, end: int, prefix: str) -> list[str]:
    return [f"{prefix}{i}" for i in range(start, end)]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_same_content_is_left_out(tmp_path: Path, vault: Vault, ending: str) -> None:
    """Whatever the ids, the order, the format, or an index that pandas added."""
    seal(vault, 1, offer(tmp_path, list("abcde"), numbered(0, 5, "text ")))
    columns = {"Unnamed: 0": range(7), "text": numbered(3, 10, "text "), "id": list("tuvwxyz")}
    again = load_offered(written(tmp_path / f"again.{ending}", columns))
    fresh = leave_out_known(again, [SealedTestset(vault, 1)])
    assert fresh.overlaps == (Overlap(testset=1, shared=2, by_id=0, by_content=2),)
    assert (fresh.left_out, fresh.offered.size) == (2, 5)
    assert fresh.offered.examples.ids.to_list() == list("vwxyz")
    assert b"text 4" not in fresh.offered.examples.content
    assert b"text 4" not in fresh.offered.examples.jsonl


def test_the_same_id_is_left_out(tmp_path: Path, vault: Vault) -> None:
    """With any content; numbers and texts of digits are the same ids."""
    seal(vault, 1, load_offered(write(tmp_path / "e.jsonl", '{"id": 7, "x": 1}\n')))
    again = load_offered(write(tmp_path / "f.csv", "id,x\n7,5\n8,6\n"))
    fresh = leave_out_known(again, [SealedTestset(vault, 1)])
    assert fresh.overlaps == (Overlap(testset=1, shared=1, by_id=1, by_content=0),)
    assert fresh.offered.examples.ids.to_list() == ["8"]


def test_samples_of_earlier_testsets_count(tmp_path: Path, vault: Vault) -> None:
    """They are public: by id and by content, none of them gets into a later testset."""
    ids, texts = numbered(0, 40, "e"), numbered(0, 40, "text ")
    digests = seal(vault, 1, offer(tmp_path, ids, texts), sample=4).digests
    first = SealedTestset(vault, 1, digests)
    assert first.sample is not None
    public = [int(str(name)[1:]) for name in first.sample.ids]
    by_content = offer(tmp_path, numbered(0, 4, "new"), [texts[row] for row in public])
    assert leave_out_known(by_content, [first]).left_out == 4
    by_id = offer(tmp_path, [ids[row] for row in public], numbered(0, 4, "new "))
    assert leave_out_known(by_id, [first]).left_out == 4


def test_each_earlier_testset_is_counted(tmp_path: Path, vault: Vault) -> None:
    """An example that several had counts for each of them, and is left out once."""
    for number, start in ((1, 0), (2, 3)):
        texts = numbered(start, start + 5, "text ")
        seal(vault, number, offer(tmp_path, numbered(start, start + 5, f"{number}-"), texts))
    third = offer(tmp_path, numbered(0, 12, "3-"), numbered(0, 12, "text "))
    fresh = leave_out_known(third, [SealedTestset(vault, number) for number in (1, 2)])
    assert [(found.testset, found.shared) for found in fresh.overlaps] == [(1, 5), (2, 5)]
    assert (fresh.left_out, fresh.offered.size) == (8, 4)


def test_without_overlap_nothing_changes(tmp_path: Path, vault: Vault) -> None:
    """The file is sealed byte for byte as it was given."""
    seal(vault, 1, offer(tmp_path, ["a"], ["one"]))
    other = offer(tmp_path, ["b"], ["two"])
    fresh = leave_out_known(other, [SealedTestset(vault, 1)])
    assert fresh.offered is other
    assert (fresh.left_out, fresh.overlaps) == (0, ())


def test_what_is_left_keeps_its_fingerprints(tmp_path: Path, vault: Vault) -> None:
    """They are those of the rows that are left."""
    seal(vault, 1, offer(tmp_path, ["x"], ["text 1"]))
    fresh = leave_out_known(
        offer(tmp_path, list("abc"), numbered(0, 3, "text ")), [SealedTestset(vault, 1)]
    )
    alone = offer(tmp_path, ["a", "c"], ["text 0", "text 2"])
    key = vault.key
    assert np.array_equal(fresh.offered.fingerprints(key), alone.fingerprints(key))
