"""A testset at rest: its ids, its secret order, its labels, and predictions made for it.

Files are never rewritten. Labels are files with numbers, and what is known is their sum in the
order of the record; so labels that were once consulted can always be read as they were.
"""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.errors import DataError, InfrastructureError
from easeci.evidence.cells import Code, Codes, differs
from easeci.files import create_file, explained
from easeci.tables import Column, ColumnRole, align, load_column
from easeci.tables.align import aligned_predictions, require_common_value, require_comparable
from easeci.tables.answers import Answers, LabelState
from easeci.tables.column import as_text
from easeci.tables.label_formats import load_answers
from easeci.tables.source import UNREADABLE
from easeci.vault import paths
from easeci.vault.attachments import read_manifest
from easeci.vault.fingerprints import Fingerprints
from easeci.vault.label_files import LabelsReceived, known_of, merge
from easeci.vault.line_index import LineReader
from easeci.vault.paths import Vault

LONGEST_PATH = 1000
FIRST_LABELS = f"{paths.LABELS}/0001.parquet"
Positions = Sequence[int] | npt.NDArray[np.integer[Any]]
_UNSETTLED = (LabelState.SKIPPED, LabelState.DISPUTED)
_CODES = {
    LabelState.CANNOT_TELL: (Code.AGREE_WRONG, Code.BOTH_WRONG),
    LabelState.SKIPPED: (Code.AGREE_UNSETTLED, Code.DIFFER_UNSETTLED),
    LabelState.DISPUTED: (Code.AGREE_UNSETTLED, Code.DIFFER_UNSETTLED),
}
"""The codes of examples without a label, where the models agree and where they differ. If nobody
can tell what is right, neither model is."""


@dataclass(frozen=True)
class StoredPredictions:
    """Predictions in the vault. The fingerprint is the same exactly if all values are."""

    name: str
    digest: str
    fingerprint: str


