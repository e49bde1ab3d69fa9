"""The page of help lists every command."""

from __future__ import annotations

from easeci.cli.commands import COMMANDS
from tests.commands import easeci_here


def test_every_command_is_on_the_page_of_help() -> None:
    """In the order of the table; a command without arguments shows the same page."""
    shown = easeci_here("--help")
    listed = [line.split()[1] for line in shown.stdout.split("Commands")[1].splitlines()[1:]
              if line.startswith("│ ") and not line.startswith("│   ")]  # fmt: skip
    assert listed == list(COMMANDS)
    assert easeci_here("-h").stdout == easeci_here().stdout == shown.stdout
    assert shown.returncode == 0
