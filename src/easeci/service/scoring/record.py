"""Score what can be scored, and record it: scores are computed once, and never change.

The outputs of each model are scored apart, the baseline's first, and an output counts as failed
only if it failed alone. So whatever an output does to the scorer, it spoils no other score. What a
command could not score in its time is left to the next one. A new model whose outputs break the
scorer all the time fails, like a program that fails on sealed examples. A baseline never does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from easeci.ledger.events import Scored
from easeci.ledger.state import Testset
from easeci.script import Script
from easeci.script.scorer import MAIN_SCORE, ScorerKind
from easeci.service.project import Project

if TYPE_CHECKING:
    import polars as pl

    from easeci.build.scoring import SettledOutputs
    from easeci.service.scoring.program import Named
    from easeci.vault.missing_scores import UnscoredOutputs
    from easeci.vault.testset import SealedTestset

FAILED = "it is not a number from 0 to 1"
MOST_BROKEN = 200
"""A new model fails if the scorer could not score so many of its outputs, and more are left."""


class ScoringState(StrEnum):
    """How far the outputs of a step are scored."""

    DONE = "done"
    OPEN = "open"
    """The next command goes on."""
    BROKEN = "broken"
    """The new model's outputs break the scorer over and over."""


@dataclass(frozen=True)
class ComparedOutputs:
    """The stored outputs of the models that a step compares: new (n) and old (o)."""

    new: str
    old: str | None = None


def score_what_can_be(
    project: Project, testset: Testset, compared: ComparedOutputs, until: float = math.inf
) -> ScoringState:
    """Score the outputs that have a reference, or need none, and no score; the caller acts alone.

    Does nothing if the owner imports the scores. ``until`` is a time of the clock. An error that is
    not the scorer's ends the scoring: what is recorded stays, and the next command goes on.
    """
    script = testset.script
    if script.scorer is None or script.scorer.kind is ScorerKind.EXTERNAL:
        return ScoringState.DONE
    files = {"o": compared.old, "n": compared.new}
    for model, file in files.items():
        names = needed_names(script, model)
        if file is None or not names or _score_model(project, testset, file, names, until):
            continue
        broken = model == "n" and _failed(project, testset, file, names) >= MOST_BROKEN
        return ScoringState.BROKEN if broken else ScoringState.OPEN
    return ScoringState.DONE


def _failed(project: Project, testset: Testset, file: str, names: Sequence[str]) -> int:
    """How many outputs of a model the scorer could not score."""
    from easeci.vault.missing_scores import failed_outputs

    return failed_outputs(
        project.sealed(testset),
        testset.script,
        file,
        names,
        testset.label_files,
        testset.score_files,
    )


def needed_names(script: Script, model: str | None = None) -> tuple[str, ...]:
    """The names of the scores that the condition needs, of one model or of both."""
    terms = script.score_terms
    return tuple(dict.fromkeys(t.name for t in terms if model in (None, t.model)))


def _score_model(
    project: Project, testset: Testset, file: str, names: Sequence[str], until: float
) -> bool:
    """Score the outputs of one model; whether none is left."""
    from easeci.vault.missing_scores import unscored_outputs

    sealed, script = project.sealed(testset), testset.script
    outputs = unscored_outputs(
        sealed, script, [file], names, testset.label_files, testset.score_files
    )
    if not len(outputs):
        return True
    assert script.scorer is not None
    if script.scorer.kind.built_in:
        project.append(_stored(sealed, testset, _by_rule(script, outputs), b""))
        return True
    from easeci.service.scoring.program import ProgramScorer

    scorer = ProgramScorer(project, sealed, script, outputs, names)

    def keep(done: SettledOutputs[Named]) -> None:
        rows = _rows(outputs, done.found, done.failed, names)
        project.append(_stored(sealed, testset, rows, scorer.printed))

    return not scorer.run(keep, until).left


def _stored(sealed: SealedTestset, testset: Testset, rows: pl.DataFrame, printed: bytes) -> Scored:
    """Store scores; the event that records them."""
    failed = rows.filter(rows["failed"])
    outputs = rows.select("id", "output", "reference").unique(maintain_order=True)
    number = len(testset.score_files)
    log = None
    if printed and len(failed):
        log = sealed.builds.store_log(f"scorer-{number + 1:06}", printed)
    kept = sealed.scores.store(rows, number)
    return Scored(
        testset=testset.number,
        file=kept.file,
        digest=kept.digest,
        scorer=scorer_digest(sealed, testset),
        outputs=outputs_digest(sealed, outputs),
        scored=len(outputs),
        failed=failed.select("id", "output").n_unique(),
        log=None if log is None else log.file,
        log_digest=None if log is None else log.digest,
    )


def scorer_digest(sealed: SealedTestset, testset: Testset) -> str:
    """The digest of the owner's program, or of the rule as the script writes it."""
    if sealed.scorer is not None:
        return testset.files[sealed.scorer.relative_to(sealed.folder).as_posix()]
    rule = ", ".join(testset.sealed.get("scorer", []))
    return sealed.vault.key.digest(rule.encode(), "scorer")


def outputs_digest(sealed: SealedTestset, table: pl.DataFrame) -> str:
    """The digest over outputs that were scored: ids, and digests of outputs and references."""
    rows = table.select("id", "output", "reference").iter_rows()
    lines = (f"{name}\0{output}\0{reference}\n".encode() for name, output, reference in rows)
    return sealed.vault.key.digest_chunks(lines, "scored outputs")


def _by_rule(script: Script, outputs: UnscoredOutputs) -> pl.DataFrame:
    """The scores that a built-in rule gives."""
    import polars as pl

    from easeci.tables.scorers import built_in_scores

    assert script.scorer is not None
    table = outputs.table
    scores = built_in_scores(script.scorer, table["text"], table["label"])
    return table.select("id", "output", "reference").with_columns(
        name=pl.lit(MAIN_SCORE),
        score=scores,
        failed=pl.lit(False),
        reason=pl.lit("", pl.String),
    )


def _rows(
    outputs: UnscoredOutputs,
    found: Mapping[int, Mapping[str, float | None]],
    failed: Mapping[int, str],
    names: Sequence[str],
) -> pl.DataFrame:
    """A row for each score. What the scorer could not score has 0, and the reason."""
    import polars as pl

    rows: list[tuple[int, str, float, bool, str]] = []
    for place in sorted({*found, *failed}):
        if place in failed:
            rows += [(place, name, 0.0, True, failed[place]) for name in names]
            continue
        for name, score in found[place].items():
            bad = score is None
            rows.append((place, name, 0.0 if score is None else score, bad, FAILED if bad else ""))
    schema = {
        "place": pl.UInt32,
        "name": pl.String,
        "score": pl.Float64,
        "failed": pl.Boolean,
        "reason": pl.String,
    }
    scores = pl.DataFrame(rows, schema=schema, orient="row")
    keys = outputs.table.select("id", "output", "reference").with_row_index("place")
    return scores.join(keys, on="place", how="left", maintain_order="left").drop("place")
