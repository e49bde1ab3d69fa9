"""Scores in files: outputs are exported to a judge outside, and its scores are imported.

A judge is blind to models: an output is exported once for all models, in an order that says
nothing about that. What the judge says is then the truth that the condition speaks of.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from easeci.errors import DataError, UsageError
from easeci.ledger.events import Scored, ScoresExported
from easeci.ledger.state import Testset
from easeci.script.scorer import MAIN_SCORE, ScorerKind
from easeci.service.commits.advance import acting, catch_up, verdict_models, verdict_of
from easeci.service.labelling.files import latest
from easeci.service.labelling.outlook import label_outlook
from easeci.service.project import Project
from easeci.service.scoring.record import needed_names, outputs_digest, scorer_digest
from easeci.tables.score_rows import DIGEST, read_score_rows
from easeci.tables.score_tasks import ScoreFormat, ScoreTask, write_score_tasks
from easeci.vault.imported_scores import ScoresReceived, receive_scores
from easeci.vault.missing_scores import UnscoredOutputs, unscored_outputs
from easeci.vault.scores import output_digests
from easeci.vault.testset import SealedTestset

USUAL_COUNT = 1000
"""How many examples are exported at once, unless the owner says."""


@dataclass(frozen=True)
class ScoresExport:
    """How many outputs were written to be scored, of how many examples."""

    outputs: int
    examples: int


def export_unscored(
    project: Project,
    path: Path,
    waiting: Callable[[], None] | None = None,
    *,
    form: ScoreFormat | None = None,
    count: int = USUAL_COUNT,
    everything: bool = False,
    unsettled: bool = False,
    by: str = "",
) -> ScoresExport:
    """Write the outputs of the next ``count`` examples that wait for a score.

    With ``everything``, those of all examples that the open step compares; with ``unsettled``,
    those that were imported without a score instead. The export is recorded before anything is
    written. If nothing waits, the file is written without outputs.
    """
    form = form or (ScoreFormat.JSONL if path.suffix.lower() == ".jsonl" else ScoreFormat.CSV)
    with acting(project, waiting):
        testset = latest(project)
        require_external(testset)
        sealed = project.sealed(testset)
        outputs = waiting_outputs(
            project, testset, None if everything or unsettled else count, unsettled=unsettled
        )
        tasks = _tasks(sealed, testset, outputs)
        if tasks:
            project.append(ScoresExported(testset.number, len(tasks), form, by))
        write_score_tasks(path, form, tasks)
    return ScoresExport(len(tasks), len({task.id for task in tasks}))


def require_external(testset: Testset) -> None:
    """Refuse files of scores for a testset whose scores come from elsewhere."""
    scorer = testset.script.scorer
    if scorer is not None and scorer.kind is ScorerKind.EXTERNAL:
        return
    source = "has labels, not scores" if scorer is None else f"is scored by {scorer_words(testset)}"
    raise UsageError(
        f"testset {testset.number} {source}",
        hint="Scores are exported and imported only with   scorer: external   in its script.",
    )


def scorer_words(testset: Testset) -> str:
    """The scorer as the script names it."""
    return ", ".join(testset.sealed.get("scorer", []))


def wanted_scores(project: Project, testset: Testset) -> int:
    """How many outputs the open step waits for to be scored outside."""
    scorer = testset.script.scorer
    if scorer is None or scorer.kind is not ScorerKind.EXTERNAL:
        return 0
    return len(waiting_outputs(project, testset, 0))


def waiting_outputs(
    project: Project, testset: Testset, count: int | None, *, unsettled: bool = False
) -> UnscoredOutputs | tuple[()]:
    """The outputs that the open step waits for; of ``count`` examples, or of all if it is None.

    With a count of 0, those that it surely needs next.
    """
    step, script = testset.undecided_step, testset.script
    names = needed_names(script)
    if step is None or not names:
        return ()
    models, sealed = verdict_models(testset, step), project.sealed(testset)
    files = [models.new] if models.old is None else [models.old, models.new]
    outputs = unscored_outputs(
        sealed,
        script,
        files,
        names,
        testset.label_files,
        testset.score_files,
        unsettled=unsettled,
    )
    if count is None:
        return outputs
    if count:
        positions = label_outlook(project, testset, count).positions
    else:
        positions = verdict_of(project, testset, step).wanted
    rows = sealed.examples.order[np.asarray(positions, dtype=np.int64)]
    return UnscoredOutputs(outputs.table.filter(outputs.table["row"].is_in(rows.tolist())))


def _tasks(
    sealed: SealedTestset, testset: Testset, outputs: UnscoredOutputs | tuple[()]
) -> list[ScoreTask]:
    """The outputs in an order by a keyed hash, which tells nothing about models and examples."""
    if not isinstance(outputs, UnscoredOutputs):
        return []
    table, names = outputs.table, needed_names(testset.script)
    texts = [f"{name}\0{digest}" for name, digest in table.select("id", "output").iter_rows()]
    order = np.argsort(np.array(sealed.vault.key.digests(texts, "order of scores"), dtype=str))
    examples = sealed.examples.rows_of(outputs.rows[order])
    rows = table[order].select("id", "output", "text", "label").iter_rows()
    return [
        ScoreTask(name, digest, names, text, label, example)
        for (name, digest, text, label), example in zip(rows, examples, strict=True)
    ]


@dataclass(frozen=True)
class ScoresImported:
    """What became of a file of scores, and how many outputs the open step still waits for.

    ``pending`` counts the scores of the testset that are still unsettled.
    """

    testset: int
    added: int
    settled: int
    unsettled: int
    unchanged: int
    pending: int
    wanted: int
    answered: tuple[int, ...]
    problems: tuple[str, ...]


def import_scores(
    project: Project,
    path: Path,
    *,
    strict: bool = False,
    by: str = "",
    waiting: Callable[[], None] | None = None,
) -> ScoresImported:
    """Add scores to the latest testset, and go on with the commits that waited for them."""
    given = read_score_rows(path, DIGEST)
    if given[DIGEST].null_count():
        raise DataError(
            f"{path} has rows without a digest",
            hint=f"Its columns are id, {DIGEST} and {MAIN_SCORE}; take id and {DIGEST} from "
            "`easeci scores export`.",
        )
    with acting(project, waiting):
        testset = latest(project)
        require_external(testset)
        sealed = project.sealed(testset)
        received = receive_scores(
            given,
            _all_outputs(sealed, testset, given),
            sealed.scores.known(testset.score_files),
            tuple(dict.fromkeys((MAIN_SCORE, *testset.script.scores))),
        )
        if received.problems and (strict or received.rows.is_empty()):
            raise DataError(f"{path}: {'; '.join(received.problems)}", hint="Nothing was stored.")
        if not received.rows.is_empty():
            project.append(_stored(sealed, testset, received, by))
        answered = catch_up(project)
        return ScoresImported(
            testset=testset.number,
            added=received.added,
            settled=received.settled,
            unsettled=received.unsettled,
            unchanged=received.unchanged,
            pending=testset.unsettled_scores,
            wanted=wanted_scores(project, testset),
            answered=answered,
            problems=received.problems,
        )


def _all_outputs(sealed: SealedTestset, testset: Testset, given: pl.DataFrame) -> pl.DataFrame:
    """The outputs of the testset that rows are about, by id and digest; of later models first."""
    ids, trials = sealed.examples.ids, testset.script.trials
    rows = np.repeat(np.arange(len(ids)), trials)
    left = given.select("id", pl.col(DIGEST).alias("output")).unique()
    found = [pl.DataFrame({"id": ids.head(0)}).with_columns(output=pl.lit("").cast(pl.String))]
    for file in dict.fromkeys(stored.file for stored in reversed(testset.predictions.values())):
        if left.is_empty():
            break
        digests = output_digests(sealed.vault.key, sealed.predictions.load(file, trials))
        table = pl.DataFrame({"id": ids.gather(rows), "output": digests}).unique()
        texts = table.with_columns(pl.col("id").cast(pl.String))
        keyed = table.with_columns(text=pl.col("id").cast(pl.String))
        wanted = left.rename({"id": "text"})
        found.append(keyed.join(wanted, on=["text", "output"], how="semi").drop("text"))
        left = left.join(texts, on=["id", "output"], how="anti")
    return pl.concat(found)


def _stored(sealed: SealedTestset, testset: Testset, received: ScoresReceived, by: str) -> Scored:
    kept = sealed.scores.store(received.rows, len(testset.score_files))
    return Scored(
        testset=testset.number,
        file=kept.file,
        digest=kept.digest,
        scorer=scorer_digest(sealed, testset),
        outputs=outputs_digest(sealed, received.rows),
        scored=received.outputs,
        unsettled=received.unsettled,
        settled=received.settled,
        by=by,
    )
