"""Many commands at once on one store: they wait for each other, and none is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from easeci.service.custody.verify import verify
from easeci.service.project import open_project
from tests.commands import plain_environment, start_easeci
from tests.repositories import Workplace
from tests.waiting import PATIENCE

ROOT = Path(__file__).parent.parent.parent


def at_once(place: Workplace, *commands: str) -> tuple[list[int], str]:
    """The exit codes of commands that are given at one moment, and all that they said."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.durability.fleet", *commands],
        cwd=place.repository,
        env=plain_environment() | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1]), done.stdout + done.stderr


@pytest.mark.long
@pytest.mark.parametrize(("commands", "steps"), [(6, 4), (20, 12)])
def test_many_commands_at_once(tmp_path: Path, commands: int, steps: int) -> None:
    """Steps are numbered without gap, and the budget is never exceeded."""
    place = Workplace.make(tmp_path, steps=str(steps), condition="n > 0.5 +/- 0.1")
    commits = [place.commit_cut(0.5 + 0.01 * number) for number in range(commands)]
    place.add_testset()
    codes, said = at_once(place, *(f"run,{commit}" for commit in commits))
    assert codes.count(4) == commands - steps, said
    assert codes.count(0) + codes.count(1) == steps, said
    project = open_project(place.repository)
    testset = project.state.testsets[1]
    assert [step.number for step in testset.steps] == list(range(1, steps + 1))
    assert len({step.submission for step in testset.steps}) == steps
    assert all(step.passed is not None for step in testset.steps)
    assert verify(project) == []


def test_a_look_does_not_wait_for_a_build(tmp_path: Path) -> None:
    """While one command builds for long, `status` answers."""
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    place.add_testset()
    place.write("model.py", "import time; time.sleep(600)\n")
    place.commit("slow")
    running = start_easeci("run", folder=place.repository)
    try:
        assert running.poll() is None
        place.easeci("status", code=0)
        place.easeci("log", code=0)
        assert running.poll() is None
    finally:
        running.terminate()
        running.communicate(timeout=PATIENCE)


def test_two_commands_for_one_commit_spend_one_step(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path, condition="n > 0.5 +/- 0.1")
    place.commit_cut(0.6)
    place.add_testset()
    codes, said = at_once(place, *["run"] * 4)
    assert set(codes) == {0}, said
    project = open_project(place.repository)
    assert project.state.testsets[1].steps_used == 1
    assert len(project.state.submissions) == 1
