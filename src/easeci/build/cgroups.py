"""A control group for one build: the kernel holds its memory and its processes to their limits.

Version 1 and 2 of control groups differ in file names and in who may make a group where; here both
look the same. Where no group can be made, there is none, and the caller has to count.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from easeci.errors import InfrastructureError

PREFIX = "easeci-build-"
CONTROLLERS = ("memory", "pids")
ENDING_SECONDS = 60.0
NEARLY = 0.95
MOUNTS, OWN = Path("/proc/self/mountinfo"), Path("/proc/self/cgroup")
ENTER = 'for file; do echo 0 >"$file" || exit 1; done'


@dataclass(frozen=True)
class GroupFolder:
    """A folder of a hierarchy in which groups can be made, and its version: 1 or 2."""

    folder: Path
    version: int


@dataclass(frozen=True)
class BuildCgroup:
    """The group of one build. In version 1 memory and processes have a folder each."""

    memory: GroupFolder
    pids: GroupFolder

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder of the group, each once."""
        return tuple(dict.fromkeys((self.memory.folder, self.pids.folder)))

    @property
    def entrances(self) -> tuple[Path, ...]:
        """The files to which a process writes 0 to get into the group, for good."""
        return tuple(folder / "cgroup.procs" for folder in self.folders)

    def limit_memory(self, size: int) -> None:
        """Let the group hold no more memory than this, be it swapped out or not."""
        if self.memory.version == 2:
            _set(self.memory.folder / "memory.max", size)
            _set_if_there(self.memory.folder / "memory.swap.max", 0)
            _set_if_there(self.memory.folder / "memory.oom.group", 1)
        else:
            # The limit with swap may never be the lower one of the two, so it goes first or last.
            _set_if_there(self.memory.folder / "memory.memsw.limit_in_bytes", size)
            _set(self.memory.folder / "memory.limit_in_bytes", size)
            _set_if_there(self.memory.folder / "memory.memsw.limit_in_bytes", size)

    def limit_processes(self, most: int) -> None:
        """Let the group have no more processes and threads than this."""
        _set(self.pids.folder / "pids.max", most)

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel has ended a process because the group reached its limit.

        It may also end one because the whole machine ran out; that is not the build's doing.
        """
        if self.memory.version == 2:
            events = _counts(self.memory.folder / "memory.events")
            return bool(events.get("oom") and events.get("oom_kill"))
        # Version 1 does not tell whose limit it was; some pages are charged ahead and not yet used.
        peak, limit = (
            _number(self.memory.folder / name)
            for name in ("memory.max_usage_in_bytes", "memory.limit_in_bytes")
        )
        killed = _counts(self.memory.folder / "memory.oom_control").get("oom_kill")
        return bool(killed and peak >= NEARLY * limit)

    def refused_processes(self) -> bool:
        """Whether the kernel has refused a process or thread because there were too many."""
        return _counts(self.pids.folder / "pids.events").get("max", 0) > 0

    def end_all(self) -> None:
        """End every process of the group, and return only when none is left.

        Nothing in it can start a process meanwhile: it may have none from now on.
        """
        with suppress(OSError):
            self.limit_processes(0)
        until = time.monotonic() + ENDING_SECONDS
        while left := {pid for folder in self.folders for pid in _members(folder)}:
            for pid in left:
                _kill_member(pid, self.folders)
            if time.monotonic() > until:
                raise InfrastructureError(f"{len(left)} processes of the build cannot be ended")
            time.sleep(0.001)


@contextmanager
def open_cgroup(memory_bytes: int, processes: int) -> Iterator[BuildCgroup | None]:
    """A group with these limits, which is emptied and removed whatever happens; None if we can't.

    The next build removes what a killed one has left.
    """
    places = find_places(MOUNTS.read_text("utf-8"), OWN.read_text("utf-8"))
    claimed: dict[Path, tuple[Path, int]] = {}
    try:
        group = None if places is None else _made(places, claimed)
        if group is not None and not _usable(group, memory_bytes, processes):
            group = None
        yield group
        if group is not None:
            group.end_all()
    finally:
        for folder, lock in claimed.values():
            _remove(folder)
            os.close(lock)


def find_places(mounts: str, own: str) -> dict[str, GroupFolder] | None:
    """Where groups for memory and processes can be made, from this process's mounts and groups."""
    paths: dict[str, str] = {}
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        paths |= dict.fromkeys(names.split(","), path)
    found: dict[str, GroupFolder] = {}
    for line in mounts.splitlines():
        front, _, back = line.partition(" - ")
        root, point = (_unescaped(field) for field in front.split()[3:5])
        kind, _, options = back.split()[:3]
        if kind == "cgroup":
            for name in set(CONTROLLERS) & set(options.split(",")) & set(paths):
                if (folder := _below(point, root, paths[name])) is not None:
                    found.setdefault(name, GroupFolder(folder, 1))
        elif kind == "cgroup2" and (folder := _below(point, root, paths.get("", "/"))) is not None:
            for delegated in _delegated(folder, Path(point)):
                found |= {
                    name: GroupFolder(delegated, 2) for name in CONTROLLERS if name not in found
                }
    return found if set(found) == set(CONTROLLERS) else None


