"""Where developers' accounts hand pushes to the owner's account, and read what came of them.

::

    <repository>/easeci/drop/      everybody may put a file in; only the owner may list it
    <repository>/easeci/results/   the owner writes, developers read: signals and nothing else
    <repository>/easeci/sample/    the owner writes, developers read: the public sample
    <repository>/easeci/private/   the owner's alone: how often each commit was tried

A dropped file only names a commit and a branch, and both are looked up in the repository. Accounts
that may write here may write anything: links, pipes, endless files.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from easeci.build.branches import ANY, LONGEST_NAME
from easeci.build.sharing import Sharing
from easeci.files import replace_file, write_synced
from easeci.service.public_sample import SAMPLE, SHARED
from easeci.service.pushes.attempts import Attempts
from easeci.service.pushes.results import PushResult, parse_result, result_document

LARGEST = 1024
UNFINISHED = ".new-"
FORGOTTEN_SECONDS = 60.0


@dataclass(frozen=True)
class DroppedPush:
    """A push in the drop box: its branch and commit, the account, and the file's name."""

    name: str
    branch: str
    commit: str
    uid: int


@dataclass(frozen=True)
class Refused:
    """A file in the drop box that is not a valid entry."""

    name: str
    uid: int
    why: str


@dataclass(frozen=True)
class DropBox:
    """The drop box and the results of one bare repository."""

    folder: Path

    @staticmethod
    def of(git_dir: Path) -> DropBox:
        """The drop box of a bare repository."""
        return DropBox(git_dir / SHARED)

    @property
    def drop_box(self) -> Path:
        """The folder that developers put files into."""
        return self.folder / "drop"

    @property
    def results(self) -> Path:
        """The folder that developers read results from."""
        return self.folder / "results"

    @property
    def sample(self) -> Path:
        """The folder that developers read the public sample from."""
        return self.folder / SAMPLE

    @property
    def attempts(self) -> Attempts:
        """How often the owner tried each commit; other accounts cannot read it."""
        return Attempts(self.folder / "private" / "attempts")

    def prepare(self, sharing: Sharing) -> None:
        """Make all folders; the accounts that may push get the rights that they need."""
        group = self.folder.parent.joinpath("objects").stat().st_gid
        private = self.attempts.folder
        for folder, theirs in (
            (self.folder, 0o055),
            (self.drop_box, 0o033),
            (self.results, 0o055),
            (self.sample, 0o055),
            (private.parent, 0),
            (private, 0),
        ):
            folder.mkdir(mode=0o700, exist_ok=True)
            os.chown(folder, -1, group)
            sticky = stat.S_ISVTX if folder == self.drop_box else 0
            folder.chmod(0o700 | (theirs & sharing.value) | sticky)

    # The developer's side ------------------------------------------------------------------------

    def drop(self, branch: str, commit: str) -> str:
        """Hand a push over, whole or not at all, under a name that nobody can guess."""
        name = secrets.token_hex(16)
        unfinished = self.drop_box / (UNFINISHED + name)
        content = json.dumps({"branch": branch, "commit": commit}).encode()
        write_synced(unfinished, content, 0o644)  # the owner is another account, and reads it
        unfinished.rename(self.drop_box / name)
        return name

    def wait(self, name: str, commit: str, until: float) -> PushResult | None:
        """Wait for the result: the entry disappears when it is there. None after ``until``."""
        entry = self.drop_box / name
        while entry.exists():
            if time.monotonic() >= until:
                return None
            time.sleep(0.1)
        return self.result(commit)

    def result(self, commit: str) -> PushResult | None:
        """What became of a push of this commit; None if nothing is known yet."""
        with suppress(FileNotFoundError):
            return parse_result(json.loads((self.results / commit).read_bytes()))
        return None

    # The owner's side ----------------------------------------------------------------------------

    def arrived(self) -> list[DroppedPush | Refused]:
        """Everything in the box, in the order of arrival.

        The order is by ``ctime``, which the kernel sets and no owner of a file can forge.
        """
        found = []
        for item in os.scandir(self.drop_box):
            with suppress(FileNotFoundError):
                about = item.stat(follow_symlinks=False)
                fresh = time.time() - about.st_ctime < FORGOTTEN_SECONDS
                if not (item.name.startswith(UNFINISHED) and fresh):
                    found.append((about.st_ctime_ns, item.name))
        return list(self._read_all(name for _, name in sorted(found)))

    def _read_all(self, names: Iterator[str]) -> Iterator[DroppedPush | Refused]:
        for name in names:
            with suppress(FileNotFoundError):
                yield self._read(name)

    def _read(self, name: str) -> DroppedPush | Refused:
        path = self.drop_box / name
        uid = path.lstat().st_uid
        try:
            # Do not follow a link, and do not wait for the writer of a pipe.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            descriptor = os.open(path, flags)
        except FileNotFoundError:
            raise
        except OSError as error:
            return Refused(name, uid, f"it cannot be read ({error.strerror})")
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode) or about.st_nlink != 1:
                return Refused(name, uid, "it is not a regular file of its own")
            if about.st_size > LARGEST:
                return Refused(name, uid, "it is too large")
            content = os.read(descriptor, LARGEST)
        finally:
            os.close(descriptor)
        return parse_push(name, content, about.st_uid)

    def remove(self, name: str) -> bool:
        """Remove something from the box; False for a folder that is not empty."""
        path = self.drop_box / name
        try:
            if stat.S_ISDIR(path.lstat().st_mode):
                path.rmdir()
            else:
                path.unlink()
        except FileNotFoundError:
            pass  # another watcher was faster
        except OSError:
            return False
        return True

    def publish(self, commit: str, result: PushResult) -> None:
        """Leave a result for developers; it replaces an earlier one."""
        text = json.dumps(result_document(result), indent=2, ensure_ascii=False) + "\n"
        replace_file(self.results / commit, text.encode(), 0o644)


def parse_push(name: str, content: bytes, uid: int) -> DroppedPush | Refused:
    """The push that a dropped file names, or what is wrong with the file."""
    try:
        given = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        return Refused(name, uid, "it is not an entry")
    if not re.fullmatch(r"[0-9a-f]{32}", name) or not isinstance(given, dict):
        return Refused(name, uid, "it is not an entry")
    branch, commit = given.get("branch"), given.get("commit")
    if set(given) != {"branch", "commit"} or not isinstance(branch, str):
        return Refused(name, uid, "it is not an entry")
    if not isinstance(commit, str) or not re.fullmatch(r"[0-9a-f]{40}([0-9a-f]{24})?", commit):
        return Refused(name, uid, "it does not name a commit")
    shown = branch.isprintable() and not branch.startswith("-") and ANY not in branch
    if not 0 < len(branch) <= LONGEST_NAME or not shown:
        return Refused(name, uid, "it does not name a branch")
    return DroppedPush(name, branch, commit, uid)
