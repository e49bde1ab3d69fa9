"""Bets: how large they may be, and how they share the start."""

from __future__ import annotations

import numpy as np
import pytest

from easeci.evidence.bets import PROOF_AIMS, SPACED_AIMS, Aims, aimed
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
