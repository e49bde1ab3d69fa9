"""``easeci labels``: import, export."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from easeci.cli.options import JsonOption
from easeci.cli.places import ProjectOption, StoreOption, opened, say_waiting
from easeci.cli.terminal import output, show_warnings, working

labels = typer.Typer(
    help="The labels of the testset: bring some in, ask which are wanted.", no_args_is_help=True
)


@labels.command(name="import")
def import_(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, JSONL or Parquet: id,label.")],
    correct: Annotated[
        bool, typer.Option("--correct", help="Let labels in the file replace known ones.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add labels to the testset, and go on with the commits that wait for them."""
    from easeci.service.testsets import import_labels

    with working("reading labels"):
        done = import_labels(opened(store, project), path, correct=correct, waiting=say_waiting)
    show_warnings(done.warnings)
    if as_json:
        print(json.dumps(asdict(done), indent=2))
        return
    parts = [f"{done.added:,} labels added"]
    if done.corrected:
        parts.append(f"{done.corrected:,} corrected; signals given before stand")
    if done.unchanged:
        parts.append(f"{done.unchanged:,} known already")
    console = output()
    console.print(f"Testset {done.testset}: {'; '.join(parts)}.")
    if done.answered:
        console.print(f"Answered now: {len(done.answered):,} of the commits that waited.")
    if done.wanted:
        console.print(f"{done.wanted:,} more labels are wanted: `easeci labels export FILE`.")


@labels.command()
def export(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="CSV file to write.")],
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the examples whose labels are wanted next; recorded as a look."""
    from easeci.service.testsets import export_wanted

    count = export_wanted(opened(store, project), path, say_waiting)
    if as_json:
        print(json.dumps({"wanted": count, "file": str(path) if count else None}, indent=2))
    elif count:
        output().print(
            f"{count:,} examples to label are in {escape(str(path))}. Fill in their column label, "
            f"then: easeci labels import {escape(str(path))}"
        )
    else:
        output().print("No labels are wanted.")
