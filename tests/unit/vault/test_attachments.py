"""Files that examples refer to: which are found, refused and copied."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import DataError
from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from easeci.vault.verify import damage
from tests.unit.vault.making import SECRET, exported, write, written


def test_only_files_that_examples_refer_to_are_copied(tmp_path: Path) -> None:
    for name in ("a/1.txt", "a/2.txt", "unused.txt"):
        write(tmp_path / "files" / name, name)
    examples = write(tmp_path / "e.csv", "id,path,other\n1,a/1.txt,x\n2,./a//2.txt,y\n3,,z\n")
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(examples, files=tmp_path / "files"))
    seen = exported(SealedTestset(vault, 1))
    assert set(seen) == {"examples.csv", "examples.jsonl", "files/a/1.txt", "files/a/2.txt"}
    copy = SealedTestset(vault, 1).examples_folder / "files/a/1.txt"
    assert not copy.samefile(tmp_path / "files/a/1.txt")


@pytest.mark.parametrize(
    ("column", "fragment"),
    [
        (["1.txt", "2.txt", f"{SECRET}/gone.txt"], "column 'path' refers to files that are not"),
        (["1.txt", "2.txt", "../outside.txt"], "data row 3"),
        (["1.txt", "2.txt", "leaving.txt"], "data row 3"),
        (["1.txt", "2.txt", "leaving/outside.txt"], "data row 3"),
        (["1.txt", "2.txt", "folder/../1.txt"], "data row 3"),
        (["1.txt", "2.txt", "folder"], "data row 3"),
        (["x", "y", "z"], "no column"),
        ([None, None, None], "no column"),
    ],
)
def test_paths_must_stay_inside_the_folder(
    tmp_path: Path, column: list[str | None], fragment: str
) -> None:
    for name in ("1.txt", "2.txt", "folder/3.txt"):
        write(tmp_path / "files" / name, name)
    write(tmp_path / "outside" / "outside.txt", SECRET)
    (tmp_path / "files" / "leaving.txt").symlink_to(tmp_path / "outside" / "outside.txt")
    (tmp_path / "files" / "leaving").symlink_to(tmp_path / "outside")
    (tmp_path / "outside.txt").write_text(SECRET)
    examples = written(tmp_path / "e.csv", {"id": [1, 2, 3], "path": column})
    with pytest.raises(DataError) as caught:
        load_offered(examples, files=tmp_path / "files")
    assert fragment in str(caught.value)
    assert SECRET not in str(caught.value)


def test_links_inside_the_folder_and_absolute_paths(tmp_path: Path) -> None:
    write(tmp_path / "files" / "real" / "1.txt", "one")
    (tmp_path / "files" / "link.txt").symlink_to("real/1.txt")
    (tmp_path / "files" / "also").symlink_to("real")
    examples = write(tmp_path / "e.csv", "id,path\n1,link.txt\n2,also/1.txt\n3,real/1.txt\n")
    found = load_offered(examples, files=tmp_path / "files")
    assert found.warnings[0].startswith("2 of 3 examples have the same content")
    vault = open_vault(tmp_path / "store", "demo")
    sealed_as = seal(vault, 1, found)
    assert not SealedTestset(vault, 1).examples_folder.joinpath("files/link.txt").is_symlink()
    assert damage(vault, {1: sealed_as.digests}) == []
    absolute = written(
        tmp_path / "a.csv", {"id": [1], "path": [str(tmp_path / "files/real/1.txt")]}
    )
    with pytest.raises(DataError, match="no column"):
        load_offered(absolute, files=tmp_path / "files")
    with pytest.raises(DataError, match="there is no folder"):
        load_offered(examples, files=tmp_path / "none")


def test_a_file_that_changes_meanwhile_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "files" / "1.txt", "one")
    found = load_offered(write(tmp_path / "e.csv", "id,p\n1,1.txt\n"), files=tmp_path / "files")
    write(tmp_path / "files" / "1.txt", "two")
    vault = open_vault(tmp_path / "store", "demo")
    with pytest.raises(DataError, match="changed while"):
        seal(vault, 1, found)
    (tmp_path / "files" / "1.txt").unlink()
    with pytest.raises(DataError, match="cannot be read"):
        seal(vault, 1, found)
    assert list(vault.folder.iterdir()) == []


def test_many_files_are_stored_like_few(tmp_path: Path) -> None:
    for i in range(150):
        write(tmp_path / "files" / f"{i}.txt", f"{i}")
    columns = {"id": range(150), "path": [f"{i}.txt" for i in range(150)]}
    vault = open_vault(tmp_path / "store", "demo")
    examples = written(tmp_path / "e.parquet", columns)
    sealed_as = seal(vault, 1, load_offered(examples, files=tmp_path / "files"))
    assert len(sealed_as.digests) < 10, "one digest speaks for all files"
    assert damage(vault, {1: sealed_as.digests}) == []
