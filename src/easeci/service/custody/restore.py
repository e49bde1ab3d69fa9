"""Put a backup back as a store, and go on with a store that is older than this clone has seen."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeci.errors import DataError, InfrastructureError, UsageError
from easeci.files import (
    IGNORED_BY_GIT,
    create_file,
    create_folder,
    explained,
    make_folder,
    remove_folder,
    replacing,
    unfinished,
)
from easeci.ledger.events import OlderStoreAccepted
from easeci.service.custody.backup import ABOUT, FORMAT
from easeci.service.custody.verify import projects_damage
from easeci.service.project import Project, load_ledger
from easeci.store.head_note import ChangedNoteError
from easeci.store.placing import DATABASE, LEDGER, database_path
from easeci.store.store import Store
from easeci.vault.file_times import forget_times
from easeci.vault.key import KEY_FILE, load_key
from easeci.vault.paths import EXAMPLES, PARTS, SAMPLE, VAULT

MEMBERS = re.compile(rf"{re.escape(ABOUT)}|{KEY_FILE}|{LEDGER}/{DATABASE}|{VAULT}(/[^/]+){{3,}}")
"""The names of the files in a backup."""
IGNORE = ".gitignore"


@dataclass(frozen=True)
class Restored:
    """A store that was put back: when its backup was made, and how far its projects had come."""

    store: Path
    at: str
    events: dict[str, int]


def restore_backup(file: Path, store: Path, *, key_file: Path | None = None) -> Restored:
    """Put a backup back as a new store, all of it or nothing; every part of it is verified."""
    _require_free(store)
    about: dict[str, Any] = {}

    def fill(folder: Path) -> None:
        create_file(folder / IGNORE, IGNORED_BY_GIT)  # first: this may lie in a work tree
        about.update(_unpack(file, folder))
        if key_file is not None:
            with explained(f"the key {key_file} cannot be read"):
                create_file(folder / KEY_FILE, key_file.read_bytes())
        _verify(file, folder)
        for testset in (folder / VAULT).glob("*/*"):
            sample = testset / SAMPLE
            for place in (testset, sample) if sample.is_dir() else (testset,):
                for part in PARTS:
                    make_folder(place / part)
                forget_times(place / EXAMPLES)

    with explained(f"the backup was not restored to {store}"):
        make_folder(store.parent)
        _sweep(store.parent)
        if store.exists():  # nothing but what git is told about it
            remove_folder(store)
        create_folder(store, fill)
    opened = Store.open(store)
    heads = {name: opened.head(name) for name in opened.projects()}
    events = {name: 0 if head is None else head.number for name, head in heads.items()}
    return Restored(store, str(about["at"]), events)


def _sweep(folder: Path) -> None:
    """Remove what killed restores have left beside the store."""
    for path in folder.iterdir():
        if unfinished(path.name) and path.is_dir() and not path.is_symlink():
            remove_folder(path)


def _require_free(store: Path) -> None:
    with explained(f"the store {store} cannot be used"):
        if not store.exists():
            return
        used = (store / KEY_FILE).exists() or database_path(store).exists()
        if used or any(path.name != IGNORE for path in store.iterdir()):
            raise UsageError(
                f"there is a store in {store} already",
                hint="Nothing was done. Move that folder away first, and keep it until you know "
                "that you need nothing of it.",
            )


def _unpack(file: Path, folder: Path) -> dict[str, Any]:
    """Write the files of a backup to a folder; returns the backup's description of itself."""
    about: dict[str, Any] = {}
    try:
        with file.open("rb") as source, tarfile.open(fileobj=source, mode="r|") as tar:
            for member in tar:
                if not member.isreg() or not MEMBERS.fullmatch(member.name):
                    raise _not_a_backup(file)
                content = tar.extractfile(member)
                assert content is not None
                if member.name == ABOUT:
                    about = _parse(file, content.read())
                    continue
                target = folder / member.name
                if not about or not target.resolve().is_relative_to(folder.resolve()):
                    raise _not_a_backup(file)
                make_folder(target.parent)
                with replacing(target, member.mode & 0o777) as written:
                    shutil.copyfileobj(content, written)
    except FileNotFoundError:
        raise UsageError(f"there is no file {file}") from None
    except (tarfile.TarError, EOFError):
        raise _not_a_backup(file) from None
    if not about:
        raise _not_a_backup(file)
    return about


def _parse(file: Path, content: bytes) -> dict[str, Any]:
    try:
        about = json.loads(content)
    except ValueError:
        raise _not_a_backup(file) from None
    if not isinstance(about, dict) or about.get("format") != FORMAT or "at" not in about:
        raise DataError(
            f"{file} has a format that this version of easeci does not know",
            hint="It may come from a newer easeci: upgrade this one.",
        )
    return about


def _not_a_backup(file: Path) -> DataError:
    return DataError(
        f"{file} is not a backup of easeci, or is damaged",
        hint="Nothing was restored. `easeci backup FILE` writes one.",
    )


def _verify(file: Path, folder: Path) -> None:
    if not (folder / KEY_FILE).exists():
        raise UsageError(
            f"{file} has no key in it", hint="Name the file that holds it: --key FILE."
        )
    key = load_key(folder)
    found = projects_damage(Store.open(folder), key, folder / VAULT)
    if found:
        raise InfrastructureError(
            f"the backup is damaged, or the key is another one: {found[0]}"
            + (f" (and {len(found) - 1:,} more)" if len(found) > 1 else ""),
            hint="Nothing was restored.",
        )


def accept_older(
    project: Project, waiting: Callable[[], None] | None = None, *, by: str = ""
) -> str | None:
    """Go on with a store that lacks events which this clone has seen; recorded in the chain.

    Returns what was accepted; None if the store lacks nothing. The project must have been opened
    with ``refuse_older=False``.
    """
    with project.exclusive(waiting):
        problem = load_ledger(project.store, project.name, project.head_note).older
        if problem is not None:
            try:
                seen = project.head_note.read()
            except ChangedNoteError:
                seen = None
            number = 0 if seen is None else seen.number
            project.append(OlderStoreAccepted(number, project.head.number, by))
        return problem
