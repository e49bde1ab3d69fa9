"""Where the two promises of a clause ``Φ > threshold ± tolerance`` begin.

Safety holds up to the threshold, sensitivity from threshold + 2·tolerance on.
"""

from __future__ import annotations


def contract_target(threshold: float, tolerance: float, lowest: float, highest: float) -> float:
    """Where sensitivity begins, threshold + 2·tolerance, checked against what Φ can reach."""
    require_tolerance(tolerance)
    if not lowest <= threshold < highest:
        raise ValueError(f"the threshold must be in [{lowest}, {highest}), got {threshold}")
    target = threshold + 2.0 * tolerance
    # 0.9 + 2 · 0.05 may come out a little above 1.
    if target > highest + 1e-12:
        raise ValueError(
            f"threshold + 2·tolerance = {target} is beyond {highest}, the most that can be reached"
        )
    return min(target, highest)


def require_tolerance(tolerance: float) -> None:
    """Refuse tolerances that no number of examples can meet."""
    if not tolerance > 0.0:
        raise ValueError(f"the tolerance must be positive, got {tolerance}")
