"""``n - top(K) > c``: the new model is better by c than all but K − 1 of the models tested before.

Let there be J earlier models, and one test for each of them: e_j is evidence against "n − m_j ≤ c".

*Claim.* If the clause is false, the K-th smallest e_j ever reaches K/α with probability at most α.

*Proof.* If the clause is false, n − m_j ≤ c for at least K of the models. Take K of these. The K-th
smallest of all e_j is at most the largest of their K. Each of those ever reaches K/α with
probability at most α/K, so any of them does with at most α. ∎

Why not the mean of the K smallest, which is larger? Each e_j knows on how many examples of the
whole testset the new model differs from m_j. That tells something about later scores against the
other models. So in what all of them know together, no e_j is a supermartingale, and the mean at the
moment of a crossing can be above 1 on average.

The opposite hypothesis, that the clause holds at c', says n − m_j ≥ c' for at least J − K + 1 of
them. So futility and claim use the (J − K + 1)-th smallest. With fewer than K models, the least of
them takes the place of the K-th best.

All tests share one walk, over the examples on which the new model differs from any of the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from easeci.evidence.bets import Floats
from easeci.evidence.clause_test import CurveEnd, Goal, SequentialTest, Targets
from easeci.evidence.codes import Codes, Counts, Flags
from easeci.evidence.confidence import Seen, SeenRank
from easeci.evidence.endings import Ending
from easeci.evidence.hypothesis import Hypothesis
from easeci.evidence.labelled import LabelledCodes, LabelledTestset, Track
from easeci.evidence.wealth import BLOCK, ROUNDING, Evidence
from easeci.script.outcomes import CELLS
from easeci.script.score import Score


@dataclass(frozen=True)
class RivalsTest:
    """The test of a clause about the models that were tested before."""

    goal: Goal
    targets: Targets

    def walk(self, testset: LabelledTestset) -> RivalsWalk:
        """Follow the order as far as labels are known, to a proof or to where asking is futile."""
        score = self.goal.score
        readings = testset.rivals(score)
        if not readings:
            raise ValueError(f"{score} needs the predictions of earlier models")
        goal = replace(self.goal, score=_against_one(score))
        tests = tuple(
            SequentialTest.of(
                goal, self.targets, len(reading), reading.counts.in_groups(score.relevant)
            )
            for reading in readings
        )
        track, codes = _union(readings, score)
        walk = RivalsWalk(Ending.OPEN, track.gap, track, tests, codes, score)
        ending, labels = walk.end()
        return replace(walk, ending=ending, labels=labels)


def _against_one(score: Score) -> Score:
    """The score against a single earlier model."""
    return Score.linear(score.new, score.old, score.difference)


def _union(readings: tuple[LabelledCodes, ...], score: Score) -> tuple[Track, Codes]:
    """The track of all examples that count for any model, and the codes of each model along it."""
    codes = np.stack([reading.codes for reading in readings])
    group_of = np.array(CELLS.group_of)
    if score.counts_everywhere:
        places = np.arange(codes.shape[1])
    else:
        places = np.flatnonzero(np.isin(group_of[codes], list(score.relevant)).any(axis=0))
    codes = codes[:, places]
    # A label is known for all models or for none.
    missing = (codes[0] >= CELLS.unlabelled(0)) & (codes[0] < CELLS.unsettled(0))
    known = np.where(missing, CELLS.unlabelled(0), 0).astype(np.uint8)
    first = readings[0]
    positions = places if first.positions is None else first.positions[places]
    at_hand = None if first.at_hand is None else first.at_hand[places]
    return Track(positions, known, at_hand, places=places), codes


@dataclass(frozen=True)
class RivalsWalk:
    """The way of such a clause along the testset; ``codes`` has a row for each earlier model."""

    ending: Ending
    labels: int
    track: Track
    tests: tuple[SequentialTest, ...]
    codes: Codes
    score: Score

    @property
    def test(self) -> SequentialTest:
        """The test against the first model: its goal and targets are those of all."""
        return self.tests[0]

    @property
    def asked(self) -> int:
        """How many of the labels that were used had to be asked for."""
        return self.track.asked(self.labels)

    @cached_property
    def _rank(self) -> int:
        """K, or the number of models if there are fewer."""
        assert self.score.top is not None
        return min(self.score.top, len(self.tests))

    @cached_property
    def _many(self) -> tuple[int, int]:
        """The rank of the e-value that the proof uses, and of that for futility and claim."""
        for_all, for_some = self._rank, len(self.tests) - self._rank + 1
        return (for_all, for_some) if self.score.new > 0 else (for_some, for_all)

    def _each(self, kind: str) -> Iterator[tuple[Hypothesis, Evidence, Codes]]:
        """The hypothesis about each model, the evidence against it, and the codes."""
        for test, codes in zip(self.tests, self.codes, strict=True):
            yield getattr(test.goal, kind), getattr(test, kind), codes

    def _ranked(self, kind: str, each: Sequence[Floats]) -> Floats:
        """Of values for each model, the K-th smallest less ln K."""
        many = self._many[0 if kind == "proof" else 1]
        return np.asarray(np.sort(np.stack(each), axis=0)[many - 1] - math.log(many))

    def _course(self, kind: str, after: npt.NDArray[np.intp]) -> Floats:
        """ln of the K-th smallest e-value, divided by K, after each of these numbers of labels."""
        each = [
            evidence.after(_counts_at(hypothesis.cautious(codes[: after[-1]]), after))
            for hypothesis, evidence, codes in self._each(kind)
        ]
        return self._ranked(kind, each)

    def end(self) -> tuple[Ending, int]:
        """How the walk ends, and after how many labels."""
        known, moments, targets = self.track.gap, self.track.moments(), self.test.targets
        for after in self._promising(known, proof=targets.proof, futility=targets.futility):
            found = self._first_end(after, None if moments is None else moments[after])
            if found is not None:
                return found
        return (Ending.EXHAUSTED if self.track.complete else Ending.OPEN), known

    def _promising(self, known: int, **targets: float) -> Iterator[npt.NDArray[np.intp]]:
        """The numbers of labels after which some target may be reached, in rising parts."""
        yield np.zeros(1, np.intp)
        reached = np.zeros(math.ceil(known / BLOCK), bool)
        for kind, target in targets.items():
            highest = [
                evidence.highest_by_block(hypothesis.cautious(codes[:known]))
                for hypothesis, evidence, codes in self._each(kind)
            ]
            reached |= self._ranked(kind, highest) >= target
        for block in np.flatnonzero(reached).tolist():
            yield np.arange(block * BLOCK, min((block + 1) * BLOCK, known)) + 1

    def _first_end(
        self, after: npt.NDArray[np.intp], moments: Flags | None
    ) -> tuple[Ending, int] | None:
        targets = self.test.targets
        proven = self._course("proof", after) >= targets.proof + ROUNDING
        futile = self._course("futility", after) >= targets.futility + ROUNDING
        if moments is not None:
            futile &= moments
        first, last = (int(after[f.argmax()]) if f.any() else None for f in (proven, futile))
        if first is not None and (last is None or first <= last):
            return Ending.PROVEN, first
        return None if last is None else (Ending.FUTILE, last)

    def claims(self, labels: int) -> bool:
        """Whether the opposite of the proof was shown within the first labels."""
        target = self.test.targets.claim
        return any(
            (self._course("claim", after) >= target + ROUNDING).any()
            for after in self._promising(labels, claim=target)
        )

    def curves(self, labels: int) -> tuple[CurveEnd, CurveEnd, CurveEnd]:
        """The values of proof, futility and claim after so many labels."""
        after, targets = np.array([labels]), self.test.targets
        first, second, third = (
            CurveEnd(float(self._course(kind, after)[0]), getattr(targets, kind))
            for kind in ("proof", "futility", "claim")
        )
        return first, second, third

    def course(self, after: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
        """The values of proof and futility after each of these rising numbers of labels."""
        return self._course("proof", after), self._course("futility", after)

    def limits(
        self, score: Score, after: npt.NDArray[np.intp], log_side: float
    ) -> tuple[Floats, Floats]:
        """The limits of the score after each of these rising numbers of labels."""
        ends = [self.seen(score, int(labels), log_side).interval for labels in after]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def seen(self, score: Score, labels: int, log_side: float) -> SeenRank:
        """What the interval of a score depends on after so many labels: one for each model."""
        from easeci.evidence.clause_test import Walk

        share = log_side - math.log(len(self.tests))
        each = []
        for test, codes in zip(self.tests, self.codes, strict=True):
            mine = np.isin(np.array(CELLS.group_of)[codes], list(score.relevant))
            places = np.arange(len(codes)) if self.track.places is None else self.track.places
            track = Track(self.track.positions[mine], codes[mine], places=places[mine])
            used = int(np.count_nonzero(mine[:labels]))
            walk = Walk(self.ending, used, track, test, codes[mine][:used])
            found = walk.seen(_against_one(score), used, share)
            assert isinstance(found, Seen)
            each.append(found)
        return SeenRank(tuple(each), self._rank_of(score))

    def estimate(self, score: Score, labels: int) -> Fraction | None:
        """The score so far: of this rank among the estimates against each model."""
        if labels == 0:
            return None
        found = []
        for test, codes in zip(self.tests, self.codes, strict=True):
            used = Counts.of(codes[:labels])
            inside = used.in_groups(score.relevant)
            low, high = used.mean_range(_against_one(score))
            mean = (low + high) / 2 * labels / max(inside, 1)
            found.append(mean * Fraction(test.relevant, test.examples))
        return sorted(found)[self._rank_of(score) - 1]

    def _rank_of(self, score: Score) -> int:
        """The rank from below of what the score is among the differences to each model."""
        return self._rank if score.new > 0 else len(self.tests) - self._rank + 1

    def fewest_more(self, *, any_ending: bool, futile_decides: bool) -> int:  # noqa: ARG002
        """How many more labels are needed before the walk can end: at least one."""
        return 1


def _counts_at(codes: Codes, after: npt.NDArray[np.intp]) -> Floats:
    """Counts of cells after each of these rising numbers of examples."""
    start = int(after[0])
    running = np.zeros((len(codes) - start + 1, CELLS.outcomes))
    running[0] = np.bincount(codes[:start], minlength=CELLS.outcomes)[: CELLS.outcomes]
    inside = np.cumsum(codes[start:, None] == np.arange(CELLS.outcomes), axis=0)
    running[1:] = running[0] + inside
    return running[after - start]
