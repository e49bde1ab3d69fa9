"""Labels of a testset: what files of labels hold together, and what new answers add to them.

A file has one row for each of its examples: id, label, state, by, at, and the answers to a disputed
example. Older files contain only id and label.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.errors import DataError
from easeci.evidence.cells import LabelState
from easeci.files import create_file, explained
from easeci.script.scorer import Scorer
from easeci.tables.align import require_comparable
from easeci.tables.answers import COLUMNS, KNOWN, Answers, fold_answers
from easeci.tables.column import Column, ColumnRole, comparable, named, require_unique, where
from easeci.tables.scorers import unusable_reason, usable_references
from easeci.vault import paths
from easeci.vault.classes import MOST_QUOTED, spelt
from easeci.vault.examples import SealedExamples
from easeci.vault.sealed_files import SealedFiles, parquet

_UNSETTLED = (LabelState.SKIPPED, LabelState.DISPUTED)


@dataclass(frozen=True)
class LabelsReceived:
    """What was stored of some answers. ``file`` is None if they contain nothing new.

    ``added`` counts new labels, ``cannot_tell`` some of these; ``skipped`` and ``disputed`` count
    labels that are now unsettled, and ``public`` answers for examples of the sample, which no
    verdict needs. ``problems`` says what could not be used; of labels it quotes only spellings of
    undeclared classes.
    """

    file: str | None
    digest: str | None
    added: int
    corrected: int
    unchanged: int
    cannot_tell: int = 0
    skipped: int = 0
    disputed: int = 0
    public: int = 0
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class LabelFiles:
    """The labels of one testset."""

    files: SealedFiles
    examples: SealedExamples
    public: pl.Series | None = None
    """The ids of the testset's sample. Labels for them are set aside: no verdict needs them."""

    def values(self, names: Sequence[str]) -> pl.Series:
        """The labels in these files, where later files correct earlier ones.

        As text, in the order of the file of examples; null where no label is known.
        """
        return self.known(names)["label"]

    def known(self, names: Sequence[str]) -> pl.DataFrame:
        """Label and state of every example, in the order of the file of examples."""
        return known_labels(self.examples.ids, [self.files.load_table(name) for name in names])

    def unsettled(self, names: Sequence[str]) -> npt.NDArray[np.int64]:
        """Positions in the secret order of the labels that were skipped or are disputed."""
        states = self.known(names)["state"]
        unsettled = states.is_in([str(state) for state in _UNSETTLED]).fill_null(False).to_numpy()
        return np.flatnonzero(unsettled[self.examples.order])

    def add(
        self,
        answers: Answers,
        *,
        known: Sequence[str],
        correct: bool = False,
        classes: Sequence[str] = (),
        scorer: Scorer | None = None,
        strict: bool = False,
    ) -> LabelsReceived:
        """Store the new ones of these answers. A known label changes only with ``correct``.

        Answers that cannot be used are left out and listed among the problems. DataError if
        nothing new is left, or if there is any problem and the caller is ``strict``. With a
        ``scorer``, labels are references: any text that it can use.
        """
        ids, before = self.examples.ids, self.known(known)
        answers, public = without(answers, self.public)
        merged = merge(ids, before, answers, correct=correct, classes=classes, scorer=scorer)
        received = merged.received
        problems = list(received.problems)
        if strict and received.disputed:
            problems.append(f"labellers dispute {received.disputed:,} examples")
        if problems and (strict or merged.rows.is_empty()):
            raise DataError(f"{answers.name}: {'; '.join(problems)}", hint="Nothing was stored.")
        received = replace(received, public=public)
        if merged.rows.is_empty():
            return received
        content = parquet({name: merged.rows[name] for name in merged.rows.columns})
        file, digest = self._store(content), self.files.vault.key.digest(content)
        return replace(received, file=file, digest=digest)

    def _store(self, content: bytes) -> str:
        """Store a file of labels under the next free number."""
        folder = self.files.folder
        with explained(f"the labels for testset {self.files.number} were not stored"):
            while True:
                names = [path.name for path in (folder / paths.LABELS).iterdir()]
                taken = [int(n[:4]) for n in names if re.fullmatch(r"[0-9]{4}\.parquet", n)]
                name = f"{paths.LABELS}/{max(taken, default=0) + 1:04d}.parquet"
                try:
                    create_file(folder / name, content)
                except FileExistsError:
                    continue  # another command took that number
                return name


@dataclass(frozen=True)
class Merged:
    """Rows to store, and the report on them."""

    rows: pl.DataFrame
    received: LabelsReceived


def without(answers: Answers, public: pl.Series | None) -> tuple[Answers, int]:
    """The answers without those for public examples, and how many these were."""
    if public is None:
        return answers, 0
    theirs, ids = comparable(answers.frame["id"], public)
    aside = theirs.is_in(ids.implode())
    count = int(aside.sum())
    if not count:
        return answers, 0
    return replace(answers, frame=answers.frame.filter(~aside)), count


