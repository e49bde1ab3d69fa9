"""``easeci scores``: import, export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import (
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json, show_warnings, working
from easeci.errors import UsageError

if TYPE_CHECKING:
    from easeci.service.scores.files import ScoresImported
    from easeci.tables.score_tasks import ScoreFormat

scores = typer.Typer(
    help="Scores of outputs from a judge outside: ask which are wanted, bring some in.",
    no_args_is_help=True,
)


def _format(name: str | None) -> ScoreFormat | None:
    # Here and not above, because --help needs no tables.
    from easeci.tables.score_tasks import ScoreFormat

    try:
        return None if name is None else ScoreFormat(name)
    except ValueError:
        raise UsageError(
            "unknown format of scores", hint=f"It is one of: {', '.join(ScoreFormat)}."
        ) from None


@scores.command(name="import")
def import_(
    path: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="id,digest,score[,name] as CSV, JSONL or Parquet."),
    ],
    by: Annotated[
        str | None, typer.Option("--by", help="Who scored; default: your login name.")
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Import all of the file or nothing.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add scores of outputs to the testset, and go on with the commits that wait for them.

    An empty score is unsettled: it counts at its worst until a later file has it. A score that is
    known never changes.
    """
    from easeci.service.scores.files import import_scores

    with working("reading scores"):
        done = import_scores(
            opened(store, project),
            path,
            strict=strict,
            by=by or login_name(),
            waiting=say_waiting,
        )
    if as_json:
        print_json(asdict(done))
        return
    show_warnings(done.problems)
    _show(done)


def _show(done: ScoresImported) -> None:
    parts = [f"{done.added:,} scores added"]
    if done.settled:
        parts[0] += f" ({done.settled:,} of them were unsettled before)"
    parts += [f"{done.unsettled:,} unsettled"] if done.unsettled else []
    parts += [f"{done.unchanged:,} known already"] if done.unchanged else []
    console = output()
    console.print(f"Testset {done.testset}: {'; '.join(parts)}.")
    if done.pending:
        console.print(f"{done.pending:,} scores are unsettled and count at their worst.")
    if done.answered:
        console.print(f"Answered now: {len(done.answered):,} of the commits that waited.")
    if done.wanted:
        console.print(
            f"{done.wanted:,} more outputs wait for a score: `easeci scores export FILE`."
        )


@scores.command()
def export(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="File to write.")],
    form: Annotated[
        str | None, typer.Option("--format", help="csv or jsonl; default: by the file's ending.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", min=1, help="How many examples at most; default: 1,000."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All outputs without a score, needed next or not.")
    ] = False,
    unsettled: Annotated[
        bool, typer.Option("--unsettled", help="With all that were imported without a score.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the outputs whose scores are wanted next; the export is recorded.

    Each output has the digest that names it in the file of scores. Nothing tells which model wrote
    it.
    """
    from easeci.service.scores.files import USUAL_COUNT, export_unscored

    done = export_unscored(
        opened(store, project),
        path,
        say_waiting,
        form=_format(form),
        count=count or USUAL_COUNT,
        everything=everything,
        unsettled=unsettled,
        by=login_name(),
    )
    if as_json:
        print_json(asdict(done) | {"file": str(path)})
        return
    console = output()
    if not done.outputs:
        console.print(
            f"No scores are wanted. {escape(str(path))} was written without outputs.",
            soft_wrap=True,
        )
        return
    console.print(
        f"{done.outputs:,} outputs of {done.examples:,} examples are in {escape(str(path))}.",
        soft_wrap=True,
    )
    console.print("Write id, digest and score of each to a file, then: easeci scores import FILE")
