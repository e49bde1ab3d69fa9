"""``easeci check``."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
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
from easeci.service.scored_files import ScoredOutputs, load_if_scored
from easeci.service.scripts import DEFAULTS
from easeci.verdict import wording

if TYPE_CHECKING:
    from easeci.ledger.verdicts import RecordedClause, RecordedVerdict
    from easeci.script import Mode
    from easeci.tables.logs import EvalLog, LogChoice
    from easeci.verdict.result import ClauseResult

ONE_VERDICT = {**DEFAULTS, "adaptivity": "none", "steps": "1"}
"""Without --steps, one verdict is all that is asked of the testset."""
STYLES = {"True": "green", "False": "red", "Unknown": "yellow"}


@takes_script_options
def check(
    new: Annotated[
        Path, typer.Option("--new", help="Predictions, scores or eval log of the new model.")
    ],
    old: Annotated[Path | None, typer.Option("--old", help="The same of the old model.")] = None,
    labels: Annotated[
        Path | None, typer.Option("--labels", help="Labels or references, all or some.")
    ] = None,
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
    metric: Annotated[
        str | None, typer.Option("--metric", help="Eval logs: the metric that is the score.")
    ] = None,
    provider: Annotated[
        str | None, typer.Option("--provider", help="promptfoo logs: the model of --new.")
    ] = None,
    old_provider: Annotated[
        str | None, typer.Option("--old-provider", help="promptfoo logs: the model of --old.")
    ] = None,
    filter_: Annotated[
        str | None, typer.Option("--filter", help="lm-eval logs: the filter of the outputs.")
    ] = None,
    id_vars: Annotated[
        list[str] | None,
        typer.Option("--id-var", help="promptfoo logs: a var of the id; repeatable; default: all."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """One verdict from files (CSV, JSONL, Parquet, eval logs), no repository; counts no steps."""
    from easeci.tables.logs import LogChoice  # not above: --help needs no tables

    choice = LogChoice(metric, provider, filter_, tuple(id_vars or ()))
    sources = _loaded(new, old, choice, old_provider)
    defaults = None if options.steps is not None else ONE_VERDICT
    request = options.request(defaults, _told(sources.new))
    show_warnings((*request.script.warnings(), *sources.notes))
    checked = check_files(
        request.script,
        new=sources.new,
        old=sources.old,
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

        print_json(record_of(checked.verdict).document() | _scored_document(checked, sources))
    else:
        _show(request, checked, ask, sources)
    raise typer.Exit(_exit_code(checked))


@dataclass(frozen=True)
class _Sources:
    """The files of the two models; those that bring scores with them are loaded."""

    new: Path | ScoredOutputs
    old: Path | ScoredOutputs | None

    @property
    def logs(self) -> list[EvalLog]:
        found = (s.log for s in (self.new, self.old) if isinstance(s, ScoredOutputs))
        return [log for log in found if log is not None]

    @property
    def notes(self) -> tuple[str, ...]:
        """What readers of logs left out or converted."""
        return tuple(dict.fromkeys(note for log in self.logs for note in log.notes))


def _loaded(new: Path, old: Path | None, choice: LogChoice, old_provider: str | None) -> _Sources:
    from easeci.tables.column import ColumnRole

    made = load_if_scored(new, ColumnRole.NEW, choice)
    if old is None:
        return _Sources(made or new, None)
    if old_provider is not None:
        choice = replace(choice, provider=old_provider)
    before = load_if_scored(old, ColumnRole.OLD, choice) if made else None
    return _Sources(made or new, before or old)


def _told(new: Path | ScoredOutputs) -> dict[str, list[str]]:
    """What a file tells about its scores, as keys of a script."""
    if not isinstance(new, ScoredOutputs):
        return {}
    return {"scores": list(new.names), "trials": [str(new.outputs.trials)]}


def _scored_document(checked: Checked, sources: _Sources) -> dict[str, object]:
    """What JSON has beside the verdict if examples have scores."""
    if checked.labelled and checked.pairs is None:
        return {}
    return {
        **({} if checked.pairs is None else asdict(checked.pairs)),
        "more_examples": checked.more_examples,
        "all_examples": [asdict(whole) for whole in checked.whole],
        "logs": [log.summary for log in sources.logs],
    }


def _exit_code(checked: Checked) -> ExitCode:
    match checked.verdict.passed:
        case None:
            return ExitCode.WAITING_FOR_LABELS
        case True:
            return ExitCode.PASS
        case False:
            return ExitCode.FAIL


def _show(request: Request, checked: Checked, ask: Path | None, sources: _Sources) -> None:
    from easeci.ledger.verdicts import record_of

    console = output()
    script, recorded = request.script, record_of(checked.verdict)
    for log in sources.logs:
        console.print(log.summary, style="dim", markup=False)
    _show_answer(checked, recorded, script.mode, ask)
    console.print()
    for place, live in enumerate(checked.verdict.clauses):
        _show_clause(_shown(checked, recorded, place), live)
    _show_pairs(checked)
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


def _shown(checked: Checked, recorded: RecordedVerdict, place: int) -> RecordedClause:
    """A clause as it is shown: over all examples, where every score is there."""
    found = recorded.clauses[place]
    if not checked.whole:
        return found
    whole = checked.whole[place]
    return replace(
        found,
        estimate=whole.estimate,
        low=whole.low,
        high=whole.high,
        examples=whole.examples,
    )


def _show_pairs(checked: Checked) -> None:
    """On how many examples the new model is better, and how many more would decide."""
    pairs = checked.pairs
    if pairs is None:
        return
    unsettled = f", unsettled {pairs.unsettled:,}" if pairs.unsettled else ""
    lines = [
        f"Better on {pairs.better:,} examples, worse on {pairs.worse:,}, equal on "
        f"{pairs.equal:,}{unsettled}."
    ]
    if checked.more_examples is not None:
        lines.append(f"About {checked.more_examples:,} more examples like these would decide.")
    output().print("\n".join(lines) + "\n")


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
    labels = f" and {recorded.labels:,} labels" if checked.labelled else ""
    rests = f"by {recorded.estimator}, on {recorded.examples:,} examples{labels}"
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
