"""A program is tried on public examples, in the sandbox that ``run`` uses; no step is spent."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from easeci.build.detection import allowed_sandboxes
from easeci.build.fetch import FetchedCommits
from easeci.build.program import LOG_NAME, make_predictions
from easeci.build.repository import Repository
from easeci.errors import BuildError, DataError
from easeci.script import Script
from easeci.service.commits.build import program_of
from easeci.service.public_sample import PublicSample, SampleBaseline, find_sample
from easeci.service.scripts import find_script, load_script
from easeci.tables.column import ColumnRole, as_text, comparable, shortened
from easeci.tables.examples import load_examples
from easeci.tables.scorers import built_in_scores
from easeci.tables.source import load_column
from easeci.vault.attachments import find_attachments
from easeci.vault.intake import Offered
from easeci.vault.leaks import label_column_among
from easeci.vault.paths import FILES, JSONL, open_vault
from easeci.vault.predictions import PredictionForm
from easeci.vault.release import LABELS_NAME
from easeci.vault.sealing import seal
from easeci.vault.testset import SealedTestset

OUTPUTS_SHOWN, LONGEST_SHOWN = 3, 100


@dataclass(frozen=True)
class TrialExamples:
    """What a program is tried on. ``testset`` is the testset whose public sample it is, if any."""

    offered: Offered
    testset: int | None = None
    baseline: SampleBaseline | None = None


@dataclass(frozen=True)
class Trial:
    """What a program did on public examples; ``classes`` counts its predictions.

    ``accuracy`` is its share of right predictions on the ``labelled`` examples, ``difference`` the
    share of examples on which it differs from the baseline, and ``gain`` its accuracy less the
    baseline's; None where that is not known. With a scorer, ``outputs`` has the first few instead
    of classes, shortened and printable, and the accuracy is the mean score by a built-in rule.
    """

    commit: str
    examples: int
    seconds: float
    log: str
    classes: Mapping[str, int]
    failure: str | None
    hint: str | None = None
    testset: int | None = None
    labelled: int = 0
    accuracy: float | None = None
    baseline: str | None = None
    difference: float | None = None
    gain: float | None = None
    outputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrialPlace:
    """Which examples a program is tried on: a file, or the sample of a project's testset."""

    examples: Path | None = None
    files: Path | None = None
    label_column: str | None = None
    store: Path | None = None
    project: str | None = None


def try_program(
    repository: Repository,
    revision: str,
    place: TrialPlace,
    *,
    script: Path | None = None,
    unsandboxed: bool = False,
) -> Trial:
    """Run the program of a commit in the sandbox, and check its predictions."""
    sealed_as = load_script(script or find_script(repository.top or Path()))
    commit = repository.resolve(revision)
    with _examples(repository, place, references=sealed_as.is_scored) as examples:
        return _try(repository, commit, sealed_as, examples, unsandboxed=unsandboxed)


def _try(
    repository: Repository,
    commit: str,
    script: Script,
    examples: TrialExamples,
    *,
    unsandboxed: bool,
) -> Trial:
    program, offered = program_of(script), examples.offered
    sandboxes = allowed_sandboxes(repository, unsandboxed=unsandboxed)
    with tempfile.TemporaryDirectory(prefix="easeci-try-") as folder:
        vault, into = open_vault(Path(folder) / "store", "try"), Path(folder) / "built"
        seal(vault, 1, offered)
        sample = SealedTestset(vault, 1)
        seconds, failure, made = 0.0, None, None
        try:
            built = make_predictions(
                FetchedCommits(vault.commits).fetch(repository, commit),
                program,
                sample.examples_folder,
                into,
                sandboxes,
                repository=repository,
            )
            seconds = built.seconds
            stored = sample.predictions.store(built.predictions, PredictionForm.of(script))
            made = sample.predictions.load(stored.name, script.trials)
        except (BuildError, DataError) as error:
            failure = error
        printed = into / LOG_NAME
        log = printed.read_text("utf-8", errors="replace") if printed.exists() else ""
    if made is None:
        assert failure is not None
        why = (failure.message, failure.hint)
        return Trial(commit, offered.size, seconds, log, {}, *why, examples.testset)
    return _compared(Trial(commit, offered.size, seconds, log, {}, None), made, examples, script)


