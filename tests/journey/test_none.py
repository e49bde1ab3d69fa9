"""Under adaptivity none, nothing that a developer can see depends on the verdict.

The same commits are tested in four worlds, which differ only in what is sealed: in one the commit
passes, in one it fails, in one it waits for labels, and in one its program fails on the sealed
examples.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from easeci.cli.main import run as run_command
from easeci.service import project as projects
from easeci.service.project import open_project
from tests.repositories import Workplace, write_examples

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


MODEL = """\
import os
if len(open(os.environ["EASECI_EXAMPLES"] + "/examples.csv").readlines()) > 1700:
    print("too many")
    raise SystemExit(3)
def predict(row):
    return "low" if float(row["x"]) < 0.52 else "high"
"""
"""It fails on the sealed examples of the world that has more of them."""


@dataclass(frozen=True)
class World:
    """What is sealed: labels that are right up to a cut, or none, and so many examples."""

    cut: float | None
    examples: int = 1600


WORLDS = {
    "pass": World(0.5),
    "fail": World(0.95),
    "wait": World(None),
    "failed-run": World(0.5, 1800),
}


def make(folder: Path, world: World, **keys: str) -> Workplace:
    """A first model, which is the baseline of the testset, and a second that is to be tested."""
    place = Workplace.make(folder, adaptivity="none -> owner@example.org", sample="40", **keys)
    write_examples(place.examples, place.labels, size=world.examples)
    place.commit_cut(0.7)
    if world.cut is not None:
        labels_with_cut(place, world.cut)
    place.add_testset("--allow-smaller", labelled=world.cut is not None)
    place.write("model.py", MODEL)
    place.commit("second")
    return place


@pytest.mark.long
@pytest.mark.parametrize("steps", ["2", "1"])
def test_no_verdict_can_be_told_from_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], steps: str
) -> None:
    """Exit codes, output, log, status, report, refs and time-stamps, byte for byte; also at the
    end of the testset."""
    worlds, verdicts, failed = {}, {}, []
    for name, world in WORLDS.items():
        monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{tmp_path / name}-letters")
        place = make(tmp_path / name, world, steps=steps)
        monkeypatch.chdir(place.repository)
        asked = (["run", "HEAD~1"], ["run"], ["run"], ["run", "--json"], ["report"])
        seen = shown(place, capsys, monkeypatch, *asked, *COMMANDS)
        place.write("more.py", "")
        place.commit("other files, the same predictions")
        seen += shown(place, capsys, monkeypatch, ["run"], *COMMANDS)
        worlds[name] = (
            seen,
            place.git("for-each-ref", "--format=%(objectname)"),
            sorted(p.name for p in place.repository.iterdir()),
            (place.repository / "easeci-report.html").read_bytes(),
        )
        state = open_project(place.repository).state
        verdicts[name] = state.testsets[1].steps[0].passed
        failed += [name for s in state.submissions if s.run_failure is not None]
    assert verdicts == {"pass": True, "fail": False, "wait": None, "failed-run": False}
    assert set(failed) == {"failed-run"}
    for name in WORLDS:
        assert worlds[name] == worlds["pass"], name
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
