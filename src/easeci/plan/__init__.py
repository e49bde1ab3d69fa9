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
from easeci.plan.planner import ESTIMATORS, Plan, Saving, design, plan
from easeci.plan.smaller import sensitivity_left

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
    "design",
    "plan",
    "sensitivity_left",
]
