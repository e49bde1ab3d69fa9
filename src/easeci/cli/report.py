"""``easeci report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from easeci.cli.project_options import (
    OwnerOption,
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json, show_warnings, working
from easeci.errors import UsageError

if TYPE_CHECKING:
    from easeci.views.released.choice import ReleasedComparison

USUAL_FILE = Path("easeci-report.html")


def report(
    testset: Annotated[
        int | None,
        typer.Argument(help="With --released: its number; default: the last released."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="The file to write, or to replace; default: easeci-report.html. With --released: "
            ".html, or .csv for the examples on which the models differ.",
        ),
    ] = None,
    owner: OwnerOption = False,
    released: Annotated[
        bool,
        typer.Option("--released", help="Show a released testset by class and slice instead."),
    ] = False,
    commit: Annotated[
        str | None,
        typer.Option(
            "--commit", help="With --released: the new model; default: the last that passed."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", help="With --released: the old model; default: what it was compared with."
        ),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the history as one HTML file, or show a released testset by class and slice."""
    if not released:
        if (testset, commit, against) != (None, None, None):
            raise UsageError(
                "TESTSET, --commit and --against choose what is shown of a released testset",
                hint="Add --released.",
            )
        _write(file or USUAL_FILE, owner, store, project, as_json)
        return
    from easeci.views.released.choice import choose_comparison

    if owner:
        raise UsageError(
            "--released and --owner do not go together",
            hint="Nothing of a released testset is secret: leave --owner out.",
        )
    found = opened(store, project)
    chosen = choose_comparison(found, testset, commit=commit, against=against)
    _show_released(found.name, chosen, file, as_json)


def _write(file: Path, owner: bool, store: Path | None, project: str | None, as_json: bool) -> None:
    from easeci.views.report.writing import write_report

    written = write_report(
        opened(store, project), file, owner=owner, by=login_name(), waiting=say_waiting
    )
    if as_json:
        document = {
            "file": str(written.file),
            "owner": written.owner,
            "testsets": written.testsets,
            "commits": written.commits,
        }
        print_json(document)
        return
    output().print(Text(f"The report is in {file}: open it in a browser."), soft_wrap=True)
    if written.lacks_charts:
        show_warnings(("it has no charts: they need the extra, pip install 'easeci[charts]'",))
    if owner:
        show_warnings(("it shows more than the signals: do not give it to developers",))


def _show_released(
    project: str, chosen: ReleasedComparison, file: Path | None, as_json: bool
) -> None:
    from easeci.views.released.contents import make_released_report, released_document
    from easeci.views.released.writing import write_released

    with working("reading the testset"):
        made = make_released_report(project, chosen)
    if file is not None:
        write_released(made, file)
        if as_json:
            print_json({"file": str(file.absolute()), "testset": made.testset})
        else:
            output().print(Text(f"Testset {made.testset} is in {file}."), soft_wrap=True)
    elif as_json:
        print_json(released_document(made))
    else:
        from easeci.cli.released import show_released

        show_released(made)
