"""``easeci simulate``."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from easeci.cli.script_options import ScriptOptions, takes_script_options
from easeci.cli.terminal import (
    JsonOption,
    output,
    plain_characters,
    print_json,
    show_error,
    show_warnings,
)
from easeci.errors import EaseciError, ExitCode

if TYPE_CHECKING:
    from easeci.simulation import LifeLabels, Measured, Round, Simulation
    from easeci.simulation.run import Progress as Told

STYLES = {"kept": "green", "BROKEN": "bold red"}
WHO = {
    "edge": "every commit exactly at a threshold",
    "middle": "every commit in the middle of the zone, where no answer is wrong",
    "clear": "commits two tolerances beyond, as many as the plan reckons with",
    "adaptive": "follows the testset's noise from every answer, at a threshold",
    "mixed": "a whole life of commits as a forecast assumes them, which share labels",
}


@takes_script_options
def simulate(
    options: ScriptOptions,
    testsets: Annotated[
        int, typer.Option("--testsets", help="Testsets to draw for each developer.")
    ] = 200,
    commits: Annotated[
        int, typer.Option("--commits", help="Most commits of a testset that are simulated.")
    ] = 6,
    examples: Annotated[
        int, typer.Option("--examples", help="Most examples of a testset.")
    ] = 100_000,
    life: Annotated[
        int, typer.Option("--life", help="Most commits of a testset with the developer mixed.")
    ] = 64,
    developer: Annotated[
        str | None,
        typer.Option("--developer", help="Only edge, middle, clear, adaptive or mixed."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the random numbers.")] = 0,
    workers: Annotated[
        int | None, typer.Option("--workers", help="Processes; default: one for each core.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the guarantee on a script: drawn models, the real engine, exact limits."""
    request = options.request()
    # Here and not above, because --help needs no simulation.
    from easeci.simulation import SimulationSize, developer_named
    from easeci.simulation import simulate as run

    limits = SimulationSize(testsets, commits, examples, life)
    show_warnings(request.script.warnings())
    with _progress_bar() as told:
        found = run(
            request.script,
            limits=limits,
            developer=None if developer is None else developer_named(developer),
            seed=seed,
            workers=os.cpu_count() or 1 if workers is None else workers,
            progress=told,
        )
    if as_json:
        from easeci.simulation.document import simulation_document

        print_json(simulation_document(found))
    else:
        if request.defaults:
            output().print(f"[dim]by default: {request.defaults_in_words}[/]")
        _show(found)
    if found.broken:
        show_error(_broken_promise(found))
        raise typer.Exit(ExitCode.INTERNAL)


def _broken_promise(found: Simulation) -> EaseciError:
    who = ", ".join(dict.fromkeys(str(measured.developer) for measured in found.broken))
    return EaseciError(
        f"a promise was broken more often than it may be ({who})",
        hint="One time in forty this is chance: try another --seed and more --testsets. If it "
        "stays, it is a bug in easeci; please report it with this command.",
    )


@contextmanager
def _progress_bar() -> Iterator[Told | None]:
    """A progress bar on stderr, if it is a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("testsets"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("testsets")
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(found: Simulation) -> None:
    console = output()
    for number, one in enumerate(found.rounds):
        if number:
            console.print()
            console.print(_why_again(found.rounds[0], one))
        else:
            console.print(f"[bold]{escape(str(one.script.condition))}[/]")
        _show_round(one)
    console.print()
    names = dict.fromkeys(str(m.developer) for one in found.rounds for m in one.measured)
    for name in names:
        console.print(f"[dim]{name}: {WHO[name]}[/]")
    console.print(
        f"[dim]Rates are per testset's life, with exact 95% limits; seed {found.seed}.[/]"
    )


def _why_again(first: Round, second: Round) -> str:
    return (
        f"At δ = {float(first.script.delta):g} no error is expected in {first.testsets:,} "
        f"testsets. [bold]The same engine at δ = β = {float(second.script.delta):g}:[/]"
    )


def _show_round(one: Round) -> None:
    console = output()
    script = one.script
    console.print(
        f"δ = {float(script.delta):g}, β = {float(script.beta):g}, {script.mode}, adaptivity "
        f"{script.adaptivity}, by {one.estimator}"
    )
    console.print(f"testsets of {one.examples:,} examples, {_commits_in_words(one)}")
    if one.capped:
        console.print(
            f"[yellow]Capped:[/] the plan asks for {one.examples_planned:,} examples; fewer are "
            "as safe, but promise no sensitivity (--examples)."
        )
    console.print()
    console.print(_rates(one))
    console.print()
    console.print(_labels(one))
    for measured in one.measured:
        if measured.life is not None:
            console.print()
            console.print(_life_in_words(measured.life))


def _life_in_words(life: LifeLabels) -> str:
    """The labels of whole lives: means and their standard errors."""
    commits = "1 commit" if life.commits == 1 else f"up to {life.commits:,} commits"
    return (
        f"labels in a life of {commits} (mixed): [bold]{life.per_life.mean:,.0f}[/] ± "
        f"{life.per_life.error:,.0f}, a commit {life.per_commit.mean:,.1f} ± "
        f"{life.per_commit.error:,.1f}"
    )


def _commits_in_words(one: Round) -> str:
    if one.commits < one.script.steps:
        option = "--life" if one.measured[0].life else "--commits"
        return f"the first {one.commits:,} of {one.script.steps:,} commits ({option})"
    return f"{one.commits:,} commits each" if one.commits > 1 else "one commit each"


def _rates(one: Round) -> Table:
    table = _table()
    table.add_column("developer", no_wrap=True)
    table.add_column("broken promises", no_wrap=True)
    for heading in ("rate", "95% limits", "promised"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("")
    for measured in one.measured:
        rate = measured.rate
        if measured.wrong is None:
            table.add_row(str(measured.developer), "-", "-", "-", "-", "none here")
            continue
        table.add_row(
            str(measured.developer),
            f"{measured.wrong} {rate.broken:,} of {rate.testsets:,}",
            f"{rate.share:.3g}",
            f"{rate.low:.3f}-{rate.high:.3f}",
            "-" if measured.promised is None else f"{float(measured.promised):g}",
            _finding(measured),
        )
    return table


def _finding(measured: Measured) -> str:
    finding = "cannot be seen" if measured.finding.startswith("cannot") else measured.finding
    style = STYLES.get(finding)
    return f"[{style}]{finding}[/]" if style else finding


def _labels(one: Round) -> Table:
    table = _table()
    table.add_column("labels a commit", no_wrap=True)
    for heading in ("mean", "median", "90%", "most"):
        table.add_column(heading, justify="right", no_wrap=True)
    end = max((measured.labels.histogram_end for measured in one.measured), default=1)
    table.add_column(_scale(end), no_wrap=True)
    for measured in one.measured:
        use = measured.labels
        numbers = (use.mean, use.median, use.nine_tenths, use.most)
        table.add_row(
            str(measured.developer),
            *(f"{number:,.0f}" for number in numbers),
            bars(use.histogram),
        )
    return table


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)


def _scale(end: int) -> str:
    from easeci.simulation.report import BINS

    return f"0{f'{end:,}':>{BINS - 1}}"


def bars(counts: tuple[int, ...]) -> str:
    """A histogram in one line; a bin that is not empty is never blank."""
    blocks = " .:-=+*#@" if plain_characters() else " ▁▂▃▄▅▆▇█"
    most = max(*counts, 1)
    return "".join(blocks[-(-count * (len(blocks) - 1) // most)] for count in counts)
