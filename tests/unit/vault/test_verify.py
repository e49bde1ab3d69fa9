"""Any change to a sealed testset is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.vault.intake import load_offered
from easeci.vault.paths import Vault, open_vault
from easeci.vault.sealing import Seal, seal
from easeci.vault.testset import SealedTestset
from easeci.vault.verify import damage
from tests.unit.vault.making import SECRET, add_labels, write, written

Sealed = tuple[Vault, dict[str, str], SealedTestset]


@pytest.fixture
def whole(tmp_path: Path) -> Sealed:
    """A testset with all kinds of files: examples, files, labels, predictions."""
    for i in range(4):
        write(tmp_path / "files" / "images" / f"{i}.png", f"image {i}")
    columns = {
        "id": range(4),
        "image": [f"images/{i}.png" for i in range(4)],
        "y": [f"{SECRET}{i % 2}" for i in range(4)],
    }
    examples = written(tmp_path / "e.csv", columns)
    vault = open_vault(tmp_path / "store", "demo")
    offer = load_offered(examples, label_column="y", files=tmp_path / "files")
    sealed_as: Seal = seal(vault, 1, offer)
    testset = SealedTestset(vault, 1)
    received = add_labels(
        testset,
        write(tmp_path / "l.csv", "id,label\n0,corrected\n"),
        known=sealed_as.label_files,
        correct=True,
    )
    stored = testset.predictions.store(
        written(tmp_path / "p.csv", {"id": range(4), "prediction": ["a"] * 4})
    )
    digests = dict(sealed_as.digests)
    digests[str(received.file)] = str(received.digest)
    digests[stored.name] = stored.digest
    assert damage(vault, {1: digests}) == []
    return vault, digests, testset


def files_of(testset: SealedTestset) -> list[Path]:
    return sorted(path for path in testset.folder.rglob("*") if path.is_file())


def test_a_bit_flipped_in_any_file_is_found(whole: Sealed) -> None:
    vault, digests, testset = whole
    paths = files_of(testset)
    assert len(paths) == 2 + 4 + 1 + 3 + 2 + 1
    for path in paths:
        content = path.read_bytes()
        for position in {0, len(content) // 2, len(content) - 1}:
            flipped = bytearray(content)
            flipped[position] ^= 1 << (position % 8)
            path.write_bytes(flipped)
            found = damage(vault, {1: digests})
            name = path.relative_to(testset.folder).as_posix()
            assert f"testset 1: {name} was changed" in found
            assert SECRET not in "".join(found)
        path.write_bytes(content)
    assert damage(vault, {1: digests}) == []


def test_a_missing_file_is_found(whole: Sealed) -> None:
    vault, digests, testset = whole
    for path in files_of(testset):
        content = path.read_bytes()
        path.unlink()
        name = path.relative_to(testset.folder).as_posix()
        assert f"testset 1: {name} is missing" in damage(vault, {1: digests})
        path.mkdir()
        assert any(name in words for words in damage(vault, {1: digests}))
        path.rmdir()
        path.write_bytes(content)


def test_additional_files_among_the_examples_are_found(whole: Sealed) -> None:
    vault, digests, testset = whole
    write(testset.examples_folder / "files" / "answers.txt", SECRET)
    (testset.examples_folder / "more").symlink_to(testset.folder / "labels")
    assert sorted(damage(vault, {1: digests})) == [
        "testset 1: examples/files/answers.txt was added",
        "testset 1: examples/more was added",
    ]


def test_a_file_replaced_by_a_link_is_found(whole: Sealed, tmp_path: Path) -> None:
    vault, digests, testset = whole
    path = testset.folder / "order.npy"
    path.rename(tmp_path / "order.npy")
    path.symlink_to(tmp_path / "order.npy")
    assert damage(vault, {1: digests}) == ["testset 1: order.npy cannot be read: it is not a file"]


def test_labels_of_two_files_swapped_are_found(whole: Sealed) -> None:
    """Names are bound to their contents."""
    vault, digests, testset = whole
    first, second = (testset.folder / "labels" / name for name in ("0001.parquet", "0002.parquet"))
    one, two = first.read_bytes(), second.read_bytes()
    first.write_bytes(two)
    second.write_bytes(one)
    assert len(damage(vault, {1: digests})) == 2


def test_a_testset_that_is_gone_is_found(whole: Sealed) -> None:
    vault, digests, _ = whole
    vault.discard(1)
    assert damage(vault, {1: digests}) == ["testset 1 is missing from the vault"]
    assert damage(vault, {}) == []
