"""Small testsets for the tests of the vault."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from easeci.errors import DataError
from easeci.tables.label_formats import load_answers
from easeci.vault.intake import Offered, load_offered
from easeci.vault.labels import LabelsReceived
from easeci.vault.paths import Vault, open_vault
from easeci.vault.sealing import Seal, seal
from easeci.vault.testset import SealedTestset

SECRET = "topsecretlabel"


def write(path: Path, content: str | bytes) -> Path:
    """Write a file, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def written(path: Path, columns: dict[str, Any]) -> Path:
    """Columns in the format that the file's ending names."""
    frame = pl.DataFrame(columns)
    if path.suffix == ".csv":
        frame.write_csv(path)
    elif path.suffix == ".parquet":
        frame.write_parquet(path)
    else:
        frame.write_ndjson(path)
    return path


def offered(folder: Path, size: int = 5, **options: Any) -> Offered:
    """A few examples, as somebody offers them."""
    columns = {"id": range(size), "text": [f"text {i}" for i in range(size)]}
    return load_offered(written(folder / "offered.csv", columns), **options)


def sealed(folder: Path, size: int = 5, **options: Any) -> tuple[Vault, Seal, SealedTestset]:
    """A few examples, sealed as the first testset of a new store."""
    vault = open_vault(folder / "store", "demo")
    sealed_as = seal(vault, 1, offered(folder, size, **options))
    return vault, sealed_as, SealedTestset(vault, 1)


def add_labels(testset: SealedTestset, source: Path, **options: Any) -> LabelsReceived:
    """Store the labels of a file."""
    return testset.labels.add(load_answers(source), **options)


def labelled(folder: Path, text: str) -> Path:
    """A file of labels with these lines."""
    return write(folder / "labels.csv", f"id,label\n{text}")


def refused(call: object, *fragments: str) -> None:
    """The call fails with an error that has these words and quotes no label."""
    assert callable(call)
    with pytest.raises(DataError) as caught:
        call()
    for fragment in fragments:
        assert fragment in str(caught.value)
    assert SECRET not in str(caught.value)


def exported(testset: SealedTestset) -> dict[str, bytes]:
    """What programs are given: the content of each file, by path."""
    folder = testset.examples_folder
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
