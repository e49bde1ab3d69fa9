"""Charts with their words."""

from __future__ import annotations

import pytest

from easeci.script import Mode
from easeci.service.scripts import make_script
from easeci.views.figures import zone_of

TWO = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.02"


def test_the_zone_lies_where_the_mode_puts_it() -> None:
    both = make_script(TWO).clauses
    assert [zone_of(c, Mode.FP_FREE) for c in both] == [
        (0.02, 0.04),
        pytest.approx((0.06, 0.1)),
    ]
    assert [zone_of(c, Mode.FN_FREE) for c in both] == [
        (0.0, 0.02),
        pytest.approx((0.1, 0.14)),
    ]
