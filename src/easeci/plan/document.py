"""A plan as a document (JSON) that other programs can rely on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from easeci.plan.labelling_time import SECONDS_PER_LABEL, hours, labelling_time, rough_hours
from easeci.plan.planner import Plan, Row

__all__ = ["SECONDS_PER_LABEL", "hours", "labelling_time", "plan_document", "rough_hours"]


def plan_document(plan: Plan) -> dict[str, Any]:
    """The plan as JSON-ready data. ``forecast`` and ``cheaper`` are null where there is none."""
    script = plan.script
    return {
        "condition": str(script.condition),
        "reliability": float(script.reliability),
        "sensitivity": float(script.sensitivity),
        "mode": str(script.mode),
        "adaptivity": str(script.adaptivity),
        "steps": script.steps,
        "warnings": list(plan.warnings),
        "meaning": plan.meaning,
        "decides_by": str(plan.decides_by),
        "bring": _bring(plan),
        "forecast": _forecast(plan),
        "cheaper": None if plan.cheaper is None else asdict(plan.cheaper),
        "estimates": [_row(row) for row in plan.rows],
        "recommended": None if plan.recommended is None else str(plan.recommended),
        "why": plan.why,
        "cheap_mode": [
            {
                "points": saving.points,
                "labels_in_all": saving.labels_in_all,
                "factor": round(saving.factor, 3),
            }
            for saving in plan.savings
        ],
    }


def _bring(plan: Plan) -> dict[str, int] | None:
    bring = plan.bring
    if bring is None or plan.useless:
        return None
    found = {"examples": bring.examples, "sealed": bring.sealed, "sample": bring.sample}
    return found if bring.each_slice is None else {**found, "each_slice": bring.each_slice}


def _forecast(plan: Plan) -> dict[str, Any] | None:
    if plan.useless or not plan.by_need:
        return None
    labels = plan.labels
    return {
        "labels": labels.in_all,
        "labels_per_commit": labels.per_commit,
        "worst_commit": labels.worst_commit,
        **({"shared_prefix": plan.prefix} if plan.prefix else {}),
        "hours": _hours(labels.in_all),
        "commits": plan.mix.name,
        "assumes": plan.assumption,
    }


def _hours(labels: int) -> dict[str, float]:
    return {f"{seconds}s": round(hours(labels, seconds), 2) for seconds in SECONDS_PER_LABEL}


def _row(row: Row) -> dict[str, Any]:
    estimate = row.estimate
    return {
        "estimator": str(estimate.estimator),
        "applies": estimate.applies,
        "examples": estimate.examples,
        "labels": row.labels_up_front,
        "labels_per_commit": row.labels_per_commit,
        "labels_in_all": row.labels_in_all,
        "unlabelled": estimate.unlabelled,
        "hours": None if row.labels_in_all is None else _hours(row.labels_in_all),
        "practical": row.practical,
        "reason": estimate.reason,
        "derivation": list(estimate.derivation),
    }
