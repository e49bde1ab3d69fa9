"""Every error that easeci raises on purpose, and the exit codes of its commands.

One root, :class:`EaseciError`. An error says what is wrong (``message``), what to do about it
(``hint``) and how a command that meets it ends (``exit_code``). Messages never quote a label.
"""

from __future__ import annotations

import traceback
from dataclasses import dataclass
from enum import IntEnum


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
    """Somebody else is at it just now: the same again may well do, a while later."""


class MissingError(UsageError):
    """What was named is not there."""


class DataError(EaseciError):
    """A table of examples, labels or predictions that cannot be used as it is."""

    exit_code = ExitCode.USAGE


class BuildError(EaseciError):
    """A commit whose program gave no usable predictions. It says nothing about the model."""

    exit_code = ExitCode.BUILD_ERROR


class NoTestsetError(EaseciError):
    """There is no testset, or the one that there was is retired."""

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


def unexpected(error: BaseException) -> str:
    """What is said of an error that nobody foresaw: its type and place, for whoever mends it.

    Never its message, which may quote a label.
    """
    frames = traceback.extract_tb(error.__traceback__)
    package = __file__.rpartition("/")[0]
    ours = [frame for frame in frames if frame.filename.startswith(package)] or list(frames)
    place = f"{ours[-1].name}, line {ours[-1].lineno}" if ours else "an unknown place"
    return f"unexpected {type(error).__name__} in {place}"
