"""A backup: one file with everything that a store needs to go on elsewhere.

::

    easeci-backup.json    the format, and how far each project had come
    key                   unless the owner keeps it apart
    ledger/ledger.db      a consistent copy, taken while others may write
    vault/…               every recorded file, and answers of labellers that wait to be recorded

It holds the labels. The objects of git are not in it: they are fetched again from the repository,
and the baseline's files are in the vault.
"""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from easeci.build.workspace import open_scratch
from easeci.errors import InfrastructureError, UsageError
from easeci.files import PRIVATE_FILE, create_file, explained, make_folder, replacing
from easeci.ledger.chain import Head
from easeci.ledger.events import BackupBegun
from easeci.service.custody.verify import recorded_files
from easeci.service.project import Project, utc_now
from easeci.store.placing import DATABASE, LEDGER, copy_database
from easeci.store.store import Store
from easeci.vault.journal import NAME as JOURNAL
from easeci.vault.key import KEY_FILE, Key
from easeci.vault.paths import LABELS, VAULT

ABOUT = "easeci-backup.json"
FORMAT = 1
TRIES = 3
"""How often a backup starts again because a file was replaced meanwhile."""


@dataclass(frozen=True)
class Backup:
    """What a backup holds: of which store, the head of each project, and when it was made."""

    store: str
    at: str
    heads: dict[str, Head]

    def document(self) -> bytes:
        """The backup's own description, as JSON."""
        heads = {name: [head.number, head.code] for name, head in self.heads.items()}
        about = {"format": FORMAT, "store": self.store, "at": self.at, "heads": heads}
        return json.dumps(about).encode()


class _ReplacedError(Exception):
    """A recorded file is gone: only the archive of an earlier baseline ever goes."""


def write_backup(
    project: Project,
    target: Path,
    *,
    key_file: Path | None = None,
    waiting: Callable[[], None] | None = None,
    by: str = "",
) -> Backup:
    """Write a backup of the project's whole store to a file, or nothing at all.

    With ``key_file``, the key goes to that file and not into the backup. Other commands and
    labellers can work meanwhile.
    """
    _require_safe(project, target)
    if key_file is not None:
        _require_safe(project, key_file)
        _keep_key_apart(project.vault.key, target, key_file)
    with (
        explained(f"the backup was not written to {target}"),
        replacing(target.absolute(), PRIVATE_FILE) as file,
    ):
        with project.exclusive(waiting):  # before the copy, so that the copy holds this event
            project.append(BackupBegun(with_key=key_file is None, by=by))
        for _ in range(TRIES):
            with suppress(_ReplacedError):
                return _fill(project, file, with_key=key_file is None)
        raise InfrastructureError(
            "files of the store are missing, or change all the time",
            hint="No backup was made. `easeci log --verify` lists what is missing.",
        )


def _keep_key_apart(key: Key, target: Path, key_file: Path) -> None:
    """Write the key to its file, unless it is there from an earlier backup."""
    content = key.file_content()
    with explained(f"the key was not written to {key_file}"):
        if key_file.exists() and key_file.read_bytes() == content:
            return
        if key_file.exists() or key_file.resolve() == target.resolve():
            raise UsageError(
                f"{key_file} is another file", hint="Name a new file for the key: --key-apart FILE."
            )
        create_file(key_file.absolute(), content)


def _require_safe(project: Project, path: Path) -> None:
    """Refuse a place where labels could be committed, or lost together with the store."""
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.absolute().parent}")
    for folder in (*project.repository.folders, project.store.folder):
        if path.resolve().is_relative_to(folder.resolve()):
            raise UsageError(
                f"{path} lies in {folder}",
                hint="A backup holds the labels: name a file outside the repository and the store.",
            )


def _fill(project: Project, file: IO[bytes], *, with_key: bool) -> Backup:
    store, key = project.store.folder, project.vault.key
    file.seek(0)
    file.truncate()
    # Before the copy of the ledger: what is recorded in between is then in both, which is harmless.
    journals = [(path, path.read_bytes()) for path in _journals(store)]
    with (
        open_scratch((*project.repository.folders, store)) as scratch,
        tarfile.open(fileobj=file, mode="w|", format=tarfile.PAX_FORMAT) as tar,
    ):
        copied = scratch / LEDGER / DATABASE
        make_folder(copied.parent)
        copy_database(project.store.path, copied)
        copy = Store.open(scratch)
        heads = {name: copy.head(name) for name in copy.projects()}
        known = {name: head for name, head in heads.items() if head is not None}
        made = Backup(key.identity, utc_now(), known)
        _add(tar, ABOUT, made.document())
        if with_key:
            _add(tar, KEY_FILE, key.file_content())
        _add(tar, f"{LEDGER}/{DATABASE}", copied.read_bytes())
        for path, content in journals:
            _add(tar, path.relative_to(store).as_posix(), content)
        for path, digest in recorded_files(copy, key, store / VAULT):
            _add_checked(tar, path, path.relative_to(store).as_posix(), digest, key)
    return made


def _journals(store: Path) -> Iterator[Path]:
    """Answers that labellers have given and that wait to be recorded."""
    for path in sorted((store / VAULT).glob(f"*/*/{LABELS}/{JOURNAL}")):
        if path.stat().st_size:
            yield path


def _add(tar: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(content), PRIVATE_FILE
    tar.addfile(member, io.BytesIO(content))


class _DigestingReader(io.RawIOBase):
    """Passes a file on, and gives each block to ``note``."""

    def __init__(self, file: IO[bytes], note: Callable[[bytes], object]) -> None:
        self._file, self._note = file, note

    def read(self, size: int = -1) -> bytes:
        """The next bytes of the file."""
        block = self._file.read(size)
        self._note(block)
        return block


def _add_checked(tar: tarfile.TarFile, path: Path, name: str, digest: str, key: Key) -> None:
    """Add a recorded file; an error if it is not what was recorded."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        raise _ReplacedError from None
    with file:
        member = tar.gettarinfo(arcname=name, fileobj=file)
        member.uid = member.gid = 0
        member.uname = member.gname = ""
        running = key.running_digest()
        tar.addfile(member, _DigestingReader(file, running.update))
    if running.hexdigest() != digest:
        raise InfrastructureError(
            f"{name} was changed or damaged since it was stored",
            hint="No backup was made. `easeci log --verify` lists all damage.",
        )
