"""``easeci plan``."""

from __future__ import annotations

from typing import Annotated

import typer

from easeci.cli.script_options import ScriptOptions, takes_script_options
from easeci.cli.terminal import JsonOption, print_json, show_warnings
from easeci.errors import UsageError


@takes_script_options
def plan(
    options: ScriptOptions,
    commits: Annotated[
        str,
        typer.Option(
            "--commits",
            help="What commits are like, for the forecast of labels: mixed, refactoring, tuning "
            "or bold.",
        ),
    ] = "mixed",
    everything: Annotated[
        bool, typer.Option("--all", help="Add the numbers of every estimator.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Derive the numbers step by step.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """What a script needs: examples, labels over a testset's life, and what it means."""
    request = options.request()
    # Here and not above, because --help needs no numbers.
    from easeci.cli.plan_text import show_plan
    from easeci.plan.commit_mix import MIXES
    from easeci.plan.document import plan_document
    from easeci.service.checks import make_plan

    if commits not in MIXES:
        raise UsageError(
            f"--commits: there is no mix '{commits}'", hint=f"Choose one of {', '.join(MIXES)}."
        )
    made = make_plan(request.script, commits)
    if as_json:
        show_warnings(made.warnings)
        print_json(plan_document(made))
    else:
        show_plan(request, made, everything=everything, explain=explain)
