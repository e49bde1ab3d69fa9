"""``easeci check``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from easeci.cli.script_options import Request, ScriptOptions, takes_script_options
from easeci.cli.terminal import JsonOption, output, print_json, ruler_around, show_warnings
from easeci.errors import ExitCode
from easeci.service.checks import Checked, write_ids
from easeci.service.checks import check as check_files
from easeci.service.scripts import DEFAULTS

ONE_VERDICT = {**DEFAULTS, "adaptivity": "none", "steps": "1"}
"""Without --steps, one verdict is all that is asked of the testset."""
STYLES = {"True": "green", "False": "red", "Unknown": "yellow"}


@takes_script_options
def check(
    new: Annotated[Path, typer.Option("--new", help="Predictions of the new model.")],
    old: Annotated[Path | None, typer.Option("--old", help="Predictions of the old model.")] = None,
    labels: Annotated[Path | None, typer.Option("--labels", help="Labels, all or some.")] = None,
    *,
    options: ScriptOptions,
    history: Annotated[
        str | None, typer.Option("--history", help="Answers of this testset so far, such as PFF.")
    ] = None,
    seed: Annotated[
        str, typer.Option("--seed", help="Key of the order in which examples are looked at.")
    ] = "",
    ask: Annotated[
        Path | None, typer.Option("--ask", help="Write the ids to label next to this CSV file.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """One verdict from files (CSV, JSONL or Parquet), no repository. It counts no steps."""
    request = options.request(None if options.steps is not None else ONE_VERDICT)
    show_warnings(request.script.warnings())
    checked = check_files(
        request.script, new=new, old=old, labels=labels, history=history, seed=seed
    )
    if ask is not None and checked.verdict.passed is None:
        write_ids(ask, checked.wanted_ids)
    if as_json:
        from easeci.ledger.verdicts import record_of

        print_json(record_of(checked.verdict).document())
    else:
        _show(request, checked, ask)
    raise typer.Exit(_exit_code(checked))


def _exit_code(checked: Checked) -> ExitCode:
    match checked.verdict.passed:
        case None:
            return ExitCode.WAITING_FOR_LABELS
        case True:
            return ExitCode.PASS
        case False:
            return ExitCode.FAIL


def _show(request: Request, checked: Checked, ask: Path | None) -> None:
    console = output()
    script, verdict = request.script, checked.verdict
    for found in verdict.clauses:
        # Nothing beyond what Φ can be is drawn; the decision itself knows no such limit.
        score = found.clause.score
        interval = (
            float(max(found.interval.low, score.lowest)),
            float(min(found.interval.high, score.highest)),
        )
        estimate = None if found.estimate is None else float(found.estimate)
        threshold = float(found.clause.threshold)
        ruler = ruler_around([*interval, threshold], min(console.width, 80) - 6)
        style = STYLES[found.result]
        console.print(f"[bold]{escape(found.clause.text)}[/]   [bold {style}]{found.result}[/]")
        drawing, scale = ruler.draw(interval, estimate, threshold, style)
        console.print(Padding(drawing, (0, 0, 0, 2), expand=False))
        console.print(Padding(scale, (0, 0, 0, 2), expand=False))
        shown = "labels missing" if estimate is None else f"{estimate:.4f}"
        console.print(
            f"  {found.clause.score} = {shown}, interval [{interval[0]:.4f}, {interval[1]:.4f}], "
            f"{found.sample:,} examples",
            markup=False,
        )
        if found.widened and found.final and found.tolerance is not None:
            wider = (
                f"[yellow]Wider than the script's ±{float(found.clause.tolerance):g}:[/] that "
                f"needs {found.needed:,} examples; these allow ±{float(found.tolerance):.4g}."
            )
            console.print(Padding(wider, (0, 0, 0, 2), expand=False))
        console.print()
    _show_answer(request, checked, ask)
    if request.defaults:
        console.print(f"[dim]By default: {request.defaults_in_words}.[/]")
    of = "the only one" if script.steps == 1 else f"one of {script.steps:,}"
    console.print(
        f"[dim]check keeps no count of steps: reliability {float(script.reliability):.10g} holds "
        f"if this answer is {of} that this testset gives ({script.adaptivity}).[/]"
    )


def _show_answer(request: Request, checked: Checked, ask: Path | None) -> None:
    console = output()
    verdict, mode = checked.verdict, request.script.mode
    rests = (
        f"by {verdict.estimator}, on {verdict.examples:,} examples and {verdict.labels:,} labels"
    )
    if verdict.passed is None:
        console.print(
            f"[bold yellow]WAITING[/] for {len(verdict.wanted):,} labels: the answer depends on "
            f"them ({rests})."
        )
        where = f"Their ids are in {ask}." if ask else "--ask FILE writes their ids."
        console.print(escape(where))
        return
    word = "[bold green]PASS[/]" if verdict.passed else "[bold red]FAIL[/]"
    why = (
        f"the condition is {verdict.result}"
        if verdict.result != "Unknown"
        else f"the condition is Unknown, which {mode} answers with "
        + ("pass" if verdict.passed else "fail")
    )
    console.print(f"{word}: {why} ({rests}).")
