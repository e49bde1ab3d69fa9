"""A plan as text: a dozen lines to act on; all estimators and the derivations on request."""

from __future__ import annotations

from rich.text import Text

from easeci.cli.script_options import Request
from easeci.cli.terminal import output
from easeci.plan import Plan
from easeci.plan.summary import LAST, WARNING, SummaryLine, summary_lines


def show_plan(request: Request, plan: Plan, *, everything: bool, explain: bool) -> None:
    """Print a plan: the summary, then the table of estimators or the derivations if asked for.

    With the derivations, nothing of the summary is shortened.
    """
    for line in summary_lines(plan, request.defaults, output().width, whole=explain):
        output().print(_styled(line), soft_wrap=True)
    if everything or explain:
        from easeci.cli.plan_table import show_derivations, show_estimators  # not above: slow

        if everything:
            show_estimators(plan)
        if explain:
            show_derivations(plan)


def _styled(line: SummaryLine) -> Text:
    if line.part == LAST:
        return Text(line.words, "dim")
    style = "bold yellow" if line.part == WARNING else "bold"
    return Text.assemble((line.name, style), line.words)
