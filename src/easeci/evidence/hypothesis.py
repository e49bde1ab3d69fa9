"""Evidence against "Φ is at most c", for any linear score, from the cells of a testset.

There are two ways. The score decides which one is used, never the data:

* **Every example counts.** Bets on the score itself. The only assumption: examples are i.i.d.

* **Only examples where the models differ count**, for scores that are 0 where they agree, such as
  n − o. Given the pattern of disagreement, the scores where the models differ are i.i.d. with mean
  Φ/d, d the true share of disagreement. So if Φ ≤ c and d is in [l, u], the bets
  Π (1 + λ (s − m)) over differing examples, m = max(c/l, c/u), are a supermartingale given the
  pattern. Its start may be any e-value of the pattern under d, because the expectation of the
  product is the expectation of the start: e(D), D the number of differing examples among all N,
  known without a single label. The evidence is the least over a partition of [0, 1] into
  intervals of d, that is, over all values that d can have.

For c > 0 a small d makes the hypothesis hard to reject (m = c/l is large). So e must grow if more
examples differ than d explains: with tilts θ > 0

    e(D) = w₀ + Σ w_k exp(θ_k D − N ln(1 + u (e^θ_k − 1))),   Σ w = 1

E_d[e^(θD)] = (1 + d (e^θ − 1))^N grows with d, so this has expectation at most 1 for all d ≤ u. For
c < 0 it is the mirror image, with θ < 0 and l. For c = 0, d does not matter at all. Each bet has
its own start: how fast a bet falls as d moves away is known beforehand, and the best tilt matches
it. So bets that end soon lose almost nothing by not knowing d exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from easeci.evidence.bets import SPACED_AIMS, SPREAD, Aims, Floats, aimed, log_factors
from easeci.evidence.cells import CODE_OF
from easeci.evidence.wealth import CELLS, Evidence
from easeci.script.cells import AGREEING, DIFFERING, Cell, Score

TILTS = (1.2, 2.5)
"""Tilts of e, as multiples of the slope that a bet is expected to have at its target."""
TILT_WEIGHTS = (0.45, 0.3)
FAR_TILT = 6.0
"""One more tilt, in standard deviations of D: it rules out values of d that are far away."""
FAR_WEIGHT = 0.03
NO_TILT = 1.0 - sum(TILT_WEIGHTS) - FAR_WEIGHT

RESOLUTION = 0.25
"""Width of the finest intervals of d, in standard deviations of D/N."""
FINEST = 25_000_000
"""How many examples have the finest intervals. More of them don't make the intervals narrower, so
that the work stays the same. Every partition of [0, 1] is valid; a coarse one needs more labels."""

MARGIN = 1e-12
"""Hypotheses are widened by this share of the score's range: more than any rounding error."""


@dataclass(frozen=True)
class Hypothesis:
    """The hypothesis "the mean of ``score`` is at most ``bound``".

    Bets against it are aimed at multiples of ``tolerance`` beyond the bound.
    """

    score: Score
    bound: float
    tolerance: float

    @property
    def only_differing(self) -> bool:
        """Whether the score is 0 wherever the models agree, so that such examples don't count."""
        return all(self.score.of(cell) == 0 for cell in AGREEING)

    @property
    def relevant(self) -> tuple[Cell, ...]:
        """The cells of the examples that count."""
        return DIFFERING if self.only_differing else tuple(Cell)

    @property
    def scores(self) -> tuple[float, ...]:
        """The distinct scores of the relevant cells, in rising order."""
        return tuple(sorted({float(self.score.of(cell)) for cell in self.relevant}))


def evidence_against(
    hypothesis: Hypothesis, aims: Aims, examples: int, differing: int, log_target: float
) -> Evidence:
    """The evidence against a hypothesis, on a testset with so many examples, so many differing.

    ``log_target`` is the largest target that the caller will use. Cases that the number of
    differing examples alone excludes at that level are left out.
    """
    if hypothesis.only_differing:
        return _from_differing(hypothesis, aims, examples, differing, log_target)
    scores = hypothesis.scores
    aims = aims if len(scores) == 2 else SPACED_AIMS
    means = np.array([hypothesis.bound + MARGIN * (scores[-1] - scores[0])])
    if means[0] <= scores[0]:
        return _infinite_evidence(aims)
    start = np.zeros((1, len(aims.multiples)))
    return _evidence_of_bets(hypothesis, aims, np.minimum(means, scores[-1]), np.ones(1), start)


def _from_differing(
    hypothesis: Hypothesis, aims: Aims, examples: int, differing: int, log_target: float
) -> Evidence:
    least, most = hypothesis.scores[0], hypothesis.scores[-1]
    cases = disagreement_cases(hypothesis, aims, examples, differing, log_target)
    with np.errstate(divide="ignore"):
        means = np.where(cases.at > 0.0, hypothesis.bound / cases.at, math.inf)
    means = np.minimum(means + MARGIN * (most - least), most)
    # If even the least score is above m, the case contradicts the hypothesis.
    kept = means > least
    if not kept.any():
        return _infinite_evidence(aims)
    scale = 1.0 / np.maximum(cases.at[kept], 1e-300)
    return _evidence_of_bets(hypothesis, aims, means[kept], scale, cases.log_start[kept])


