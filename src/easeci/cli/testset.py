"""``easeci testset``: add, sample, retire, release."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import (
    ProjectOption,
    StoreOption,
    UnsandboxedOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.script_options import ScriptOption
from easeci.cli.terminal import JsonOption, output, print_json, show_warnings, working

if TYPE_CHECKING:
    from easeci.service.testsets.add import Added

testset = typer.Typer(help="Testsets: add, sample, retire, release.", no_args_is_help=True)


@testset.command()
def add(
    examples: Annotated[Path, typer.Argument(help="CSV, JSONL or Parquet with an id column.")],
    labels: Annotated[
        Path | None, typer.Option("--labels", help="File of id,label; all or some.")
    ] = None,
    label_column: Annotated[
        str | None,
        typer.Option("--label-column", help="Column of the examples that holds the labels."),
    ] = None,
    files: Annotated[
        Path | None, typer.Option("--files", help="Folder of files that the examples name.")
    ] = None,
    script: ScriptOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline",
            help="Commit to compare the first one with; default: the last that passed, or the tip "
            "of the main branch.",
        ),
    ] = None,
    allow_smaller: Annotated[
        bool, typer.Option("--allow-smaller", help="Add it even if the plan needs more examples.")
    ] = False,
    keep_label_column: Annotated[
        bool,
        typer.Option("--keep-label-column", help="Let models see a column that is called label."),
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Seal examples, labels and script as the next testset, and evaluate the baseline on it.

    Examples that earlier testsets had are left out, and some are set aside as the public sample.
    """
    from easeci.service.testsets.add import Offer, add_testset

    offer = Offer(
        examples,
        labels=labels,
        label_column=label_column,
        files=files,
        script=script,
        allow_smaller=allow_smaller,
        baseline=baseline,
        keep_label_column=keep_label_column,
        unsandboxed=unsandboxed,
    )
    found = opened(store, project, create=True)
    with working("sealing the testset"):
        added = add_testset(found, offer, say_waiting)
    show_warnings(added.warnings)
    if as_json:
        print_json(asdict(added))
    else:
        _show(added)


def _show(added: Added) -> None:
    console = output()
    enough = "" if added.needed is None else f"; the plan needs {added.needed:,}"
    console.print(
        f"[bold]Testset {added.testset}[/] is sealed: {added.examples:,} examples, "
        f"{added.labels:,} labels{enough} ({added.estimator})."
    )
    if added.sample:
        console.print(
            f"{added.sample:,} more were set aside as the public sample: every build runs on them "
            "first, and `easeci try` uses them. `easeci testset sample --to DIR` writes them."
        )
    if added.loss is not None:
        console.print(f"[yellow]Smaller than planned:[/] {added.loss}")
    for overlap in added.overlaps:
        console.print(
            f"Left out: {overlap.shared:,} examples that were in testset {overlap.testset}."
        )
    if added.baseline is not None:
        console.print(f"The baseline, commit {added.baseline[:10]}, was evaluated on it.")
    if added.classes_line is not None:
        console.print("The script declares no classes. To refuse other spellings, add this line:")
        print(f"  - {added.classes_line}")  # not by rich, which would wrap it
    console.print(
        "[dim]The guarantee takes for granted that these examples are independent draws from "
        "where the model will work, unseen by its developers, and labelled blind; near-duplicates "
        "and several rows of one person are one draw.[/]"
    )


@testset.command()
def sample(
    to: Annotated[Path, typer.Option("--to", help="A folder that is new or empty.")],
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the public sample of the testset: its examples, and the labels that came with them.

    In a clone of a shared repository it is found beside the published signals.
    """
    from easeci.service.testsets.sample import write_sample

    done = write_sample(to, store=store, name=project)
    if as_json:
        print_json(asdict(done))
        return
    output().print(
        f"The public sample of testset {done.testset}: {done.examples:,} examples and "
        f"{done.labels:,} labels are in {escape(done.folder)}."
    )


@testset.command()
def release(
    to: Annotated[Path, typer.Option("--to", help="A folder that is new or empty.")],
    number: Annotated[
        int | None, typer.Option("--testset", help="Which one; default: the last that is retired.")
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hand a retired testset to the developers: its examples and the labels that were given."""
    from easeci.service.testsets.release import release_testset

    done = release_testset(
        opened(store, project), to, number=number, by=login_name(), waiting=say_waiting
    )
    if as_json:
        print_json(asdict(done))
        return
    output().print(
        f"Testset {done.testset}: {done.examples:,} examples and {done.labels:,} labels are in "
        f"{escape(done.folder)}."
    )


@testset.command()
def retire(
    reason: Annotated[
        str, typer.Option("--reason", help="Why, for the log; developers read it too.")
    ] = "by hand",
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """End the testset's life early: no more commits are tested on it."""
    from easeci.service.testsets.retire import retire_testset

    retired = retire_testset(opened(store, project), reason, say_waiting)
    if as_json:
        print_json({"testset": retired.number, "retired": reason})
        return
    output().print(
        f"Testset {retired.number} is retired. `easeci testset add EXAMPLES` adds the next one."
    )
