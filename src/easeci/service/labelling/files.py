"""Labels in files: imported, exported to be labelled, and recorded.

Labellers are blind: nothing here hands out predictions, commits or verdicts. Examples come in the
secret order, for all waiting commits at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from easeci.errors import DataError, UsageError
from easeci.ledger.events import LabelsAdded, LabelsExported
from easeci.ledger.state import Testset
from easeci.service.commits.advance import acting, catch_up, verdict_of
from easeci.service.labelling.outlook import (
    A_DAY_OF_LABELS,
    LabelOutlook,
    label_outlook,
    unlabelled_among,
)
from easeci.service.project import Project, no_testset, require_number, utc_now
from easeci.tables.answers import KNOWN, Agreement, Answers, agreement
from easeci.tables.label_formats import LabelFormat, load_answers, studio_config, write_tasks
from easeci.vault.facts import class_warning
from easeci.vault.intake import review
from easeci.vault.labels import LabelsReceived
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class LabelsImported:
    """What became of a file of labels, and how many more labels the open step waits for.

    ``unsettled`` counts all labels of the testset that were skipped or are disputed.
    """

    testset: int
    added: int
    corrected: int
    unchanged: int
    cannot_tell: int
    skipped: int
    disputed: int
    unsettled: int
    labellers: tuple[str, ...]
    agreement: Agreement | None
    wanted: int
    answered: tuple[int, ...]
    problems: tuple[str, ...]
    warnings: tuple[str, ...]
    empty: bool
    """Whether the file has no labels at all."""


def import_labels(
    project: Project,
    path: Path,
    *,
    correct: bool = False,
    strict: bool = False,
    form: LabelFormat | None = None,
    by: str = "",
    number: int | None = None,
    waiting: Callable[[], None] | None = None,
) -> LabelsImported:
    """Add labels to the latest testset, and go on with the commits that waited for them.

    With ``number``, only if the latest testset has that number.
    """
    references = latest(project).script.is_scored
    answers = load_answers(path, form, by=by, at=utc_now(), references=references)
    with acting(project, waiting):
        testset = latest(project)
        require_number(testset, number)
        suspicions: list[str] = []
        received = record(
            project, testset, answers, correct=correct, strict=strict, suspicions=suspicions
        )
        answered = catch_up(project)
        sealed = project.sealed(testset)
        return LabelsImported(
            testset=testset.number,
            added=received.added,
            corrected=received.corrected,
            unchanged=received.unchanged,
            cannot_tell=received.cannot_tell,
            skipped=received.skipped,
            disputed=received.disputed,
            unsettled=len(sealed.labels.unsettled(testset.label_files)),
            labellers=answers.labellers,
            agreement=agreement(answers.frame),
            wanted=len(wanted_labels(project, testset)),
            answered=answered,
            problems=received.problems,
            warnings=(*suspicions, *scoring_warnings(project)),
            empty=answers.frame.is_empty(),
        )


def scoring_warnings(project: Project) -> tuple[str, ...]:
    """Why the scorer could not run, for the owner; nothing if it could."""
    problem = project.scoring_problem
    return () if problem is None else (f"the scorer cannot run now, and is tried again: {problem}",)


def record(
    project: Project,
    testset: Testset,
    answers: Answers,
    *,
    correct: bool = False,
    strict: bool = False,
    suspicions: list[str] | None = None,
) -> LabelsReceived:
    """Store answers and record them; the caller acts alone on the project.

    If ``suspicions`` is given, everything that looks wrong with the labels is added to it.
    """
    received = project.sealed(testset).labels.add(
        answers,
        known=testset.label_files,
        correct=correct,
        classes=testset.script.classes,
        scorer=testset.script.scorer,
        strict=strict,
    )
    if received.public and suspicions is not None:
        suspicions.append(
            f"{received.public:,} labels are for the public sample, which no verdict needs"
        )
    if received.file is not None and received.digest is not None:
        if suspicions is not None:
            suspicions += _suspicions(project, testset, received.file, received.digest)
        project.append(
            LabelsAdded(
                testset.number,
                received.file,
                received.digest,
                received.added,
                received.corrected,
                ", ".join(answers.labellers),
            )
        )
    return received


def record_open(
    project: Project, number: int, entries: Sequence[dict[str, Any]]
) -> tuple[str, ...]:
    """Record the entries of a testset's journal. Returns what could not be used, and why."""
    testset = project.state.testsets[number]
    try:
        return record(project, testset, answers_of("the answers", entries)).problems
    except DataError as error:
        if not _all_known(project.sealed(testset), testset, entries):
            raise
        return (error.message,)


def _all_known(sealed: SealedTestset, testset: Testset, entries: Sequence[dict[str, Any]]) -> bool:
    """Whether the recorded labels already say as much about every example as these answers."""
    rows = sealed.examples.order[[int(entry["position"]) for entry in entries]]
    states = sealed.labels.known(testset.label_files)["state"].gather(rows)
    return all(
        state in KNOWN or (state is not None and entry["state"] not in KNOWN)
        for state, entry in zip(states, entries, strict=True)
    )


