"""What developers get of a retired testset."""

from __future__ import annotations

import os
from pathlib import Path

from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.release import write_release
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import add_labels, exported, labelled, sealed, write


def test_a_release_has_the_examples_and_the_known_labels_and_nothing_secret(
    tmp_path: Path,
) -> None:
    _, _, testset = sealed(tmp_path)
    received = add_labels(testset, labelled(tmp_path, "3,a\n1,b\n"), known=[])
    assert received.file is not None
    target = tmp_path / "new" / "folder"
    write_release(testset.examples, testset.labels.values([received.file]), target)
    found = {str(p.relative_to(target)): p.read_bytes() for p in target.rglob("*") if p.is_file()}
    assert found.pop("labels.csv").decode().split() == ["id,label", "1,b", "3,a"]
    assert found == exported(testset)


def test_labels_that_were_never_recorded_are_not_released(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    add_labels(testset, labelled(tmp_path, "3,a\n"), known=[])
    write_release(testset.examples, testset.labels.values([]), tmp_path / "out")
    assert (tmp_path / "out" / "labels.csv").read_text().split() == ["id,label"]


def test_developers_can_read_a_release(tmp_path: Path) -> None:
    """Its files have the modes of new files, and not those of the vault."""
    folder = tmp_path / "images"
    folder.mkdir()
    (folder / "a.png").write_bytes(b"png")
    examples = write(tmp_path / "offered.csv", "id,image\n1,a.png\n")
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(examples, files=folder))
    target = tmp_path / "out"
    before = os.umask(0o022)
    try:
        testset = SealedTestset(vault, 1)
        write_release(testset.examples, testset.labels.values([]), target)
    finally:
        os.umask(before)
    modes = {path.name: path.stat().st_mode & 0o777 for path in target.rglob("*")}
    assert modes.pop("files") == 0o755
    assert set(modes.values()) == {0o644}
    assert "a.png" in modes
