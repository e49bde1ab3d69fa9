"""The sandbox of choice: bubblewrap, with namespaces of its own for everything.

Two programs hand over to one another in one process: ``stage.py`` prepares mounts and, if started
by root, becomes the build's user; ``bwrap`` does the rest as an ordinary user would. (With
``bwrap --uid`` alone the program would be root on the host.)
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from easeci.build.endpoints import find_endpoints
from easeci.build.sandbox import (
    FILE_BYTES,
    SYSTEM_FOLDERS,
    SYSTEM_SETTINGS,
    Job,
    Launch,
    Layout,
    Limits,
    Mount,
)
from easeci.build.seccomp import seccomp_filter
from easeci.build.workspace import Workspace

INSIDE = Path("/easeci")
USER = 1000
PASSWD = f"build:x:{USER}:{USER}:build:{INSIDE}/home:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"
GROUP = f"build:x:{USER}:\nnogroup:x:65534:\n"

STAGE = Path(__file__).with_name("stage.py")

BEGIN = """
echo ready >&0; read -r go || exit 125; exec </dev/null
echo 1000 2>/dev/null >/proc/self/oom_score_adj
exec "$@"
"""
"""Tell that the sandbox is complete, and wait until the program may begin; if memory runs out, let
the kernel end this one first."""


@dataclass(frozen=True)
class Bubblewrap:
    """Runs programs with ``bwrap``."""

    name: str = "bubblewrap"
    changes_user: bool = True

    def layout(self, workspace: Workspace) -> Layout:  # noqa: ARG002 - the same for every build
        """Fixed names, so that a program learns nothing of this machine from them."""
        return Layout(
            checkout=INSIDE / "checkout",
            examples=INSIDE / "examples",
            output=INSIDE / "output",
            home=INSIDE / "home",
            tmp=Path("/tmp"),  # noqa: S108 - a private one
        )

    def launch(self, job: Job, cgroup: tuple[Path, ...]) -> Launch:
        """Start ``stage.py`` with orders that end in ``bwrap``."""
        status, told = os.pipe()
        filters = _filter_descriptor(job.workspace)
        staged = _stage(job)
        room = job.workspace.private / "room"
        room.mkdir()
        orders = {
            "workspace": str(job.workspace.folder),
            "room": str(room.relative_to(job.workspace.folder)),
            "bytes": job.limits.output_bytes,
            "files": max(1, job.limits.output_bytes // FILE_BYTES),
            "mounts": [(str(source), str(place)) for source, place in staged.items()],
            "uid": job.workspace.uid,
            "cgroup": list(map(str, cgroup)),
            "command": [
                *_wrapping(job, staged, told, filters),
                *_limited(job.limits),
                *("/bin/sh", "-c", BEGIN, "sh"),
                *job.command,
            ],
        }
        path = job.workspace.private / "orders.json"
        path.write_text(json.dumps(orders), "utf-8")
        path.chmod(0o600)
        passed = (told,) if filters is None else (told, filters)
        return Launch([sys.executable, "-I", "-S", str(STAGE), str(path)], passed, status)


def _stage(job: Job) -> dict[Path, Path]:
    """Where root puts each mount: the build's user may be unable to reach its real place."""
    if job.workspace.uid is None:
        return {}
    staged = {}
    for number, mount in enumerate(job.mounts):
        place = job.workspace.private / f"mount-{number}"
        if mount.source.is_dir():
            place.mkdir()
        else:
            place.touch()
        staged[mount.source] = place
    return staged


