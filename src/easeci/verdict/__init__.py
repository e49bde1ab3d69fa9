"""Plan + what the testset says → Verdict, or which labels are needed first."""

from easeci.verdict.decide import Evaluation, decide
from easeci.verdict.logic import Interval, Result, conjunction, passes
from easeci.verdict.result import ClauseEvidence, ClauseResult, Verdict

__all__ = [
    "ClauseEvidence",
    "ClauseResult",
    "Evaluation",
    "Interval",
    "Result",
    "Verdict",
    "conjunction",
    "decide",
    "passes",
]
