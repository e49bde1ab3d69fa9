"""Which labels a published or exact verdict used, and which it waits for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from easeci.evidence.codes import Flags, in_groups, unlabelled
from easeci.evidence.labelled import LabelledTestset
from easeci.verdict.result import ClauseResult


def consulted(results: Iterable[ClauseResult], testset: LabelledTestset) -> int:
    """How many labels the results used, each counted once, unsettled ones included."""
    matter = _matter(results, testset)
    return int(np.count_nonzero(matter & ~unlabelled(testset.facts.cells)))


def wanted(results: Iterable[ClauseResult], testset: LabelledTestset) -> tuple[int, ...]:
    """The positions of the missing labels that the given results wait for."""
    matter = _matter(results, testset)
    return tuple(np.flatnonzero(matter & unlabelled(testset.facts.cells)).tolist())


def _matter(results: Iterable[ClauseResult], testset: LabelledTestset) -> Flags:
    """Where labels matter to some of the results."""
    matter = np.zeros(len(testset), bool)
    for result in results:
        score = result.clause.score
        if score.needs_labels:
            reading = testset.reading(score)
            counts = in_groups(reading.codes[: result.sample], reading.alphabet, score.relevant)
            if reading.positions is None:
                matter[: result.sample] |= counts
            else:
                matter[reading.positions[: result.sample][counts]] = True
    return matter
