"""A simulation as a document (JSON) that other programs can rely on."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from easeci.simulation.report import Finding, Measured, Round, Simulation

FINDINGS = {
    Finding.KEPT: "kept",
    Finding.UNSEEN: "unseen",
    Finding.BROKEN: "broken",
    Finding.NOT_PROMISED: "not promised",
}


def simulation_document(simulation: Simulation) -> dict[str, Any]:
    """The simulation as JSON-ready data.

    ``rounds`` has the script as written, and a second round with a larger δ if the script's δ is
    too small for errors to be seen.
    """
    return {
        "seed": simulation.seed,
        "broken": bool(simulation.broken),
        "rounds": [_round_document(one) for one in simulation.rounds],
    }


def _round_document(one: Round) -> dict[str, Any]:
    return {
        "condition": str(one.script.condition),
        "mode": str(one.script.mode),
        "adaptivity": str(one.script.adaptivity),
        "steps": one.script.steps,
        "delta": float(one.script.delta),
        "beta": float(one.script.beta),
        "estimator": str(one.estimator),
        "examples": one.examples,
        "examples_planned": one.examples_planned,
        "commits": one.commits,
        "developers": [_measured_document(measured) for measured in one.measured],
    }


def _measured_document(measured: Measured) -> dict[str, Any]:
    rate = measured.rate
    return {
        "developer": str(measured.developer),
        "wrong": measured.wrong,
        "testsets": rate.testsets,
        "broken": rate.broken,
        "rate": rate.share,
        "interval": [rate.low, rate.high],
        "promised": None if measured.promised is None else float(measured.promised),
        "finding": FINDINGS[measured.finding],
        "labels": {**asdict(measured.labels), "histogram": list(measured.labels.histogram)},
        "life": None if measured.life is None else asdict(measured.life),
    }
