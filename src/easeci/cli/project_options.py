"""The options that say which project is meant, shared by the commands that act on one."""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from easeci.service.commits.sent import SentPredictions
    from easeci.service.project import Project

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        envvar="EASECI_STORE",
        show_envvar=False,
        help="Folder of the store; default: EASECI_STORE, or .easeci of the repository.",
    ),
]
ProjectOption = Annotated[
    str | None,
    typer.Option("--project", help="Name in the store; default: the repository's folder."),
]
UnsandboxedOption = Annotated[
    bool,
    typer.Option(
        "--unsandboxed", help="Run the program with your own rights if there is no other way."
    ),
]
PredictionsOption = Annotated[
    Path | None,
    typer.Option(
        "--predictions",
        help="File of id,prediction (CSV, JSONL or Parquet) that was made elsewhere: nothing is "
        "built then, and that is recorded.",
    ),
]
OwnerOption = Annotated[
    bool, typer.Option("--owner", help="Show more than the signals; the look is recorded.")
]
ByOption = Annotated[str | None, typer.Option("--by", help="Who labels; default: your login name.")]


def opened(
    store: Path | None, project: str | None, *, create: bool = False, refuse_older: bool = True
) -> Project:
    """Open the project that the options name; ``create`` makes it if it is new.

    With ``refuse_older``, a store that is older than this clone has seen is an error.
    """
    # Here and not above, because --help needs no store.
    from easeci.service.project import open_project

    return open_project(Path(), store=store, name=project, create=create, refuse_older=refuse_older)


def say_waiting() -> None:
    """Tell the user why nothing happens yet."""
    print("Another command is working on this project: waiting for it.", file=sys.stderr)


def predictions_file(path: Path | None) -> SentPredictions | None:
    """The file that an option names, sent by this account."""
    if path is None:
        return None
    from easeci.service.commits.sent import SentPredictions  # not above: --help needs none

    return SentPredictions(path, login_name())


def say_not_read(path: Path | None, read: bool | None) -> None:
    """Tell the user that a file of predictions was not read."""
    if path is not None and read is False:
        print(
            f"{path.name} was not read: the answer or the predictions of this commit's model were "
            "recorded before.",
            file=sys.stderr,
        )


def login_name() -> str:
    """The name of the account that runs the command; empty if it has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return ""
