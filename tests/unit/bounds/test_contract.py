"""Where the promises of a clause begin, against exact arithmetic."""

from __future__ import annotations

from itertools import product

import pytest

from easeci.bounds.contract import contract_target


def test_the_target_is_exact_up_to_rounding_and_never_beyond_the_range() -> None:
    """In tenths: c + 2ε is refused exactly if whole numbers say that it can't be reached.

    In floating point, 0.1 + 2 · 0.1 is more than 0.3.
    """
    for highest, c, e in product(range(1, 21), range(20), range(1, 11)):
        if c >= highest:
            continue
        if c + 2 * e > highest:
            with pytest.raises(ValueError, match="beyond"):
                contract_target(c / 10, e / 10, 0.0, highest / 10)
        else:
            target = contract_target(c / 10, e / 10, 0.0, highest / 10)
            assert target == pytest.approx((c + 2 * e) / 10, abs=1e-15)
            assert target <= highest / 10


def test_what_makes_no_sense_is_refused() -> None:
    for threshold in (-0.1, 1.0, 1.1):
        with pytest.raises(ValueError, match="threshold"):
            contract_target(threshold, 0.1, 0.0, 1.0)
    for tolerance in (0.0, -0.1, float("nan")):
        with pytest.raises(ValueError, match="positive"):
            contract_target(0.5, tolerance, 0.0, 1.0)
