"""Every error that easeci raises on purpose, and the exit codes of its commands.

One root, :class:`EaseciError`. An error says what is wrong (``message``), what to do about it
(``hint``) and how a command that meets it ends (``exit_code``). Messages never quote a label.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path


class ExitCode(IntEnum):
    """How a command ends. Only a verdict ever ends a command with ``FAIL``."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    WAITING_FOR_LABELS = 3
    NEW_TESTSET_NEEDED = 4
    BUILD_ERROR = 5
    INTERNAL = 6
    INTERRUPTED = 130


class EaseciError(Exception):
    """Root of all errors of easeci."""

    exit_code: ExitCode = ExitCode.INTERNAL

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message}\n{self.hint}"


class UsageError(EaseciError):
    """Options or arguments that don't fit together."""

    exit_code = ExitCode.USAGE


class BusyError(UsageError):
    """Somebody else is doing this right now. The same command may work a little later."""


class MissingError(UsageError):
    """Something that was named does not exist."""


class DataError(EaseciError):
    """A table of examples, labels or predictions that cannot be used."""

    exit_code = ExitCode.USAGE


class BuildError(EaseciError):
    """A commit whose program gave no usable predictions. It says nothing about the model."""

    exit_code = ExitCode.BUILD_ERROR


class NoTestsetError(EaseciError):
    """The project has no testset, or its last one is retired."""

    exit_code = ExitCode.NEW_TESTSET_NEEDED


class InfrastructureError(EaseciError):
    """Something around easeci is missing or broken: the store, the disk, git, the sandbox."""

    exit_code = ExitCode.INTERNAL


@dataclass(frozen=True)
class Excerpt:
    """A place in a text that the user wrote, to be shown with a caret below it.

    ``line`` and ``column`` count from 1. ``text`` is the whole line; ``caret`` is where the caret
    starts in it (from 0) and ``width`` how many characters it underlines.
    """

    source: str
    line: int
    column: int
    text: str
    caret: int
    width: int = 1

    MARGIN = 60

    @property
    def location(self) -> str:
        """Where it is: source, line and column."""
        return f"{self.source}, line {self.line}, column {self.column}"

    def drawing(self) -> str:
        """The line and the caret below it; a long line is cut around the caret."""
        start = max(0, self.caret - self.MARGIN)
        end = self.caret + max(self.width, 1) + self.MARGIN
        before = "…" if start > 0 else ""
        after = "…" if end < len(self.text) else ""
        shown = "".join(c if c.isprintable() else " " for c in self.text[start:end])
        width = max(1, min(self.width, len(self.text) - self.caret))
        return (
            f"  {before}{shown}{after}\n  {' ' * (len(before) + self.caret - start)}{'^' * width}"
        )


class ScriptError(EaseciError):
    """A script or condition that cannot be understood or makes no sense."""

    exit_code = ExitCode.USAGE

    def __init__(
        self, message: str, *, hint: str | None = None, excerpt: Excerpt | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.excerpt = excerpt

    def __str__(self) -> str:
        parts = [self.message]
        if self.excerpt is not None:
            parts.append(f"in {self.excerpt.location}:")
            parts.append(self.excerpt.drawing())
        if self.hint is not None:
            parts.append(self.hint)
        return "\n".join(parts)


UNIX_MODULES = frozenset({"fcntl", "grp", "pwd", "resource", "termios", "tty"})
"""Modules of Python that only Unix has. Builds, locks and the keyboard need them."""


def needs_unix(module: str) -> InfrastructureError:
    """The error of a command that needs a module of Unix on a system without it."""
    return InfrastructureError(
        f"this command needs Linux or another Unix: Python has no module '{module}' here",
        hint="The library and the commands init, plan, check and simulate work on every system.",
    )


def unexpected(error: BaseException) -> str:
    """Describe an error that nobody foresaw: its type and its place in the code.

    Its message is left out, because it may quote a label.
    """
    frames = traceback.extract_tb(error.__traceback__)
    package = str(Path(__file__).parent)
    ours = [frame for frame in frames if frame.filename.startswith(package)] or list(frames)
    place = f"{ours[-1].name}, line {ours[-1].lineno}" if ours else "an unknown place"
    return f"unexpected {type(error).__name__} in {place}"
