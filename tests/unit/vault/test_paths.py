"""The folder of a project in a store."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import InfrastructureError, UsageError
from easeci.files import unfinished
from easeci.vault.key import KEY_FILE
from easeci.vault.paths import open_vault
from tests.cases import each_case


@each_case("name", ["", ".", "..", ".hidden", "a/b", "-x", "a b", "ä", "a\n", "x" * 101])
def test_a_name_that_could_leave_the_store_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name of a project"):
        open_vault(Path("nowhere"), name)
    assert not Path("nowhere").exists()


def test_a_lost_key_is_not_replaced_by_a_new_one(tmp_path: Path) -> None:
    """A store without testsets gets a key; one with testsets must have its own."""
    vault = open_vault(tmp_path, "demo")
    assert open_vault(tmp_path, "other").key.digest(b"x") == vault.key.digest(b"x")
    vault.testset_folder(1).mkdir()
    (tmp_path / KEY_FILE).unlink()
    for project in ("demo", "other"):
        with pytest.raises(InfrastructureError):
            open_vault(tmp_path, project)
    assert not (tmp_path / KEY_FILE).exists()


def test_only_numbers_are_testsets_and_they_are_sorted_as_numbers(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, "demo")
    for name in ("10", "9", "1", "01", "0", "x", "2.old"):
        (vault.folder / name).mkdir()
    assert vault.numbers() == [1, 9, 10]
    vault.discard(9)
    assert vault.numbers() == [1, 10]


def test_sweeping_removes_what_is_unfinished_and_nothing_else(tmp_path: Path) -> None:
    vault = open_vault(tmp_path, "demo")
    name = ".making-0123456789abcdef.tmp"
    assert unfinished(name)
    kept = [vault.folder / "1" / other for other in ("a.txt", ".gitignore", "labels")]
    left = [vault.folder / name, vault.folder / "1" / "deep" / name]
    for path in (*kept, left[1]):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    left[0].mkdir()
    (left[0] / "inside").write_text("x")
    vault.sweep()
    assert [path.exists() for path in (*kept, *left)] == [True] * 3 + [False] * 2
