"""``easeci report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

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
from easeci.cli.terminal import JsonOption, output, print_json, show_warnings


def report(
    file: Annotated[
        Path, typer.Option("-o", "--output", help="The file to write, or to replace.")
    ] = Path("easeci-report.html"),
    owner: OwnerOption = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the history as one HTML file that needs nothing else."""
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