@dataclass(frozen=True)
class DisagreementCases:
    """The intervals that d may be in: ``at`` is the hard end of each, ``log_start`` its ln e(D).

    Each bet has its own start: ``log_start`` has the shape (intervals, bets).
    """

    at: Floats
    log_start: Floats


def disagreement_cases(
    hypothesis: Hypothesis, aims: Aims, examples: int, differing: int, log_target: float
) -> DisagreementCases:
    """The intervals of d that matter, with their e-values.

    The partition depends on the number of examples alone, and so does the e-value as a function of
    D. Neighbours far from D/N share bets that are fair for the hardest of them, and start at the
    least of their starts; given the pattern of disagreement, bets may be chosen freely. Intervals
    whose start is above the target are already excluded and are left out.
    """
    if hypothesis.bound == 0.0:
        seen = max(differing, 1) / examples
        return DisagreementCases(np.array([seen]), np.zeros((1, len(aims.multiples))))
    upwards = hypothesis.bound > 0.0
    width = RESOLUTION / (2.0 * math.sqrt(min(examples, FINEST)))
    edges = np.arange(math.ceil(math.pi / 2.0 / width) + 1) * width
    shares = np.sin(np.minimum(edges, math.pi / 2.0)) ** 2
    hard, easy = (shares[:-1], shares[1:]) if upwards else (shares[1:], shares[:-1])
    slopes = expected_slopes(hypothesis, aims, examples, hard, log_target)
    log_start = log_start_values(examples, differing, easy, slopes, 1.0 if upwards else -1.0)
    centre = int(math.asin(math.sqrt(differing / examples)) / width)
    groups = _groups(centre, len(hard))
    hardest = (np.minimum if upwards else np.maximum).reduceat(hard, groups)
    start = np.minimum.reduceat(log_start, groups, axis=0)
    open_cases = start.min(axis=1) < log_target + 1.0
    return DisagreementCases(hardest[open_cases], start[open_cases])


def _groups(centre: int, intervals: int) -> npt.NDArray[np.intp]:
    """The first interval of each group: groups get wider with the distance from the centre."""
    fine = round(4.0 / RESOLUTION)
    steps = np.concatenate(
        [np.arange(fine), fine + 4 * np.arange(fine), 5 * fine + 16 * np.arange(fine)]
    )
    starts = np.unique(np.concatenate([[0], centre - steps, centre + steps]))
    return starts[(starts >= 0) & (starts < intervals)].astype(np.intp)


def expected_slopes(
    hypothesis: Hypothesis, aims: Aims, examples: int, share: Floats, log_target: float
) -> Floats:
    """How fast a bet at its target falls as d moves away, in nats per standard deviation of D/N.

    A bet λ aimed k·ε beyond c grows by about λ·k·ε/(2d) a label, so it needs 2·L·d/(λ·k·ε) of them
    to reach L, and a relative change of d by 1 moves the hypothesis by c/d: 2·L·c/(k·ε) nats.
    """
    relative = np.sqrt((1.0 - share) / np.maximum(share * examples, 0.25))
    reach = np.array(aims.multiples) * hypothesis.tolerance
    slopes = 2.0 * log_target * abs(hypothesis.bound) / reach[None, :] * relative[:, None]
    return np.asarray(np.minimum(slopes, FAR_TILT))


def log_start_values(
    examples: int, differing: int, share: Floats, slopes: Floats, sign: float
) -> Floats:
    """ln e(D), valid for all d ≤ ``share`` (sign 1) or for all d ≥ ``share`` (sign −1)."""
    deviation = np.sqrt(np.maximum(share * (1.0 - share) * examples, 1.0))[:, None]
    tilts = [(weight, tilt * slopes) for weight, tilt in zip(TILT_WEIGHTS, TILTS, strict=True)]
    far = np.full(slopes.shape, FAR_TILT)
    total = np.full(slopes.shape, math.log(NO_TILT))
    for weight, tilt in [*tilts, (FAR_WEIGHT, far)]:
        theta = sign * tilt / deviation
        log_mean = examples * np.log1p(share[:, None] * np.expm1(theta))
        total = np.logaddexp(total, math.log(weight) + theta * differing - log_mean)
    return total


def _evidence_of_bets(
    hypothesis: Hypothesis, aims: Aims, means: Floats, scale: Floats, log_start: Floats
) -> Evidence:
    scores = hypothesis.scores
    spread = 1.0 if len(scores) == 2 else SPREAD
    ends = (scores[0], scores[-1])
    sizes = aimed(means, hypothesis.tolerance * scale, aims, ends, spread)
    factors = np.zeros((*sizes.shape, CELLS))
    for cell in hypothesis.relevant:
        score = float(hypothesis.score.of(cell))
        factors[:, :, CODE_OF[cell]] = log_factors(sizes, means, score)
    return Evidence(aims.log_weights[None, :] + log_start, factors)


def _infinite_evidence(aims: Aims) -> Evidence:
    bets = len(aims.multiples)
    return Evidence(np.zeros((0, bets)), np.zeros((0, bets, CELLS)))
