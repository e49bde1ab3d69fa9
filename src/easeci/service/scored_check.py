"""One verdict from scores: those in files and logs, or what a built-in rule gives to outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from easeci.errors import DataError, ScriptError, UsageError
from easeci.evidence.bets import Floats
from easeci.evidence.cells import LabelState
from easeci.evidence.codes import Flags
from easeci.evidence.trials import example_scores
from easeci.script import Script, compile_condition
from easeci.script.lattice import ScoreTerm, Scoring
from easeci.script.problem import Problem
from easeci.script.scorer import MAIN_SCORE
from easeci.service.scored_files import ScoredOutputs, load_if_scored
from easeci.tables.align import aligned_labels, aligned_rows, example_codes
from easeci.tables.column import Column, ColumnRole, as_text, named
from easeci.tables.facts import ExampleColumns, ModelOutput
from easeci.tables.logs import require_same_task
from easeci.tables.outputs import Outputs, load_outputs
from easeci.tables.slice_checks import load_slices
from easeci.tables.source import load_column

if TYPE_CHECKING:
    from easeci.tables.source import Source


@dataclass(frozen=True)
class CheckSources:
    """The files or tables of a check."""

    new: Source | ScoredOutputs
    old: Source | ScoredOutputs | None
    labels: Source | None
    examples: Source | None


@dataclass(frozen=True)
class PairCounts:
    """On how many examples the new model's score is higher, lower, or the same."""

    better: int
    worse: int
    equal: int
    unsettled: int = 0
    """How many have no score, and count at their worst."""


@dataclass(frozen=True)
class ScoredColumns:
    """What a check knows of each example, in the order of the new model's outputs."""

    script: Script
    ids: pl.Series
    columns: ExampleColumns
    pairs: PairCounts | None
    labelled: bool
    """Whether labels were given as references; otherwise scores came with the outputs."""


def given_scores(
    script: Script, new: ScoredOutputs, old: ScoredOutputs | None, sources: CheckSources
) -> ScoredColumns:
    """Examples whose scores came with the outputs; no label is needed."""
    if new.log is not None and old is not None and old.log is not None:
        require_same_task(new.log, old.log)
    script = _with_scores(script, new)
    before = None if old is None else _aligned(new.outputs, old.outputs)
    for model, outputs in (("n", new.outputs), ("o", before)):
        if outputs is not None:
            _require_scores(script, model, outputs)
    trials = {term: _trial_scores(term, new.outputs, before) for term in script.score_terms}
    scores = {term: example_scores(found, term.best_of) for term, found in trials.items()}
    settled = ~np.isnan(np.array(list(scores.values()))).any(axis=0)
    state = np.where(settled, str(LabelState.LABEL), str(LabelState.SKIPPED))
    differ = np.ones(len(new.outputs), bool)
    if _uses_difference(script):
        assert before is not None
        differ = outputs_differ(new.outputs, before)
        _require_equal_scores(new.outputs, scores, differ)
    columns = _columns(script, new.outputs, differ, pl.Series(state.tolist()), scores, sources)
    return ScoredColumns(script, new.outputs.ids, columns, _pairs(scores, ~settled), labelled=False)


def scores_by_rule(script: Script, sources: CheckSources) -> ScoredColumns:
    """Examples whose outputs a built-in rule compares with references, where these are known."""
    from easeci.tables.scorers import built_in_scores, require_references

    assert script.scorer is not None
    new = _outputs(sources.new, ColumnRole.NEW, script.trials)
    old = None
    if sources.old is not None and script.needs_old_model:
        old = _aligned(new, _outputs(sources.old, ColumnRole.OLD, script.trials))
    references = pl.repeat(None, len(new), dtype=pl.String, eager=True)
    if sources.labels is not None:
        labels = load_column(sources.labels, ColumnRole.LABELS, references=True)
        references = as_text(aligned_labels(_column(new), labels))
        require_references(script.scorer, as_text(labels.values), labels.name)
    known = references.is_not_null()
    rows = np.repeat(known.to_numpy(), script.trials)
    repeated = references.gather(np.repeat(np.arange(len(new)), script.trials)[rows])
    scores: dict[ScoreTerm, Floats] = {}
    for term in script.score_terms:
        outputs = new if term.model == "n" else old
        assert outputs is not None
        trials = np.full(len(rows), np.nan)
        made = built_in_scores(script.scorer, outputs.values.filter(pl.Series(rows)), repeated)
        trials[rows] = made.to_numpy()
        scores[term] = example_scores(trials.reshape(len(new), -1), term.best_of)
    differ = np.zeros(len(new), bool) if old is None else outputs_differ(new, old)
    state = known.replace_strict({True: str(LabelState.LABEL), False: None}, return_dtype=pl.String)
    columns = _columns(script, new, differ, state, scores, sources)
    unsettled = np.zeros(len(new), bool)
    return ScoredColumns(script, new.ids, columns, _pairs(scores, unsettled), labelled=True)


def _outputs(source: Source | ScoredOutputs, role: ColumnRole, trials: int) -> Outputs:
    """The outputs of a source; scores that came with them do not count."""
    loaded = load_if_scored(source, role)
    if loaded is None:
        return load_outputs(source, role, trials=trials)
    if loaded.outputs.trials != trials:
        raise DataError(
            f"{loaded.outputs.name} has {loaded.outputs.trials:,} outputs for each example, and "
            f"the script asks for {trials:,} (trials)"
        )
    return loaded.outputs


