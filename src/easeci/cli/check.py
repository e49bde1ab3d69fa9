"""``easeci check``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.padding import Padding

from easeci.cli.script_options import Request, ScriptOptions, takes_script_options
from easeci.cli.terminal import JsonOption, output, print_json, ruler_around, show_warnings
from easeci.errors import ExitCode
from easeci.service.checks import Checked, write_ids
from easeci.service.checks import check as check_files
from easeci.service.scripts import DEFAULTS
from easeci.verdict import wording

if TYPE_CHECKING:
    from easeci.ledger.verdicts import RecordedClause, RecordedVerdict
    from easeci.script import Mode
    from easeci.verdict.result import ClauseResult

ONE_VERDICT = {**DEFAULTS, "adaptivity": "none", "steps": "1"}
"""Without --steps, one verdict is all that is asked of the testset."""
STYLES = {"True": "green", "False": "red", "Unknown": "yellow"}


@takes_script_options
def check(
    new: Annotated[Path, typer.Option("--new", help="Predictions of the new model.")],
    old: Annotated[Path | None, typer.Option("--old", help="Predictions of the old model.")] = None,
    labels: Annotated[Path | None, typer.Option("--labels", help="Labels, all or some.")] = None,
    examples: Annotated[
        Path | None, typer.Option("--examples", help="Examples with the columns of slices.")
    ] = None,
    tested: Annotated[
        list[Path] | None,
        typer.Option("--tested", help="Predictions of a model tested before, for top; repeatable."),
    ] = None,
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
        request.script,
        new=new,
        old=old,
        labels=labels,
        examples=examples,
        tested=tested or (),
        history=history,
        seed=seed,
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
    from easeci.ledger.verdicts import record_of

    console = output()
    script, recorded = request.script, record_of(checked.verdict)
    _show_answer(checked, recorded, script.mode, ask)
    console.print()
    for found, live in zip(recorded.clauses, checked.verdict.clauses, strict=True):
        _show_clause(found, live)
    if recorded.interval_note is not None:
        console.print(f"[dim]{recorded.interval_note}[/]")
    if checked.exact_is_apt:
        console.print(
            "[dim]Every label was there. --estimator exact is apt, and more decisive, for a user "
            "who had all labels beforehand and chooses it before the first answer.[/]"
        )
    if request.defaults:
        console.print(f"[dim]By default: {request.defaults_in_words}.[/]")
    of = "the only one" if script.steps == 1 else f"one of {script.steps:,}"
    console.print(
        f"[dim]check keeps no count of steps: reliability {float(script.reliability):.10g} holds "
        f"if this answer is {of} that this testset gives ({script.adaptivity}).[/]"
    )


def _show_clause(found: RecordedClause, live: ClauseResult) -> None:
    console = output()
    # Nothing beyond what Φ can be is drawn; the decision itself knows no such limit.
    score = found.clause.score
    low, high = max(found.low, float(score.lowest)), min(found.high, float(score.highest))
    interval, threshold = (100.0 * low, 100.0 * high), 100.0 * float(found.clause.threshold)
    unit = wording.unit(score)
    ruler = ruler_around([*interval, threshold], min(console.width, 80) - 7 - len(unit), unit)
    style = STYLES[found.result]
    console.print(f"[bold]{escape(found.text)}[/]   [bold {style}]{found.result}[/]")
    estimate = None if found.estimate is None else 100.0 * found.estimate
    for line in ruler.draw(interval, estimate, threshold, style):
        console.print(Padding(line, (0, 0, 0, 2), expand=False))
    missing = "labels missing" if not live.final else "not known without labels"
    shown = missing if found.estimate is None else found.estimate_words
    console.print(
        f"  {score} = {shown}, interval {found.interval_words}, {found.examples:,} examples",
        markup=False,
    )
    if found.widened and live.final and found.tolerance is not None:
        wider = (
            f"[yellow]Wider than the script's ±{float(found.clause.tolerance):g}:[/] that "
            f"needs {found.examples_needed:,} examples; these allow ±{found.tolerance:.4g}."
        )
        console.print(Padding(wider, (0, 0, 0, 2), expand=False))
    console.print()


def _show_answer(checked: Checked, recorded: RecordedVerdict, mode: Mode, ask: Path | None) -> None:
    console = output()
    rests = (
        f"by {recorded.estimator}, on {recorded.examples:,} examples and {recorded.labels:,} labels"
    )
    if recorded.passed is None:
        console.print(
            f"[bold yellow]WAITING[/] for {len(checked.verdict.wanted):,} labels: the answer "
            f"depends on them ({rests})."
        )
        where = f"Their ids are in {ask}." if ask else "--ask FILE writes their ids."
        console.print(escape(where))
        return
    word = "[bold green]PASS[/]" if recorded.passed else "[bold red]FAIL[/]"
    console.print(f"{word}: {escape(recorded.why)}.")
    answers = ""
    if recorded.result == "Unknown":
        answers = f", which {mode} answers with {'pass' if recorded.passed else 'fail'}"
    console.print(f"The condition is {recorded.result}{answers} ({rests}).")
