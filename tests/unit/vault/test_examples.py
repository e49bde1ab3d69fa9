"""The examples of a testset: never shown if they were changed, and files stay inside."""

from __future__ import annotations

import json
import os
from pathlib import Path

import polars as pl
import pytest

from easeci.errors import InfrastructureError
from easeci.vault.intake import load_offered
from easeci.vault.paths import open_vault
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import sealed, written


@pytest.mark.parametrize("way", ["in place", "replaced"])
def test_an_example_that_was_changed_is_never_shown(tmp_path: Path, way: str) -> None:
    """Also if size and time are what they were."""
    vault, sealed_as, _ = sealed(tmp_path, 50)
    testset = SealedTestset(vault, 1, sealed_as.digests)
    assert len(testset.examples.rows_at(range(50))) == 50
    path = testset.examples_folder / "examples.jsonl"
    content, times = path.read_bytes(), path.stat()
    changed = content.replace(b"text 7", b"text 8")
    if way == "in place":
        path.chmod(0o600)
        path.write_bytes(changed)
    else:
        path.unlink()
        path.write_bytes(changed)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(InfrastructureError, match="changed or damaged"):
        testset.examples.rows_at([0])
    path.write_bytes(content)
    (row,) = testset.examples.rows_at([0])
    assert str(row["id"]) == str(testset.examples.ids_at([0])[0])


@pytest.mark.parametrize("ending", ["csv", "jsonl", "ndjson", "parquet"])
def test_some_columns_in_the_order_of_the_file(tmp_path: Path, ending: str) -> None:
    """Of the testset without its sample, and of the sample; never from a file that was changed."""
    size, langs = 20, ("de", "en", None)
    columns = {
        "id": [f"e{i}" for i in range(size)],
        "lang": [langs[i % 3] for i in range(size)],
        "n": range(size),
    }
    vault = open_vault(tmp_path / "store", "demo")
    offer = load_offered(written(tmp_path / f"offered.{ending}", columns))
    testset = SealedTestset(vault, 1, seal(vault, 1, offer, sample=5).digests)
    assert testset.sample is not None
    for examples in (testset.examples, testset.sample.examples):
        found = examples.columns(["n", "lang"])
        numbers = [int(name[1:]) for name in examples.ids]
        assert found.columns == ["n", "lang"]
        assert found["n"].cast(pl.String).to_list() == [str(number) for number in numbers]
        assert found["lang"].to_list() == [langs[number % 3] for number in numbers]
    assert testset.examples.columns(["gone"])["gone"].null_count() == size - 5
    path = testset.examples.given
    path.chmod(0o600)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(InfrastructureError, match="changed or damaged"):
        testset.examples.columns(["lang"])


def test_files_of_examples_are_verified_and_stay_inside(tmp_path: Path) -> None:
    (tmp_path / "files" / "a").mkdir(parents=True)
    for number in range(5):
        (tmp_path / "files" / "a" / f"{number}.txt").write_text(f"content {number}")
    rows = [json.dumps({"id": i, "path": f"a/{i}.txt"}) for i in range(5)]
    (tmp_path / "offered.jsonl").write_text("\n".join(rows))

    vault = open_vault(tmp_path / "store", "demo")
    offered = load_offered(tmp_path / "offered.jsonl", files=tmp_path / "files")
    testset = SealedTestset(vault, 1, seal(vault, 1, offered).digests)
    path = testset.examples.file_at("a/3.txt")
    assert path is not None
    assert path.read_text() == "content 3"
    long_texts = ("a word " * 50, "x/" * 3000, "\ud800")
    no_files = ("a/9.txt", "../examples.jsonl", "/etc/passwd", "a", "", "a/\0", 7, None)
    for other in (*no_files, *long_texts):
        assert not testset.examples.has_file(other)
        assert testset.examples.file_at(other) is None
    folder = testset.examples_folder / "files" / "a"
    (folder / "out.txt").symlink_to("/etc/passwd")
    assert testset.examples.file_at("a/out.txt") is None
    (folder / "new.txt").write_text("never sealed")
    path.chmod(0o600)
    path.write_text("CONTENT 3")
    for changed in ("a/3.txt", "a/new.txt"):
        with pytest.raises(InfrastructureError, match="changed or damaged"):
            testset.examples.file_at(changed)


def test_columns_are_texts_and_verified(tmp_path: Path) -> None:
    vault, sealed_as, _ = sealed(tmp_path)
    examples = SealedTestset(vault, 1, sealed_as.digests).examples
    assert examples.load_columns().to_dict(as_series=False) == {
        "text": [f"text {number}" for number in range(5)]
    }
    examples.given.chmod(0o600)
    examples.given.write_bytes(examples.given.read_bytes().replace(b"text 3", b"text 4"))
    with pytest.raises(InfrastructureError, match="changed or damaged"):
        examples.load_columns()
