"""Sandboxes without namespaces: Landlock with a filter of system calls, or none at all."""

from __future__ import annotations

import base64
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from easeci.build.processes import threads_of
from easeci.build.sandbox import SYSTEM_FOLDERS, SYSTEM_SETTINGS, Job, Launch, Layout
from easeci.build.seccomp import seccomp_filter
from easeci.build.workspace import Workspace
from easeci.errors import InfrastructureError

SUPERVISE = Path(__file__).with_name("supervise.py")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
ABOUT_MACHINE = ("self", "cpuinfo", "meminfo", "stat", "filesystems", "version", "uptime", "sys")
"""The parts of /proc that programs may read. They leave out the folders of other processes: those
of the same user would be open to the program."""
WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


@dataclass(frozen=True)
class Landlock:
    """Runs programs that may reach only the folders that they are given.

    It is the second choice, because programs share processes and users with the rest of the
    machine. They can see the names of other processes, and ask for sizes and times of files that
    they can't open. Reading a file can change its time of access, which other accounts see. They
    have no network, because they cannot make sockets.
    """

    name: str = "landlock"
    changes_user: bool = True
    shared: bool = False
    """Whether other accounts may push. Then it is not used: they could read what a program left."""

    def layout(self, workspace: Workspace) -> Layout:
        """The folders under their own names, since there are no mounts."""
        return _own_names(workspace)

    def launch(self, job: Job, cgroup: tuple[Path, ...]) -> Launch:
        """Start ``supervise.py`` with orders to confine the program."""
        readable = [*SYSTEM_FOLDERS, *(f"/etc/{name}" for name in SYSTEM_SETTINGS)]
        readable += [f"/proc/{name}" for name in ABOUT_MACHINE]
        readable += [str(mount.source) for mount in job.mounts]
        _refuse_hidden_inside(readable, job.hidden)
        if job.workspace.uid is not None:
            _require_ways(job)
        writable = [str(folder) for folder in job.workspace.writable]
        return _launch(
            job,
            cgroup,
            confined=True,
            readable=[*readable, *DEVICES, str(job.workspace.examples)],
            writable=[*writable, *WRITABLE_DEVICES],
            filter=base64.b64encode(seccomp_filter(namespaces=False) or b"").decode(),
        )


@dataclass(frozen=True)
class Unsandboxed:
    """Runs programs with the rights of the invoking user. Only the limits hold."""

    name: str = "none"
    changes_user: bool = False

    def layout(self, workspace: Workspace) -> Layout:
        """The folders under their own names, since there are no mounts."""
        return _own_names(workspace)

    def launch(self, job: Job, cgroup: tuple[Path, ...]) -> Launch:
        """Start ``supervise.py`` with orders that confine nothing."""
        nothing: list[str] = []
        return _launch(job, cgroup, confined=False, readable=nothing, writable=nothing, filter="")


def _own_names(space: Workspace) -> Layout:
    return Layout(space.checkout, space.examples, space.output, space.home, space.tmp)


def _launch(job: Job, cgroup: tuple[Path, ...], **more: object) -> Launch:
    orders = {
        "command": job.command,
        "environment": dict(job.environment),
        "folder": str(job.workspace.checkout),
        "uid": job.workspace.uid,
        "file_bytes": job.limits.output_bytes,
        "processes": _most_processes(job),
        "parent": os.getpid(),
        "cgroup": list(map(str, cgroup)),
        **more,
    }
    path = job.workspace.private / "orders.json"
    path.write_text(json.dumps(orders), "utf-8")
    return Launch([sys.executable, "-I", "-S", str(SUPERVISE), str(path)])


def _most_processes(job: Job) -> int:
    """The limit of processes for the user that the program runs as.

    The kernel counts all processes of a user. An invoking account has others running already, and
    those must not count against the build. (A limit does not hold for root.)
    """
    if job.workspace.uid is not None:
        return job.limits.processes
    return job.limits.processes + threads_of(os.getuid())


def _refuse_hidden_inside(readable: list[str], hidden: tuple[Path, ...]) -> None:
    """Landlock can't take a folder out of one that it has given."""
    for secret in hidden:
        for folder in readable:
            if secret.is_relative_to(folder):
                raise InfrastructureError(
                    f"{secret} lies in {folder}, which every program may read",
                    hint="Install bubblewrap, which can hide it, or move it elsewhere.",
                )


def _require_ways(job: Job) -> None:
    """Refuse a build whose user cannot reach its interpreter or a mount of the script."""
    wanted = [mount.source for mount in job.mounts if mount.required]
    if Path(job.command[0]).is_absolute():
        wanted.append(Path(job.command[0]).resolve())
    for place in wanted:
        for step in place.parents:
            if not step.stat().st_mode & 0o001:
                raise InfrastructureError(
                    f"builds cannot get to {place}: {step} is closed to other users",
                    hint="Install bubblewrap, which does not need that: apt-get install bubblewrap",
                )