def _wrapping(job: Job, staged: dict[Path, Path], told: int, filters: int | None) -> Iterator[str]:
    yield shutil.which("bwrap") or "bwrap"
    yield from ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session")
    yield from ("--uid", str(USER), "--gid", str(USER), "--hostname", "build")
    yield from ("--json-status-fd", str(told))
    if filters is not None:
        yield from ("--seccomp", str(filters))
    yield from ("--proc", "/proc", "--dev", "/dev")
    # Files in memory count for no process, so the one place for them has a limit of its own.
    yield from ("--size", str(max(1, job.limits.memory_bytes // 2)), "--tmpfs", "/dev/shm")  # noqa: S108
    yield from _system()
    yield from _own(job.workspace)
    yield from _seen(job, staged)
    yield from ("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(INSIDE / "checkout"))
    yield "--clearenv"
    for name, value in job.environment.items():
        yield from ("--setenv", name, value)
    yield "--"


def _system() -> Iterator[str]:
    for name in SYSTEM_FOLDERS:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.exists():
            yield from ("--ro-bind", name, name)
    for name in SYSTEM_SETTINGS:
        yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")


def _seen(job: Job, staged: dict[Path, Path]) -> Iterator[str]:
    """Show mounts and cover what is hidden; outer ones first, so that the inner ones decide."""
    empty = job.workspace.private / "empty"
    empty.touch(0o644)
    covers = dict(_covers(job))
    steps: list[tuple[Path, Mount | None]] = [(mount.target, mount) for mount in job.mounts]
    steps += [(place, None) for place in covers]
    for target, mount in sorted(steps, key=lambda step: len(step[0].parts)):
        if mount is not None:
            bind = "--dev-bind" if target.is_relative_to("/dev") else "--ro-bind"
            yield from (bind, str(staged.get(mount.source, mount.source)), str(target))
        elif covers[target].is_dir():
            yield from ("--tmpfs", str(target))
        else:
            yield from ("--ro-bind", str(empty), str(target))
    for target, secret in covers.items():
        if secret.is_dir():
            yield from ("--remount-ro", str(target))


def _covers(job: Job) -> Iterator[tuple[Path, Path]]:
    """Each place where the program would see something hidden, as the program would name it.

    Sockets and pipes in mounted folders are hidden, too, if they are there when the build begins.
    A script that names one of them itself among its mounts gives it to the program.
    """
    system = [Mount(Path(name), Path(name)) for name in SYSTEM_FOLDERS]
    for secret in filter(Path.exists, job.hidden):
        for mount in (*system, *job.mounts):
            if secret.is_relative_to(mount.source):
                yield mount.target / secret.relative_to(mount.source), secret
    targets = {mount.target for mount in job.mounts}
    for mount in job.mounts:
        if mount.target.is_relative_to("/dev") or not mount.source.is_dir():
            continue
        mounted_apart = (
            mount.source / target.relative_to(mount.target)
            for target in targets
            if target.is_relative_to(mount.target)
        )
        for endpoint in find_endpoints(mount.source, {*job.hidden, *mounted_apart}):
            yield mount.target / endpoint.relative_to(mount.source), endpoint


def _own(workspace: Workspace) -> Iterator[str]:
    for name, text in (("passwd", PASSWD), ("group", GROUP)):
        path = workspace.private / name
        path.write_text(text)
        path.chmod(0o644)
        yield from ("--ro-bind", str(path), f"/etc/{name}")
    yield from ("--bind", str(workspace.tmp), "/tmp")  # noqa: S108
    for folder in (workspace.checkout, workspace.output, workspace.home):
        yield from ("--bind", str(folder), str(INSIDE / folder.name))
    yield from ("--ro-bind", str(workspace.examples), str(INSIDE / "examples"))


def _limited(limits: Limits) -> Iterator[str]:
    prlimit = shutil.which("prlimit", path=os.defpath) or "prlimit"
    yield from (prlimit, "--core=0:0", f"--fsize={limits.output_bytes}:{limits.output_bytes}")
    # Set in here, where the kernel counts the processes of this user namespace only.
    yield from (f"--nproc={limits.processes}:{limits.processes}", "--")


def _filter_descriptor(workspace: Workspace) -> int | None:
    program = seccomp_filter(namespaces=True)
    if program is None:
        return None
    path = workspace.private / "seccomp"
    path.write_bytes(program)
    return os.open(path, os.O_RDONLY)


def missing_programs() -> list[str]:
    """The programs that this sandbox needs and that are not installed."""
    return [program for program in ("bwrap", "prlimit") if shutil.which(program) is None]
