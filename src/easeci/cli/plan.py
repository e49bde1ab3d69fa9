"""``easeci plan``."""

from __future__ import annotations

from typing import Annotated

import typer

from easeci.cli.script_options import ScriptOptions, takes_script_options
from easeci.cli.terminal import JsonOption, print_json, show_warnings


@takes_script_options
def plan(
    options: ScriptOptions,
    explain: Annotated[
        bool, typer.Option("--explain", help="Derive the numbers step by step.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """How many examples and labels a script needs, by every method, and why."""
    request = options.request()
    # Here and not above, because --help needs no numbers.
    from easeci.cli.plan_text import show_plan
    from easeci.plan.document import plan_document
    from easeci.service.checks import make_plan

    made = make_plan(request.script)
    show_warnings(request.script.warnings())
    if as_json:
        print_json(plan_document(made))
    else:
        show_plan(request, made, explain=explain)
