"""The sequential tests of one clause: proof, futility, and what the owner may claim.

For a clause Φ > c in fp-free mode (fn-free is the same with −Φ > −c, because there the answer that
needs proof is "false"):

    proof     against Φ ≤ c          safety: reached with probability ≤ α if the clause is false
    futility  against Φ ≥ c + 2ε     sensitivity: reached with probability ≤ β if clearly true
    claim     against Φ ≥ c          the opposite of the proof, shown to the owner only

Futility is a reason not to buy labels, never a reason to ignore them. It is looked at only before
a label that has to be asked for, and at the end. Labels at hand are used wherever they are, because
a later one may still bring the proof. A proof stays a proof. Stopping for futility can't harm
safety, because a proof still needs its own evidence. Neither can going on, because the evidence
bounds the error at all labels at once. An unsettled
label counts at its lowest score for the proof, and at its highest for futility and claim, which is
its worst for each (:mod:`easeci.evidence.codes` proves that this is safe).

A score that needs no label is a multiple of d and is known at once. The exact binomial tail of the
number of differing examples decides it, with no bets and no labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from easeci.bounds.binomial import log_cdf, log_sf
from easeci.evidence.bets import FUTILITY_AIMS, PROOF_AIMS, Floats
from easeci.evidence.codes import Codes, Flags, at_worst, in_groups
from easeci.evidence.confidence import Seen, SeenDifference, Shown, Table, Walked
from easeci.evidence.endings import Ending
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.evidence.labelled import LabelledTestset, Track
from easeci.evidence.levels import StepLevels
from easeci.evidence.wealth import Evidence
from easeci.script import Mode, NormalClause, Score

FUTILITY_SHARE = 0.95
"""The share of a step's β for futility; the rest is for a testset that ends before the proof.

