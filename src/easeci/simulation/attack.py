"""An attack on the testset: commits that follow the noise that the answers reveal.

Probes lie in the zone, where no answer is wrong, and differ from the old model on the same
examples. Each answer tells whether the testset's noise favours its probe. On every example, the
attack takes the side that the answers vote for. It is then thinned until its true Φ is exactly the
threshold; its law is known, because the law of every probe is. So the clause is false (in fn-free:
only just true), but the commit looks better than it is on this testset. Only the levels of the
steps prevent a wrong answer.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from easeci.evidence.cells import CODE_OF
from easeci.evidence.codes import Codes
from easeci.script import Mode, NormalClause
from easeci.script.outcomes import AGREEING, DIFFERING
from easeci.simulation.laws import CELLS, Law, holds, mean, proof_bound, proof_score

Group = tuple[int, ...]
AGREE, DIFFER = (tuple(int(CODE_OF[cell]) for cell in cells) for cells in (AGREEING, DIFFERING))


@dataclass(frozen=True)
class Attack:
    """The attack on one clause by probes of one law."""

    clause: NormalClause
    others: tuple[NormalClause, ...]
    mode: Mode
    probe_law: Law

    @property
    def groups(self) -> tuple[Group, ...]:
        """Codes that may replace each other: d stays the same, unless the clause is on d alone."""
        return (AGREE, DIFFER) if self.clause.score.needs_labels else ((*AGREE, *DIFFER),)

    @property
    def scores(self) -> tuple[int, ...]:
        """The score of each cell, towards the proof; whole numbers, so votes add up exactly."""
        exact = [proof_score(self.clause, self.mode).of(cell) for cell in CELLS]
        unit = math.lcm(*(value.denominator for value in exact))
        return tuple(int(value * unit) for value in exact)

    def pattern(self, examples: int, draw: np.random.Generator) -> npt.NDArray[np.intp]:
        """The group of each example, the same for all commits on this testset."""
        shares = np.array([self.probe_law[list(group)].sum() for group in self.groups])
        return draw.choice(len(shares), examples, p=shares / shares.sum())

    def probe(self, pattern: npt.NDArray[np.intp], draw: np.random.Generator) -> Codes:
        """A commit in the zone."""
        codes = np.zeros(len(pattern), np.uint8)
        for index, group in enumerate(self.groups):
            inside = pattern == index
            shares = self.probe_law[list(group)]
            if shares.sum() > 0.0:
                codes[inside] = draw.choice(
                    np.array(group, np.uint8), int(inside.sum()), p=shares / shares.sum()
                )
        return codes

    def vote(self, group: Group) -> npt.NDArray[np.int64]:
        """How far each code's score is above the middle of a probe's scores in this group."""
        scores = self.scores
        seen = [scores[code] for code in group if self.probe_law[code] > 0.0]
        middle = max(seen, default=0) + min(seen, default=0)
        return np.array([2 * score - middle for score in scores], np.int64)

    def commit(
        self,
        pattern: npt.NDArray[np.intp],
        probes: list[Codes],
        leanings: list[int],
        draw: np.random.Generator,
    ) -> Codes | None:
        """The thinned majority, or None if thinning can't bring it to the threshold."""
        thinning = self._thinning(leanings)
        if thinning is None:
            return None
        share, upwards = thinning
        thinned = draw.random(len(pattern)) < share
        codes = probes[0].copy()
        for index, group in enumerate(self.groups):
            inside = pattern == index
            votes = self.vote(group)
            total = sum(
                leaning * votes[probe[inside]]
                for leaning, probe in zip(leanings, probes, strict=True)
            )
            chosen = np.where(total > 0, self._end(group, True), self._end(group, False))
            kept = np.where(np.asarray(total) == 0, codes[inside], chosen)
            if self._varies(group):
                kept = np.where(thinned[inside], self._end(group, upwards), kept)
            codes[inside] = kept
        return codes

    def _thinning(self, leanings: list[int]) -> tuple[float, bool] | None:
        """The share of examples to move to an end of their group, and whether to the upper end."""
        law = self.law_of_majority(leanings)
        score, bound = (
            proof_score(self.clause, self.mode),
            float(proof_bound(self.clause, self.mode)),
        )
        here, upwards = mean(score, law), mean(score, law) < bound
        end = self._all_at_end(law, upwards)
        there = mean(score, end)
        if here != bound and (there - bound) * (here - bound) > 0.0:
            return None
        share = 0.0 if here == bound else (bound - here) / (there - here)
        final = (1.0 - share) * law + share * end
        if self.mode is Mode.FN_FREE and not all(holds(other, final) for other in self.others):
            return None
        return share, upwards

    def law_of_majority(self, leanings: list[int]) -> Law:
        """The exact law of the majority's cells, from the law of every probe."""
        law = np.zeros(len(CELLS))
        for group in self.groups:
            weight = float(self.probe_law[list(group)].sum())
            votes = self.vote(group)
            for first in group:
                if self.probe_law[first] == 0.0:
                    continue
                sums = {leanings[0] * int(votes[first]): float(self.probe_law[first])}
                for leaning in leanings[1:]:
                    grown: dict[int, float] = defaultdict(float)
                    for total, chance in sums.items():
                        for code in group:
                            step = leaning * int(votes[code])
                            grown[total + step] += chance * float(self.probe_law[code]) / weight
                    sums = grown
                for total, chance in sums.items():
                    law[self._end(group, total > 0) if total else first] += chance
        return law

    def _all_at_end(self, law: Law, upwards: bool) -> Law:
        end = law.copy()
        for group in self.groups:
            if self._varies(group):
                weight = end[list(group)].sum()
                end[list(group)] = 0.0
                end[self._end(group, upwards)] = weight
        return end

    def _end(self, group: Group, upwards: bool) -> int:
        pick = max if upwards else min
        return pick(group, key=self.scores.__getitem__)

    def _varies(self, group: Group) -> bool:
        return len({self.scores[code] for code in group}) > 1
