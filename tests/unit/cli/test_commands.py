"""The table of commands: complete, true, and loaded on demand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from easeci import cli
from easeci.cli.commands import COMMANDS, load_command
from tests.commands import easeci_here

HEAVY = ("numpy", "scipy", "polars", "sqlalchemy", "lark", "ruamel", "alembic")


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_command_says(name: str) -> None:
    """The line of the table is the first paragraph of the command's own help."""
    command = load_command(name)
    assert command.name == name
    assert (command.help or "").split("\n\n")[0] == COMMANDS[name].help


def test_a_misspelt_command_is_suggested() -> None:
    done = easeci_here("staus")
    assert done.returncode == 2
    assert "Did you mean 'status'?" in done.stderr


def test_every_module_of_a_command_loads_light() -> None:
    """So that `easeci COMMAND --help` is quick, and works where something is not installed."""
    modules = [f"easeci.cli.{entry.module}" for entry in COMMANDS.values()]
    assert {f"{module.rsplit('.', 1)[1]}.py" for module in modules} <= {
        path.name for path in Path(cli.__file__).parent.iterdir()
    }
    program = (
        "import sys, importlib\n"
        f"for module in {modules!r}: importlib.import_module(module)\n"
        f"sys.exit(', '.join(m for m in {HEAVY!r} if m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.strip() == ""