Most goes to futility, which saves labels; the rest only costs unlabelled examples, which are cheap.
"""

FIRST_LOOK = 4096


@dataclass(frozen=True)
class Goal:
    """What must be proven about a clause, in the form Φ > c."""

    score: Score
    bound: float
    tolerance: float

    @staticmethod
    def of(clause: NormalClause, mode: Mode) -> Goal:
        """The goal of a clause: that it holds (fp-free), or that it does not (fn-free)."""
        form = clause.greater
        if mode is Mode.FP_FREE:
            return Goal(form.score, float(form.threshold), float(form.tolerance))
        return Goal(-form.score, -float(form.threshold), float(form.tolerance))

    @property
    def clear(self) -> float:
        """The Φ from which on the proof is promised: c + 2ε.

        If Φ can't be so large, nothing is promised. Then it is half of the way from c to the
        largest Φ, so that the test does not give up before a proof had a chance.
        """
        top = float(self.score.highest)
        if self.bound + 2.0 * self.tolerance <= top:
            return self.bound + 2.0 * self.tolerance
        return (self.bound + top) / 2.0

    @property
    def proof(self) -> Hypothesis:
        """The hypothesis that the proof must reject: Φ ≤ c."""
        return self._hypotheses[0]

    @property
    def futility(self) -> Hypothesis:
        """The hypothesis whose rejection ends the search for a proof: Φ ≥ c + 2ε."""
        return self._hypotheses[1]

    @property
    def claim(self) -> Hypothesis:
        """The hypothesis whose rejection shows the opposite of the proof: Φ ≥ c."""
        return self._hypotheses[2]

    @cached_property
    def _hypotheses(self) -> tuple[Hypothesis, Hypothesis, Hypothesis]:
        """Made once: tables of exact fractions take time."""
        return (
            Hypothesis.of(self.score, self.bound, self.tolerance),
            Hypothesis.of(-self.score, -self.clear, self.tolerance),
            Hypothesis.of(-self.score, -self.bound, self.tolerance),
        )


@dataclass(frozen=True)
class Targets:
    """What each kind of evidence must reach: ln(1/level), for one clause of one step."""

    proof: float
    futility: float
    claim: float

    @staticmethod
    def of(levels: StepLevels) -> Targets:
        """The targets for the levels of one clause."""
        futility = levels.sensitivity + math.log(FUTILITY_SHARE)
        return Targets(-levels.safety, -futility, -levels.claim)


@dataclass(frozen=True)
class CurveEnd:
    """The last value of one curve of evidence, and its target; both in nats."""

    evidence: float
    target: float


@dataclass(frozen=True)
class Walk:
    """One clause's way along the testset.

    ``track`` has the examples that need labels. ``labels`` is how many of them were used: up to the
    ending, or to the first missing label. ``codes`` are the units up to the first missing label.
    """

    ending: Ending
    labels: int
    track: Track
    test: SequentialTest
    codes: Codes

    @property
    def asked(self) -> int:
        """How many of the labels that were used had to be asked for."""
        return self.track.asked(self.labels)

    def _units(self, labels: int) -> Codes:
        return self.codes[: self.track.units_within(labels)]

    def claims(self, labels: int) -> bool:
        """Whether the opposite of the proof was shown within the first labels."""
        return self.test.claims(self._units(labels))

    def curves(self, labels: int) -> tuple[CurveEnd, CurveEnd, CurveEnd]:
        """The values of proof, futility and claim after so many labels."""
        return self.test.curves(self._units(labels))

    def course(self, after: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
        """The values of proof and futility after each of these rising numbers of labels."""
        return self.test.course(self.codes, self._units_after(after))

    def _units_after(self, after: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
        return np.array([self.track.units_within(int(labels)) for labels in after], np.intp)

    def limits(
        self, score: Score, after: npt.NDArray[np.intp], log_side: float
    ) -> tuple[Floats, Floats]:
        """The limits of a score after each of these rising numbers of labels.

        The score is the goal's, or its negative.
        """
        if score.subtracted is None:
            return self.walked(score, after).limits(log_side)
        ends = [self.seen(score, int(labels), log_side).interval for labels in after]
        return np.array([low for low, _ in ends]), np.array([high for _, high in ends])

    def walked(self, score: Score, after: npt.NDArray[np.intp]) -> Walked:
        """What the interval of a mean or a ratio depends on, after each number of labels."""
        table, alphabet, prefix = table_of(score), score.alphabet, self.track.prefix
        units, size = self._units_after(after), self.test.examples
        codes, zeros = self.codes[: units[-1]], np.zeros(len(after))
        if table.per is not None:
            counts = _counts_after(codes, units, alphabet.codes)
            unsettled = range(alphabet.unsettled(0), alphabet.codes)
            counts = counts[:, [*range(alphabet.outcomes), *unsettled]]
            return Walked(table, counts, counts, zeros, size, size)
        low, high = (
            _counts_after(at_worst(codes, alphabet, entries), units, alphabet.outcomes)
            for entries in (score.ratio.numerator, (-score.ratio).numerator)
        )
        if score.blocks is not None:
            blocks = size // (score.blocks.positives + score.blocks.negatives)
            return Walked(table, low, high, zeros, blocks, blocks)
        end, relevant = size + prefix, self.test.relevant
        ends = np.array([self.track.place(int(labels), end) for labels in after])
        if score.relevant != self.test.goal.score.relevant and not prefix:
            # A part of a difference: the walk also has examples on which this part is 0.
            inside = in_groups(self.track.codes, alphabet, score.relevant)
            relevant = int(np.count_nonzero(inside))
            units = np.concatenate([[0], np.cumsum(inside)])[units]
        zeros = np.maximum(ends - prefix - units, 0).astype(np.float64)
        return Walked(table, low, high, zeros, size, relevant)

    def seen(self, score: Score, labels: int, log_side: float) -> Shown:
        """What the interval of a score depends on after so many labels."""
        if score.subtracted is not None:
            half = log_side - math.log(2.0)
            first = replace(score, subtracted=None)
            second = replace(first, ratio=score.subtracted)
            return SeenDifference(*(self._seen(part, labels, half) for part in (first, second)))
        return self._seen(score, labels, log_side)

    def _seen(self, score: Score, labels: int, log_side: float) -> Seen:
        walked = self.walked(score, np.array([labels]))
        low, high = (
            tuple(int(count) for count in row[0]) for row in (walked.lowest, walked.highest)
        )
        zeros = int(walked.zeros[0])
        return Seen(walked.table, low, high, zeros, walked.examples, walked.relevant, log_side)

    def fewest_more(self, *, any_ending: bool, futile_decides: bool) -> int:
        """How many more labels are needed before the walk can end (or end decisively)."""
        test, known = self.test, self._units(self.labels)
        left = max(len(self.track.positions) - self.labels, 1)
        needs = []
        if any_ending or not futile_decides:
            counts = _counts(test.goal.proof.cautious(known), test.proof.outcomes)
            needs.append(test.proof.fewest_more(counts, test.targets.proof, left))
        if any_ending or futile_decides:
            counts = _counts(test.goal.futility.cautious(known), test.futility.outcomes)
            needs.append(test.futility.fewest_more(counts, test.targets.futility, left))
        return self.track.fewest_labels(min(needs))


@dataclass(frozen=True)
class SequentialTest:
    """Everything about one clause that is known before labels: its evidence as functions.

    ``examples`` are those that the clause is about, and ``relevant`` of them count.
    """

    goal: Goal
    targets: Targets
    examples: int
    relevant: int
    proof: Evidence
    futility: Evidence
    claim: Evidence

    @staticmethod
    def of(goal: Goal, targets: Targets, examples: int, relevant: int) -> SequentialTest:
        """Build the test. Cached, because each new label asks for the same test again.

        A test of graded scores takes some 40 MB, so few of them are kept.
        """
        build = _graded_test if goal.proof.graded else _small_test
        return build(goal, targets, examples, relevant)

    @staticmethod
    def on(goal: Goal, targets: Targets, testset: LabelledTestset) -> SequentialTest:
        """The test of a goal on a testset."""
        reading, score = testset.reading(goal.score), goal.score
        relevant = len(reading) if score.blocks else reading.counts.in_groups(score.relevant)
        if not len(reading) and score.slice is None and score.is_mean and not goal.proof.everywhere:
            # A slice may be empty, because all of its examples are in the public sample.
            raise ZeroDivisionError("without examples there is no share of those that count")
        return SequentialTest.of(goal, targets, len(reading), relevant)

    def walk(self, testset: LabelledTestset) -> Walk:
        """Follow the order as far as labels are known, to a proof or to where asking is futile."""
        score = self.goal.score
        reading = testset.reading(score)
        if not score.needs_labels:
            proven = self._exact(self.goal.proof) >= self.targets.proof
            ending = Ending.PROVEN if proven else Ending.EXHAUSTED
            nothing = Track(np.zeros(0, np.intp), reading.codes[:0], alphabet=reading.alphabet)
            return Walk(ending, 0, nothing, self, nothing.known)
        if score.blocks is not None:
            return self.along(reading.block_track(score.blocks, testset.ranks(score)))
        return self.along(reading.track(score.relevant))

    def along(self, track: Track) -> Walk:
        """Follow a track."""
        ending, labels = self._end(track)
        return Walk(ending, labels, track, self, track.known)

    def _end(self, track: Track) -> tuple[Ending, int]:
        known, moments = track.known, track.unit_moments()
        # Most walks end early, so look at the beginning first, then at four times as much.
        look = FIRST_LOOK
        while look < len(known):
            end = self._first_end(
                track, known[:look], None if moments is None else moments[: look + 1]
            )
            if end is not None:
                return end
            look *= 4
        open_end = Ending.EXHAUSTED if track.complete else Ending.OPEN
        return self._first_end(track, known, moments) or (open_end, track.gap)

    def _first_end(
        self, track: Track, known: Codes, moments: Flags | None
    ) -> tuple[Ending, int] | None:
        """What comes first: a proof, or a moment at which it is futile to ask; then the proof."""
        hopeful = self.goal.futility.cautious(known)
        futile = self.futility.first_crossing(hopeful, self.targets.futility, moments)
        before = known if futile is None else known[:futile]
        cautious = self.goal.proof.cautious(before)
        proven = self.proof.first_crossing(cautious, self.targets.proof)
        if proven is not None:
            return Ending.PROVEN, track.labels_for(proven)
        return None if futile is None else (Ending.FUTILE, track.first_moment(futile))

    def claims(self, known: Codes) -> bool:
        """Whether these units show the opposite of the proof."""
        if not self.goal.score.needs_labels:
            return self._exact(self.goal.claim) >= self.targets.claim
        hopeful = self.goal.claim.cautious(known)
        return self.claim.first_crossing(hopeful, self.targets.claim) is not None

    def curves(self, known: Codes) -> tuple[CurveEnd, CurveEnd, CurveEnd]:
        """The values of proof, futility and claim after these units."""
        goal = self.goal
        kinds = (
            (goal.proof, self.proof, self.targets.proof),
            (goal.futility, self.futility, self.targets.futility),
            (goal.claim, self.claim, self.targets.claim),
        )
        first, second, third = (
            CurveEnd(self._value(hypothesis, evidence, known), target)
            for hypothesis, evidence, target in kinds
        )
        return first, second, third

    def _value(self, hypothesis: Hypothesis, evidence: Evidence, known: Codes) -> float:
        if not self.goal.score.needs_labels:
            return self._exact(hypothesis)
        counts = _counts(hypothesis.cautious(known), evidence.outcomes)
        return float(evidence.after(counts[None, :])[0])

    def course(self, known: Codes, after: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Like :meth:`curves`, for proof and futility, after each of these numbers of units."""
        goal = self.goal
        kinds = ((goal.proof, self.proof), (goal.futility, self.futility))
        if not goal.score.needs_labels:
            proof, futility = (np.full(len(after), self._exact(h)) for h, _ in kinds)
            return proof, futility
        proof, futility = (
            evidence.after(_counts_after(hypothesis.cautious(known), after, evidence.outcomes))
            for hypothesis, evidence in kinds
        )
        return proof, futility

    def _exact(self, hypothesis: Hypothesis) -> float:
        """−ln of the exact tail of the number of relevant examples, for a score e·d."""
        factor = float(hypothesis.entry(hypothesis.relevant[0]))
        share = min(max(hypothesis.bound / factor, 0.0), 1.0)
        if factor > 0.0:
            return -float(log_sf(self.relevant - 1, self.examples, share))
        return -float(log_cdf(self.relevant, self.examples, share))


