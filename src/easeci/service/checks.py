"""A plan, and one verdict from files. Neither needs a repository, and no steps are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from easeci.errors import UsageError
from easeci.script import Adaptivity, Estimator, Mode, Script

if TYPE_CHECKING:
    import polars as pl

    from easeci.evidence.facts import Facts
    from easeci.plan import Plan
    from easeci.service.scored_check import CheckSources, PairCounts, ScoredColumns
    from easeci.service.scored_files import ScoredOutputs
    from easeci.tables.align import AlignedExamples
    from easeci.tables.facts import ExampleColumns
    from easeci.tables.source import Source
    from easeci.verdict.outlook import WholeClause
    from easeci.verdict.result import Verdict


def make_plan(script: Script, commits: str = "mixed") -> Plan:
    """How many examples and labels a script needs, if commits are like those of a named mix."""
    from easeci.plan import plan
    from easeci.plan.commit_mix import MIXES

    return plan(script, MIXES[commits])


@dataclass(frozen=True)
class Checked:
    """A verdict from files, and the ids of the examples to label if it waits for labels.

    ``exact_is_apt``: every label is there and ``auto`` decided, so that ``exact`` would have been
    the more decisive choice for a user who had all labels beforehand.
    """

    verdict: Verdict
    wanted_ids: pl.Series
    exact_is_apt: bool = False
    pairs: PairCounts | None = None
    """On how many examples the new model's score is higher or lower, if examples have scores."""
    more_examples: int | None = None
    """About how many more examples like these would decide; None if that is not known."""
    labelled: bool = True
    """Whether labels were used. Scores that come with outputs need none."""
    whole: tuple[WholeClause, ...] = ()
    """What all examples show of each clause, where a verdict on scores stopped before the end."""

    def __str__(self) -> str:
        """The answer, the reason and one line for each clause."""
        return str(self.verdict)

    def __repr__(self) -> str:
        """Short, because the verdict itself has many fields."""
        return f"<Checked {str(self).splitlines()[0]}>"


def check(
    script: Script,
    *,
    new: Source | ScoredOutputs,
    old: Source | ScoredOutputs | None = None,
    labels: Source | None = None,
    examples: Source | None = None,
    tested: Sequence[Source] = (),
    history: str | None = None,
    seed: str = "",
) -> Checked:
    """One verdict from predictions and labels, or from scores. The caller counts the steps.

    A file or table with a column ``score``, and a log of an eval tool, bring their scores with
    them: then n and o are mean scores, and no labels are needed. With a built-in ``scorer``,
    outputs are compared with the labels as references.

    ``old`` may be left out if the condition has neither o nor d, ``labels`` if it is on d alone.
    ``examples`` are a file or a DataFrame with the columns that slices such as n[lang=de] name.
    ``tested`` are the predictions of the models that were tested before, for n - top(5).
    ``history`` holds the answers that this testset has given so far, such as "PFF"; without it
    every step has the published level. ``seed`` keys the order in which examples are looked at.

    With estimator ``auto`` the ``sequential`` estimator decides, whatever labels are there; all of
    them are at hand. Another estimator for a file with all labels would be a second chance.
    ``exact`` is for a user who had all labels before the first answer.
    """
    # Here and not above, because a plan needs no polars.
    import numpy as np

    from easeci.evidence.codes import unlabelled
    from easeci.plan.clause_shapes import exact_obstacle
    from easeci.service.scored_check import CheckSources
    from easeci.tables.facts import example_facts
    from easeci.tables.order import keyed_order
    from easeci.verdict.decide import decide

    _require_history(script, history)
    _require_sources(script, old=old, labels=labels, examples=examples, tested=tested)
    scored = _scored(script, CheckSources(new, old, labels, examples))
    if scored is not None:
        return _check_scored(scored, history, seed)
    testset, columns = _columns(script, new, old, labels, examples, tested)
    if columns.slices is not None:
        every = {where.column for where in script.slices if where.every}
        script = script.expanded({name: columns.slices.values_of(name) for name in every})
    by_default = script.estimator is Estimator.AUTO
    if by_default:
        script = replace(script, estimator=Estimator.SEQUENTIAL)
    order = None
    if script.estimator is Estimator.SEQUENTIAL:
        order = keyed_order(testset.new.ids, seed)
    facts = example_facts(script, columns, order)
    if order is None and not _has_all_labels(script, facts):
        order = keyed_order(testset.new.ids, seed)  # labels are asked for along it
        facts = example_facts(script, columns, order)
    verdict = decide(script, facts, history, at_hand=~unlabelled(facts.cells))
    wanted = np.array(verdict.wanted, np.intp)
    apt = by_default and script.needs_labels and exact_obstacle(script.clauses) is None
    return Checked(
        verdict,
        testset.ids_at(wanted if order is None else order[wanted]),
        apt and _has_all_labels(script, facts),
    )


def _scored(script: Script, sources: CheckSources) -> ScoredColumns | None:
    """The examples with their scores; None if predictions are right or wrong."""
    from easeci.service.scored_check import given_scores, scores_by_rule
    from easeci.service.scored_files import load_if_scored
    from easeci.tables.column import ColumnRole

    if script.scorer is not None and script.scorer.kind.built_in:
        return scores_by_rule(script, sources)
    new = load_if_scored(sources.new, ColumnRole.NEW)
    if new is None and not script.is_scored:
        return None
    if new is None:
        raise UsageError(
            "check runs no scorer, and the predictions of the new model have no scores",
            hint="Give files with a column 'score', or logs of an eval tool; or use a built-in "
            "scorer: exact, contains, regex or numeric(1e-3).",
        )
    old = None
    if sources.old is not None and _compares_with_old(script):
        old = load_if_scored(sources.old, ColumnRole.OLD)
        if old is None:
            raise UsageError(
                "the new model has scores and the old one has none",
                hint="Give the old model's outputs with their scores too.",
            )
    return given_scores(script, new, old, sources)