def with_all_columns(frame: pl.DataFrame) -> pl.DataFrame:
    """A file of labels with all columns, even if an older version wrote it."""
    missing = [
        pl.lit(str(LabelState.LABEL) if name == "state" else None, pl.String).alias(name)
        for name in COLUMNS
        if name not in frame.columns
    ]
    return frame.with_columns(missing).select(COLUMNS)


def known_labels(ids: pl.Series, files: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Label and state of every example; null where no file has any. Later files count first."""
    rows = pl.DataFrame({"id": ids})
    if not files:
        empty = pl.lit(None, pl.String)
        return rows.with_columns(label=empty, state=empty).drop("id")
    together = pl.concat([with_all_columns(frame) for frame in files]).unique("id", keep="last")
    joined = rows.join(together, on="id", how="left", maintain_order="left")
    return joined.select("label", "state")


def merge(
    ids: pl.Series,
    before: pl.DataFrame,
    answers: Answers,
    *,
    correct: bool = False,
    classes: Sequence[str] = (),
    scorer: Scorer | None = None,
) -> Merged:
    """What answers add to the labels known before. A label changes only with ``correct``."""
    rows, problems = _usable(ids, answers, classes, scorer)
    after = pl.DataFrame({"id": ids}).join(rows, on="id", how="left", maintain_order="left")
    if scorer is None:
        require_comparable(
            Column("the labels known", ColumnRole.LABELS, ids, before["label"]),
            Column(answers.name, ColumnRole.LABELS, ids, after["label"]),
        )
    was, now = before["state"].is_in(list(KNOWN)), after["state"].is_in(list(KNOWN))
    was, now = was.fill_null(False), now.fill_null(False)
    same_label = before["label"].eq_missing(after["label"])
    same = before["state"].eq_missing(after["state"]) & same_label & after["state"].is_not_null()
    differing, added = was & now & ~same, now & ~was
    unsettled = after["state"].is_not_null() & ~now & ~was & ~same
    if differing.any() and not correct:
        problems.append(
            f"{int(differing.sum()):,} labels differ from those known, at id "
            f"{named(ids.filter(differing))}; they stay (--correct records a correction)"
        )
        differing = differing & False
    chosen = added | differing | unsettled
    states = after["state"].filter(chosen)
    received = LabelsReceived(
        None,
        None,
        added=int(added.sum()),
        corrected=int(differing.sum()),
        unchanged=int(same.sum()),
        cannot_tell=int((states == LabelState.CANNOT_TELL).sum()),
        skipped=int((states == LabelState.SKIPPED).sum()),
        disputed=int((states == LabelState.DISPUTED).sum()),
    )
    stored = after.filter(chosen).select(COLUMNS)
    return Merged(stored, replace(received, problems=tuple(problems)))


def _usable(
    ids: pl.Series, answers: Answers, classes: Sequence[str], scorer: Scorer | None
) -> tuple[pl.DataFrame, list[str]]:
    """One answer for each example of the testset, and what is wrong with the others."""
    column = Column(answers.name, ColumnRole.LABELS, answers.frame["id"], answers.frame["label"])
    if not answers.repeats:
        require_unique(column)
    mine, theirs = comparable(ids, column.ids)
    stray = ~theirs.is_in(mine.implode())
    problems = []
    if stray.any():
        if stray.all():
            # By number: if no id is known, the column of ids may hold the labels.
            raise DataError(
                f"{answers.name}: labels for ids that are not in the testset: "
                f"{where(column, stray)}",
                hint="Labels may cover a part of the testset, but nothing else.",
            )
        unknown = theirs.filter(stray).unique(maintain_order=True)
        problems.append(f"{len(unknown):,} ids are not in the testset: {named(unknown)}")
    rows = fold_answers(answers.frame.with_columns(id=theirs).filter(~stray))
    if classes:
        foreign = rows["label"].is_not_null() & ~rows["label"].is_in(list(classes))
        if foreign.any():
            spellings = rows["label"].filter(foreign).unique(maintain_order=True)
            problems.append(
                f"{int(foreign.sum()):,} labels are none of the script's classes: "
                f"{spelt(spellings, MOST_QUOTED)}, at id {named(rows['id'].filter(foreign))}"
            )
            rows = rows.filter(~foreign)
    if scorer is not None:
        useless = ~usable_references(scorer, rows["label"])
        if useless.any():
            problems.append(
                f"{int(useless.sum()):,} references {unusable_reason(scorer)}, at id "
                f"{named(rows['id'].filter(useless))}"
            )
            rows = rows.filter(~useless)
    back = pl.DataFrame({"id": mine, "own": ids})
    return rows.join(back, on="id", how="left").drop("id").rename({"own": "id"}), problems
