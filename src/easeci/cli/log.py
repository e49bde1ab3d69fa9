"""``easeci log``."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from easeci.cli.project_options import (
    OwnerOption,
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json, program_output
from easeci.errors import InfrastructureError, UsageError
from easeci.times import readable_time

if TYPE_CHECKING:
    from easeci.ledger.disclosure import DisclosedRow
    from easeci.service.project import Project
    from easeci.views.history import OwnerRow

LEAST_WIDTH = 24
"""Of the column of verdicts, if no commit has an interval."""


def log(
    owner: OwnerOption = False,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Check every event and file, and decide each verdict again."),
    ] = False,
    build: Annotated[
        str | None,
        typer.Option(
            "--build", help="With --owner: what commit number N, baseline or scorer printed."
        ),
    ] = None,
    audit: Annotated[
        bool,
        typer.Option("--audit", help="Who looked, exported, released, signed in; recorded too."),
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Every commit with its signal."""
    if verify:
        _verify(store, project, as_json)
        return
    found = opened(store, project)
    if build is not None:
        _show_build(found, build, owner=owner)
    elif audit:
        _show_audit(found, as_json)
    elif owner:
        _show_owner_log(found, as_json)
    else:
        from easeci.ledger.disclosure import disclosed_rows

        shown = disclosed_rows(found.state)
        print_json([asdict(row) for row in shown]) if as_json else _show(shown)


def _show_owner_log(found: Project, as_json: bool) -> None:
    from easeci.service.looks import record_look
    from easeci.views.history import owner_rows

    record_look(found, "log", say_waiting, by=login_name())
    rows = owner_rows(found.state)
    print_json([_document(row) for row in rows]) if as_json else _show_owner(rows)


def _show_audit(found: Project, as_json: bool) -> None:
    from easeci.service.looks import record_look
    from easeci.views.audit import audit

    record_look(found, "audit", say_waiting, by=login_name())
    entries = audit(found)
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("time (UTC)", "who", "what", ""):
        table.add_column(column, no_wrap=column in ("time (UTC)", "what"), overflow="fold")
    for entry in entries:
        about = entry.about + (f", from {entry.address}" if entry.address else "")
        cells = (readable_time(entry.at), entry.who or "-", str(entry.what), about)
        table.add_row(*map(Text, cells))
    output().print(table)


def _document(row: OwnerRow) -> dict[str, Any]:
    verdict = None if row.verdict is None else row.verdict.document()
    return asdict(row) | {"verdict": verdict, "why": row.why}


def _verify(store: Any, project: str | None, as_json: bool) -> None:
    from easeci.service.custody.verify import verify

    found = verify(opened(store, project, refuse_older=False))
    if as_json:
        print_json({"damage": found})
    if found:
        for line in found:
            output().print(Text.assemble(("damaged: ", "bold red"), line))
        raise InfrastructureError(
            f"the store is damaged in {len(found):,} places",
            hint="Restore it from a copy; do not rely on answers given since the damage.",
        )
    if not as_json:
        output().print("Every event, label, example and order is as it was recorded.")
        output().print("Every verdict was decided again, with the same result.")


def _show_build(found: Project, build: str, *, owner: bool) -> None:
    from easeci.service.looks import record_look
    from easeci.views.history import baseline_log, build_log, scorer_log

    if not owner:
        raise UsageError(
            "only the owner may read what a program printed: it can contain examples",
            hint=f"As the owner: easeci log --owner --build {build}",
        )
    if build == "baseline":
        printed = baseline_log(found)
    elif build == "scorer":
        printed = scorer_log(found)
    elif build.isdecimal():
        printed = build_log(found, int(build))
    else:
        raise UsageError("--build takes a commit's number in the log, or baseline, or scorer")
    record_look(found, "build", say_waiting, by=login_name())
    print(program_output(printed) or "(it printed nothing)")


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column != "subject", overflow="ellipsis")
    return table


def _cells(row: DisclosedRow) -> list[Text]:
    return [
        Text(str(row.submission)),
        Text(row.commit[:10]),
        Text(row.subject),
        Text("" if row.step is None else f"{row.testset}.{row.step}"),
        Text(row.signal.word.upper(), row.signal.style),
    ]


def _show(rows: list[DisclosedRow]) -> None:
    table = _table("", "submitted (UTC)", "commit", "subject", "step", "signal")
    for row in rows:
        number, *rest = _cells(row)
        table.add_row(number, Text(readable_time(row.at)), *rest)
    output().print(table)


def _show_owner(rows: tuple[OwnerRow, ...]) -> None:
    from easeci.views.history import latest_reason

    for line in latest_reason(rows):
        output().print(Text(line))
    table = _table("", "commit", "subject", "step", "signal", "verdict", "labels")
    # Subjects may be wrapped, and intervals not. So who sent a file is no wider than an interval.
    width = max((len(line) for row in rows for line in row.intervals), default=LEAST_WIDTH)
    for row in rows:
        verdict = "-" if row.passed is None and row.failure is not None else row.briefly
        labels = "" if row.verdict is None else f"{row.verdict.labels:,}"
        sent = "" if row.sent_words is None else f"predictions {row.sent_words}"
        answer = Text("\n".join((verdict, *row.intervals, *textwrap.wrap(sent, width))))
        table.add_row(*_cells(row.shown), answer, Text(labels))
    output().print(table)
