"""``easeci try``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import ProjectOption, StoreOption, UnsandboxedOption
from easeci.cli.script_options import ScriptOption
from easeci.cli.terminal import JsonOption, output, print_json, program_output, working
from easeci.errors import ExitCode

if TYPE_CHECKING:
    from easeci.service.commits.trial import Trial

MOST_CLASSES = 10
SEES = (
    "The program sees the files of the commit, EASECI_EXAMPLES and the script's mounts:; "
    "no home folder, no network."
)


def try_(
    commit: Annotated[str, typer.Argument(help="Commit, branch or tag to try.")] = "HEAD",
    examples: Annotated[
        Path | None,
        typer.Option(
            "--examples",
            help="Other public examples: CSV, JSONL or Parquet with ids; default: the public "
            "sample of the testset.",
        ),
    ] = None,
    files: Annotated[
        Path | None, typer.Option("--files", help="Folder of files that the examples name.")
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            "--label-column",
            help="Column with labels, which the program must not see; default: label.",
        ),
    ] = None,
    script: ScriptOption = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Run the program of a commit on the public sample, as `run` would. Spends nothing.

    Shows all that the program prints, its accuracy where labels are known, and how it differs
    from the baseline.
    """
    from easeci.build.repository import Repository
    from easeci.service.commits.trial import TrialPlace, try_program

    with working("building"):
        trial = try_program(
            Repository.find(Path()),
            commit,
            TrialPlace(examples, files, label_column, store, project),
            script=script,
            unsandboxed=unsandboxed,
        )
    if as_json:
        print_json(asdict(trial))
    else:
        console = output()
        if trial.log.strip():
            print(program_output(trial.log))  # not by rich, which would wrap a traceback
        if trial.failure is not None:
            console.print(f"[bold magenta]BUILD ERROR[/]  {escape(trial.failure)}")
            if trial.hint is not None:
                console.print(escape(trial.hint))
            console.print(SEES)
        else:
            what = "predictions" if trial.classes else "examples with outputs"
            console.print(
                f"[bold green]OK[/]  commit {trial.commit[:10]}: {trial.examples:,} {what} "
                f"in {trial.seconds:.1f} s"
            )
            _show_predictions(trial)
            _show_quality(trial)
    if trial.failure is not None:
        raise typer.Exit(ExitCode.BUILD_ERROR)


def _show_predictions(trial: Trial) -> None:
    """How often each class was predicted, or the first outputs."""
    console = output()
    for text in trial.outputs:
        console.print(f"  output: {escape(text) or '(empty)'}", soft_wrap=True)
    if trial.classes:
        shown = sorted(trial.classes.items(), key=lambda item: -item[1])
        listed = ", ".join(f"{name} {count:,}" for name, count in shown[:MOST_CLASSES])
        more = "" if len(shown) <= MOST_CLASSES else f" and {len(shown) - MOST_CLASSES} more"
        console.print(f"  predicted: {escape(listed)}{more}")


def _show_quality(trial: Trial) -> None:
    """Accuracy or mean score, and the difference to the baseline, as far as they are known."""
    console = output()
    if trial.accuracy is not None and trial.outputs:
        console.print(
            f"  mean score: {trial.accuracy:.3f} on the {trial.labelled:,} examples with known "
            "references"
        )
    elif trial.accuracy is not None:
        console.print(
            f"  accuracy: {trial.accuracy:.1%} on the {trial.labelled:,} examples with known labels"
        )
    if trial.baseline is not None and trial.difference is not None:
        gain = "" if trial.gain is None else f"; n - o = {100 * trial.gain:+.1f} points"
        console.print(
            f"  against the baseline ({trial.baseline[:10]}): d = {trial.difference:.1%}{gain}"
        )
