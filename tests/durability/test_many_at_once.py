"""Many commands at once on one store: they wait for each other, and none is lost."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from easeci.service.project import open_project
from easeci.service.views import verify
from tests.commands import start_easeci
from tests.repositories import Workplace

COMMANDS = 20
STEPS = 12


def test_twenty_commands_at_once(tmp_path: Path) -> None:
    """Steps are numbered without gap, and the budget is never exceeded."""
    place = Workplace.make(tmp_path, steps=str(STEPS), condition="n > 0.5 +/- 0.1")
    commits = [place.commit_cut(0.5 + 0.01 * number) for number in range(COMMANDS)]
    place.add_testset()
    running = [start_easeci("run", commit, folder=place.repository) for commit in commits]
    outputs = [process.communicate(timeout=300) for process in running]
    codes = Counter(process.returncode for process in running)
    assert codes[4] == COMMANDS - STEPS, outputs
    assert codes[0] + codes[1] == STEPS, outputs
    project = open_project(place.repository)
    testset = project.state.testsets[1]
    assert [step.number for step in testset.steps] == list(range(1, STEPS + 1))
    assert len({step.submission for step in testset.steps}) == STEPS
    assert all(step.passed is not None for step in testset.steps)
    assert verify(project) == []


def test_a_look_does_not_wait_for_a_build(tmp_path: Path) -> None:
    """While one command builds for long, `status` answers."""
    place = Workplace.make(tmp_path)
    place.write("model.py", "import time; time.sleep(600)\n")
    place.commit("slow")
    place.add_testset()
    running = start_easeci("run", folder=place.repository)
    try:
        assert running.poll() is None
        place.easeci("status", code=0)
        place.easeci("log", code=0)
        assert running.poll() is None
    finally:
        running.terminate()
        running.communicate(timeout=60)


def test_two_commands_for_one_commit_spend_one_step(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path, condition="n > 0.5 +/- 0.1")
    place.commit_cut(0.6)
    place.add_testset()
    running = [start_easeci("run", folder=place.repository) for _ in range(4)]
    for process in running:
        process.communicate(timeout=120)
    assert {process.returncode for process in running} == {0}
    project = open_project(place.repository)
    assert project.state.testsets[1].steps_used == 1
    assert len(project.state.submissions) == 1
