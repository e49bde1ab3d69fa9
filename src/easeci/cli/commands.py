"""The table of all commands. A command's module is loaded when the command is called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand

from easeci.cli.quick_typer import QuickCommand, QuickGroup, quick_command, quick_group

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter


@dataclass(frozen=True)
class CommandEntry:
    """Where a command is defined, and its line on the page of ``easeci --help``.

    ``attribute`` is a function in the module ``easeci.cli.<module>``, or a ``typer.Typer`` for a
    command that has commands of its own. Its docstring or help says the same as ``help``.
    """

    module: str
    attribute: str
    help: str


COMMANDS = {
    "init": CommandEntry("init", "init", "Write a commented script to start from."),
    "plan": CommandEntry(
        "plan",
        "plan",
        "What a script needs: examples, labels over a testset's life, and what it means.",
    ),
    "check": CommandEntry(
        "check",
        "check",
        "One verdict from files (CSV, JSONL, Parquet, eval logs), no repository; counts no steps.",
    ),
    "simulate": CommandEntry(
        "simulate",
        "simulate",
        "Measure the guarantee on a script: drawn models, the real engine, exact limits.",
    ),
    "testset": CommandEntry("testset", "testset", "Testsets: add, sample, retire, release."),
    "run": CommandEntry(
        "run", "run", "Build a commit, test it on the testset and give its signal."
    ),
    "try": CommandEntry(
        "try_",
        "try_",
        "Run the program of a commit on the public sample, as `run` would. Spends nothing.",
    ),
    "label": CommandEntry(
        "label",
        "label",
        "Label what the commits that wait need, example by example, until their answers are known.",
    ),
    "labels": CommandEntry(
        "labels", "labels", "The labels of the testset: bring some in, ask which are wanted."
    ),
    "scores": CommandEntry(
        "scores",
        "scores",
        "Scores of outputs from a judge outside: ask which are wanted, bring some in.",
    ),
    "baseline": CommandEntry(
        "baseline", "baseline", "The old model that commits are compared with."
    ),
    "status": CommandEntry(
        "status", "status", "Budget, what happens next, and what the guarantee rests on."
    ),
    "log": CommandEntry("log", "log", "Every commit with its signal."),
    "outbox": CommandEntry(
        "outbox", "outbox", "The owner's letters: what was sent, and what still waits to be."
    ),
    "report": CommandEntry(
        "report",
        "report",
        "Write the history as one HTML file, or show a released testset by class and slice.",
    ),
    "backup": CommandEntry(
        "backup",
        "backup",
        "Write the whole store to one file, while others may work: ledger, labels, examples, key.",
    ),
    "restore": CommandEntry(
        "backup",
        "restore",
        "Put a backup back as a new store, or accept a store that is older than was seen here.",
    ),
    "hook": CommandEntry("hook", "hook", "Let git start the tests: by commits, or by pushes."),
    "watch": CommandEntry(
        "watch",
        "watch",
        "Test what other accounts have pushed to this bare repository, and leave them the signals.",
    ),
    "token": CommandEntry(
        "token",
        "token",
        "Who may sign in to the pages of `easeci serve`: add, list, remove, sign-out.",
    ),
    "serve": CommandEntry(
        "serve",
        "serve",
        "Show the project in a browser: overview, labelling, testsets, and a plan to play with.",
    ),
}
"""By name, in the order of the page of ``easeci --help``."""


@cache
def load_command(name: str) -> QuickCommand | QuickGroup:
    """Import the module of a command and make the command."""
    entry = COMMANDS[name]
    found = getattr(import_module(f"easeci.cli.{entry.module}"), entry.attribute)
    if isinstance(found, typer.Typer):
        return quick_group(name, found)
    return quick_command(name, found)


class CommandGroup(QuickGroup):
    """``easeci`` itself: it lists the commands from the table, and loads only the one called."""

    def __init__(self, **settings: Any) -> None:
        # Names and help lines: typer suggests from these names when a command is misspelt.
        listed = {name: TyperCommand(name, help=entry.help) for name, entry in COMMANDS.items()}
        super().__init__(**settings | {"commands": listed})

    def get_command(self, ctx: Context, cmd_name: str) -> QuickCommand | QuickGroup | None:  # noqa: ARG002
        """Load the command that was called."""
        return load_command(cmd_name) if cmd_name in COMMANDS else None

    def format_help(self, ctx: Context, formatter: HelpFormatter) -> None:  # noqa: ARG002
        """Print the page of ``easeci --help``."""
        from easeci.cli.help_page import show_help

        lines = {name: command.help or "" for name, command in self.commands.items()}
        show_help(self, ctx, lines)
