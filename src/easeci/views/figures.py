"""Charts with their words: the history of a testset, and the evidence on one commit."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from easeci.charts import (
    StepPoint,
    count_chart,
    evidence_chart,
    for_pages,
    history_chart,
    interval_chart,
    score_chart,
)
from easeci.evidence.endings import Ending
from easeci.ledger.verdicts import RecordedClause
from easeci.script import Comparison, Mode, NormalClause, Script
from easeci.verdict import wording
from easeci.views.history import DecidedStep

if TYPE_CHECKING:
    from easeci.verdict.curves import ClauseCurves
    from easeci.views.scores import CommitScores, ScoreDistribution

MOST_CHARTS = 12
"""So many clauses have a chart; a condition may have one clause for each of many slices."""


@dataclass(frozen=True)
class Figure:
    """A chart, and what it shows in words.

    ``drawn`` is SVG by the class with which a stylesheet chooses it; empty if words are enough.
    """

    title: str
    caption: str
    drawn: Mapping[str, str]

    @property
    def label(self) -> str:
        """What a screen reader says of the chart."""
        return f"{self.title}. {self.caption}"


def history_figures(script: Script, steps: Sequence[DecidedStep]) -> tuple[Figure, ...]:
    """A history of each clause, and the labels of each step; none before a step is decided."""
    if not steps:
        return ()
    tested = tested_clauses(script, steps)
    clauses = [
        _clause_figure(script, clause, _points(steps, position))
        for position, clause in enumerate(tested[:MOST_CHARTS])
    ]
    more = len(tested) - len(clauses)
    rest = [Figure("More clauses", f"{more:,} more: the table has them.", {})] if more else []
    return (*clauses, *rest, _labels_figure(script, steps))


def tested_clauses(script: Script, steps: Sequence[DecidedStep]) -> tuple[NormalClause, ...]:
    """The clauses that verdicts are about: of ``[lang=*]``, one for each slice of the testset."""
    if not steps or not any(where.every for where in script.slices):
        return script.clauses
    return tuple(found.clause for found in steps[0].verdict.clauses)


def _labels_figure(script: Script, steps: Sequence[DecidedStep]) -> Figure:
    counts = [(step.number, step.verdict.labels) for step in steps]
    total = f"{counts[-1][1]:,} at the last step, {max(c for _, c in counts):,} at the most"
    return Figure(
        "Labels",
        f"Labels that each step consulted: {total}. Steps share labels.",
        for_pages(partial(count_chart, counts, "labels", steps=script.steps)),
    )


def _clause_figure(script: Script, clause: NormalClause, points: list[StepPoint]) -> Figure:
    unit, threshold = wording.unit(clause.score), 100.0 * float(clause.threshold)
    low, high = (100.0 * end for end in zone_of(clause, script.mode))
    name = f"{clause.score} ({unit})"
    draw = partial(history_chart, points, name, threshold, (low, high), steps=script.steps)
    counts = Counter(point.outcome for point in points)
    summary = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
    passed, changes = sum(p.passed is True for p in points), sum(p.baseline for p in points)
    over = "1 step" if len(points) == 1 else f"{len(points):,} steps"
    caption = (
        f"Over {over}: {summary}. Of these commits {passed:,} passed the whole "
        f"condition, and {changes:,} became the baseline, each with a thin line upwards. The line "
        f"across is the threshold {wording.constant(clause.score, clause.threshold)}, the shaded "
        f"band the zone from {low:.4g} to {high:.4g} {unit}, where Unknown is honest. Dots "
        "are estimates, bars intervals for the true value, cut at the edge of the chart. An "
        "interval may contain the threshold of a commit that passed. The table of commits has the "
        "numbers."
    )
    return Figure(clause.text, caption, for_pages(draw))


def zone_of(clause: NormalClause, mode: Mode) -> tuple[float, float]:
    """Where Unknown is honest: within twice the tolerance of the threshold.

    In fp-free it is on the good side of the threshold, in fn-free on the bad side.
    """
    upwards = (clause.comparison is Comparison.GREATER) == (mode is Mode.FP_FREE)
    other = clause.threshold + (2 if upwards else -2) * clause.tolerance
    return float(min(clause.threshold, other)), float(max(clause.threshold, other))


def _points(steps: Sequence[DecidedStep], position: int) -> list[StepPoint]:
    """What each decided step found of the clause at a position of the condition, in hundredths."""
    return [
        _point(step, step.verdict.clauses[position])
        for step in steps
        if position < len(step.verdict.clauses)
    ]


def _point(step: DecidedStep, clause: RecordedClause) -> StepPoint:
    return StepPoint(
        step.number,
        None if clause.estimate is None else 100.0 * clause.estimate,
        100.0 * clause.low,
        100.0 * clause.high,
        clause.result,
        passed=step.passed,
        baseline=step.became_baseline,
    )


ENDINGS = {
    Ending.PROVEN: "proven",
    Ending.FUTILE: "asking stopped, because it can hardly be clearly on the good side any more",
    Ending.EXHAUSTED: "not shown by all the examples that there are",
    Ending.OPEN: "still open",
}
WITHOUT_LABELS = {
    Ending.PROVEN: "No label was needed: on how many examples the models differ proves it.",
    Ending.FUTILE: "No label was needed: the models differ on too few examples for it to be shown.",
    Ending.EXHAUSTED: "No label was needed: on how many examples they differ does not show it.",
    Ending.OPEN: "Nothing is labelled yet.",
}


def clause_figures(curves: ClauseCurves) -> list[Figure]:
    """The evidence on one clause, and its interval if it used labels."""
    interval = interval_figure(curves)
    return [evidence_figure(curves), *([] if interval is None else [interval])]


def evidence_figure(curves: ClauseCurves) -> Figure:
    """How the evidence on one clause grew, label by label."""
    labels = curves.labels[-1]
    if labels == 0:
        return Figure(curves.clause, WITHOUT_LABELS[curves.ending], {})
    proof, futility = (
        f"{_wealth(curve.evidence[-1])}, where {_wealth(curve.target)} is needed"
        for curve in (curves.proof, curves.futility)
    )
    caption = (
        f"After {labels:,} labels: {ENDINGS[curves.ending]}. The proof stands at {proof}; what "
        f"speaks for not asking on at {futility}."
    )
    return Figure(curves.clause, caption, for_pages(partial(evidence_chart, curves)))


def interval_figure(curves: ClauseCurves) -> Figure | None:
    """How the interval for the true value shrank, label by label; None if no label was used."""
    labels = curves.labels[-1]
    if labels == 0:
        return None
    shown = f"{100 * curves.low[-1]:.2f} to {100 * curves.high[-1]:.2f} {curves.unit}"
    caption = (
        f"After {labels:,} labels the true value lies between {shown}. The interval holds at every "
        "label at once, so it may contain the threshold although the clause is proven."
    )
    drawn = for_pages(partial(interval_chart, curves))
    return Figure(f"{curves.clause}: interval", caption, drawn)


def _wealth(log: float) -> str:
    """What bets have won, from its logarithm, to three digits."""
    power = log / math.log(10)
    if power < -3:
        return "less than 0.001"
    if power > 9:
        return "infinity" if log == math.inf else f"10^{power:.0f}"
    rounded = float(f"{math.exp(log):.3g}")
    return f"{rounded:,.0f}" if rounded >= 100 else f"{rounded:g}"


def score_figures(found: CommitScores) -> list[Figure]:
    """A histogram of each score that the condition is about, with its numbers in words."""
    return [_score_figure(shown, found) for shown in found.distributions]


def _score_figure(shown: ScoreDistribution, found: CommitScores) -> Figure:
    rest = _left_out(found)
    if not shown.examples:
        return Figure(shown.name, f"No example has a known score yet. {rest}".strip(), {})
    means = " and ".join(f"{model.mean:.3f} for the {model.bars.model}" for model in shown.models)
    examples = "1 example" if shown.examples == 1 else f"{shown.examples:,} examples"
    sentences = [f"The mean is {means}, on {examples} whose scores are known."]
    if shown.better is not None:
        sentences.append(
            f"With the new model, {shown.better:,} score higher, {shown.worse:,} lower, and "
            f"{shown.equal:,} the same."
        )
    failed = [
        f"{model.failed:,} of the {model.bars.model}" for model in shown.models if model.failed
    ]
    if failed:
        sentences.append(f"Outputs that could not be scored count 0: {' and '.join(failed)}.")
    drawn = for_pages(partial(score_chart, [model.bars for model in shown.models]))
    return Figure(shown.name, " ".join((*sentences, rest)).strip(), drawn)


def _left_out(found: CommitScores) -> str:
    """The examples that no histogram has."""
    parts = [f"{found.unsettled:,} are unsettled"] if found.unsettled else []
    parts += [f"{found.unknown:,} are not known"] if found.unknown else []
    return f"Of the other examples, {' and '.join(parts)}." if parts else ""
