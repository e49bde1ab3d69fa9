"""The guarantee, measured on the owner's own script: drawn models, the real engine, exact rates."""

from easeci.simulation.developers import Developer
from easeci.simulation.report import Finding, Measured, Rate, Round, Simulation
from easeci.simulation.run import Limits, simulate

__all__ = [
    "Developer",
    "Finding",
    "Limits",
    "Measured",
    "Rate",
    "Round",
    "Simulation",
    "simulate",
]
