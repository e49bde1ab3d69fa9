"""``easeci try``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import UnsandboxedOption
from easeci.cli.script_options import ScriptOption
from easeci.cli.terminal import JsonOption, output, print_json, working
from easeci.errors import ExitCode

MOST_CLASSES = 10
SEES = (
    "The program sees the files of the commit, EASECI_EXAMPLES and the script's mounts:; "
    "no home folder, no network."
)


def try_(
    examples: Annotated[
        Path, typer.Option("--examples", help="A public sample: CSV, JSONL or Parquet with ids.")
    ],
    commit: Annotated[str, typer.Argument(help="Commit, branch or tag to try.")] = "HEAD",
    files: Annotated[
        Path | None, typer.Option("--files", help="Folder of files that the examples name.")
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option("--label-column", help="Column that the program must not see."),
    ] = None,
    script: ScriptOption = None,
    unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run the program of a commit on a public sample, as `run` would. Spends nothing."""
    from easeci.build.repository import Repository
    from easeci.service.commits.trial import try_program

    with working("building"):
        trial = try_program(
            Repository.find(Path()),
            commit,
            examples,
            files=files,
            label_column=label_column,
            script=script,
            unsandboxed=unsandboxed,
        )
    if as_json:
        print_json(asdict(trial))
    else:
        console = output()
        if trial.log.strip():
            print(trial.log.rstrip())  # not by rich, which would wrap a traceback
        if trial.failure is not None:
            console.print(f"[bold magenta]BUILD ERROR[/]  {escape(trial.failure)}")
            console.print(SEES)
        else:
            shown = sorted(trial.classes.items(), key=lambda item: -item[1])
            listed = ", ".join(f"{name} {count:,}" for name, count in shown[:MOST_CLASSES])
            more = "" if len(shown) <= MOST_CLASSES else f" and {len(shown) - MOST_CLASSES} more"
            console.print(
                f"[bold green]OK[/]  commit {trial.commit[:10]}: {trial.examples:,} predictions "
                f"in {trial.seconds:.1f} s"
            )
            console.print(f"  predicted: {escape(listed)}{more}")
    if trial.failure is not None:
        raise typer.Exit(ExitCode.BUILD_ERROR)
