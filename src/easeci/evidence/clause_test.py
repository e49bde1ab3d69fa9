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
its worst for each (:mod:`easeci.evidence.cells` proves that this is safe).

A score that needs no label is a multiple of d and is known at once. The exact binomial tail of the
number of differing examples decides it, with no bets and no labels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from easeci.bounds.binomial import log_cdf, log_sf
from easeci.evidence.bets import FUTILITY_AIMS, PROOF_AIMS, Floats
from easeci.evidence.cells import Codes, Flags, highest, lowest
from easeci.evidence.confidence import Seen, Table, Walked
from easeci.evidence.endings import Ending
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.evidence.labelled import LabelledCodes, Track
from easeci.evidence.levels import StepLevels
from easeci.evidence.wealth import CELLS, Evidence
from easeci.script import LinearClause, Mode, Score
from easeci.script.cells import DIFFERING, Cell

FUTILITY_SHARE = 0.95
"""The share of a step's β for futility; the rest is for a testset that ends before the proof.

Most goes to futility, which saves labels; the rest only costs unlabelled examples, which are cheap.
"""

FIRST_LOOK = 256


@dataclass(frozen=True)
class Goal:
    """What must be proven about a clause, in the form Φ > c."""

    score: Score
    bound: float
    tolerance: float

    @staticmethod
    def of(clause: LinearClause, mode: Mode) -> Goal:
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
        return Hypothesis(self.score, self.bound, self.tolerance)

    @property
    def futility(self) -> Hypothesis:
        """The hypothesis whose rejection ends the search for a proof: Φ ≥ c + 2ε."""
        return Hypothesis(-self.score, -self.clear, self.tolerance)

    @property
    def claim(self) -> Hypothesis:
        """The hypothesis whose rejection shows the opposite of the proof: Φ ≥ c."""
        return Hypothesis(-self.score, -self.bound, self.tolerance)


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

    ``track`` has the examples that its score depends on; all of them need labels. ``labels`` is
    how many of them were used: up to the ending, or to the first missing label. ``codes`` are the
    known ones, up to the first missing label.
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

    def claims(self, labels: int) -> bool:
        """Whether the opposite of the proof was shown within the first labels."""
        return self.test.claims(self.codes[:labels])

    def curves(self, labels: int) -> tuple[CurveEnd, CurveEnd, CurveEnd]:
        """The values of proof, futility and claim after so many labels."""
        return self.test.curves(self.codes[:labels])

    def course(self, after: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
        """The values of proof and futility after each of these rising numbers of labels."""
        return self.test.course(self.codes, after)

    def walked(self, score: Score, after: npt.NDArray[np.intp]) -> Walked:
        """What the interval of a score depends on, after each of these rising numbers of labels.

        The score is the goal's, or its negative.
        """
        codes, positions = self.codes[: after[-1]], self.track.positions
        ends = np.full(len(after), self.test.examples)
        inside = after < len(positions)
        ends[inside] = positions[after[inside]]
        return Walked(
            table_of(score),
            _counts_after(lowest(codes, score), after),
            _counts_after(highest(codes, score), after),
            (ends - after).astype(np.float64),
            self.test.examples,
            self.test.differing,
        )

    def seen(self, score: Score, labels: int, log_side: float) -> Seen:
        """What the interval of a score depends on after so many labels."""
        walked = self.walked(score, np.array([labels]))
        low, high = (
            tuple(int(count) for count in row[0]) for row in (walked.lowest, walked.highest)
        )
        zeros = int(walked.zeros[0])
        return Seen(walked.table, low, high, zeros, walked.examples, walked.relevant, log_side)

    def fewest_more(self, *, any_ending: bool, futile_decides: bool) -> int:
        """How many more labels are needed before the walk can end (or end decisively)."""
        test, known = self.test, self.codes[: self.labels]
        left = len(self.track.positions) - self.labels
        needs = []
        if any_ending or not futile_decides:
            counts = _counts(lowest(known, test.goal.score))
            needs.append(test.proof.fewest_more(counts, test.targets.proof, left))
        if any_ending or futile_decides:
            counts = _counts(highest(known, test.goal.score))
            needs.append(test.futility.fewest_more(counts, test.targets.futility, left))
        return min(needs)


@dataclass(frozen=True)
class SequentialTest:
    """Everything about one clause that is known before labels: its evidence as functions."""

    goal: Goal
    targets: Targets
    examples: int
    differing: int
    proof: Evidence
    futility: Evidence
    claim: Evidence

    @staticmethod
    @lru_cache(maxsize=32)
    def of(goal: Goal, targets: Targets, examples: int, differing: int) -> SequentialTest:
        """Build the test. Cached, because each new label asks for the same test again."""
        size = (examples, differing)
        return SequentialTest(
            goal,
            targets,
            examples,
            differing,
            evidence_against(goal.proof, PROOF_AIMS, *size, targets.proof),
            evidence_against(goal.futility, FUTILITY_AIMS, *size, targets.futility),
            evidence_against(goal.claim, PROOF_AIMS, *size, targets.claim),
        )

    def walk(self, testset: LabelledCodes) -> Walk:
        """Follow the order as far as labels are known, to a proof or to where asking is futile."""
        if not self.goal.score.needs_labels:
            proven = self._exact(self.goal.proof) >= self.targets.proof
            ending = Ending.PROVEN if proven else Ending.EXHAUSTED
            nothing = Track(np.zeros(0, np.intp), testset.codes[:0])
            return Walk(ending, 0, nothing, self, nothing.known)
        track = testset.differing if self.goal.proof.only_differing else testset.everything
        ending, labels = self._end(track)
        return Walk(ending, labels, track, self, track.known)

    def _end(self, track: Track) -> tuple[Ending, int]:
        known, moments = track.known, track.moments()
        # Most walks end early, so look at the beginning first, then at four times as much.
        look = FIRST_LOOK
        while look < len(known):
            end = self._first_end(known[:look], None if moments is None else moments[: look + 1])
            if end is not None:
                return end
            look *= 4
        open_end = Ending.EXHAUSTED if track.complete else Ending.OPEN
        return self._first_end(known, moments) or (open_end, len(known))

    def _first_end(self, known: Codes, moments: Flags | None) -> tuple[Ending, int] | None:
        """What comes first: a proof, or a moment at which it is futile to ask; then the proof."""
        hopeful = highest(known, self.goal.score)
        futile = self.futility.first_crossing(hopeful, self.targets.futility, moments)
        before = known if futile is None else known[:futile]
        cautious = lowest(before, self.goal.score)
        proven = self.proof.first_crossing(cautious, self.targets.proof)
        if proven is not None:
            return Ending.PROVEN, proven
        return None if futile is None else (Ending.FUTILE, futile)

    def claims(self, known: Codes) -> bool:
        """Whether these labels show the opposite of the proof."""
        if not self.goal.score.needs_labels:
            return self._exact(self.goal.claim) >= self.targets.claim
        hopeful = highest(known, self.goal.score)
        return self.claim.first_crossing(hopeful, self.targets.claim) is not None

    def curves(self, known: Codes) -> tuple[CurveEnd, CurveEnd, CurveEnd]:
        """The values of proof, futility and claim after these labels."""
        targets = (self.targets.proof, self.targets.futility, self.targets.claim)
        if not self.goal.score.needs_labels:
            hypotheses = (self.goal.proof, self.goal.futility, self.goal.claim)
            ends = [self._exact(hypothesis) for hypothesis in hypotheses]
        else:
            score = self.goal.score
            cautious, hopeful = _counts(lowest(known, score)), _counts(highest(known, score))
            curves = ((self.proof, cautious), (self.futility, hopeful), (self.claim, hopeful))
            ends = [float(curve.after(counts[None, :])[0]) for curve, counts in curves]
        first, second, third = (
            CurveEnd(end, target) for end, target in zip(ends, targets, strict=True)
        )
        return first, second, third

    def course(self, known: Codes, after: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Like :meth:`curves`, for proof and futility, after each of these numbers of labels."""
        score = self.goal.score
        if not score.needs_labels:
            ends = (self._exact(self.goal.proof), self._exact(self.goal.futility))
            return np.full(len(after), ends[0]), np.full(len(after), ends[1])
        return (
            self.proof.after(_counts_after(lowest(known, score), after)),
            self.futility.after(_counts_after(highest(known, score), after)),
        )

    def _exact(self, hypothesis: Hypothesis) -> float:
        """−ln of the exact tail of the number of differing examples, for a score e·d."""
        factor = float(hypothesis.score.difference)
        share = min(max(hypothesis.bound / factor, 0.0), 1.0)
        if factor > 0.0:
            return -float(log_sf(self.differing - 1, self.examples, share))
        return -float(log_cdf(self.differing, self.examples, share))


@lru_cache(maxsize=32)
def table_of(score: Score) -> Table:
    """A score as a table over the five cells, in the order of their codes."""
    agreeing, differing = score.label_matters_when_agreeing, score.label_matters_when_differing
    return Table(
        tuple(float(score.of(cell)) for cell in Cell),
        tuple(differing if cell in DIFFERING else agreeing for cell in Cell),
    )


def _counts(codes: Codes) -> Floats:
    return np.bincount(codes, minlength=CELLS)[:CELLS].astype(np.float64)


def _counts_after(codes: Codes, after: npt.NDArray[np.intp]) -> Floats:
    """Counts of cells after each of these numbers of examples, shape (times, cells)."""
    cuts = [codes[start:end] for start, end in zip([0, *after[:-1]], after, strict=True)]
    return np.cumsum([_counts(cut) for cut in cuts], axis=0)
