"""The ``easeci`` command and the one place where errors become messages and exit codes."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from functools import cache
from io import TextIOWrapper
from typing import Annotated, Any

import typer
import typer.exceptions
import typer.main

from easeci import __version__
from easeci.cli.commands import CommandGroup
from easeci.errors import UNIX_MODULES, EaseciError, ExitCode, UsageError, needs_unix, unexpected

REPORT = "This is a bug in easeci; please report it with the command that led to it."
MORE_HELP = "`easeci COMMAND --help` lists the options of a command."

app = typer.Typer(
    name="easeci",
    cls=CommandGroup,
    help="Continuous integration for machine-learning models, with a guarantee.",
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=(
        "Exit codes: 0 pass or accepted · 1 fail · 2 usage, script or data error · 3 waiting for "
        "labels or scores · 4 a new testset is needed · 5 build error · 6 infrastructure, or an "
        "unexpected error · 130 interrupted."
    ),
)


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
def easeci_command() -> Callable[..., Any]:
    """The command ``easeci``; made once, because tests call it many times."""
    return typer.main.get_group(app)


def main() -> None:
    """Run the command line; every end is an exit code, none is a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that can't show δ shows ?
    gc.set_threshold(50_000)  # modules stay in memory: collecting while they load is wasted time
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run one command in this process and return its exit code."""
    try:
        ended = easeci_command()(arguments, prog_name="easeci", standalone_mode=False)
    except typer.exceptions.TyperException as error:
        if error.format_message():  # a group without a command has shown its help instead
            _show(UsageError(error.format_message(), hint=MORE_HELP))
        return ExitCode.USAGE
    except (KeyboardInterrupt, typer.Abort):
        print("interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except EaseciError as error:
        _show(error)
        return error.exit_code
    except SystemExit:
        # Typer exits with 1 when the reader of our output has gone (a closed pipe). That code
        # would read as a verdict.
        return ExitCode.INTERNAL
    except BaseException as error:  # noqa: BLE001 - a panic of polars is not an Exception
        if isinstance(error, ModuleNotFoundError) and error.name in UNIX_MODULES:
            _show(needs_unix(error.name))
        else:
            print(f"error: {unexpected(error)}\n{REPORT}", file=sys.stderr)
        return ExitCode.INTERNAL
    return int(ended or 0)


def _show(error: EaseciError) -> None:
    from easeci.cli.terminal import show_error  # not above: --help does without it

    show_error(error)
