"""The interface of all sandboxes: the job that one gets, and how it is started."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from easeci.build.workspace import Workspace
from easeci.errors import InfrastructureError

MINUTE = 60
KIB = 1024
FILE_BYTES = 1024
"""What a file counts beside its content, so that empty ones are limited, too."""
SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
"""What the machine's own programs need: every program may read these."""
SYSTEM_SETTINGS = (
    *("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "ssl/certs"),
    *("ca-certificates", "fonts", "mime.types", "python3", "magic", "java", "R", "julia"),
)
"""The part of /etc that tells nothing about this machine's users."""


@dataclass(frozen=True)
class Limits:
    """What a program may use. ``processes`` counts threads too, as the kernel does."""

    seconds: int
    memory_bytes: int = 8 * 2**30
    processes: int = 512
    output_bytes: int = 2**30
    log_bytes: int = 1_000_000


@dataclass(frozen=True)
class Mount:
    """A folder or file of this machine that the program may read, and where it sees it.

    Not ``required`` are those that come with the invoking environment, wanted or not.
    """

    source: Path
    target: Path
    required: bool = False


@dataclass(frozen=True)
class Layout:
    """The folders of a workspace, by the names that the program knows them by."""

    checkout: Path
    examples: Path
    output: Path
    home: Path
    tmp: Path


@dataclass(frozen=True)
class Job:
    """A program to be run; ``command`` and ``environment`` name paths as the program sees them."""

    workspace: Workspace
    command: tuple[str, ...]
    environment: Mapping[str, str]
    mounts: tuple[Mount, ...]
    hidden: tuple[Path, ...]
    limits: Limits


@dataclass(frozen=True)
class Launch:
    """How a sandbox is started.

    Its standard input is a socket. The sandbox writes ``ready`` to it when the program itself can
    begin, and begins it when it is told so; this tells a sandbox that fails from a program that
    fails, and a program never begins that nobody watches. Before that it writes ``room`` if all
    that the program can write to is a file system with a size. ``descriptors`` are passed on, and
    closed here once the sandbox runs. On ``status`` the sandbox names the process that is above all
    others; None if that is the started process itself, which then ends its children on SIGTERM.
    """

    command: Sequence[str]
    descriptors: tuple[int, ...] = ()
    status: int | None = None


class SandboxFailedError(InfrastructureError):
    """A sandbox that was started did not come to run the program."""


class Sandbox(Protocol):
    """A way to run a program that is not trusted."""

    @property
    def name(self) -> str:
        """How messages and tests call it."""
        ...

    @property
    def changes_user(self) -> bool:
        """Whether root runs programs as a user of their own."""
        ...

    def layout(self, workspace: Workspace) -> Layout:
        """Where the program will see the workspace."""
        ...

    def launch(self, job: Job, cgroup: tuple[Path, ...]) -> Launch:
        """What to start for the job. The program enters the group of these files."""
        ...


def duration_text(seconds: int) -> str:
    """A duration as a script writes it: 30m, 90s."""
    return f"{seconds // MINUTE}m" if seconds % MINUTE == 0 else f"{seconds}s"


def size_text(size: int) -> str:
    """A size as people read it: 8 GiB, 512 MiB."""
    for unit, name in ((KIB**3, "GiB"), (KIB**2, "MiB"), (KIB, "KiB")):
        if size % unit == 0 and size:
            return f"{size // unit} {name}"
    return f"{size} bytes"
