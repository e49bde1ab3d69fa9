"""From a commit to its predictions: check it out, run its program, take what it wrote.

The owner's scorer (:mod:`easeci.build.scoring`) runs in the same way, on other files.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from easeci.build.archive import restore_archive
from easeci.build.checkout import checkout, set_times
from easeci.build.detection import no_sandbox, user_for, why_absent, why_not
from easeci.build.editable import refuse_editable
from easeci.build.fetch import FetchedCommit
from easeci.build.repository import Repository
from easeci.build.running import ProgramOutcome, run_limited
from easeci.build.sandbox import Job, Layout, Limits, Sandbox, SandboxFailedError, size_text
from easeci.build.toolchain import Toolchain, find_toolchain
from easeci.build.workspace import Workspace, copy_examples, open_workspace
from easeci.errors import BuildError, InfrastructureError, UsageError

NAMES = ("predictions.csv", "predictions.parquet", "predictions.jsonl")
LOG_NAME = "build.log"
BLOCK = 1 << 20


@dataclass(frozen=True)
class Program:
    """A script's program: its command line, which is split as in a shell but run without one."""

    command: str
    limits: Limits
    mounts: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    """Paths of the commit that its checkout lacks."""


@dataclass(frozen=True)
class TreeSource:
    """A clean tree on disk, as the source of a build, which gets a copy of it."""

    folder: Path


@dataclass(frozen=True)
class ArchiveSource:
    """A saved checkout, as the source of a build."""

    path: Path


BuildSource = FetchedCommit | TreeSource | ArchiveSource


@dataclass(frozen=True)
class Exchange:
    """What a program is given, what it must write, and the variables that name both.

    ``reads`` is the variable for what it is given: the file ``given`` of that folder, or the folder
    itself if that is empty. ``writes`` names the first of ``names``; a program may write one of the
    others beside it instead.
    """

    reads: str
    given: str
    writes: str
    names: tuple[str, ...]
    what: str
    """What it writes, as messages call it."""


PREDICTIONS = Exchange("EASECI_EXAMPLES", "", "EASECI_PREDICTIONS", NAMES, "predictions")


@dataclass(frozen=True)
class ProgramFiles:
    """What a program wrote, and its log."""

    written: Path
    log: Path
    seconds: float


@dataclass(frozen=True)
class BuiltPredictions:
    """What a build gave. The log is the owner's: it may show examples."""

    predictions: Path
    log: Path
    seconds: float


def make_predictions(
    source: BuildSource,
    program: Program,
    examples: Path,
    into: Path,
    sandboxes: Sequence[Sandbox],
    *,
    repository: Repository,
    hidden: Sequence[Path] = (),
) -> BuiltPredictions:
    """Run the program in a clean checkout; its predictions and its log go into a folder.

    It runs in the first of the sandboxes that works here. If anything is wrong with the commit or
    its program, that is a BuildError, and the log is written even then. ``hidden`` are folders that
    the program must not see although they may lie within ones that it sees (the store, the vault);
    the repository always is one.
    """
    made = run_program(
        source,
        program,
        PREDICTIONS,
        examples,
        into,
        sandboxes,
        repository=repository,
        hidden=hidden,
    )
    return BuiltPredictions(made.written, made.log, made.seconds)


def run_program(
    source: BuildSource,
    program: Program,
    exchange: Exchange,
    given: Path,
    into: Path,
    sandboxes: Sequence[Sandbox],
    *,
    repository: Repository,
    hidden: Sequence[Path] = (),
) -> ProgramFiles:
    """Run a program on the folder ``given``; what it writes and its log go into another folder.

    The rules are those of :func:`make_predictions`.
    """
    secret = tuple(folder.resolve() for folder in (*repository.folders, *hidden))
    toolchain = find_toolchain(secret, program.mounts)
    for tree in repository.trees:
        refuse_editable(toolchain.prefixes, tree)
    into.mkdir(parents=True, exist_ok=True)
    build = _Build(source, program, exchange, given, into, toolchain, secret)
    reasons = []
    for sandbox in sandboxes:
        problem = why_absent(sandbox)
        if problem is None:
            try:
                return build.run_in(sandbox)
            except SandboxFailedError:
                problem = why_not(sandbox)
                if problem is None:  # it works, but not for this build: never take a weaker one
                    raise
        reasons.append(f"{sandbox.name}: {problem}")
    raise no_sandbox(reasons)


@dataclass(frozen=True)
class _Build:
    """All that a build needs but a sandbox."""

    source: BuildSource
    program: Program
    exchange: Exchange
    given: Path
    into: Path
    toolchain: Toolchain
    hidden: tuple[Path, ...]

    def run_in(self, sandbox: Sandbox) -> ProgramFiles:
        uid, limits = user_for(sandbox), self.program.limits
        with open_workspace(uid, self.hidden) as space:
            _fill(space, self.source, self.program.ignore, self.given)
            job = Job(
                space,
                _command(self.program.command, space.checkout, self.toolchain.python),
                _environment(self.toolchain, sandbox.layout(space), self.exchange),
                self.toolchain.mounts,
                self.hidden,
                limits,
            )
            space.hand_over()
            with run_limited(sandbox, job) as outcome:
                log = self.into / LOG_NAME
                _write(log, outcome.log)
                _require_success(outcome, limits, self.exchange)
                written = _take(outcome.output, self.into, limits, self.exchange)
        return ProgramFiles(written, log, outcome.seconds)


