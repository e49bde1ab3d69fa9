"""Under adaptivity none, nothing that a developer can see depends on the verdict.

The same commits are tested in three worlds that differ in the labels alone: in one the commit
passes, in one it fails, and in one it waits for labels.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.cli.main import run as run_command
from easeci.service import project as projects
from easeci.service.project import open_project
from tests.repositories import Workplace

COMMANDS = (
    ["status"],
    ["status", "--json"],
    ["log"],
    ["log", "--json"],
)


def labels_with_cut(place: Workplace, cut: float) -> None:
    rows = [line.split(",") for line in place.examples.read_text().splitlines()[1:]]
    known = [f"{name},{'low' if float(x) < cut else 'high'}" for name, x in rows]
    place.labels.write_text("\n".join(["id,label", *known, ""]))


def shown(
    place: Workplace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    *commands: list[str],
) -> list[tuple[int, str, str]]:
    """What each command shows, given at the same times in every world."""
    found = []
    for minute, command in enumerate(commands):
        monkeypatch.setattr(projects, "utc_now", lambda at=minute: f"2026-11-16T00:{at:02}:00Z")
        code = run_command(command)
        out, err = capsys.readouterr()
        found.append((code, out.replace(str(place.folder), ""), err))
    return found


@pytest.mark.parametrize("steps", [pytest.param("2", marks=pytest.mark.long), "1"])
def test_a_pass_a_fail_and_a_wait_look_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    """Exit codes, output, log, status, refs and time-stamps, byte for byte; also at the end."""
    worlds, verdicts = {}, {}
    for name, cut in (("pass", 0.5), ("fail", 0.95), ("wait", None)):
        place = Workplace.make(tmp_path / name, adaptivity="none -> owner@example.org", steps=steps)
        first, second = place.commit_cut(0.7), place.commit_cut(0.52)
        monkeypatch.chdir(place.repository)
        monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{tmp_path / name / 'letters'}")
        if cut is not None:
            labels_with_cut(place, cut)
        place.add_testset(labelled=cut is not None)
        seen = shown(
            place,
            capsys,
            monkeypatch,
            ["run", first],
            ["run", second],
            ["run", second],
            ["run", second, "--json"],
            *COMMANDS,
        )
        place.write("README.md", "words")
        place.commit("the same predictions")
        seen += shown(place, capsys, monkeypatch, ["run"], *COMMANDS)
        worlds[name] = (
            seen,
            place.git("for-each-ref", "--format=%(objectname)"),
            sorted(p.name for p in place.repository.iterdir()),
        )
        step = open_project(place.repository).state.testsets[1].steps[0]
        verdicts[name] = step.passed
    assert verdicts == {"pass": True, "fail": False, "wait": None}
    assert worlds["pass"] == worlds["fail"]
    assert worlds["pass"] == worlds["wait"]
    codes = [code for code, _, _ in worlds["pass"][0]]
    assert codes[:4] == [0, 0, 0, 0]


def test_the_verdict_is_queued_for_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{tmp_path / 'letters'}")
    place = Workplace.make(tmp_path, adaptivity="none -> owner@example.org")
    place.commit_cut(0.7)
    place.add_testset()
    place.easeci("run", code=0)
    place.commit_cut(0.52)
    done = place.easeci("run", code=0)
    assert "ACCEPTED" in done.stdout
    assert "owner@example.org" not in done.stdout
    (queued,) = open_project(place.repository).state.messages
    assert (queued.about, queued.recipient, queued.step) == ("verdict", "owner@example.org", 1)


def test_none_without_an_address_is_refused(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path, adaptivity="none")
    place.commit_cut(0.7)
    done = place.easeci("testset", "add", str(place.examples), code=2)
    assert "needs an address" in done.stderr
