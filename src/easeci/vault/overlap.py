"""Overlap: offered examples that an earlier testset or its sample had are left out of a new one.

Developers have adapted to answers on the examples of earlier testsets, and samples are public.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from easeci.evidence.codes import Flags
from easeci.tables.column import comparable
from easeci.vault.examples import SealedExamples
from easeci.vault.intake import Offered
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class Overlap:
    """How many offered examples an earlier testset had, sample included.

    ``by_id`` and ``by_content`` count those with the id and with the content of an earlier one;
    an example with both counts for both.
    """

    testset: int
    shared: int
    by_id: int
    by_content: int


@dataclass(frozen=True)
class FreshExamples:
    """What is left of offered examples, and what was left out of them."""

    offered: Offered
    left_out: int
    overlaps: tuple[Overlap, ...]


def leave_out_known(offered: Offered, earlier: Sequence[SealedTestset]) -> FreshExamples:
    """Leave out the examples with the id or the content of one in an earlier testset or sample."""
    known = np.zeros(offered.size, dtype=bool)
    found = []
    for testset in earlier:
        by_id = np.zeros(offered.size, dtype=bool)
        by_content = np.zeros(offered.size, dtype=bool)
        for examples in _all_examples(testset):
            by_id |= _same_ids(offered.examples.ids, examples.ids)
            mine = offered.fingerprints(testset.vault.key)
            by_content |= np.isin(mine, examples.fingerprints)
        either = by_id | by_content
        if either.any():
            counts = (int(marks.sum()) for marks in (either, by_id, by_content))
            found.append(Overlap(testset.number, *counts))
        known |= either
    fresh = offered.choose(np.flatnonzero(~known)) if known.any() else offered
    return FreshExamples(fresh, int(known.sum()), tuple(found))


def _all_examples(testset: SealedTestset) -> Iterator[SealedExamples]:
    yield testset.examples
    if testset.sample is not None:
        yield testset.sample.examples


def _same_ids(offered: pl.Series, earlier: pl.Series) -> Flags:
    mine, theirs = comparable(offered, earlier)
    return mine.is_in(theirs.implode()).to_numpy()
