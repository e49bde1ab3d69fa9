"""Sandboxes without namespaces: Landlock with a filter of system calls, or none at all."""

from __future__ import annotations

import base64
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from easeci.build.sandbox import SYSTEM_FOLDERS, SYSTEM_SETTINGS, Job, Launch, Layout
from easeci.build.seccomp import seccomp_filter
from easeci.build.workspace import Workspace
from easeci.errors import InfrastructureError

SUPERVISE = Path(__file__).with_name("supervise.py")
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
ABOUT_MACHINE = ("self", "cpuinfo", "meminfo", "stat", "filesystems", "version", "uptime", "sys")
"""Of /proc, nothing of other processes: their folders are their user's, and so the program's."""
WRITABLE_DEVICES = ("/dev/null", "/dev/zero", "/dev/full")


@dataclass(frozen=True)
class Landlock:
    """Runs programs where they may reach nothing but what they are given.

    They share the machine's processes and users with all others, so it is the second choice: names
    of other processes can be seen, and the network is closed by having no sockets at all.
    """

    name: str = "landlock"
    changes_user: bool = True
    has_mounts: bool = False

    def layout(self, workspace: Workspace) -> Layout:
        return _own_names(workspace)

    def launch(self, job: Job) -> Launch:
        readable = [*SYSTEM_FOLDERS, *(f"/etc/{name}" for name in SYSTEM_SETTINGS)]
        readable += [f"/proc/{name}" for name in ABOUT_MACHINE]
        readable += [str(mount.source) for mount in job.mounts]
        _refuse_hidden_inside(readable, job.hidden)
        if job.workspace.uid is not None:
            _require_ways(job)
        writable = [str(folder) for folder in job.workspace.writable]
        return _launch(
            job,
            confined=True,
            readable=[*readable, *DEVICES, str(job.workspace.examples)],
            writable=[*writable, *WRITABLE_DEVICES],
            filter=base64.b64encode(seccomp_filter(namespaces=False) or b"").decode(),
            processes=job.limits.processes if job.workspace.uid is not None else None,
        )


@dataclass(frozen=True)
class Unsandboxed:
    """Runs programs as the invoking user, who trusts them with everything. Only limits are kept."""

    name: str = "none"
    changes_user: bool = False
    has_mounts: bool = False

    def layout(self, workspace: Workspace) -> Layout:
        return _own_names(workspace)

    def launch(self, job: Job) -> Launch:
        nothing: list[str] = []
        return _launch(
            job, confined=False, readable=nothing, writable=nothing, filter="", processes=None
        )


def _own_names(space: Workspace) -> Layout:
    return Layout(space.checkout, space.examples, space.output, space.home, space.tmp)


def _launch(job: Job, **more: object) -> Launch:
    orders = {
        "command": job.command,
        "environment": dict(job.environment),
        "folder": str(job.workspace.checkout),
        "uid": job.workspace.uid,
        "file_bytes": job.limits.output_bytes,
        "parent": os.getpid(),
        **more,
    }
    path = job.workspace.private / "orders.json"
    path.write_text(json.dumps(orders), "utf-8")
    return Launch([sys.executable, "-I", "-S", str(SUPERVISE), str(path)])


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
    """The build's user must get to its interpreter and to what the script names by its own way."""
    wanted = [mount.source for mount in job.mounts if mount.required]
    if Path(job.command[0]).is_absolute():
        wanted.append(Path(job.command[0]).resolve())
    for place in wanted:
        for step in place.parents:
            if not step.stat().st_mode & 0o001:
                raise InfrastructureError(
                    f"builds cannot get to {place}: {step} is closed to other users",
                    hint="Install bubblewrap, which needs no way there: apt-get install bubblewrap",
                )
