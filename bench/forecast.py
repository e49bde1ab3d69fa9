"""The plan's forecast of a testset's life against whole lives simulated with the real engine."""

from __future__ import annotations

from dataclasses import dataclass

from bench.page import Figure, Section, broken_promises, table
from bench.progress import WORKERS, tell
from easeci.plan.forecast import Forecast, forecast
from easeci.script import Script
from easeci.service.scripts import make_script
from easeci.simulation import Developer, LifeLabels, SimulationSize, simulate

LIVES = 100
AT_MOST = 0.15
OPENING = """\
## The forecast of a testset's life

`easeci plan` forecasts how many labels a testset's life takes, for a stated mix of commits that
share labels. Here it is compared with lives of the same mix, simulated with the real engine
(`easeci simulate --developer mixed`). {lives} lives each; means ± their standard errors. The
forecast may be off by at most {at_most:.0%}:
"""
SCRIPTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("n - o > 0.02 +/- 0.01", {"reliability": "0.9999"}),
    ("n - o > 0.02 +/- 0.01", {"reliability": "0.9999", "sensitivity": "0.95"}),
    ("n - o > 0 +/- 0.02", {"reliability": "0.99", "sensitivity": "0.9", "steps": 16}),
    (
        "n - o > -0.02 +/- 0.01",
        {"reliability": "0.999", "sensitivity": "0.95", "steps": 16, "mode": "fn-free"},
    ),
    (
        r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
        {"reliability": "0.999", "adaptivity": "none -> owner@example.org"},
    ),
    (
        "n - o > 0.01 +/- 0.01",
        {"reliability": "0.999", "sensitivity": "0.95", "adaptivity": "firstChange"},
    ),
    ("n - o > 0.02 +/- 0.02", {"reliability": "0.95", "sensitivity": "0.8", "steps": 100}),
    ("n > 0.9 +/- 0.01", {"reliability": "0.999", "sensitivity": "0.95", "steps": 16}),
    (
        "n > 0.9 +/- 0.02",
        {"reliability": "0.99", "sensitivity": "0.9", "steps": 16, "mode": "fn-free"},
    ),
    ("n - 1.1 * o > -0.08 +/- 0.02", {"reliability": "0.99", "sensitivity": "0.9", "steps": 8}),
    (
        r"n > 0.8 +/- 0.02 /\ n - o > 0 +/- 0.02",
        {"reliability": "0.99", "sensitivity": "0.9", "steps": 12},
    ),
)
"""Conditions, tolerances, modes, adaptivities and lengths that differ from each other."""


@dataclass(frozen=True)
class Compared:
    """A script, the labels of its simulated lives, and the forecast for testsets of that size."""

    script: Script
    simulated: LifeLabels
    forecast: Forecast

    @property
    def ratio(self) -> float:
        """The forecast over the simulated mean."""
        return self.forecast.labels / self.simulated.per_life.mean

    @property
    def error(self) -> float:
        """The standard error of the simulated mean, as a share of it."""
        return self.simulated.per_life.error / self.simulated.per_life.mean

    @property
    def off(self) -> Figure:
        """How far the forecast is off, as a share, and how far it may be."""
        what = f"forecast for {self.script.condition}"
        return Figure(what, abs(self.ratio - 1.0), AT_MOST)


def script_of(condition: str, keys: dict[str, object]) -> Script:
    """A script of 32 fully adaptive steps, unless the keys say otherwise."""
    return make_script(condition, **{"steps": 32, "adaptivity": "full", **keys})


def compare(script: Script, lives: int, workers: int = WORKERS) -> Compared:
    """Simulate whole lives of testsets, and forecast them."""
    size = SimulationSize(testsets=lives, life=script.steps)
    found = simulate(script, limits=size, developer=Developer.MIXED, workers=workers)
    (one,) = found.rounds
    (measured,) = one.measured
    assert measured.life is not None
    return Compared(script, measured.life, forecast(script, examples=one.examples))


def section() -> Section:
    found = []
    for number, (condition, keys) in enumerate(SCRIPTS):
        tell(f"  script {number + 1} of {len(SCRIPTS)}")
        found.append(compare(script_of(condition, keys), LIVES))
    return Section(
        OPENING.format(lives=LIVES, at_most=AT_MOST) + "\n" + forecast_table(found),
        broken=broken_promises(compared.off for compared in found),
    )


def forecast_table(found: list[Compared]) -> str:
    """A row for each script."""
    headings = ["condition", "script", "labels in a life", "a commit", "forecast", "off by"]
    return table(headings, [_row(compared) for compared in found], left=2)


def _row(compared: Compared) -> list[str]:
    script, life = compared.script, compared.simulated
    words = [f"{float(script.reliability):g}", f"sensitivity {float(script.sensitivity):g}"]
    words += [str(script.mode), str(script.adaptivity), f"{script.steps} steps"]
    return [
        f"`{script.condition}`".replace("|", r"\|"),
        ", ".join(words),
        f"{life.per_life.mean:,.0f} ± {life.per_life.error:,.0f}",
        f"{life.per_commit.mean:,.0f}",
        f"{compared.forecast.labels:,.0f}",
        compared.off.shown(".0%"),
    ]
