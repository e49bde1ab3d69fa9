"""Every estimator by its name: functions of the same shape, Script → Estimate."""

from __future__ import annotations

from collections.abc import Callable

from easeci.plan.baseline import hoeffding
from easeci.plan.estimate import Estimate
from easeci.plan.exact import exact_estimate
from easeci.plan.patterns import pattern1, pattern1_active, pattern2, pattern3
from easeci.plan.sequential import sequential
from easeci.script import Estimator, Script

PUBLISHED: dict[Estimator, Callable[[Script], Estimate]] = {
    Estimator.HOEFFDING: hoeffding,
    Estimator.PATTERN1: pattern1,
    Estimator.PATTERN1_ACTIVE: pattern1_active,
    Estimator.PATTERN2: pattern2,
    Estimator.PATTERN3: pattern3,
}
ESTIMATORS: dict[Estimator, Callable[[Script], Estimate]] = {
    **PUBLISHED,
    Estimator.EXACT: exact_estimate,
    Estimator.SEQUENTIAL: sequential,
}
