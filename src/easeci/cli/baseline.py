"""``easeci baseline``: set."""

from __future__ import annotations

from typing import Annotated

import typer

from easeci.cli.project_options import (
    PredictionsOption,
    ProjectOption,
    StoreOption,
    UnsandboxedOption,
    opened,
    predictions_file,
    say_not_read,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json, working

baseline = typer.Typer(help="The old model that commits are compared with.", no_args_is_help=True)


@baseline.callback()
def _group() -> None:
    """The old model that commits are compared with."""


@baseline.command(name="set")
def set_(
    commit: Annotated[str, typer.Argument(help="Commit, branch or tag.")],
    store: StoreOption = None,
    project: ProjectOption = None,
    predictions: PredictionsOption = None,
    unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Make a commit the baseline, before the first step of a testset."""
    from easeci.service.commits.baseline import set_baseline

    found = opened(store, project)
    with working("building the baseline" if predictions is None else "reading predictions"):
        chosen = set_baseline(
            found,
            commit,
            unsandboxed=unsandboxed,
            predictions=predictions_file(predictions),
            waiting=say_waiting,
        )
    say_not_read(predictions, chosen.file_read)
    if as_json:
        print_json({"baseline": chosen.commit, "file_read": chosen.file_read})
    else:
        output().print(f"The baseline is commit {chosen.commit[:10]}.")
