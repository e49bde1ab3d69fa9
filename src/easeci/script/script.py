"""The script: what the owner asks for, checked and in exact numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from easeci.script.linear import LinearClause
from easeci.script.syntax import Condition


class Mode(StrEnum):
    """Which error must not happen; it also says how Unknown is answered."""

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
        return 1 - self.reliability

    @property
    def beta(self) -> Fraction:
        return 1 - self.sensitivity

    @property
    def needs_old_model(self) -> bool:
        return any(clause.score.needs_old_model for clause in self.clauses)

    @property
    def needs_labels(self) -> bool:
        return any(clause.score.needs_labels for clause in self.clauses)

    def warnings(self) -> tuple[str, ...]:
        """What is allowed and probably not meant."""
        found = []
        for clause in self.clauses:
            found += [_reach_warning(clause, "True")]
            if self.mode is Mode.FN_FREE:
                found += [_reach_warning(clause, "False")]
        return tuple(warning for warning in found if warning is not None)


def _reach_warning(clause: LinearClause, outcome: str) -> str | None:
    """Whether the clause can never be shown True (or False) at its tolerance, or not surely so.

    Written for Φ > c: True needs an estimate above c + ε, and is promised from c + 2ε on.
    """
    form = clause.greater
    if outcome == "True":
        room = form.score.highest - form.threshold
    else:
        room = form.threshold - form.score.lowest
    end = clause.score.highest if (form is clause) == (outcome == "True") else clause.score.lowest
    reach = f"{clause.score} ends at {float(end):g}"
    if room <= clause.tolerance:
        answer = "no commit can pass" if outcome == "True" else "no commit can fail"
        where = "fp-free" if outcome == "True" else "fn-free"
        return (
            f"'{clause.text}' can never be shown {outcome} at its tolerance ({reach}): "
            f"in {where} mode {answer}. A smaller tolerance would mend it."
        )
    if room < 2 * clause.tolerance:
        return (
            f"'{clause.text}' is never sure to be shown {outcome}: that needs twice its tolerance "
            f"beyond the constant, and {reach}. A smaller tolerance would mend it."
        )
    return None
