"""``easeci labels``: import, export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import (
    ByOption,
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json, show_warnings, working
from easeci.errors import UsageError

if TYPE_CHECKING:
    from easeci.service.labelling.files import Exported, LabelsImported
    from easeci.service.labelling.outlook import LabelOutlook
    from easeci.tables.label_formats import LabelFormat

labels = typer.Typer(
    help="The labels of the testset: bring some in, ask which are wanted.", no_args_is_help=True
)
FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format", help="csv, jsonl, label-studio or prodigy; default: by ending and content."
    ),
]


def _format(name: str | None) -> LabelFormat | None:
    # Here and not above, because --help needs no tables.
    from easeci.tables.label_formats import LabelFormat

    try:
        return None if name is None else LabelFormat(name)
    except ValueError:
        raise UsageError(
            "unknown format of labels", hint=f"It is one of: {', '.join(LabelFormat)}."
        ) from None


@labels.command(name="import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="id,label as CSV, JSONL or Parquet; or a tool's."),
    ],
    form: FormatOption = None,
    by: ByOption = None,
    correct: Annotated[
        bool, typer.Option("--correct", help="Let labels in the file replace known ones.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Import all of the file or nothing.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add labels to the testset, and go on with the commits that wait for them."""
    from easeci.service.labelling.files import import_labels

    with working("reading labels"):
        done = import_labels(
            opened(store, project),
            path,
            correct=correct,
            strict=strict,
            form=_format(form),
            by=by or login_name(),
            waiting=say_waiting,
        )
    show_warnings(done.warnings)
    if as_json:
        print_json(asdict(done))
        return
    show_warnings(done.problems)
    _show(done)


def _show(done: LabelsImported) -> None:
    parts = [f"{done.added:,} labels added"]
    if done.cannot_tell:
        parts[0] += f" ({done.cannot_tell:,} of them: can't tell)"
    if done.corrected:
        parts.append(f"{done.corrected:,} corrected; signals given before stand")
    if done.unchanged:
        parts.append(f"{done.unchanged:,} known already")
    parts += [f"{done.skipped:,} skipped"] if done.skipped else []
    parts += [f"{done.disputed:,} disputed"] if done.disputed else []
    console = output()
    console.print(f"Testset {done.testset}: {'; '.join(parts)}.")
    if done.empty:
        console.print("The file has no labels.")
    if done.agreement is not None:
        found = done.agreement
        kappa = "" if found.kappa is None else f", Cohen's kappa {found.kappa:.2f}"
        pairs = "" if found.labellers == 2 else " (means over pairs)"
        console.print(
            f"{found.labellers} labellers answered {found.examples:,} examples together: "
            f"{found.share:.1%} agreement{kappa}{pairs}."
        )
    if done.unsettled:
        console.print(
            f"{done.unsettled:,} labels are unsettled and count at their worst: "
            "`easeci label --unsettled` asks again."
        )
    if done.answered:
        console.print(f"Answered now: {len(done.answered):,} of the commits that waited.")
    if done.wanted:
        console.print(f"{done.wanted:,} more labels are wanted: `easeci labels export FILE`.")


@labels.command()
def export(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    form: FormatOption = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--count",
            min=1,
            help="How many examples at most; default: 4,320, a day of 6 hours at 5 s a label.",
        ),
    ] = None,
    unsettled: Annotated[
        bool, typer.Option("--unsettled", help="What was skipped or is disputed instead.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the examples whose labels are wanted next; the export is recorded."""
    from easeci.service.labelling.files import export_wanted
    from easeci.service.labelling.outlook import A_DAY_OF_LABELS

    done = export_wanted(
        opened(store, project),
        path,
        say_waiting,
        form=_format(form),
        unsettled=unsettled,
        count=count or A_DAY_OF_LABELS,
        by=login_name(),
    )
    if as_json:
        print_json(_document(done, path))
        return
    console = output()
    if not done.wanted:
        console.print(
            f"No labels are wanted. {escape(str(path))} was written without examples, so that no "
            "older file is imported again.",
            soft_wrap=True,
        )
        return
    size = "1 example to label is" if done.wanted == 1 else f"{done.wanted:,} examples to label are"
    console.print(f"{size} in {escape(str(path))}.", soft_wrap=True)
    if done.outlook is not None:
        _show_outlook(done.outlook)
    if done.config is not None:
        console.print("A labelling configuration for them:")
        print(done.config)
    else:
        console.print("Fill in their labels, then: easeci labels import FILE")


def _document(done: Exported, path: Path) -> dict[str, object]:
    document: dict[str, object] = {"wanted": done.wanted, "file": str(path), "config": done.config}
    if done.outlook is not None:
        found = done.outlook
        document |= {"needed": found.needed, "expected": found.expected, "most": found.most}
    return document


def _show_outlook(found: LabelOutlook) -> None:
    """Say how many labels and files are to come, and that more than needed only cost."""
    from easeci.plan.document import labelling_time

    console, size = output(), len(found.positions)
    console.print(f"Labelling takes {labelling_time(size)} each.")
    expected = _counted(found.expected, "more label")
    files, most = (
        _counted(found.files(labels), "such file") for labels in (found.expected, found.most)
    )
    console.print(f"The commit takes about {expected} ({files}), at most {found.most:,} ({most}).")
    if found.needed is not None and size > found.needed:
        needed = _counted(found.needed, "label")
        console.print(
            f"At least {needed} {'is' if found.needed == 1 else 'are'} needed. Import the file "
            "from time to time, labelled from the top: labels behind the point where the verdict "
            "is reached are not used for it, and only cost time."
        )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
