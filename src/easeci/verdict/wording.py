"""Why a commit passed or failed, in one sentence for the owner; and values in points or percent.

It works from what is recorded of a verdict, also by older versions. Nothing reads these sentences
back, and no developer sees them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from easeci.evidence.endings import Ending
from easeci.script import Comparison, NormalClause, Score
from easeci.script.score import LARGEST
from easeci.verdict.logic import Result

WAITING = "waits for labels"
ANYTIME = (
    "Intervals hold at every label, for all clauses and steps together. So they are wider than a "
    "proof needs, and may contain the threshold of a commit that passed."
)
_NAMES = {"n": "accuracy", "o": "the old model's accuracy", "d": "the difference d"}
_SCORES = {"n": "the mean score", "o": "the old model's mean score"}


@dataclass(frozen=True)
class ClauseFinding:
    """What a verdict found of one clause.

    ``labels`` is how many it used, and ``asked`` whether any label of the verdict had to be asked
    for. ``ended`` is None if the estimator is not sequential, and in the oldest records.
    """

    clause: NormalClause
    result: Result
    ended: Ending | None
    labels: int
    low: float
    high: float
    asked: bool = True


# -- values


def amount(score: Score, value: float) -> str:
    """A measured value: a share in percent, a ratio as it is, anything else in points."""
    if _is_share(score):
        return f"{_decimals(100 * value)}%"
    if _is_ratio(score):
        return f"{value:.3f}"
    return f"{_decimals(100 * value, sign='+')} points"


def unit(score: Score) -> str:
    """What a hundredth of this score is called."""
    if _is_ratio(score):
        return "hundredths"
    return "percent" if _is_share(score) else "points"


def interval_words(score: Score, low: float, high: float) -> str:
    """An interval within what the score can be: "+1.6 to +3.2 points" or "89.0% to 92.3%"."""
    low, high = max(low, float(score.lowest)), min(high, float(score.highest))
    digits = 1 if high - low >= 0.01 else 2
    if _is_share(score):
        return f"{100 * low:.{digits}f}% to {100 * high:.{digits}f}%"
    if _is_ratio(score):
        return f"{low:.3f} to {high:.3f}" if high < LARGEST else f"at least {low:.3f}"
    return f"{_rounded(low, digits)} to {_rounded(high, digits)} points"


def _rounded(value: float, digits: int) -> str:
    return f"{round(100 * value, digits) + 0.0:+.{digits}f}"


def _decimals(value: float, sign: str = "") -> str:
    return f"{value:{sign}.{2 if 0 < abs(value) < 1 else 1}f}"


def _is_share(score: Score) -> bool:
    """Whether it is a share of examples, such as an accuracy, d, a recall or an AUC."""
    if score.coefficients is not None:
        return sorted(score.coefficients) == [0, 0, 1]
    return score.lowest == 0 and score.highest == 1


def _is_ratio(score: Score) -> bool:
    """Whether it has no upper end, such as n / o."""
    return score.highest >= LARGEST


def constant(score: Score, value: Fraction) -> str:
    """A constant of the script in percent or points, without a sign where it is positive."""
    if _is_ratio(score):
        return f"{float(value):.6g}"
    return f"{float(100 * value):.6g}%" if _is_share(score) else points(value)


def points(value: Fraction) -> str:
    """A constant of the script in points, such as "1 point" or "2.5 points"."""
    hundredths = f"{float(100 * value):.6g}"
    return f"{hundredths} point" if hundredths in ("1", "-1") else f"{hundredths} points"


# -- reasons


def why(findings: Sequence[ClauseFinding], *, passed: bool | None) -> str:
    """One sentence, without a full stop: why a commit passed or failed.

    Of a condition with several clauses it names the clause that decided.
    """
    if passed is None:
        return WAITING
    if passed:
        return "; ".join(_sentence(found, passed=True) for found in findings)
    decisive = min(findings, key=_rank)
    sentence = _sentence(decisive, passed=False)
    return sentence if len(findings) == 1 else f"{sentence} (clause {decisive.clause.text})"


def briefly(findings: Sequence[ClauseFinding], *, passed: bool | None) -> str:
    """The reason in one to three words, for tables."""
    if passed is None:
        return "waits"
    found = max(findings, key=_rank) if passed else min(findings, key=_rank)
    if found.result is not Result.UNKNOWN:
        return "shown" if found.result is Result.TRUE else "shown false"
    if found.ended is Ending.FUTILE:
        return "stopped asking" if found.asked else "ruled out"
    return "examples ran out" if found.ended is Ending.EXHAUSTED else "not shown"


def contains_threshold(finding: ClauseFinding) -> bool:
    """Whether the interval contains the threshold although the clause was shown."""
    inside = finding.low <= finding.clause.threshold <= finding.high
    return finding.result is Result.TRUE and finding.ended is not None and inside


def _rank(found: ClauseFinding) -> int:
    """Which clause decides a fail: one shown to be false, then one given up, then exhausted."""
    if found.result is Result.FALSE:
        return 0
    if found.result is Result.TRUE:
        return 4
    return {Ending.FUTILE: 1, Ending.EXHAUSTED: 2, None: 2}.get(found.ended, 3)


def _sentence(found: ClauseFinding, *, passed: bool) -> str:
    words = _words_for(found.clause)
    after = f", after {_labels(found)}" if found.labels else ""
    if found.result is Result.TRUE:
        return words.shown() + after
    if found.result is Result.FALSE:
        return words.opposite(found) + after
    return f"{words.not_shown(passed=passed)}: {_reason(found, words, passed=passed)}"


def _reason(found: ClauseFinding, words: _Words, *, passed: bool) -> str:
    match found.ended:
        case Ending.FUTILE:
            clear = _clear(found.clause, passed=passed)
            gone = f"{words.ruled_out(clear, passed=passed)} is ruled out"
            if found.labels == 0:
                return f"asked for no label, because {gone}"
            if found.clause.score.lattice is not None:
                return f"stopped after {_labels(found)}, because {gone}"
            if not found.asked:
                return f"asked for no label beyond the {found.labels:,} at hand, because {gone}"
            return f"stopped asking after {_labels(found)}, because {gone}"
        case Ending.EXHAUSTED:
            return "examples ran out" + (f" after {_labels(found)}" if found.labels else "")
        case _:
            left = interval_words(found.clause.score, found.low, found.high)
            return f"the examples leave {left} possible"


def _labels(found: ClauseFinding) -> str:
    """How many labels a clause used; with a scorer, on how many examples it looked at scores."""
    word = "label" if found.clause.score.lattice is None else "example"
    return f"1 {word}" if found.labels == 1 else f"{found.labels:,} {word}s"


def _clear(clause: NormalClause, *, passed: bool) -> Fraction:
    """The value of Φ at which futility stands, as the sequential test has it.

    An Unknown passes in fn-free and fails in fp-free, so the answer tells the mode.
    """
    upwards = (clause.comparison is Comparison.GREATER) != passed
    sign = 1 if upwards else -1
    promised = clause.threshold + sign * 2 * clause.tolerance
    end = clause.score.highest if upwards else clause.score.lowest
    beyond = promised > end if upwards else promised < end
    return (clause.threshold + end) / 2 if beyond else promised


@dataclass(frozen=True)
class _Words:
    """How one clause is spoken of: any score, with its name and unit."""

    clause: NormalClause

    @property
    def _name(self) -> str:
        names = _NAMES if self.clause.score.lattice is None else _SCORES
        return names.get(str(self.clause.score), str(self.clause.score))

    def _side(self, *, holds: bool) -> str:
        above = (self.clause.comparison is Comparison.GREATER) == holds
        c = constant(self.clause.score, self.clause.threshold)
        return f"{'above' if above else 'below'} {c}"

    def shown(self) -> str:
        return f"{self._name} shown to be {self._side(holds=True)}"

    def opposite(self, found: ClauseFinding) -> str:  # noqa: ARG002
        return f"{self._name} shown to be {self._side(holds=False)}"

    def not_shown(self, *, passed: bool) -> str:
        return f"{self._name} not shown to be {self._side(holds=not passed)}"

    def ruled_out(self, value: Fraction, *, passed: bool) -> str:
        upwards = (self.clause.comparison is Comparison.GREATER) != passed
        return f"{constant(self.clause.score, value)} or {'more' if upwards else 'less'}"


class _GainWords(_Words):
    """The words for n - o > c: gains and losses."""

    def shown(self) -> str:
        c = self.clause.threshold
        if c > 0:
            return f"shown to be better by more than {points(c)}"
        return "shown to be better" if c == 0 else f"shown to lose less than {points(-c)}"

    def opposite(self, found: ClauseFinding) -> str:
        c = self.clause.threshold
        if c > 0 and found.high >= 0:
            return f"shown to gain less than {points(c)}"
        return "shown to be worse" + (f" by more than {points(-c)}" if c < 0 else "")

    def not_shown(self, *, passed: bool) -> str:
        c = self.clause.threshold
        if not passed:
            return (
                "not shown to be better" if c >= 0 else f"not shown to lose less than {points(-c)}"
            )
        if c > 0:
            return f"not shown to gain less than {points(c)}"
        return "not shown to be worse" + (f" by more than {points(-c)}" if c < 0 else "")

    def ruled_out(self, value: Fraction, *, passed: bool) -> str:
        more, less = ("less", "more") if passed else ("more", "less")
        if value == 0:
            return "being no better" if passed else "being at least as good"
        if value > 0:
            return f"a gain of {points(value)} or {more}"
        return f"a loss of {points(-value)} or {less}"


def _words_for(clause: NormalClause) -> _Words:
    if str(clause.score) == "n - o" and clause.comparison is Comparison.GREATER:
        return _GainWords(clause)
    return _Words(clause)
