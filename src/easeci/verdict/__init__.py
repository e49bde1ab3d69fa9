"""Plan + what the testset says → Verdict, or which labels are needed first."""

from easeci.verdict.decide import ClauseResult, Verdict, decide
from easeci.verdict.logic import Interval, Outcome, conjunction, passes

__all__ = [
    "ClauseResult",
    "Interval",
    "Outcome",
    "Verdict",
    "conjunction",
    "decide",
    "passes",
]
