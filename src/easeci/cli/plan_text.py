"""A plan as text: the table of estimators, the advice, and the derivations."""

from __future__ import annotations

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table

from easeci.cli.script_options import Request
from easeci.cli.terminal import output
from easeci.plan import Estimate, Plan
from easeci.plan.document import SECONDS_PER_LABEL, hours, rough_hours
from easeci.script import Estimator


def show_plan(request: Request, plan: Plan, *, explain: bool) -> None:
    """Print a plan; ``explain`` adds how each number is derived."""
    _show_request(request)
    output().print(_table(plan))
    _show_advice(plan)
    if explain:
        _show_derivations(plan)
    else:
        output().print("[dim]--explain derives these numbers step by step.[/]")


def _show_request(request: Request) -> None:
    script = request.script
    console = output()
    console.print(f"[bold]{escape(str(script.condition))}[/]")
    console.print(
        f"reliability {float(script.reliability):.10g}, {script.mode}, "
        f"adaptivity {script.adaptivity}, {script.steps:,} steps"
    )
    if request.defaults:
        console.print(f"[dim]by default: {request.defaults_in_words}[/]")


def _table(plan: Plan) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    table.add_column("\n  estimator", no_wrap=True)
    speeds = " and ".join(f"{seconds} s" for seconds in SECONDS_PER_LABEL)
    for heading in (
        "\nexamples",
        "labels\nup front",
        "labels\na commit",
        f"hours at\n{speeds}",
        "\npractical",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for estimate in plan.estimates:
        chosen = estimate is plan.chosen
        style = "bold" if chosen else ("" if estimate.applies else "dim")
        mark = "> " if chosen else "  "
        table.add_row(f"{mark}{estimate.estimator}", *_cells(plan, estimate), style=style)
    return table


def _cells(plan: Plan, estimate: Estimate) -> list[str]:
    if not estimate.applies:
        return ["-", "-", "-", "-", "-"]
    if estimate.examples is None:
        return ["by d", "0", "by d", "by d", "by d"]
    in_all = estimate.labels_in_all(plan.script.steps)
    assert in_all is not None
    return [
        *(_short(n or 0) for n in (estimate.examples, estimate.labels, estimate.labels_per_commit)),
        " / ".join(rough_hours(hours(in_all, seconds)) for seconds in SECONDS_PER_LABEL),
        "yes" if plan.practical(estimate) else "no",
    ]


def _short(number: int) -> str:
    """A count that fits its column: in full up to a million, then in millions."""
    return f"{number:,}" if number < 1_000_000 else f"{number / 1e6:,.1f}M"


def _show_advice(plan: Plan) -> None:
    console = output()
    console.print()
    console.print(f"[bold]Recommended: {plan.recommended}[/] — {escape(plan.why)}.")
    chosen = plan.chosen
    if plan.script.estimator is not Estimator.AUTO and chosen.estimator is not plan.recommended:
        console.print(f"The script asks for {chosen.estimator}.")
    if chosen.unlabelled is not None:
        console.print(
            f"Its first stage needs {chosen.unlabelled:,} examples without labels; "
            "the same examples may serve both stages."
        )
    if chosen.expected is not None:
        expected = chosen.expected
        console.print(
            f"Expected labels a commit: {expected.unchanged:,} if it changes nothing, "
            f"{expected.middle:,} in the middle of the zone, {expected.better:,} if it is clearly "
            "better."
        )
    if plan.savings:
        one, two = plan.savings
        console.print(
            f"Cheap mode, as published: 1 more point of tolerance takes {one.factor:.1f} times "
            f"fewer labels, 2 more points {two.factor:.1f} times fewer."
        )
    for reason, names in _reasons_against(plan).items():
        console.print(f"[dim]{' and '.join(names)}: {escape(reason)}.[/]")
    console.print(
        "[dim]Hours are for all labels of the testset's life; practical: at most 60,000 labels "
        "for 32 commits.[/]"
    )


def _reasons_against(plan: Plan) -> dict[str, list[str]]:
    """Why the other estimators don't apply; those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for estimate in plan.estimates:
        if not estimate.applies:
            reasons.setdefault(estimate.reason, []).append(str(estimate.estimator))
    return reasons


def _show_derivations(plan: Plan) -> None:
    console = output()
    for estimate in plan.estimates:
        if estimate.applies:
            console.print()
            console.print(f"[bold]{estimate.estimator}[/]: {escape(estimate.reason)}")
            for line in estimate.derivation:
                indent = len(line) - len(line.lstrip())
                console.print(Padding(escape(line.strip()), (0, 0, 0, 2 + indent), expand=False))
