"""Which labels a published or exact verdict used, and which it waits for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from easeci.evidence.cells import CODE_OF, Code, Codes, Counts
from easeci.script.cells import AGREEING, DIFFERING
from easeci.verdict.result import ClauseResult


@dataclass(frozen=True)
class _Reach:
    """Up to which position labels matter to some clause, where the models agree or differ."""

    agreeing: int
    differing: int

    @staticmethod
    def of(results: Iterable[ClauseResult]) -> _Reach:
        samples = [(result.clause.score, result.sample) for result in results]
        return _Reach(
            max((n for score, n in samples if score.label_matters_when_agreeing), default=0),
            max((n for score, n in samples if score.label_matters_when_differing), default=0),
        )


def consulted(results: tuple[ClauseResult, ...], whole: Counts, codes: Codes) -> int:
    """How many labels the results used, each counted once, unsettled ones included."""
    reach = _Reach.of(results)
    agreeing, differing = (
        whole if n == whole.examples else Counts.of(codes[:n])
        for n in (reach.agreeing, reach.differing)
    )
    agree = (*(CODE_OF[cell] for cell in AGREEING), Code.AGREE_UNSETTLED)
    differ = (*(CODE_OF[cell] for cell in DIFFERING), Code.DIFFER_UNSETTLED)
    return sum(agreeing[code] for code in agree) + sum(differing[code] for code in differ)


def wanted(results: Iterable[ClauseResult], codes: Codes) -> tuple[int, ...]:
    """The positions of the missing labels that the given results wait for."""
    reach = _Reach.of(results)
    agreeing = np.flatnonzero(codes[: reach.agreeing] == Code.AGREE_UNLABELLED)
    differing = np.flatnonzero(codes[: reach.differing] == Code.DIFFER_UNLABELLED)
    return tuple(int(position) for position in np.sort(np.concatenate([agreeing, differing])))
