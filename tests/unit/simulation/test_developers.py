"""The simulated developers."""

from __future__ import annotations

from easeci.plan import plan
from easeci.script import Script
from easeci.simulation.developers import clear_commits
from tests.scripts import script

SMALL = "n - o > 0.1 +/- 0.1"


def visible(condition: str = SMALL, **keys: object) -> Script:
    return script(condition, **{"reliability": 0.9, "steps": 3, "adaptivity": "full", **keys})


def test_as_many_clear_commits_as_the_plan_assumes() -> None:
    assert clear_commits(plan(visible(steps=32)), 6) == 5
    assert clear_commits(plan(visible(steps=32, estimator="hoeffding")), 6) == 6
    assert clear_commits(plan(visible(steps=32, adaptivity="firstChange")), 6) == 1
    assert clear_commits(plan(visible("n > 0.5 +/- 0.1", steps=6, adaptivity="none")), 6) == 6
