"""Modules that only Unix has are loaded only where a build, a lock or a terminal needs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from easeci.errors import UNIX_MODULES
from tests.commands import plain_environment
from tests.repositories import Workplace, write_examples

HIDING = f"""
import sys

class Hiding:
    def find_spec(self, name, path=None, target=None):
        if name in {sorted(UNIX_MODULES)!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

for name in {sorted(UNIX_MODULES)!r}:
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Hiding())
"""
COMMAND = """
from easeci.cli.main import run
sys.exit(run(sys.argv[1:]))
"""
LIBRARY = """
import easeci
script = easeci.make_script("n > 0.8 +/- 0.1", reliability=0.9, steps=1)
assert easeci.make_plan(script).chosen.examples > 0
ids = range(400)
checked = easeci.check(script, new={i: "a" for i in ids}, labels={i: "a" for i in ids})
assert checked.verdict.passed is True
try:
    import fcntl
except ModuleNotFoundError:
    print("ok")
"""


def without_unix(program: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDING + program, *arguments],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with predictions and labels that agree."""
    write_examples(tmp_path / "examples.csv", tmp_path / "labels.csv", size=400)
    text = (tmp_path / "labels.csv").read_text("utf-8")
    (tmp_path / "new.csv").write_text(text.replace("id,label", "id,prediction"), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("init",),
        ("plan", "-c", "n > 0.8 +/- 0.1"),
        ("check", "--new", "new.csv", "--labels", "labels.csv", "-c", "n > 0.8 +/- 0.1"),
        ("simulate", "-c", "n > 0.8 +/- 0.2", "-r", "0.9", "--steps", "2", "--testsets", "4", "--workers", "1"),
        ("label", "--help"),
    ],
    ids=lambda arguments: arguments[0] if len(arguments) == 1 else " ".join(arguments[:2]),
)  # fmt: skip
def test_commands_that_need_nothing_of_unix_work(files: Path, arguments: tuple[str, ...]) -> None:
    done = without_unix(COMMAND, *arguments, folder=files)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "unexpected" not in done.stderr


def test_the_library_works(tmp_path: Path) -> None:
    done = without_unix(LIBRARY, folder=tmp_path)
    assert done.stdout == "ok\n", done.stderr


def test_other_commands_say_what_they_need(tmp_path: Path) -> None:
    """A lock is taken before anything is written."""
    place = Workplace.make(tmp_path)
    place.commit_cut(0.5)
    done = without_unix(COMMAND, "testset", "add", str(place.examples), folder=place.repository)
    assert done.returncode == 6
    assert done.stderr.startswith(
        "error: this command needs Linux or another Unix: Python has no module 'fcntl' here\n"
    )
    assert "init, plan, check and simulate work on every system" in done.stderr
    assert "Traceback" not in done.stderr
