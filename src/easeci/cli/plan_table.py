"""The long parts of a plan as text: the table of estimators, and the derivations."""

from __future__ import annotations

from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from easeci.cli.terminal import output
from easeci.plan import Plan, Row
from easeci.plan.document import SECONDS_PER_LABEL, hours, rough_hours
from easeci.plan.explanation import explanation


def show_estimators(plan: Plan) -> None:
    """Print the table of all estimators, which is recommended, and why others do not apply."""
    console = output()
    console.print()
    console.print(_table(plan))
    if plan.recommended is not None:
        console.print(f"[bold]Recommended: {plan.recommended}[/] — {escape(plan.why)}.")
    chosen = plan.chosen
    if chosen.unlabelled is not None and not plan.useless:
        console.print(
            f"The first stage of {chosen.estimator} needs {chosen.unlabelled:,} examples without "
            "labels; the same examples may serve both stages."
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
    for row in plan.rows:
        chosen = row.estimate.estimator is plan.decides_by and not plan.useless
        style = "bold" if chosen else ("" if row.estimate.applies else "dim")
        mark = "> " if chosen else "  "
        table.add_row(f"{mark}{row.estimate.estimator}", *_cells(row), style=style)
    return table


def _cells(row: Row) -> list[str]:
    estimate = row.estimate
    if not estimate.applies:
        return ["-", "-", "-", "-", "-"]
    if estimate.examples is None or row.labels_in_all is None:
        return ["by d", "0", "by d", "by d", "by d"]
    return [
        *(_short(n or 0) for n in (estimate.examples, row.labels_up_front, row.labels_per_commit)),
        " / ".join(rough_hours(hours(row.labels_in_all, s)) for s in SECONDS_PER_LABEL),
        "yes" if row.practical else "no",
    ]


def _short(number: int) -> str:
    """A count that fits its column: in full up to a million, then in millions or more."""
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6)):
        if number >= size:
            return f"{number / size:,.1f}{unit}"
    return f"{number:,}"


def _reasons_against(plan: Plan) -> dict[str, list[str]]:
    """Why the other estimators don't apply; those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for estimate in plan.estimates:
        if not estimate.applies:
            reasons.setdefault(estimate.reason, []).append(str(estimate.estimator))
    return reasons


def show_derivations(plan: Plan) -> None:
    """Print how each number is derived."""
    console = output()
    for heading, lines in explanation(plan):
        console.print()
        console.print(Text(heading, "bold"))
        for line in lines:
            indent = len(line) - len(line.lstrip())
            console.print(Padding(escape(line.strip()), (0, 0, 0, 2 + indent), expand=False))