def _build_test(goal: Goal, targets: Targets, examples: int, relevant: int) -> SequentialTest:
    size = (examples, relevant)
    return SequentialTest(
        goal,
        targets,
        examples,
        relevant,
        evidence_against(goal.proof, PROOF_AIMS, *size, targets.proof),
        evidence_against(goal.futility, FUTILITY_AIMS, *size, targets.futility),
        evidence_against(goal.claim, PROOF_AIMS, *size, targets.claim),
    )


_small_test = lru_cache(maxsize=256)(_build_test)
_graded_test = lru_cache(maxsize=4)(_build_test)


def forget_tests() -> None:
    """Forget the tests that were built."""
    _small_test.cache_clear()
    _graded_test.cache_clear()


@lru_cache(maxsize=256)
def table_of(score: Score) -> Table:
    """A score as a table over its outcomes, in the order of their codes."""
    alphabet, ratio = score.alphabet, score.ratio
    if not ratio.is_mean:
        return Table(
            tuple(float(x) for x in ratio.numerator),
            (True,) * alphabet.outcomes,
            tuple(float(y) for y in ratio.denominator),
            alphabet.groups,
        )
    needed = score.relevant if score.needs_labels else frozenset()
    return Table(
        tuple(float(x) for x in ratio.numerator),
        tuple(number in needed for number, group in enumerate(alphabet.groups) for _ in group),
    )


def _counts(codes: Codes, outcomes: int) -> Floats:
    return np.bincount(codes, minlength=outcomes)[:outcomes].astype(np.float64)


def _counts_after(codes: Codes, after: npt.NDArray[np.intp], outcomes: int) -> Floats:
    """Counts of outcomes after each of these numbers of examples, shape (times, outcomes)."""
    cuts = [codes[start:end] for start, end in zip([0, *after[:-1]], after, strict=True)]
    return np.cumsum([_counts(cut, outcomes) for cut in cuts], axis=0)
