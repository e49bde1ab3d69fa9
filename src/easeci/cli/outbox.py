"""``easeci outbox``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from easeci.cli.project_options import (
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json
from easeci.times import readable_time

if TYPE_CHECKING:
    from easeci.service.outbox import Posted


def outbox(
    send: Annotated[
        bool, typer.Option("--send", help="Try now what is not sent yet, refused letters too.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """The owner's letters: what was sent, and what still waits to be."""
    from easeci.service import outbox as service
    from easeci.service.looks import record_look

    found = opened(store, project)
    # Always, also if there are no letters: whether there are any depends on verdicts.
    record_look(found, "outbox", say_waiting, by=login_name())
    letters = service.send_all(found, say_waiting) if send else service.outbox(found)
    if as_json:
        print_json([asdict(letter) for letter in letters])
    elif letters:
        output().print(_table(letters))
    else:
        output().print("No letters.")


def _table(letters: list[Posted]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("", "about", "to", "queued (UTC)", "tries", "state"):
        table.add_column(column)
    for letter in letters:
        state = letter.outcome or "not tried"
        table.add_row(
            Text(str(letter.number)),
            Text(letter.about),
            Text(letter.recipient),
            Text(readable_time(letter.queued_at)),
            Text(str(letter.attempts)),
            Text(f"{state}: {letter.reason}" if letter.reason else state),
        )
    return table