def _fill(space: Workspace, source: BuildSource, ignore: Sequence[str], given: Path) -> None:
    match source:
        case FetchedCommit():
            checkout(source, space.checkout, ignore)
        case ArchiveSource():
            restore_archive(source.path, space.checkout)
            set_times(space.checkout)
        case TreeSource():
            with _copying("the checkout"):
                shutil.copytree(source.folder, space.checkout, symlinks=True, dirs_exist_ok=True)
                set_times(space.checkout)
    with _copying("the examples"):
        copy_examples(given, space.examples)


@contextmanager
def _copying(what: str) -> Iterator[None]:
    try:
        yield
    except shutil.Error as error:  # several at once: the first says enough
        raise InfrastructureError(f"{what} cannot be copied: {error.args[0][0][2]}") from None
    except OSError as error:
        raise InfrastructureError(f"{what} cannot be copied: {error.strerror}") from None


def _environment(toolchain: Toolchain, layout: Layout, exchange: Exchange) -> dict[str, str]:
    """All environment variables of the program; it gets no others."""
    return {
        "PATH": os.pathsep.join(map(str, toolchain.search_path)),
        "HOME": str(layout.home),
        "TMPDIR": str(layout.tmp),
        "USER": "build",
        "LOGNAME": "build",
        "LANG": "C.UTF-8",
        exchange.reads: str(layout.examples / exchange.given),
        exchange.writes: str(layout.output / exchange.names[0]),
        **dict(toolchain.environment),
    }


def _command(text: str, folder: Path, python: Path) -> tuple[str, ...]:
    """What to run: a file of the checkout, or else a program on the PATH."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words:
        raise UsageError(f"script: {text!r} is not a command", hint="Such as ./test_model.py")
    name = words[0]
    if Path(name).is_absolute() or ("/" not in name and not (folder / name).is_file()):
        return tuple(words)
    path = folder / name
    if not path.is_symlink() and not path.is_file():
        raise BuildError(
            f"the commit has no file {name!r}",
            hint="script: names the program, seen from the top of the repository.",
        )
    begun = (f"./{Path(name)}", *words[1:])
    return (str(python), *begun) if _needs_python(path, name) else begun


def _needs_python(path: Path, name: str) -> bool:
    if path.is_symlink():  # only the sandbox knows where it leads
        return False
    with path.open("rb") as file:
        first = file.readline(256)
    runs = bool(path.stat().st_mode & stat.S_IXUSR)
    if path.suffix == ".py" and not (runs and first.startswith(b"#!")):
        return True
    if first.startswith(b"#!") and first.endswith(b"\r\n"):
        raise BuildError(
            f"the first line of {name!r} ends as on Windows, so no interpreter is found for it",
            hint="Commit it with Unix line endings.",
        )
    if not runs:
        raise BuildError(
            f"{name!r} is not marked as a program",
            hint=f"Mark it: git update-index --chmod=+x {name}",
        )
    return False


def _require_success(outcome: ProgramOutcome, limits: Limits, exchange: Exchange) -> None:
    if not outcome.began:
        said = outcome.log.decode("utf-8", "replace").strip().splitlines()
        raise SandboxFailedError(f"the sandbox failed: {said[-1] if said else 'it gave no reason'}")
    if outcome.stopped is not None:
        raise BuildError(f"the program {outcome.stopped.reason}", hint=outcome.stopped.hint)
    if outcome.code == 0:
        return
    if outcome.code == 128 + signal.SIGXFSZ:
        raise BuildError(
            f"the program wrote a file larger than {size_text(limits.output_bytes)}",
            hint=f"{exchange.what.capitalize()} are all that is kept; let it write less.",
        )
    raise BuildError(f"the program ended with {_ending(outcome.code)}")


def _ending(code: int) -> str:
    known = {126: "it cannot be run", 127: "it or its interpreter was not found"}
    if code in known:
        return f"exit code {code} ({known[code]})"
    number = code - 128 if code > 128 else -code
    names = {sign.value: sign.name for sign in signal.Signals}
    return f"exit code {code}" + (f" ({names[number]})" if number in names else "")


def _take(output: int, into: Path, limits: Limits, exchange: Exchange) -> Path:
    """Copy what was written to where the caller wants it: a regular file, not too large."""
    left = set(os.listdir(output))
    found = [name for name in exchange.names if name in left]
    if not found:
        raise BuildError(
            f"the program wrote no {exchange.what}",
            hint=f"It must write the file that {exchange.writes} names.",
        )
    if len(found) > 1:
        raise BuildError(f"the program wrote {' and '.join(found)}", hint="Write one of them.")
    target = into / found[0]
    _copy(output, found[0], target, limits)
    return target


def _copy(output: int, name: str, target: Path, limits: Limits) -> None:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=output)
    except OSError:
        raise _no_regular_file(name) from None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise _no_regular_file(name)
        if about.st_size == 0:
            raise BuildError(f"the program wrote nothing into {name}")
        if about.st_size > limits.output_bytes:
            raise BuildError(f"{name} is larger than {size_text(limits.output_bytes)}")
        with _created(target) as file:
            left = about.st_size  # not a byte more, even if something still writes to it
            while left and (block := os.read(descriptor, min(left, BLOCK))):
                file.write(block)
                left -= len(block)
    finally:
        os.close(descriptor)


def _no_regular_file(name: str) -> BuildError:
    return BuildError(f"the program left {name}, but not as a regular file that can be read")


def _write(path: Path, content: bytes) -> None:
    with _created(path) as file:
        file.write(content)


def _created(path: Path) -> IO[bytes]:
    """A new file that only its owner may read, in place of what stood there."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    return os.fdopen(descriptor, "wb")