def _columns(
    script: Script,
    new: Outputs,
    differ: Flags,
    state: pl.Series,
    scores: dict[ScoreTerm, Floats],
    sources: CheckSources,
) -> ExampleColumns:
    # Only whether outputs differ and what is known of the label matters here: nobody is right.
    made = pl.Series(np.zeros(len(new), np.int64))
    before = pl.Series(differ.astype(np.int64))
    cells = example_codes(made, before, pl.repeat(None, len(new), eager=True), state)
    slices = None
    if script.slices:
        slices = load_slices(sources.examples, _column(new), script.slices, None)
    return ExampleColumns(cells, ModelOutput(new.values), None, None, slices, (), scores)


def _with_scores(script: Script, new: ScoredOutputs) -> Script:
    """The script with n and o as mean scores, for the names and trials of a file."""
    trials = new.outputs.trials
    if script.trials not in (1, trials):
        raise DataError(
            f"{new.outputs.name} has {trials:,} outputs for each example, and the script asks for "
            f"{script.trials:,} (trials)",
        )
    for model in ("n", "o"):
        _require_scores(script, model, new.outputs)
    scoring = Scoring(new.names, trials)
    try:
        clauses = compile_condition(script.condition, scoring=scoring)
    except Problem as problem:
        raise ScriptError(f"{new.outputs.name}: {problem.message}", hint=problem.hint) from None
    return replace(script, clauses=clauses, scores=new.names, trials=trials)


def _column(outputs: Outputs) -> Column:
    return Column(outputs.name, ColumnRole.NEW, outputs.ids, outputs.ids, outputs.positional)


def _aligned(new: Outputs, old: Outputs) -> Outputs:
    """The old model's outputs in the order of the new model's, whose ids they must cover."""
    rows = pl.DataFrame({"row": pl.int_range(len(old), eager=True)})
    hint = "Both models need outputs for the same examples."
    order = aligned_rows(_column(new), _column(old), rows, hint)["row"]
    return old.taken(order)


def _require_scores(script: Script, model: str, outputs: Outputs) -> None:
    for term in script.score_terms:
        if term.model != model:
            continue
        if term.name not in outputs.scores:
            found = ", ".join(outputs.scores) or "none"
            what = "score" if term.name == MAIN_SCORE else f"score '{term.name}'"
            column = term.name if term.name == MAIN_SCORE else f"{MAIN_SCORE}.{term.name}"
            raise DataError(
                f"{outputs.name} has no {what}",
                hint=f"Its column is called {column}. The file's scores: {found}.",
            )
        if term.best_of is not None and term.best_of > outputs.trials:
            raise DataError(
                f"{outputs.name} has {outputs.trials:,} outputs for each example, and the "
                f"condition asks for pass@{term.best_of}"
            )


def _trial_scores(term: ScoreTerm, new: Outputs, old: Outputs | None) -> Floats:
    outputs = new if term.model == "n" else old
    if outputs is None:
        raise UsageError(
            "the condition compares with the old model, so its scores are needed too",
            hint="Give them as --old (old=…).",
        )
    scores = outputs.scores[term.name].to_numpy().astype(np.float64)
    return np.asarray(scores.reshape(-1, outputs.trials))


def _uses_difference(script: Script) -> bool:
    """Whether a clause is about d: the share of examples whose outputs differ."""
    lattices = (clause.score.lattice for clause in script.clauses)
    return any(lattice is None or lattice.difference for lattice in lattices)


def outputs_differ(new: Outputs, old: Outputs) -> Flags:
    """On which examples the outputs of two models differ in some trial."""
    for outputs in (new, old):
        if outputs.values.null_count():
            raise DataError(
                f"{outputs.name} has no outputs, and the condition needs them for d",
                hint="Write a column 'output'.",
            )
    if new.trials != old.trials:
        return np.ones(len(new), bool)
    different = (new.values != old.values).to_numpy().reshape(len(new), -1)
    return np.asarray(different.any(axis=1))


def _require_equal_scores(
    new: Outputs,
    scores: dict[ScoreTerm, Floats],
    differ: Flags,
) -> None:
    """Equal outputs must have equal scores: d counts them as the same."""
    pairs = [(term, replace(term, model="o")) for term in scores if term.model == "n"]
    for mine, theirs in pairs:
        if theirs in scores:
            odd = ~differ & ~np.isclose(scores[mine], scores[theirs], rtol=0, atol=1e-12)
            odd &= ~np.isnan(scores[mine]) & ~np.isnan(scores[theirs])
            if odd.any():
                raise DataError(
                    f"equal outputs have different scores on {int(odd.sum()):,} examples: "
                    f"{named(new.ids.filter(pl.Series(odd)))}",
                    hint="Leave d out of the condition, or use a scorer that is always the same.",
                )


def _pairs(scores: dict[ScoreTerm, Floats], unsettled: Flags) -> PairCounts | None:
    """How the two models compare on the first score that both have."""
    for term, mine in scores.items():
        theirs = scores.get(replace(term, model="o"))
        if term.model == "n" and theirs is not None:
            gain = mine - theirs
            equal = np.abs(gain) <= 1e-12
            return PairCounts(
                better=int(((gain > 0) & ~equal).sum()),
                worse=int(((gain < 0) & ~equal).sum()),
                equal=int(equal.sum()),
                unsettled=int(unsettled.sum()),
            )
    return None
