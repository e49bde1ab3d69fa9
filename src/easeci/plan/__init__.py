"""Script → Plan: how many examples and labels a script needs with each method, and why."""

from easeci.plan.estimate import (
    BennettTest,
    ClauseTest,
    Estimate,
    FirstStage,
    HoeffdingTest,
    Observation,
    Rare,
)
from easeci.plan.planner import Plan, Row, Saving, design, plan
from easeci.plan.sensitivity_left import sensitivity_left
from easeci.plan.truth import Promise, Truth

__all__ = [
    "BennettTest",
    "ClauseTest",
    "Estimate",
    "FirstStage",
    "HoeffdingTest",
    "Observation",
    "Plan",
    "Promise",
    "Rare",
    "Row",
    "Saving",
    "Truth",
    "design",
    "plan",
    "sensitivity_left",
]