def _unescaped(field: str) -> str:
    return field.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")


def _below(point: str, root: str, path: str) -> Path | None:
    """Where a group is seen, if the mount at ``point`` shows the hierarchy from ``root`` on."""
    if not Path(path).is_relative_to(root):
        return None
    return Path(point) / Path(path).relative_to(root)


def _delegated(folder: Path, top: Path) -> list[Path]:
    """The nearest group above whose children can have limits, if any.

    A group that holds processes itself, as ours does, can't give limits to its children.
    """
    for place in (folder, *folder.parents):
        with suppress(OSError):
            if set(CONTROLLERS) <= set((place / "cgroup.subtree_control").read_text().split()):
                return [place]
        if place == top:
            break
    return []


def _made(
    places: Mapping[str, GroupFolder], claimed: dict[Path, tuple[Path, int]]
) -> BuildCgroup | None:
    """New folders of one name; ``claimed`` gets each with its lock, by the folder above it."""
    name = f"{PREFIX}{secrets.token_hex(8)}"
    made = {}
    for kind, place in places.items():
        if place.folder not in claimed:
            try:
                _sweep(place.folder)
                claimed[place.folder] = _claimed(place.folder / name)
            except OSError:
                return None
        made[kind] = GroupFolder(claimed[place.folder][0], place.version)
    return BuildCgroup(**made)


def _claimed(folder: Path) -> tuple[Path, int]:
    import fcntl

    folder.mkdir()
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    if not folder.is_dir():  # another build swept it before it was locked
        os.close(lock)
        raise FileNotFoundError(folder)
    return folder, lock


def _usable(group: BuildCgroup, memory_bytes: int, processes: int) -> bool:
    """Set the limits, and see whether a process of ours gets in: not every account's does."""
    try:
        group.limit_memory(memory_bytes)
        group.limit_processes(processes)
    except OSError:
        return False
    command = ["/bin/sh", "-c", ENTER, "sh", *map(str, group.entrances)]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0  # noqa: S603


def _sweep(above: Path) -> None:
    """Empty and remove the groups of killed commands. A live one holds its lock."""
    import fcntl

    for folder in above.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for pid in _members(folder):
                    _kill_member(pid, (folder,))
                _remove(folder)
            finally:
                os.close(lock)


def _remove(folder: Path) -> None:
    """Remove an empty group. The last process of it may be gone a moment later than it seems."""
    until = time.monotonic() + 1
    while True:
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            if time.monotonic() > until:
                return
            time.sleep(0.001)
        else:
            return


def _members(folder: Path) -> list[int]:
    try:
        return [int(line) for line in (folder / "cgroup.procs").read_text().split()]
    except OSError:
        return []


def _kill_member(pid: int, folders: Sequence[Path]) -> None:
    """Kill a process if it still belongs to the group; its number may have a new owner."""
    with suppress(OSError):
        held = os.pidfd_open(pid)
        try:
            if any(pid in _members(folder) for folder in folders):
                signal.pidfd_send_signal(held, signal.SIGKILL)
        finally:
            os.close(held)


def _set(file: Path, value: int) -> None:
    descriptor = os.open(file, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, str(value).encode())
    finally:
        os.close(descriptor)


def _set_if_there(file: Path, value: int) -> None:
    with suppress(OSError):
        _set(file, value)


def _counts(file: Path) -> dict[str, int]:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return {}
    return {name: int(value) for name, value in (line.split() for line in lines)}


def _number(file: Path) -> int:
    try:
        return int(file.read_text())
    except OSError:
        return 0