@dataclass(frozen=True)
class SealedTestset:
    """A testset on the disk.

    With ``digests``, as they were recorded, every file is verified before anything is read from it.
    """

    vault: Vault
    number: int
    digests: Mapping[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InfrastructureError(
                f"testset {self.number} is missing from the vault",
                hint="Put the store back from a backup.",
            )

    @property
    def folder(self) -> Path:
        return self.vault.testset_folder(self.number)

    @property
    def examples_folder(self) -> Path:
        """What programs may see."""
        return self.folder / paths.EXAMPLES

    @property
    def labels_folder(self) -> Path:
        return self.folder / paths.LABELS

    @property
    def logs_folder(self) -> Path:
        return self.folder / paths.LOGS

    @property
    def archives_folder(self) -> Path:
        return self.folder / paths.ARCHIVES

    @cached_property
    def ids(self) -> pl.Series:
        """In the order of the file of examples."""
        return self._frame(paths.IDS)["id"]

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The row in the file of the first, second, … example of the secret order."""
        return self._array(paths.ORDER).astype(np.int64)

    @cached_property
    def fingerprints(self) -> Fingerprints:
        return self._array(paths.FINGERPRINTS).astype(np.uint64)

    def __len__(self) -> int:
        return len(self.ids)

    # -- labels

    def labels(self, files: Sequence[str]) -> pl.Series:
        """The labels that files hold together, later ones correcting earlier ones.

        In the order of the file of examples, as text; null where none is known.
        """
        return self.known(files)["label"]

    def known(self, files: Sequence[str]) -> pl.DataFrame:
        """Label and state of every example, in the order of the file of examples."""
        return known_of(self.ids, [self._frame(name) for name in files])

    def unsettled(self, files: Sequence[str]) -> npt.NDArray[np.int64]:
        """Positions in the secret order of the labels that were skipped or are disputed."""
        states = self.known(files)["state"]
        unsettled = states.is_in([str(state) for state in _UNSETTLED]).fill_null(False).to_numpy()
        return np.flatnonzero(unsettled[self.order])

    def add_labels(
        self, source: Path, *, known: Sequence[str], correct: bool = False, strict: bool = False
    ) -> LabelsReceived:
        """Store the labels of a file: see :meth:`add_answers`."""
        return self.add_answers(load_answers(source), known=known, correct=correct, strict=strict)

    def add_answers(
        self,
        answers: Answers,
        *,
        known: Sequence[str],
        correct: bool = False,
        classes: Sequence[str] = (),
        strict: bool = False,
    ) -> LabelsReceived:
        """Store answers that are new; labels that differ only as a correction.

        What can't be used is said and left out; an error only if nothing new is left, or if
        ``strict`` asks for all or nothing.
        """
        merged = merge(self.ids, self.known(known), answers, correct=correct, classes=classes)
        received = merged.received
        problems = list(received.problems)
        if strict and received.disputed:
            problems.append(f"labellers dispute {received.disputed:,} examples")
        if problems and (strict or merged.rows.is_empty()):
            raise DataError(f"{answers.name}: {'; '.join(problems)}", hint="Nothing was stored.")
        if merged.rows.is_empty():
            return received
        content = parquet({name: merged.rows[name] for name in merged.rows.columns})
        file, digest = self._store_labels(content), self.vault.key.digest(content)
        return replace(received, file=file, digest=digest)

    def _store_labels(self, content: bytes) -> str:
        """Store a file of labels under the next free number."""
        with explained(f"the labels for testset {self.number} were not stored"):
            while True:
                names = [path.name for path in (self.folder / paths.LABELS).iterdir()]
                taken = [int(n[:4]) for n in names if re.fullmatch(r"[0-9]{4}\.parquet", n)]
                name = f"{paths.LABELS}/{max(taken, default=0) + 1:04d}.parquet"
                try:
                    create_file(self.folder / name, content)
                except FileExistsError:
                    continue  # somebody else took that number just now
                return name

    # -- predictions

    def store_predictions(self, source: Path) -> StoredPredictions:
        """Store predictions, which must cover the testset exactly."""
        received = load_column(source, ColumnRole.NEW)
        aligned = aligned_predictions(self._column("the testset", self.ids), received)
        values = as_text(aligned).alias("prediction")
        fingerprint = self._fingerprint(values)
        name = f"{paths.PREDICTIONS}/{fingerprint}.parquet"
        content = parquet({"prediction": values})
        with explained(f"the predictions for testset {self.number} were not stored"):
            try:
                create_file(self.folder / name, content)
            except FileExistsError:
                content = self._known_predictions(name, fingerprint, content)
        return StoredPredictions(name, self.vault.key.digest(content), fingerprint)

    def _fingerprint(self, values: pl.Series) -> str:
        """Of the values in the order of the file; their lengths first, lest two run together."""
        lengths = values.str.len_bytes().to_numpy().astype("<u8").tobytes()
        text = "".join(values.to_list()).encode()
        size = len(values).to_bytes(8, "little")
        return self.vault.key.digest_chunks([size, lengths, text], "predictions")

    def _known_predictions(self, name: str, fingerprint: str, content: bytes) -> bytes:
        """The file that is there already: written by another version, its bytes may differ.

        One that was never recorded was left by a command that was killed; it is written anew.
        """
        if self.digests is not None and name not in self.digests:
            (self.folder / name).unlink()
            create_file(self.folder / name, content)
            return content
        if self._fingerprint(self.predictions(name)) != fingerprint:
            raise self._changed(name)
        return (self.folder / name).read_bytes()

    def predictions(self, name: str) -> pl.Series:
        """Stored predictions in the order of the file of examples, as text."""
        values = self._frame(name)["prediction"]
        if len(values) != len(self) or values.null_count():
            raise self._changed(name)
        return values

    # -- what the owner keeps of a build

    def store_log(self, name: str, content: bytes) -> tuple[str, str]:
        """Store what a program printed. Returns the file and its digest."""
        return self._keep(f"{paths.LOGS}/{name}.txt", content)

    def load_log(self, file: str) -> str:
        return self._content(file).decode("utf-8", errors="replace")

    def store_archive(self, commit: str, archive: Path) -> tuple[str, str]:
        """Store the files of a commit. Returns the file and its digest."""
        return self._keep(f"{paths.ARCHIVES}/{commit}.tar.gz", archive.read_bytes())

    def archive_path(self, file: str) -> Path:
        """An archive, verified, for whoever unpacks it."""
        self._content(file)
        return self.folder / file

    def remove_archive(self, file: str) -> None:
        with explained(f"{file} of testset {self.number} was not removed"):
            (self.folder / file).unlink(missing_ok=True)

    def _keep(self, file: str, content: bytes) -> tuple[str, str]:
        """In place of one that was never recorded, because its command was killed."""
        with explained(f"{file} of testset {self.number} was not stored"):
            (self.folder / file).unlink(missing_ok=True)
            create_file(self.folder / file, content)
        return file, self.vault.key.digest(content)

    def write_release(self, target: Path, label_files: Sequence[str]) -> None:
        """Copy what programs see to a folder, and beside it the labels that are known."""
        known = pl.DataFrame({"id": self.ids, "label": self.labels(label_files)}).drop_nulls()
        with explained(f"testset {self.number} was not released to {target}"):
            target.mkdir(parents=True, exist_ok=True)
            shutil.copytree(self.examples_folder, target, dirs_exist_ok=True)
            known.write_csv(target / "labels.csv")

    # -- what verdicts are made of

    def codes(self, new: str, old: str | None, label_files: Sequence[str]) -> Codes:
        """The code of every example, in the secret order. ``new`` and ``old`` are stored names."""
        before, known = None, self.known(label_files)
        if old is not None:
            before = self._column("the old predictions", self.predictions(old), ColumnRole.OLD)
        testset = align(
            self._column("the new predictions", self.predictions(new)),
            before,
            self._column("the labels", known["label"], ColumnRole.LABELS),
            suspicious=False,  # a step that is charged must be decided
        )
        codes = testset.codes
        for state, (agreeing, differing) in _CODES.items():
            rows = (known["state"] == state).fill_null(False).to_numpy()
            if rows.any():
                instead = np.where(differs(codes[rows]), differing, agreeing)
                codes = codes.copy()
                codes[rows] = instead.astype(np.uint8)
        return codes[self.order]

    def code_of(
        self,
        position: int,
        state: LabelState,
        label: str | None,
        new: pl.Series,
        old: pl.Series | None,
    ) -> Code:
        """The code that one answer gives to an example, as :meth:`codes` would.

        ``new`` and ``old`` are predictions in the order of the file.
        """
        row = int(self.order[position])
        differ = old is not None and old[row] != new[row]
        if state in _CODES:
            return _CODES[state][differ]
        if not differ:
            return Code.AGREE_RIGHT if new[row] == label else Code.AGREE_WRONG
        if new[row] == label:
            return Code.NEW_RIGHT
        return Code.OLD_RIGHT if old is not None and old[row] == label else Code.BOTH_WRONG

    def require_known_classes(self, name: str, label_files: Sequence[str]) -> None:
        """Refuse predictions that are spelt in another way than the labels (3.0 and 3), and, where
        all labels are known, predictions that are never any of them.

        It looks at which classes there are and never at which example has which, and a single
        class would say too much.
        """
        labels = self._column("the labels", self.labels(label_files), ColumnRole.LABELS)
        if labels.blank:
            return
        made = self._column("the predictions", self.predictions(name))
        require_comparable(made, labels)
        if labels.values.null_count() == 0 and len(labels.distinct) > 1:
            require_common_value(made, labels)

    def ids_at(self, positions: Positions) -> pl.Series:
        """The ids at positions in the secret order: of labels to ask for."""
        return self.ids.gather(self._rows(positions))

    def rows_at(self, positions: Positions) -> list[dict[str, Any]]:
        """The examples at positions in the secret order, as programs see them."""
        with explained(f"the examples of testset {self.number} cannot be read"):
            return self._lines.rows([int(row) for row in self._rows(positions)])

    @cached_property
    def _lines(self) -> LineReader:
        name = f"{paths.EXAMPLES}/{paths.JSONL}"
        return LineReader(self.folder / name, lambda content: self._verify(name, content))

    def has_file(self, value: Any) -> bool:
        """Whether a value of an example names one of the testset's files."""
        return self._file_path(value) is not None

    def file_at(self, value: Any) -> Path | None:
        """The file that a value of an example names, held against its digest; None if none."""
        path = self._file_path(value)
        if path is None or self.digests is None:
            return path
        name = str(PurePosixPath(value))
        with explained(f"a file of the examples of testset {self.number} cannot be read"):
            digest = self.vault.key.digest_file(path)
        if self._file_digests.get(name) != digest:
            raise self._changed(f"a file of the examples ({paths.FILES}/{name})")
        return path

    def _file_path(self, value: Any) -> Path | None:
        if not isinstance(value, str) or not 0 < len(value) < LONGEST_PATH or "\0" in value:
            return None
        relative, files = PurePosixPath(value), self.examples_folder / paths.FILES
        if relative.is_absolute() or ".." in relative.parts:
            return None
        path = files / relative
        return path if path.is_file() and path.resolve().is_relative_to(files.resolve()) else None

    @cached_property
    def _file_digests(self) -> dict[str, str]:
        return read_manifest(self._content(paths.MANIFEST))

    def _rows(self, positions: Positions) -> npt.NDArray[np.int64]:
        return self.order[np.asarray(positions, dtype=np.int64)]

    def _column(self, name: str, values: pl.Series, role: ColumnRole = ColumnRole.NEW) -> Column:
        return Column(name, role, self.ids, values)

    # -- files, verified

    def _content(self, name: str) -> bytes:
        with explained(f"{name} of testset {self.number} cannot be read"):
            content = (self.folder / name).read_bytes()
        self._verify(name, content)
        return content

    def _verify(self, name: str, content: bytes) -> None:
        if self.digests is not None and self.digests.get(name) != self.vault.key.digest(content):
            raise self._changed(name)

    def _frame(self, name: str) -> pl.DataFrame:
        try:
            return pl.read_parquet(io.BytesIO(self._content(name)))
        except UNREADABLE:
            raise self._changed(name) from None

    def _array(self, name: str) -> npt.NDArray[Any]:
        try:
            array: npt.NDArray[Any] = np.load(io.BytesIO(self._content(name)), allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, MemoryError):
            raise self._changed(name) from None
        return array

    def _changed(self, name: str) -> InfrastructureError:
        return InfrastructureError(
            f"{name} of testset {self.number} was changed or damaged since it was stored",
            hint="`easeci log --verify` lists all damage. Put the store back from a backup.",
        )


def parquet(columns: Mapping[str, pl.Series]) -> bytes:
    buffer = io.BytesIO()
    pl.DataFrame(dict(columns)).write_parquet(buffer)
    return buffer.getvalue()
