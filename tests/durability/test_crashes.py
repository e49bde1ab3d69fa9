"""A command that is killed at any point is resumed by the next one."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from easeci.ledger.disclosure import disclosed_rows
from easeci.ledger.events import (
    Built,
    Charged,
    Decided,
    SampleBuilt,
    SealedRunBegun,
    Signalled,
    Submitted,
    TestsetAdded,
    TurnCame,
)
from easeci.service.custody.verify import verify
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from tests.durability.life import prepare

ROOT = Path(__file__).parent.parent.parent
BOUNDARIES = {
    event.recorded_kind()
    for event in (
        TestsetAdded,
        Submitted,
        SampleBuilt,
        Charged,
        SealedRunBegun,
        Built,
        TurnCame,
        Decided,
        Signalled,
    )
}
"""On the way of a commit to its signal, a command can be killed after each of these."""


def lives(folder: Path, *commands: str) -> dict[str, Any]:
    """One life that nobody disturbs, and one for every boundary at which a life was killed: each
    has the same signals, loses no step, charges none twice, and has a chain that verifies."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.durability.life", str(folder), *commands],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    whole = found["whole"]
    assert len(found["lives"]) > whole["calls"]  # after each, and before where files came first
    assert found["killed"] == -signal.SIGKILL
    for life in found["lives"]:
        assert life["ended"] == 0, done.stderr
        assert life["logs"], life
        assert life["logs"].items() <= whole["logs"].items(), life
        assert life["damage"] == [], life
    assert {kind for life in found["lives"] for kind in life["after"][-1:]} >= BOUNDARIES
    return found


@pytest.mark.long
def test_killed_at_every_boundary_of_a_short_life(tmp_path: Path) -> None:
    """A testset is added, a baseline adopted, and a commit fails; both have spent a step."""
    found = lives(tmp_path, "3")
    last = found["whole"]["logs"]["3"]
    assert [(row[1], row[3]) for row in last] == [("baseline", 1), ("fail", 2)]


@pytest.mark.long
def test_killed_at_every_boundary_of_a_whole_life(tmp_path: Path) -> None:
    """Two testsets, labels that come later, a pass, two fails, a broken build, and a commit that
    fails on sealed examples alone."""
    found = lives(tmp_path)
    whole = found["whole"]
    last = whole["logs"]["9"]
    signals = ["baseline", "fail", "build error", "pass", "fail", "fail"]
    assert [row[1] for row in last] == signals
    assert [row[3] for row in last] == [1, 2, None, 3, 1, 2]
    assert sum("9" in life["logs"] for life in found["lives"]) >= len(found["lives"]) / 8


def killed_after(kind: str, folder: Path, commit: str) -> int:
    """Test a commit in a process that is killed right after an event; how the process ended."""
    program = "import sys; from tests.durability import life; life.be_killed_after(*sys.argv[1:])"
    done = subprocess.run(
        [sys.executable, "-c", program, str(folder), commit, kind],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode in (0, -signal.SIGKILL), done.stdout + done.stderr
    return done.returncode


@pytest.mark.long
def test_a_run_that_is_killed_three_times_is_a_fail(tmp_path: Path) -> None:
    """Developers see it as pending until then, under one charge. The next commit goes on."""
    place = prepare(tmp_path)
    script = place.repository / ".easeci.yml"
    place.git("update-ref", "refs/heads/main", "c1")
    add_testset(
        open_project(place.repository, create=True),
        Offer(place.examples, labels=place.labels, script=script),
    )

    def shown() -> list[tuple[str, int | None]]:
        rows = disclosed_rows(open_project(place.repository).state)
        return [(str(row.signal), row.step) for row in rows]

    for _ in range(3):
        assert killed_after("SealedRunBegun", tmp_path, "c4") == -signal.SIGKILL
        assert shown() == [("pending", 1)]
    assert killed_after("never", tmp_path, "c4") == 0
    assert shown() == [("fail", 1)]
    project = open_project(place.repository)
    assert project.state.submissions[0].runs == 3
    assert "interrupted 3 times" in (project.state.submissions[0].problem or "")
    assert verify(project) == []
