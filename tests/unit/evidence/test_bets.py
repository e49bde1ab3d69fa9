"""Bets: how large they may be, and how they share the start."""

from __future__ import annotations

import numpy as np
import pytest

from easeci.evidence.bets import PROOF_AIMS, SPACED_AIMS, Aims, aimed, log_factors
from tests.cases import each_case


@each_case("aims", [PROOF_AIMS, SPACED_AIMS])
def test_no_bet_risks_more_than_it_has(aims: Aims) -> None:
    means = np.linspace(-1.0, 1.0, 401)[1:]
    for step in (1e-6, 0.1, 100.0):
        sizes = aimed(means, np.full(400, step), aims, (-1.0, 1.0), 0.9)
        assert np.all(sizes >= 0.0)
        assert np.all(sizes * (means + 1.0)[:, None] < 1.0)
        assert np.all(sizes[-1] == 0.0)


def test_weights_must_add_up() -> None:
    with pytest.raises(ValueError, match="add up"):
        Aims((1.0, 2.0), (0.5, 0.6))


def test_a_bet_is_fair_against_its_hypothesis() -> None:
    """If the mean is exactly the one that is bet against, no bet gains on average."""
    means = np.array([-0.9, -0.3, 0.0, 0.5])
    sizes = aimed(means, np.full(4, 0.05), PROOF_AIMS, (-1.0, 1.0), 1.0)
    up = (means[:, None] + 1.0) / 2.0
    gain, loss = (np.exp(log_factors(sizes, means, score)) for score in (1.0, -1.0))
    np.testing.assert_allclose(up * gain + (1.0 - up) * loss, 1.0, rtol=1e-12)


def test_a_bet_is_the_best_for_the_mean_that_it_aims_at() -> None:
    """For two scores it is Kelly's: no other size on a fine grid makes wealth grow faster."""
    mean, step = 0.2, 0.01
    sizes = aimed(np.array([mean]), np.array([step]), PROOF_AIMS, (-1.0, 1.0), 1.0)[0]
    grid = np.linspace(0.0, 0.8, 4001)
    for size, multiple in zip(sizes, PROOF_AIMS.multiples, strict=True):
        up = (mean + multiple * step + 1.0) / 2.0
        growth = up * np.log1p(grid * (1.0 - mean)) + (1.0 - up) * np.log1p(grid * (-1.0 - mean))
        assert size == pytest.approx(grid[growth.argmax()], abs=2e-4)
