"""``easeci backup`` and ``easeci restore``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from easeci.cli.project_options import (
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json, show_warnings, working
from easeci.errors import UsageError
from easeci.times import readable_time


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; outside the repository.")],
    key_apart: Annotated[
        Path | None,
        typer.Option("--key-apart", help="Write the key to this new file, not into the backup."),
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the whole store to one file, while others may work: ledger, labels, examples, key."""
    from easeci.service.custody.backup import write_backup

    found = opened(store, project)
    with working("writing the backup"):
        made = write_backup(found, file, key_file=key_apart, waiting=say_waiting, by=login_name())
    if as_json:
        events = {name: head.number for name, head in made.heads.items()}
        print_json({"file": str(file), "store": made.store, "at": made.at, "events": events})
        return
    output().print(f"Wrote {file}: every recorded file is in it, and was verified.")
    where = "It holds the labels and the key" if key_apart is None else "It holds the labels"
    output().print(f"{where}: keep it where developers cannot read it.")


def restore(
    file: Annotated[Path | None, typer.Argument(help="A file that `easeci backup` wrote.")] = None,
    key: Annotated[
        Path | None, typer.Option("--key", help="The file of the key, if it was kept apart.")
    ] = None,
    accept_older: Annotated[
        bool,
        typer.Option(
            "--accept-older", help="Go on with a store that is older than this clone has seen."
        ),
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put a backup back as a new store, or accept a store that is older than was seen here."""
    if file is None and not accept_older:
        raise UsageError(
            "which backup is to be restored?", hint="Name its file, or give --accept-older."
        )
    document: dict[str, object] = {}
    if file is not None:
        document |= _restore(file, key, store, quiet=as_json)
    document["accepted"] = _accept(store, project) if accept_older else None
    if as_json:
        print_json(document)
    elif accept_older:
        accepted = document["accepted"]
        output().print(
            "There is nothing to accept: the store holds all that was seen here."
            if accepted is None
            else f"Accepted, and recorded: {accepted}. Answers that developers have heard since "
            "then are not counted, so it is best to retire the testset (`easeci testset retire`)."
        )
    elif file is not None:
        _warn(store, project)


def _restore(file: Path, key: Path | None, store: Path | None, *, quiet: bool) -> dict[str, object]:
    from easeci.build.repository import Repository
    from easeci.service.custody.restore import restore_backup
    from easeci.service.project import store_folder

    where = store_folder(Repository.find(Path()), store).absolute()
    with working("restoring the backup"):
        restored = restore_backup(file, where, key_file=key)
    if not quiet:
        output().print(
            f"Restored {where} from the backup of {readable_time(restored.at)} UTC: every event "
            "and every file is as it was recorded."
        )
    return asdict(restored) | {"store": str(where)}


def _accept(store: Path | None, project: str | None) -> str | None:
    from easeci.service.custody.restore import accept_older

    found = opened(store, project, refuse_older=False)
    return accept_older(found, say_waiting, by=login_name())


def _warn(store: Path | None, project: str | None) -> None:
    """Say at once what the next command would refuse."""
    from easeci.service.project import load_ledger

    try:
        found = opened(store, project, refuse_older=False)
    except UsageError as error:  # such as a store of another repository
        show_warnings((error.message,))
        return
    older = load_ledger(found.store, found.name, found.head_note).older
    if older is not None:
        show_warnings((f"{older}. To go on with it: `easeci restore --accept-older`",))
