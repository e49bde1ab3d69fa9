"""The guarantee measured on the owner's script: random models, the real engine, exact rates."""

from easeci.simulation.developers import Developer, developer_named
from easeci.simulation.report import Finding, LifeLabels, Measured, Rate, Round, Simulation
from easeci.simulation.run import SimulationSize, simulate

__all__ = [
    "Developer",
    "Finding",
    "LifeLabels",
    "Measured",
    "Rate",
    "Round",
    "Simulation",
    "SimulationSize",
    "developer_named",
    "simulate",
]
