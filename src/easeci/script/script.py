"""The script: what the owner asks for, checked, with exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from easeci.script.linear import LinearClause
from easeci.script.syntax import Condition


class Mode(StrEnum):
    """Which error must not happen, and so whether Unknown passes (fn-free) or fails (fp-free)."""

    FP_FREE = "fp-free"
    FN_FREE = "fn-free"


class Adaptivity(StrEnum):
    """What developers learn after each commit."""

    NONE = "none"
    FULL = "full"
    FIRST_CHANGE = "firstChange"


class Estimator(StrEnum):
    """A method to size a testset and to decide a commit."""

    AUTO = "auto"
    HOEFFDING = "hoeffding"
    PATTERN1 = "pattern1"
    PATTERN1_ACTIVE = "pattern1-active"
    PATTERN2 = "pattern2"
    PATTERN3 = "pattern3"
    EXACT = "exact"
    SEQUENTIAL = "sequential"


@dataclass(frozen=True)
class Script:
    """The ``ml:`` section. Numbers are exact, as written."""

    condition: Condition
    clauses: tuple[LinearClause, ...]
    reliability: Fraction
    mode: Mode
    adaptivity: Adaptivity
    steps: int
    sensitivity: Fraction
    third_party: str | None = None
    program: str | None = None
    estimator: Estimator = Estimator.AUTO
    difference: Fraction | None = None
    email: str | None = None
    branch: str | None = None
    branches: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    disclose_seconds: int | None = None
    timeout_seconds: int | None = None
    memory_bytes: int | None = None
    mounts: tuple[str, ...] = ()

    @property
    def delta(self) -> Fraction:
        """δ = 1 − reliability: how probable a wrong answer in the testset's life may be."""
        return 1 - self.reliability

    @property
    def beta(self) -> Fraction:
        """β = 1 − sensitivity: how probable it may be that a clearly good commit fails."""
        return 1 - self.sensitivity

    @property
    def needs_old_model(self) -> bool:
        """Whether any clause depends on the predictions of the old model."""
        return any(clause.score.needs_old_model for clause in self.clauses)

    @property
    def needs_labels(self) -> bool:
        """Whether any clause needs labels."""
        return any(clause.score.needs_labels for clause in self.clauses)

    def warnings(self) -> tuple[str, ...]:
        """Warnings about clauses that are allowed but probably a mistake."""
        found = []
        for clause in self.clauses:
            found += [_reach_warning(clause, "True")]
            if self.mode is Mode.FN_FREE:
                found += [_reach_warning(clause, "False")]
        return tuple(warning for warning in found if warning is not None)


def _reach_warning(clause: LinearClause, outcome: str) -> str | None:
    """A warning if the clause can never, or not reliably, be shown True (or False).

    For Φ > c: True needs an estimate above c + ε, and is promised only if Φ >= c + 2ε.
    """
    form = clause.greater
    if outcome == "True":
        room = form.score.highest - form.threshold
    else:
        room = form.threshold - form.score.lowest
    if (form is clause) == (outcome == "True"):
        reach = f"the largest possible {clause.score} is {float(clause.score.highest):g}"
    else:
        reach = f"the smallest possible {clause.score} is {float(clause.score.lowest):g}"
    if room <= clause.tolerance:
        answer = "no commit can pass" if outcome == "True" else "no commit can fail"
        where = "fp-free" if outcome == "True" else "fn-free"
        return (
            f"'{clause.text}' can never be shown {outcome} at its tolerance ({reach}): "
            f"in {where} mode {answer}. Use a smaller tolerance."
        )
    if room < 2 * clause.tolerance:
        return (
            f"'{clause.text}' is never certain to be shown {outcome}: that is promised only from "
            f"twice its tolerance beyond the constant on, and {reach}. Use a smaller tolerance."
        )
    return None
