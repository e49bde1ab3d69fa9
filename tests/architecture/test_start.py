"""What a start may load: commands that only show something load no numerics and no tables."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import plain_environment
from tests.predictions import written_directly
from tests.repositories import Workplace

NUMERICS = {"numpy", "scipy", "polars", "alembic"}
PROGRAM = """
import json, sys
from easeci.cli.main import run
code = run(sys.argv[1:])
sys.stdout.flush()
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
sys.exit(code)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A project with one commit that has passed."""
    made = Workplace.make(tmp_path_factory.mktemp("start"))
    made.commit_cut(0.7)
    with written_directly():
        made.add_testset()
        made.easeci("baseline", "set", "HEAD", code=0)
        made.commit_cut(0.5)
        assert "PASS" in made.easeci("run", code=0).stdout
    return made


def loaded(*arguments: str, folder: Path, code: int = 0) -> set[str]:
    """The modules that a command has loaded when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=folder,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize("command", ["--help", "status", "log", "outbox", "run"])
def test_what_only_shows_something_starts_light(place: Workplace, command: str) -> None:
    """`run` gives the signal of its commit again: nothing is built or decided."""
    modules = loaded(command, folder=place.repository)
    assert modules.isdisjoint(NUMERICS)
    assert "pydantic" not in modules
    if command != "--help":
        assert "sqlalchemy" in modules  # so it did open the store


def test_help_loads_no_command(tmp_path: Path) -> None:
    modules = loaded("--help", folder=tmp_path)
    ours = {module for module in modules if module.startswith("easeci.") and "cli" not in module}
    assert ours == {"easeci.errors"}
    assert modules.isdisjoint({"sqlalchemy", "lark", "ruamel", "easeci.cli.plan"})


def test_status_parses_no_condition(place: Workplace) -> None:
    assert "lark" not in loaded("status", folder=place.repository)


def test_a_plan_starts_light(tmp_path: Path) -> None:
    """It loads no tables and no store; of scipy, special functions if a clause is on d."""
    modules = loaded("plan", "-c", "n - o > 0.02 +/- 0.01", folder=tmp_path)
    heavy = {"polars", "sqlalchemy", "scipy.stats", "scipy.optimize", "scipy.linalg"}
    assert modules.isdisjoint({*heavy, "scipy.special"})
    modules = loaded("plan", "-c", "d < 0.1 +/- 0.01", folder=tmp_path)
    assert modules.isdisjoint(heavy)
    assert "scipy.special" in modules


def test_the_package_itself_starts_light() -> None:
    program = "import sys, easeci; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert {*NUMERICS, "sqlalchemy", "lark", "ruamel", "typer"}.isdisjoint(done.stdout.split())
