"""What developers get of a retired testset."""

from __future__ import annotations

from pathlib import Path

from easeci.vault.release import write_release
from tests.unit.vault.making import add_labels, exported, labelled, sealed


def test_a_release_has_the_examples_and_the_known_labels_and_nothing_secret(
    tmp_path: Path,
) -> None:
    _, _, testset = sealed(tmp_path)
    received = add_labels(testset, labelled(tmp_path, "3,a\n1,b\n"), known=[])
    assert received.file is not None
    target = tmp_path / "new" / "folder"
    write_release(testset, target, [received.file])
    found = {str(p.relative_to(target)): p.read_bytes() for p in target.rglob("*") if p.is_file()}
    assert found.pop("labels.csv").decode().split() == ["id,label", "1,b", "3,a"]
    assert found == exported(testset)


def test_labels_that_were_never_recorded_are_not_released(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    add_labels(testset, labelled(tmp_path, "3,a\n"), known=[])
    write_release(testset, tmp_path / "out", [])
    assert (tmp_path / "out" / "labels.csv").read_text().split() == ["id,label"]