def _compared(trial: Trial, made: pl.Series, examples: TrialExamples, script: Script) -> Trial:
    """The trial with what its predictions show."""
    labels = examples.offered.labels
    quality = _quality(script, made, labels)
    found = replace(
        trial,
        classes={} if script.is_scored else dict(made.value_counts().iter_rows()),
        testset=examples.testset,
        labelled=len(labels) - labels.null_count(),
        accuracy=quality,
        outputs=_shown(made) if script.is_scored else (),
    )
    baseline = examples.baseline
    if baseline is None:
        return found
    ids = examples.offered.examples.ids.cast(pl.String)
    texts = [text for name in ids for text in baseline.predictions.get(name, ())]
    before = pl.Series(texts, dtype=pl.String)
    if len(before) != len(made):  # of another testset
        return found
    earlier = _quality(script, before, labels)
    return replace(
        found,
        baseline=baseline.commit,
        difference=_share_that_differs(made, before, script.trials),
        gain=None if quality is None or earlier is None else quality - earlier,
    )


def _quality(script: Script, made: pl.Series, labels: pl.Series) -> float | None:
    """The accuracy or, by a built-in rule, the mean score; None if it is not known.

    Of all trials of the examples that have a label.
    """
    labels = labels.gather(np.repeat(np.arange(len(labels)), script.trials))
    made, labels = made.filter(labels.is_not_null()), labels.drop_nulls()
    if not len(labels):
        return None
    if not script.is_scored:
        return int((made == labels).sum()) / len(labels)
    if script.scorer is None or not script.scorer.kind.built_in:
        return None
    return float(built_in_scores(script.scorer, made, labels).sum()) / len(labels)


def _share_that_differs(made: pl.Series, before: pl.Series, trials: int) -> float:
    """The share of examples of which any trial differs."""
    differs = (made != before).to_numpy().reshape(-1, trials)
    return float(differs.any(axis=1).mean())


def _shown(made: pl.Series) -> tuple[str, ...]:
    """The first few outputs as a terminal may show them."""
    return tuple(shortened(text, LONGEST_SHOWN) for text in made.head(OUTPUTS_SHOWN))


@contextmanager
def _examples(
    repository: Repository, place: TrialPlace, *, references: bool
) -> Iterator[TrialExamples]:
    if place.examples is not None:
        yield TrialExamples(_given(place.examples, place, references=references))
        return
    with find_sample(repository.folder, store=place.store, name=place.project) as sample:
        offered = _public(sample, references=references)
        yield TrialExamples(offered, sample.testset, sample.baseline)


def _given(path: Path, place: TrialPlace, *, references: bool) -> Offered:
    """The examples of a file. No program ever sees a column that holds labels."""
    files, label_column = place.files, place.label_column
    examples, column = load_examples(path, label_column, references=references)
    if label_column is None and (named := label_column_among(examples.columns.columns)) is not None:
        examples, column = load_examples(path, named, references=references)
    labels = pl.Series("label", [None] * len(examples), dtype=pl.String)
    if column is not None:
        labels = as_text(column.values).alias("label")
    found = None if files is None else find_attachments(examples.name, examples.columns, files)
    return Offered(examples, labels, found, ())


def _public(sample: PublicSample, *, references: bool) -> Offered:
    """A sample in its folder. All its columns are what programs see in every build."""
    folder = sample.folder
    given = [path for path in folder.glob("examples.*") if path.name != JSONL]
    examples, _ = load_examples(given[0] if given else folder / JSONL)
    labels = pl.Series("label", [None] * len(examples), dtype=pl.String)
    if (folder / LABELS_NAME).exists():
        column = load_column(folder / LABELS_NAME, ColumnRole.LABELS, references=references)
        ids, theirs = comparable(examples.ids, column.ids)
        known = dict(zip(theirs, as_text(column.values), strict=True))
        labels = pl.Series("label", [known.get(name) for name in ids], dtype=pl.String)
    files = folder / FILES
    has_files = files.is_dir() and any(files.iterdir())
    found = find_attachments(examples.name, examples.columns, files) if has_files else None
    return Offered(examples, labels, found, ())
