"""A plan as a document (JSON) that other programs can rely on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from easeci.plan.estimate import Estimate
from easeci.plan.planner import Plan

SECONDS_PER_LABEL = (2, 5)
"""The paper's labelling speeds: the best case, and a well-designed interface."""


def hours(labels: int, seconds: int) -> float:
    """The hours that so many labels take at so many seconds each."""
    return labels * seconds / 3600.0


def rough_hours(value: float) -> str:
    """Hours with as many digits as a forecast deserves: 0.2, 120, 1.5M."""
    if value >= 1e6:
        return f"{value / 1e6:,.1f}M"
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON-ready data."""
    script = plan.script
    return {
        "condition": str(script.condition),
        "reliability": float(script.reliability),
        "mode": str(script.mode),
        "adaptivity": str(script.adaptivity),
        "steps": script.steps,
        "estimates": [_estimate_document(plan, estimate) for estimate in plan.estimates],
        "recommended": str(plan.recommended),
        "why": plan.why,
        "cheap_mode": [
            {
                "points": saving.points,
                "labels_in_all": saving.labels_in_all,
                "factor": round(saving.factor, 3),
            }
            for saving in plan.savings
        ],
        "warnings": list(script.warnings()),
    }


def _estimate_document(plan: Plan, estimate: Estimate) -> dict[str, Any]:
    in_all = estimate.labels_in_all(plan.script.steps)
    document: dict[str, Any] = {
        "estimator": str(estimate.estimator),
        "applies": estimate.applies,
        "examples": estimate.examples,
        "labels": estimate.labels,
        "labels_per_commit": estimate.labels_per_commit,
        "labels_in_all": in_all,
        "unlabelled": estimate.unlabelled,
        "hours": None
        if in_all is None
        else {f"{seconds}s": round(hours(in_all, seconds), 2) for seconds in SECONDS_PER_LABEL},
        "practical": plan.practical(estimate),
        "reason": estimate.reason,
        "derivation": list(estimate.derivation),
    }
    if estimate.expected is not None:
        document["expected_labels"] = asdict(estimate.expected)
    return document