def _check_scored(scored: ScoredColumns, history: str | None, seed: str) -> Checked:
    """The verdict on scores. All that are there are at hand."""
    import numpy as np

    from easeci.evidence.codes import unlabelled
    from easeci.tables.facts import example_facts
    from easeci.tables.order import keyed_order
    from easeci.verdict.decide import decide
    from easeci.verdict.outlook import Outlook

    script, columns = scored.script, scored.columns
    if script.estimator is Estimator.AUTO:
        script = replace(script, estimator=Estimator.SEQUENTIAL)
    if columns.slices is not None:
        every = {where.column for where in script.slices if where.every}
        script = script.expanded({name: columns.slices.values_of(name) for name in every})
    order = keyed_order(scored.ids, seed)
    facts = example_facts(script, columns, order)
    verdict = decide(script, facts, history, at_hand=~unlabelled(facts.cells))
    wanted = scored.ids.gather(order[np.array(verdict.wanted, np.intp)])
    outlook = Outlook.of(script, facts, history, verdict)
    return Checked(
        verdict,
        wanted,
        pairs=scored.pairs,
        more_examples=outlook.more_examples,
        labelled=scored.labelled,
        whole=outlook.whole,
    )


def _has_all_labels(script: Script, facts: Facts) -> bool:
    """Whether no label is missing that matters to the condition."""
    from easeci.evidence.codes import unlabelled
    from easeci.evidence.labelled import LabelledTestset

    ranks = [clause.score for clause in script.clauses]
    missing = unlabelled(facts.cells).any()
    return not (missing and LabelledTestset(facts).missing_labels(ranks))


def _compares_with_old(script: Script) -> bool:
    """Whether a clause compares with the old model; ``top`` compares with those tested before."""
    return any(c.score.needs_old_model and c.score.top is None for c in script.clauses)


def _require_sources(
    script: Script,
    *,
    old: Source | None,
    labels: Source | None,
    examples: Source | None,
    tested: Sequence[Source],
) -> None:
    """Refuse to begin without what the condition needs, or with a file that is not there."""
    if _compares_with_old(script) and old is None:
        raise UsageError(
            "the condition compares with the old model, so its predictions are needed too",
            hint="Give them as --old (old=…).",
        )
    if script.slices and examples is None:
        columns = ", ".join(dict.fromkeys(chosen.column for chosen in script.slices))
        raise UsageError(
            f"the condition has slices by columns of the examples ({columns}), so the examples are "
            "needed too",
            hint="Give them as --examples (examples=…).",
        )
    if any(clause.score.top for clause in script.clauses) and not tested:
        raise UsageError(
            "the condition compares with the best models that were tested before (top), so their "
            "predictions are needed",
            hint="Give each of them as --tested (tested=[…]).",
        )
    for source in (old, labels, examples, *tested):
        # Also if the condition does not need the file: a wrong name is a mistake anyway.
        if isinstance(source, str | Path) and not Path(source).exists():
            raise UsageError(f"there is no file {source}")


def _columns(
    script: Script,
    new: Source,
    old: Source | None,
    labels: Source | None,
    examples: Source | None,
    tested: Sequence[Source],
) -> tuple[AlignedExamples, ExampleColumns]:
    """What the condition needs of the sources, joined by id."""
    from easeci.tables.align import align, aligned_predictions, example_codes
    from easeci.tables.column import ColumnRole
    from easeci.tables.facts import ExampleColumns, ModelOutput, require_named_classes
    from easeci.tables.slice_checks import load_slices
    from easeci.tables.source import load_column

    made = load_column(new, ColumnRole.NEW, ranked=script.needs_ranks)
    before = known = None
    if old is not None and _compares_with_old(script):
        ranks = (clause.score for clause in script.clauses)
        compared = any(s.blocks is not None and s.needs_old_model for s in ranks)
        before = load_column(old, ColumnRole.OLD, ranked=compared)
    if labels is not None and script.needs_labels:
        known = load_column(labels, ColumnRole.LABELS)
    testset = align(made, before, known)
    classes = [made.values, *([] if testset.labels is None else [testset.labels])]
    require_named_classes(script.named_classes, classes)
    rivals = [aligned_predictions(made, load_column(one, ColumnRole.OLD)) for one in tested]
    return testset, ExampleColumns(
        testset.cells,
        ModelOutput(made.values, made.ranks),
        None if testset.old is None else ModelOutput(testset.old.values, testset.old.ranks),
        testset.labels,
        load_slices(examples, made, script.slices, testset.labels) if script.slices else None,
        [example_codes(made.values, rival.values, testset.labels) for rival in rivals],
    )


def _require_history(script: Script, history: str | None) -> None:
    if history is None:
        return
    if set(history) - {"P", "F"}:
        raise UsageError(
            "a history consists of the letters P and F",
            hint="Write the answers so far in their order, such as PFF.",
        )
    if len(history) >= script.steps:
        raise UsageError(
            f"all {script.steps:,} steps of this testset are used up",
            hint="A new testset is needed, or a script with more steps.",
        )
    change = "P" if script.mode is Mode.FP_FREE else "F"
    if script.adaptivity is Adaptivity.FIRST_CHANGE and change in history:
        raise UsageError(
            "under firstChange a testset is retired at its first change",
            hint="A new testset is needed.",
        )


def write_ids(path: Path, ids: pl.Series) -> None:
    """Write the ids to label, one a row, in the order in which labels are wanted."""
    import polars as pl

    try:
        with path.open("wb") as file:
            pl.DataFrame({"id": ids}).write_csv(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
