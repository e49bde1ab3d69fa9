"""A power cut at any moment: what can be on the disk afterwards.

While code runs, every call that changes a folder is noticed, and so is everything that was synced.
A power cut may come after any call. The model is stricter than real file systems:

- Content that was not synced since it was written is lost, there in part, or zeros.
- A name that was made, moved or removed is so for certain only after its folder was synced. Until
  then, every single name in it can be as it was or as it is.
- Syncing a file says nothing of its name, and syncing a folder nothing of the folder's own name.

Only syncing and the loss are simulated: all other calls do their real work on a real disk.
"""

from __future__ import annotations

import io
import os
import random
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

CALLS = (
    "open",
    "write",
    "link",
    "rename",
    "replace",
    "unlink",
    "remove",
    "mkdir",
    "rmdir",
    "ftruncate",
    "truncate",
)
"""The functions of ``os`` after which the power may be cut, besides those that sync."""
ROOT = 0
RANDOM_STATES = 4

Names = Mapping[str, int]
Content = bytes | dict[str, "Content"]
"""What a cut leaves: the content of a file, or of a folder."""


@dataclass(frozen=True)
class Snapshot:
    """Folders and files by number. A number stays with a file under all its names."""

    folders: Mapping[int, Names]
    files: Mapping[int, bytes]


@dataclass(frozen=True)
class Cut:
    """A moment: what processes see, what is on the disk for certain, and what was promised."""

    call: str
    seen: Snapshot
    synced: Snapshot
    acknowledged: tuple[Any, ...]

    def states(self, dice: random.Random) -> Iterator[Content]:
        """Some of the states in which a power cut at this moment may leave the folder."""
        mixed: Callable[[Any], Any] = dice.choice
        oldest, newest = (lambda choices: choices[0]), (lambda choices: choices[-1])
        for names, contents in ((oldest, oldest), (newest, oldest), (oldest, newest)):
            yield self._state(ROOT, names, contents)
        for _ in range(RANDOM_STATES):
            yield self._state(ROOT, mixed, mixed)

    def _state(self, node: int, names: Callable[..., Any], contents: Callable[..., Any]) -> Content:
        if node not in self.seen.folders and node not in self.synced.folders:
            return bytes(contents(self._contents(node)))
        before, now = self.synced.folders.get(node, {}), self.seen.folders.get(node)
        now = before if now is None else now
        found: dict[str, Content] = {}
        for name in sorted({*before, *now}):
            target = names([before.get(name), now.get(name)])
            if target is not None:
                found[name] = self._state(target, names, contents)
        return found

    def _contents(self, node: int) -> list[bytes]:
        """What a file may hold, from the least to the most."""
        certain = self.synced.files.get(node, b"")
        now = self.seen.files.get(node, certain)
        if now == certain and node in self.synced.files:
            return [certain]
        kept = certain if now.startswith(certain) else b""
        half = now[: (len(kept) + len(now)) // 2]
        return [certain, kept + bytes(len(now) - len(kept)), half, now]


class PowerCuts:
    """Watches a folder, and remembers every moment at which the power may be cut.

    Files whose names begin so are ``reliable``: SQLite syncs them itself, unseen from here.
    """

    def __init__(self, root: Path, reliable: tuple[str, ...] = ()) -> None:
        self.cuts: list[Cut] = []
        self._root, self._reliable = root, reliable
        self._nodes: dict[int, int] = {}
        self._next = ROOT
        self._acknowledged: tuple[Any, ...] = ()
        self._folders: dict[int, dict[str, int]] = {}
        self._files: dict[int, bytes] = {}
        self._synced = Snapshot({}, {})
        self._scan()
        self._synced = Snapshot(dict(self._folders), dict(self._files))

    def acknowledge(self, what: Any) -> None:
        """Somebody was told that this is stored."""
        self._acknowledged += (what,)
        self._remember("acknowledged")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Notice all calls while this lasts."""
        self._remember("beginning")
        with ExitStack() as stack:
            for name in CALLS:
                noticed = self._noticing(name, getattr(os, name))
                stack.enter_context(mock.patch.object(os, name, noticed))
            stack.enter_context(mock.patch.object(io, "open", self._noticing("open", io.open)))
            for name in ("fsync", "fdatasync"):
                stack.enter_context(mock.patch.object(os, name, self._sync))
            stack.enter_context(mock.patch.object(os, "sync", self._sync_all))
            yield
        self._remember("end")

    def _noticing(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def noticed(*arguments: Any, **options: Any) -> Any:
            self._remember(f"before {name}")  # a removed file's inode may be given to the next one
            result = call(*arguments, **options)
            self._remember(name)
            return result

        return noticed

    def _sync(self, descriptor: int) -> None:
        """In place of a real sync, which nobody could see without a real power cut."""
        self._remember("before a sync")
        node = self._nodes.get(os.fstat(descriptor).st_ino)
        folders, files = dict(self._synced.folders), dict(self._synced.files)
        if node in self._folders:
            folders[node] = self._folders[node]
        elif node in self._files:
            files[node] = self._files[node]
        self._synced = Snapshot(folders, files)
        self._remember("a sync")

    def _sync_all(self) -> None:
        self._remember("before a sync of all")
        self._synced = Snapshot(dict(self._folders), dict(self._files))
        self._remember("a sync of all")

    def _remember(self, call: str) -> None:
        self._scan()
        seen = Snapshot(self._folders, self._files)
        cut = Cut(call, seen, self._synced, self._acknowledged)
        last = self.cuts[-1] if self.cuts else None
        if last is None or (last.seen, last.synced, last.acknowledged) != (
            cut.seen, cut.synced, cut.acknowledged,
        ):  # fmt: skip
            self.cuts.append(cut)

    def _scan(self) -> None:
        """Look at the folder as processes see it."""
        known, self._nodes = self._nodes, {}
        self._folders, self._files = {}, {}
        self._look(str(self._root), known)

    def _look(self, path: str, known: Mapping[int, int]) -> int:
        status = os.lstat(path)
        if status.st_ino in self._nodes:
            return self._nodes[status.st_ino]
        node = known.get(status.st_ino)
        if node is None:
            node, self._next = self._next, self._next + 1
        self._nodes[status.st_ino] = node
        if stat.S_ISDIR(status.st_mode):
            names = sorted(os.listdir(path))  # noqa: PTH208
            self._folders[node] = {name: self._look(f"{path}/{name}", known) for name in names}
            self._trust(node)
        else:
            with open(path, "rb") as file:  # noqa: PTH123 - that of pathlib is noticed
                self._files[node] = file.read()
        return node

    def _trust(self, folder: int) -> None:
        """Take reliable files for synced, with their names."""
        names, files = dict(self._synced.folders.get(folder, {})), dict(self._synced.files)
        for name in {*names, *self._folders[folder]}:
            if not name.startswith(self._reliable):
                continue
            names.pop(name, None)
            if name in self._folders[folder]:
                names[name] = node = self._folders[folder][name]
                files[node] = self._files[node]
        self._synced = Snapshot({**self._synced.folders, folder: names}, files)


def write_state(state: Content, path: Path) -> None:
    """Write what a power cut left, as it is found after a restart."""
    if isinstance(state, bytes):
        path.write_bytes(state)
        path.chmod(0o600)
        return
    path.mkdir(mode=0o700)
    for name, content in state.items():
        write_state(content, path / name)
