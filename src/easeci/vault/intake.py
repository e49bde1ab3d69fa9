"""Examples offered as a testset: read, checked, and separated from their labels. Not stored yet.

They are searched for columns that give their labels away, now and again when labels arrive.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import polars as pl

from easeci.errors import UsageError
from easeci.script.scorer import Scorer
from easeci.script.syntax import Slice
from easeci.tables.align import aligned_labels
from easeci.tables.column import Column, ColumnRole, as_text
from easeci.tables.example_columns import read_example_columns
from easeci.tables.examples import Examples, load_examples
from easeci.tables.scorers import require_references
from easeci.tables.slice_checks import require_columns, require_slices
from easeci.tables.slices import ExampleSlices
from easeci.tables.source import load_column
from easeci.vault.attachments import Attachments, find_attachments, path_columns
from easeci.vault.example_rows import Rows, choose_examples, choose_paths
from easeci.vault.fingerprints import Fingerprints, content_rows, fingerprints
from easeci.vault.key import Key
from easeci.vault.leaks import (
    Giveaways,
    giveaways,
    label_column_among,
    name_warnings,
    prediction_warnings,
)
from easeci.vault.paths import FILES
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class Offered:
    """Examples that may become a testset."""

    examples: Examples = field(repr=False)
    labels: pl.Series = field(repr=False)
    """As text, in the order of the examples; null where no label is known."""
    files: Attachments | None
    warnings: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many examples there are."""
        return len(self.examples)

    @property
    def labels_known(self) -> int:
        """How many labels came with them."""
        return self.size - self.labels.null_count()

    @property
    def label_column(self) -> str | None:
        """A column with a name for labels, which programs would see."""
        return label_column_among(self.examples.columns.columns)

    @cached_property
    def content(self) -> pl.Series:
        """The content of each example as one text, without its id."""
        return content_rows(self.examples, {} if self.files is None else self.files.columns)

    def require_slices(self, slices: Sequence[Slice], label_column: str | None = None) -> None:
        """Refuse slices that the examples cannot make. The owner is told why.

        The columns are read as they will be from the sealed file.
        """
        if not slices:
            return
        examples = self.examples
        require_columns(examples.name, examples.columns.columns, slices, label_column)
        require_slices(examples.name, self.slices(slices), slices, self.labels)

    def slices(self, slices: Sequence[Slice]) -> ExampleSlices:
        """The columns that these slices are made by."""
        wanted = [chosen.column for chosen in slices]
        examples = self.examples
        found = read_example_columns(examples.name, examples.content, examples.suffix, wanted)
        return ExampleSlices(found.columns)

    def choose(self, rows: Rows) -> Offered:
        """These rows alone, with their labels and files. The warnings are on all examples."""
        examples = choose_examples(self.examples, rows)
        files = self.files
        if files is not None:
            files = Attachments(files.folder, choose_paths(files.columns, examples.columns))
        chosen = Offered(examples, self.labels.gather(rows), files, self.warnings)
        for key, known in self._fingerprints.items():
            chosen._fingerprints[key] = known[rows]
        return chosen

    @cached_property
    def _fingerprints(self) -> dict[Key, Fingerprints]:
        return {}

    def fingerprints(self, key: Key) -> Fingerprints:
        """Keyed hashes of the contents, in the order of the examples."""
        if key not in self._fingerprints:
            self._fingerprints[key] = fingerprints(self.content, key)
        return self._fingerprints[key]


def load_offered(
    examples: Path,
    *,
    labels: Path | None = None,
    label_column: str | None = None,
    files: Path | None = None,
    scorer: Scorer | None = None,
) -> Offered:
    """Load and check examples for a testset. DataError if they cannot become one.

    With a ``scorer``, the labels are references for outputs, which it must be able to use.
    """
    if labels is not None and label_column is not None:
        raise UsageError(
            "--labels and --label-column both say where the labels are",
            hint="Give one of them.",
        )
    references = scorer is not None
    table, column = load_examples(examples, label_column, references=references)
    if labels is not None:
        column = load_column(labels, ColumnRole.LABELS, references=references)
    if scorer is not None and column is not None:
        require_references(scorer, as_text(column.values), column.name)
    known = _labels_in_order(table, column)
    found = None if files is None else find_attachments(table.name, table.columns, files)
    columns, leaks = _leaks(table, known, () if found is None else found.columns)
    columns.refuse()
    named = name_warnings(table.columns.columns) if label_column is None else ()
    offered = Offered(table, known, found, ())
    return replace(offered, warnings=(*named, *leaks, *_repetitions(offered)))


def _labels_in_order(examples: Examples, column: Column | None) -> pl.Series:
    if column is None:
        return pl.Series("label", [None] * len(examples), dtype=pl.String)
    ids = Column(examples.name, ColumnRole.NEW, examples.ids, examples.ids)
    return as_text(aligned_labels(ids, column)).alias("label")


def review(testset: SealedTestset, label_files: Sequence[str]) -> tuple[str, ...]:
    """Warnings about what may give the labels of a sealed testset away, as far as they are known.

    DataError for a column that surely does, as when the testset was added.
    """
    examples, _ = load_examples(testset.examples.given)
    files = path_columns(examples.name, examples.columns, testset.examples_folder / FILES)
    columns, leaks = _leaks(examples, testset.labels.values(label_files), files)
    columns.refuse()
    return leaks


def _leaks(
    examples: Examples, labels: pl.Series, path_columns: Iterable[str]
) -> tuple[Giveaways, tuple[str, ...]]:
    found = giveaways(examples.columns, labels)
    paths = [examples.columns[column] for column in path_columns]
    return found, (*found.warnings, *prediction_warnings(examples.ids, paths, labels))


def _repetitions(offered: Offered) -> tuple[str, ...]:
    repeated = offered.size - offered.content.n_unique()
    if not repeated:
        return ()
    return (
        f"{repeated:,} of {offered.size:,} examples have the same content as one before them: "
        "the guarantee takes every example to be drawn on its own",
    )
