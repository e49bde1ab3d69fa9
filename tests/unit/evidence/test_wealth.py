"""Walking in blocks finds the same first crossing as looking at every example."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from easeci.evidence.bets import PROOF_AIMS, SPACED_AIMS
from easeci.evidence.codes import Codes, Flags
from easeci.evidence.hypothesis import Hypothesis, evidence_against
from easeci.evidence.wealth import CHUNK, MOST_COUNTED, Evidence
from easeci.script import Score
from tests.cases import each_case

GAIN = Score.linear(Fraction(1), Fraction(-1), Fraction(0))
NEW = Score.linear(Fraction(1), Fraction(0), Fraction(0))
LAW = [0.0, 0.0, 0.5, 0.4, 0.1]


def plainly(
    evidence: Evidence, codes: Codes, target: float, moments: Flags | None = None
) -> int | None:
    """The first crossing by the definition: a sum of logarithms after every example."""
    logs = evidence.log_weights[None] + np.cumsum(
        np.moveaxis(evidence.log_factors[:, :, codes], 2, 0), axis=0
    )
    values = np.logaddexp.reduce(logs, axis=2).min(axis=1)
    at_start = np.logaddexp.reduce(evidence.log_weights, axis=1).min()
    reached = np.concatenate([[at_start], values]) >= target
    crossed = np.flatnonzero(reached if moments is None else reached & moments)
    return int(crossed[0]) if len(crossed) else None


@each_case("seed", range(8))
@each_case("target", [0.5, 3.0, 9.0])
@each_case("bound", [0.01, -0.02, 0.0])
def test_blocks_find_the_first_crossing(seed: int, target: float, bound: float) -> None:
    codes = np.random.default_rng(seed).choice(5, 1500, p=LAW).astype(np.uint8)
    evidence = evidence_against(Hypothesis.of(GAIN, bound, 0.01), PROOF_AIMS, 15_000, 1500, target)
    assert evidence.first_crossing(codes, target) == plainly(evidence, codes, target)


@each_case("seed", range(8))
@each_case("share", [0.0, 0.001, 0.01, 0.5, 1.0])
@each_case("bound", [0.01, -0.02])
def test_only_chosen_moments_count(seed: int, share: float, bound: float) -> None:
    """The first crossing at a moment that counts, in whatever block it is."""
    random = np.random.default_rng(seed)
    codes = random.choice(5, 1500, p=LAW).astype(np.uint8)
    moments = random.random(len(codes) + 1) < share
    moments[-1] = bool(seed % 2)
    evidence = evidence_against(Hypothesis.of(GAIN, bound, 0.01), PROOF_AIMS, 15_000, 1500, 3.0)
    found = evidence.first_crossing(codes, 3.0, moments)
    assert found == plainly(evidence, codes, 3.0, moments)


def test_infinite_evidence_stands_at_every_moment_that_counts() -> None:
    evidence = evidence_against(Hypothesis.of(GAIN, -2.0, 0.01), PROOF_AIMS, 100, 50, 3.0)
    codes = np.full(6, 2, np.uint8)
    assert evidence.first_crossing(codes, 3.0) == 0
    assert evidence.first_crossing(codes, 3.0, np.arange(7) >= 4) == 4
    assert evidence.first_crossing(codes, 3.0, np.zeros(7, bool)) is None


def test_a_crossing_behind_a_whole_chunk_is_found() -> None:
    """A crossing is found if the evidence first falls over a whole chunk and then rises."""
    falling = np.tile(np.array([0, 1], np.uint8), CHUNK // 2 + 700)
    codes = np.concatenate([falling, np.zeros(60_000, np.uint8)])
    evidence = evidence_against(Hypothesis.of(NEW, 0.52, 0.05), SPACED_AIMS, len(codes), 0, 5.0)
    assert evidence.first_crossing(codes, 5.0) == plainly(evidence, codes, 5.0) is not None
    moments = np.arange(len(codes) + 1) % 1000 == 7
    found = evidence.first_crossing(codes, 5.0, moments)
    assert found == plainly(evidence, codes, 5.0, moments) is not None


def test_the_fewest_labels_still_needed_are_never_too_many() -> None:
    evidence = evidence_against(Hypothesis.of(NEW, 0.5, 0.1), PROOF_AIMS, 100, 0, 5.0)
    best = np.zeros(100, np.uint8)
    first = evidence.first_crossing(best, 5.0)
    assert first is not None
    for seen in range(first):
        counts = np.array([float(seen), 0, 0, 0, 0])
        assert 1 <= evidence.fewest_more(counts, 5.0, 100 - seen) <= first - seen


def many_outcomes(outcomes: int, rows: int, seed: int) -> Evidence:
    """Bets on evenly spaced scores against several means near theirs."""
    scores = np.linspace(-1.0, 1.0, outcomes)
    means = np.linspace(-0.02, 0.02, rows)
    sizes = np.array([0.05, 0.2, 0.6])
    factors = np.log1p(sizes[None, :, None] * (scores - means[:, None, None]))
    weights = np.log(np.random.default_rng(seed).dirichlet(np.ones(3), rows))
    return Evidence(weights, factors)


@each_case("seed", range(4))
@each_case(("outcomes", "rows"), [(MOST_COUNTED, 3), (MOST_COUNTED + 1, 1), (60, 4), (256, 2)])
def test_many_outcomes_are_looked_up_to_the_same_end(seed: int, outcomes: int, rows: int) -> None:
    """With or without moments, and in a testset of several chunks."""
    random = np.random.default_rng(seed)
    chances = np.linspace(0.9, 1.1, outcomes)
    codes = random.choice(outcomes, 9000, p=chances / chances.sum()).astype(np.uint8)
    evidence = many_outcomes(outcomes, rows, seed)
    moments = random.random(len(codes) + 1) < 0.01
    for target in (0.3, 2.0, 8.0, 60.0):
        assert evidence.first_crossing(codes, target) == plainly(evidence, codes, target)
        found = evidence.first_crossing(codes, target, moments)
        assert found == plainly(evidence, codes, target, moments)


def test_a_late_crossing_of_many_outcomes_is_found() -> None:
    codes = np.concatenate(
        [np.tile(np.array([0, 39], np.uint8), CHUNK // 2 + 300), np.full(9000, 39, np.uint8)]
    )
    evidence = many_outcomes(40, 2, 0)
    found = evidence.first_crossing(codes, 3.0)
    assert found == plainly(evidence, codes, 3.0)
    assert found is not None
    assert found > CHUNK
    # What is found does not depend on how many examples come behind it.
    for end in (found, found + 1, found + 257):
        assert evidence.first_crossing(codes[:end], 3.0) == found
