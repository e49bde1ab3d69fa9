"""Script → Plan: how many examples and labels a script needs, by every method, and why."""

from easeci.plan.estimate import (
    BennettTest,
    ClauseTest,
    Estimate,
    FirstStage,
    HoeffdingTest,
    Observation,
    Rare,
)
from easeci.plan.planner import ESTIMATORS, Plan, Saving, plan

__all__ = [
    "ESTIMATORS",
    "BennettTest",
    "ClauseTest",
    "Estimate",
    "FirstStage",
    "HoeffdingTest",
    "Observation",
    "Plan",
    "Rare",
    "Saving",
    "plan",
]
