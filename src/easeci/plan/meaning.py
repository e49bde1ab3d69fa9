"""What a condition means for a commit: both promises as one sentence, with numbers.

Accuracies, measures of classes and ratios are in percent, differences of them in points, and d in
percent of predictions.
The percentages in brackets are the probabilities of the promises, for the testset's whole life.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from easeci.plan.clause_shapes import difference_of_accuracies, single_variable
from easeci.script import Comparison, Mode, NormalClause, Score, Script
from easeci.script.reach import Obstacle

LAST_WORDS = {Mode.FP_FREE: "in between it may fail", Mode.FN_FREE: "in between it may pass"}


def meaning(script: Script) -> str:
    """Which commits pass, which never do, and what happens in between.

    fp-free promises a pass from c + 2ε on (sensitivity) and no pass up to c (safety); fn-free
    promises a pass above c (safety) and no pass up to c − 2ε (sensitivity). Several clauses: a
    commit must be on the good side of all for the first, and on the bad side of one for the second.
    """
    for warning in script.reach_warnings:
        if warning.obstacle.final:
            return warning.obstacle.value
    places = [ClausePlace.of(clause) for clause in script.clauses]
    safe = percent(script.reliability)
    likely = percent(script.reliability if script.published_estimator else script.sensitivity)
    if script.mode is Mode.FP_FREE:
        first = _joined([place.good(2, closed=True) for place in places], "and")
        never = _joined([place.bad(0, short=True) for place in places], "or")
        parts = [f"passes ({likely}) {first}, if the examples suffice", f"never ({safe}) {never}"]
        if any(w.obstacle is Obstacle.NO_CERTAIN_PASS for w in script.reach_warnings):
            parts[0] = Obstacle.NO_CERTAIN_PASS.value
    else:
        reached = [place for place in places if place.reaches(-2)]
        first = _joined([place.good(0, closed=False) for place in places], "and")
        never = _joined([place.bad(-2, short=True) for place in reached], "or")
        parts = [f"passes ({safe}) {first}", f"never ({likely}) {never}, if the examples suffice"]
        if not reached:
            parts[1] = Obstacle.NO_CERTAIN_FAIL.value
    opening = f"{places[0].name}: " if len(places) == 1 else ""
    return opening + "; ".join([*parts, LAST_WORDS[script.mode]])


def percent(value: Fraction) -> str:
    """A probability in percent, exact: 99.99%."""
    return f"{float(100 * value):.10g}%"


def points(value: Fraction, *, signed: bool = True) -> str:
    """A value times 100 with one decimal, or as many as it needs: +4.0, 82.0, +2.05, 0.0."""
    scaled = 100 * value
    digits = next((n for n in range(1, 9) if (scaled * 10**n).denominator == 1), 3)
    sign = "+" if signed and value != 0 else ""
    return f"{float(scaled):{sign}.{digits}f}"


@dataclass(frozen=True)
class ClausePlace:
    """A clause in the units that people use: a name, a threshold and a tolerance.

    ``upwards``: larger values are better. ``share``: it is a share (in percent), rather than a
    difference (in points).
    """

    clause: NormalClause
    name: str
    threshold: Fraction
    tolerance: Fraction
    upwards: bool
    share: bool

    @staticmethod
    def of(clause: NormalClause) -> ClausePlace:
        """A multiple of n, o, d or n − o is shown as that itself."""
        if not clause.score.is_linear:
            return ClausePlace(
                clause=clause,
                name=measure_name(clause.score),
                threshold=clause.threshold,
                tolerance=clause.tolerance,
                upwards=clause.comparison is Comparison.GREATER,
                share=clause.score.lowest >= 0,
            )
        single, scale = single_variable(clause.score), difference_of_accuracies(clause.score)
        if single is not None:
            name, unit = "nod"[single[0]], single[1]
        elif scale is not None:
            name, unit = "n - o", scale
        else:
            name, unit = str(clause.score), Fraction(1)
        greater = clause.comparison is Comparison.GREATER
        return ClausePlace(
            clause=clause,
            name=name,
            threshold=clause.threshold / unit,
            tolerance=clause.tolerance / abs(unit),
            upwards=greater == (unit > 0),
            share=single is not None,
        )

    def at(self, tolerances: int) -> Fraction:
        """The value so many tolerances on the good side of the threshold."""
        return self.threshold + (tolerances if self.upwards else -tolerances) * self.tolerance

    def reaches(self, tolerances: int) -> bool:
        """Whether any models are so far on the bad side."""
        form = self.clause.greater
        return form.score.lowest <= form.threshold + tolerances * form.tolerance

    def words(self, tolerances: int, *, short: bool = False) -> str:
        """The value with its unit; short: without the word "points"."""
        value = points(self.at(tolerances), signed=not self.share)
        return f"{value}%" if self.share else value if short else f"{value} points"

    def good(self, tolerances: int, *, closed: bool) -> tuple[str, str]:
        """The name, and the good side with or without its end."""
        side = {
            (True, True): "from",
            (True, False): "above",
            (False, True): "up to",
            (False, False): "below",
        }[self.upwards, closed]
        return self.name, f"{side} {self.words(tolerances)}"

    def bad(self, tolerances: int, *, short: bool) -> tuple[str, str]:
        """The name, and the bad side with its end."""
        side = "at or below" if self.upwards else "at or above"
        return self.name, f"{side} {self.words(tolerances, short=short)}"


_MEASURE = re.compile(r"(?:([no])\.)?(precision|recall|f1|auc)(?:\([^()]*\))?(?:\[[^\]]*\])?")
_SPELT = {"f1": "F1", "auc": "AUC"}


def measure_name(score: Score) -> str:
    """A measure as people say it: "recall of fraud where lang=de"; any other score as written."""
    found = _MEASURE.fullmatch(score.named)
    if found is None or len(score.classes) != 1:
        return score.named
    model, measure = found.groups()
    whose = " of the old model" if model == "o" else ""
    return f"{_SPELT.get(measure, measure)} of {score.classes[0]}{whose}{_where(score)}"


def _where(score: Score) -> str:
    if score.slice is None:
        return ""
    if score.slice.every:
        return f" for each {score.slice.column}"
    return f" where {str(score.slice)[1:-1]}"


def _joined(sides: list[tuple[str, str]], word: str) -> str:
    """One side alone as it is; several with their names: "with n - o from … and d up to …"."""
    if len(sides) == 1:
        return sides[0][1]
    named = [f"{name} {side}" for name, side in sides]
    return "with " + f" {word} ".join(named)
