"""A verdict as a document (JSON) that other programs can rely on."""

from __future__ import annotations

from typing import Any

from easeci.verdict.result import ClauseResult, Verdict


def verdict_document(verdict: Verdict) -> dict[str, Any]:
    return {
        "outcome": str(verdict.result),
        "pass": verdict.passed,
        "estimator": str(verdict.estimator),
        "clauses": [_clause_document(result) for result in verdict.clauses],
        "examples": verdict.examples,
        "labels": verdict.labels,
        "labels_wanted": len(verdict.wanted),
        "widened": verdict.widened,
    }


def _clause_document(found: ClauseResult) -> dict[str, Any]:
    return {
        "clause": found.clause.text,
        "estimate": None if found.estimate is None else float(found.estimate),
        "interval": [float(found.interval.low), float(found.interval.high)],
        "outcome": str(found.result),
        "tolerance": None if found.tolerance is None else float(found.tolerance),
        "widened": found.widened,
        "examples": found.sample,
        "examples_needed": found.needed,
        "ended": None if found.evidence is None else found.evidence.ending.value,
    }
