"""``easeci init``."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from easeci.cli.terminal import output
from easeci.script import KEYS, ScriptKey
from easeci.service.scripts import SCRIPT_FILES, load_script, write_new_script

ACTIVE = ("script", "ignore")
"""Optional keys that are not commented out."""


def init(
    path: Annotated[Path, typer.Argument(help="The file to write.", show_default=True)] = Path(
        SCRIPT_FILES[0]
    ),
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
) -> None:
    """Write a commented script to start from."""
    write_new_script(path, template(), overwrite=force)
    # Here and not above, because --help needs no numbers.
    from easeci.service.checks import make_plan

    made = make_plan(load_script(path))
    assert made.bring is not None
    output().print(
        f"Wrote {path}. As it is, a testset takes {made.bring.examples:,} examples and about "
        f"{made.labels.in_all:,} labels in its life, {made.labels.per_commit:,} a commit. Edit its "
        "condition, then run: easeci plan",
        markup=False,
    )


def template() -> str:
    """A script with every key explained; optional keys are commented out."""
    lines = [
        "# What a model must meet to pass, and how sure the answers must be.",
        "#   n, o   accuracy of the new and of the old model",
        "#   d      share of predictions that differ between them",
        "ml:",
    ]
    for key in KEYS:
        lines += _entry(key)
    return "\n".join(lines) + "\n"


def _entry(key: ScriptKey) -> list[str]:
    comment = textwrap.wrap(key.meaning, 72, initial_indent="  # ", subsequent_indent="  #   ")
    value = f"[{key.example}]" if key.is_list else key.example
    start = "  - " if key.required or key.name in ACTIVE else "  # - "
    return [*comment, f"{start}{key.name}: {value}"]