def _suspicions(project: Project, testset: Testset, file: str, digest: str) -> list[str]:
    """What looks wrong with the labels once these are added; a warning for the owner.

    Predictions never decide which labels are accepted. Examples that clearly show their labels to
    programs are refused.
    """
    files = [*testset.label_files, file]
    sealed = SealedTestset(project.vault, testset.number, testset.files | {file: digest})
    found = list(review(sealed, files))
    known = testset.baseline_predictions
    if known is not None and not testset.script.is_scored:
        warning = class_warning(sealed, known.file, files)
        if warning is not None:
            found.append(f"about the baseline's predictions: {warning}")
    return found


@dataclass(frozen=True)
class Exported:
    """How many examples were written to be labelled; ``config`` is for Label Studio.

    ``outlook`` says what the open step still takes; None if unsettled labels were asked for.
    """

    wanted: int
    outlook: LabelOutlook | None = None
    config: str | None = None


def export_wanted(
    project: Project,
    path: Path,
    waiting: Callable[[], None] | None = None,
    *,
    form: LabelFormat | None = None,
    unsettled: bool = False,
    count: int = A_DAY_OF_LABELS,
    by: str = "",
) -> Exported:
    """Write the next ``count`` examples that wait for a label, in the order of the questions.

    With ``unsettled``, write those whose labels were skipped or are disputed instead. The export
    is recorded before anything is written. If nothing is wanted, the file is written without
    examples, so that an older one of that name is not imported again.
    """
    form = form or _FORMATS.get(path.suffix.lower(), LabelFormat.CSV)
    with acting(project, waiting):
        testset = latest(project)
        require_labels(testset)
        sealed = project.sealed(testset)
        outlook, wanted = None, sealed.labels.unsettled(testset.label_files).tolist()[:count]
        if not unsettled:
            outlook = label_outlook(project, testset, count)
            wanted = outlook.positions
        rows, classes = [], classes_of(sealed, testset)
        if wanted:
            project.append(LabelsExported(testset.number, len(wanted), form, by))
            rows = sealed.examples.rows_at(wanted)
        write_tasks(path, form, rows, classes)
    config = None
    if rows and form is LabelFormat.LABEL_STUDIO:
        columns = [name for name in rows[0] if name not in ("id", "label")]
        config = studio_config(columns, classes)
    return Exported(len(wanted), outlook, config)


_FORMATS = {".jsonl": LabelFormat.JSONL, ".json": LabelFormat.LABEL_STUDIO}


def wanted_labels(project: Project, testset: Testset) -> tuple[int, ...]:
    """Positions, along the secret order, of the labels that the open step waits for.

    None if it waits for scores instead. An example whose reference is known waits for the scorer.
    """
    step = testset.undecided_step
    if step is None or not takes_labels(testset):
        return ()
    wanted = verdict_of(project, testset, step).wanted
    return unlabelled_among(project.sealed(testset), testset, wanted)


def takes_labels(testset: Testset) -> bool:
    """Whether labels decide its steps; otherwise scores do, and no label is asked for."""
    return not testset.terms.is_scored or testset.script.needs_references


def require_labels(testset: Testset) -> None:
    """Refuse to ask for labels of a testset that needs scores."""
    if not takes_labels(testset):
        external = testset.script.scorer is not None and not testset.script.scorer.command
        raise UsageError(
            f"testset {testset.number} needs scores, not labels",
            hint="`easeci scores export FILE` writes what needs a score next."
            if external
            else "Its scorer gives them: `easeci status --owner` says what waits.",
        )


def classes_of(sealed: SealedTestset, testset: Testset) -> tuple[str, ...]:
    """The classes that a label can have: as declared, or as seen in the labels so far.

    References for a scorer are not classes: there are none then.
    """
    if testset.script.is_scored:
        return ()
    if testset.script.classes:
        return testset.script.classes
    seen = sealed.labels.values(testset.label_files).drop_nulls().unique()
    return tuple(sorted(seen.to_list(), key=_by_number))


def _by_number(name: str) -> tuple[bool, int, str]:
    digits = name.isascii() and name.isdigit()
    return not digits, int(name) if digits else 0, name


def latest(project: Project) -> Testset:
    """The latest testset, retired or not; an error if there is none."""
    testset = project.state.latest_testset
    if testset is None:
        raise no_testset()
    return testset


def answers_of(name: str, entries: Sequence[dict[str, Any]]) -> Answers:
    """Answers from the entries of a journal."""
    columns = {
        key: pl.Series(key, [entry.get(key) for entry in entries], dtype=pl.String)
        for key in ("id", "label", "state", "by", "at")
    }
    return Answers(name, pl.DataFrame(columns))
