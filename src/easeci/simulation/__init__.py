"""The guarantee measured on the owner's script: random models, the real engine, exact rates."""

from easeci.simulation.developers import Developer
from easeci.simulation.report import Finding, Measured, Rate, Round, Simulation
from easeci.simulation.run import SimulationSize, simulate

__all__ = [
    "Developer",
    "Finding",
    "Measured",
    "Rate",
    "Round",
    "Simulation",
    "SimulationSize",
    "simulate",
]
