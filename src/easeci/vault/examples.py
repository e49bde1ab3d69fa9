"""The examples of a testset: ids, secret order, rows, and the files that rows refer to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.files import explained
from easeci.tables.example_columns import read_example_columns
from easeci.tables.examples import load_examples
from easeci.vault import paths
from easeci.vault.attachments import AttachmentFolder
from easeci.vault.fingerprints import Fingerprints
from easeci.vault.line_index import LineReader
from easeci.vault.sealed_files import SealedFiles, read_manifest

Positions = Sequence[int] | npt.NDArray[np.integer[Any]]


@dataclass(frozen=True)
class SealedExamples:
    """The examples of one testset."""

    files: SealedFiles

    @property
    def folder(self) -> Path:
        """What programs may see."""
        return self.files.folder / self.files.named(paths.EXAMPLES)

    @cached_property
    def ids(self) -> pl.Series:
        """In the order of the file of examples."""
        return self.files.load_table(self.files.named(paths.IDS))["id"]

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The row in the file of the first, second, … example of the secret order."""
        return self.files.load_array(self.files.named(paths.ORDER)).astype(np.int64)

    @cached_property
    def fingerprints(self) -> Fingerprints:
        """Keyed hashes of the contents, in the order of the file of examples."""
        return self.files.load_array(self.files.named(paths.FINGERPRINTS)).astype(np.uint64)

    def __len__(self) -> int:
        return len(self.ids)

    def ids_at(self, positions: Positions) -> pl.Series:
        """The ids at positions in the secret order."""
        return self.ids.gather(self._rows(positions))

    def rows_at(self, positions: Positions) -> list[dict[str, Any]]:
        """The examples at positions in the secret order, as programs see them."""
        return self.rows_of(self._rows(positions))

    def rows_of(self, rows: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
        """The examples at these rows of their file, as programs see them."""
        with explained(f"the examples of testset {self.files.number} cannot be read"):
            return self._lines.rows([int(row) for row in rows])

    @property
    def given(self) -> Path:
        """The file of examples in the format in which it was given."""
        other = [path for path in self.folder.glob("examples.*") if path.name != paths.JSONL]
        return other[0] if other else self.folder / paths.JSONL

    def load_columns(self) -> pl.DataFrame:
        """Every column but the id, as text, in the order of the file of examples; verified."""
        name = self.files.named(f"{paths.EXAMPLES}/{self.given.name}")
        self.files.read(name)  # an error if it was changed
        examples, _ = load_examples(self.given)
        return examples.columns

    def columns(self, names: Sequence[str]) -> pl.DataFrame:
        """Some columns in the order of the file of examples, verified; no other is kept in memory.

        Whole numbers, decimal numbers or text; null where there is no value.
        """
        file = self.given
        name = self.files.named(f"{paths.EXAMPLES}/{file.name}")
        found = read_example_columns(name, self.files.read(name), file.suffix, names).columns
        if found.width and len(found) != len(self):
            raise self.files.changed(name)
        # Lines of JSON need not have every key: perhaps only lines of the sample have it.
        nothing = pl.repeat(None, len(self), dtype=pl.String, eager=True)
        return pl.DataFrame({column: found.get_column(column, default=nothing) for column in names})

    @cached_property
    def _lines(self) -> LineReader:
        name = self.files.named(f"{paths.EXAMPLES}/{paths.JSONL}")
        return LineReader(
            self.files.folder / name, lambda content: self.files.verify(name, content)
        )

    def _rows(self, positions: Positions) -> npt.NDArray[np.int64]:
        return self.order[np.asarray(positions, dtype=np.int64)]

    def has_file(self, value: Any) -> bool:
        """Whether a value of an example names one of the testset's files."""
        return self._file_path(value) is not None

    def file_at(self, value: Any) -> Path | None:
        """The file that a value of an example names, verified; None if it names none."""
        path = self._file_path(value)
        if path is None or self.files.digests is None:
            return path
        name = str(PurePosixPath(value))
        with explained(f"a file of the examples of testset {self.files.number} cannot be read"):
            digest = self.files.vault.key.digest_file(path)
        if self._file_digests.get(name) != digest:
            raise self.files.changed(f"a file of the examples ({paths.FILES}/{name})")
        return path

    def _file_path(self, value: Any) -> Path | None:
        if not isinstance(value, str) or not self._attachments.holds(value):
            return None
        return self._attachments.path / value

    @cached_property
    def _attachments(self) -> AttachmentFolder:
        return AttachmentFolder(self.folder / paths.FILES)

    @cached_property
    def _file_digests(self) -> dict[str, str]:
        return read_manifest(self.files.read(self.files.named(paths.MANIFEST)))
