"""A verdict as a document (JSON) that other programs can rely on."""

from __future__ import annotations

from typing import Any

from easeci.verdict.result import ClauseResult, Verdict


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    return {
        "outcome": str(verdict.outcome),
        "pass": verdict.passed,
        "estimator": str(verdict.estimator),
        "clauses": [_clause_document(result) for result in verdict.clauses],
        "examples": verdict.examples,
        "labels": verdict.labels,
        "labels_wanted": len(verdict.wanted),
        "widened": verdict.widened,
    }


def _clause_document(result: ClauseResult) -> dict[str, Any]:
    return {
        "clause": result.clause.text,
        "estimate": None if result.estimate is None else float(result.estimate),
        "interval": [float(result.interval.low), float(result.interval.high)],
        "outcome": str(result.outcome),
        "tolerance": None if result.tolerance is None else float(result.tolerance),
        "widened": result.widened,
        "examples": result.sample,
        "examples_needed": result.needed,
        "ended": None if result.evidence is None else result.evidence.ending.value,
    }
