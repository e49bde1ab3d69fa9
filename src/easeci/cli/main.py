"""The ``easeci`` command and the one place where errors become messages and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from io import TextIOWrapper
from typing import Annotated, Any

import typer
import typer.exceptions
import typer.main

from easeci import __version__
from easeci.cli.baseline import baseline
from easeci.cli.check import check
from easeci.cli.hook import hook
from easeci.cli.init import init
from easeci.cli.label import label
from easeci.cli.labels import labels
from easeci.cli.log import log
from easeci.cli.outbox import outbox
from easeci.cli.plan import plan
from easeci.cli.report import report
from easeci.cli.run import run as run_command
from easeci.cli.serve import serve
from easeci.cli.simulate import simulate
from easeci.cli.status import status
from easeci.cli.terminal import show_error
from easeci.cli.testset import testset
from easeci.cli.token import token
from easeci.cli.try_ import try_
from easeci.cli.watch import watch
from easeci.errors import EaseciError, ExitCode, UsageError, unexpected

REPORT = "This is a bug in easeci; please report it with the command that led to it."
MORE_HELP = "`easeci COMMAND --help` lists the options of a command."

app = typer.Typer(
    name="easeci",
    help="Continuous integration for machine-learning models, with a guarantee.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 pass or accepted · 1 fail · 2 usage, script or data error · 3 waiting for "
        "labels · 4 a new testset is needed · 5 build error · 6 infrastructure, or an unexpected "
        "error · 130 interrupted."
    ),
)
app.command()(init)
app.command()(plan)
app.command()(check)
app.command()(simulate)
app.add_typer(testset, name="testset")
app.command(name="run")(run_command)
app.command(name="try")(try_)
app.command()(label)
app.add_typer(labels, name="labels")
app.add_typer(baseline, name="baseline")
app.command()(status)
app.command()(log)
app.command()(outbox)
app.command()(report)
app.add_typer(hook, name="hook")
app.command()(watch)
app.add_typer(token, name="token")
app.command()(serve)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"easeci {__version__}")
        raise typer.Exit


@app.callback()
def easeci(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - its callback answers
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Continuous integration for machine-learning models, with a guarantee."""
    if context.invoked_subcommand is None:
        print(context.get_help())


@cache
def whole_command() -> Callable[..., Any]:
    """All of the above as one command: reading every signature takes a while, so only once."""
    return typer.main.get_command(app)


def main() -> None:
    """Run the command line; every end is an exit code, none is a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that can't show δ shows ?
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    try:
        ended = whole_command()(arguments, prog_name="easeci", standalone_mode=False)
    except typer.exceptions.TyperException as error:
        if error.format_message():  # a group without a command has shown its help instead
            show_error(UsageError(error.format_message(), hint=MORE_HELP))
        return ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except EaseciError as error:
        show_error(error)
        return error.exit_code
    except SystemExit:
        # typer ends so when whoever read our output has gone; there is nobody left to tell, but
        # its code 1 would read as a verdict.
        return ExitCode.INTERNAL
    except BaseException as error:  # noqa: BLE001 - polars panics are no Exception
        print(f"error: {unexpected(error)}\n{REPORT}", file=sys.stderr)
        return ExitCode.INTERNAL
    return int(ended or 0)
