"""From examples to a testset: what programs see, the secret order, files, and overlap."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from easeci.errors import DataError
from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.sealing import overlaps, seal
from easeci.vault.testset import SealedTestset
from easeci.vault.verify import damage
from tests.unit.vault.making import SECRET, offered, sealed, write, written


def exported(testset: SealedTestset) -> dict[str, bytes]:
    folder = testset.examples_folder
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


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
    write(tmp_path / "files" / "a" / "1.txt", "one")
    examples = write(tmp_path / "e.csv", "id,path\n1,a/1.txt\n")
    vault = open_vault(tmp_path / "store", "demo")
    seal(vault, 1, load_offered(examples, files=tmp_path / "files"))
    folder = SealedTestset(vault, 1).examples_folder
    assert len({path.stat().st_mtime for path in (folder, *folder.rglob("*"))}) == 1


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


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_the_same_examples_are_not_fresh(tmp_path: Path, ending: str) -> None:
    """Whatever their ids, order, format, or an index that pandas added."""
    vault, _, testset = sealed(tmp_path)
    columns = {"Unnamed: 0": range(5), "text": [f"text {4 - i}" for i in range(5)], "id": "abcde"}
    columns["id"] = list("abcde")
    again = load_offered(written(tmp_path / f"again.{ending}", columns))
    (found,) = overlaps(again, [testset])
    assert (found.testset, found.shared, found.share) == (1, 5, Fraction(1))
    assert found.identical
    assert vault.numbers() == [1]


def test_overlap_is_counted_by_content(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    columns = {"id": range(4), "text": ["text 3", "new", "newer", "newest"]}
    (found,) = overlaps(load_offered(written(tmp_path / "o.csv", columns)), [testset])
    assert (found.shared, found.share, found.identical) == (1, Fraction(1, 4), False)
    fresh = load_offered(written(tmp_path / "f.csv", {"id": range(4), "text": list("abcd")}))
    assert overlaps(fresh, [testset]) == []
    assert overlaps(fresh, []) == []


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
