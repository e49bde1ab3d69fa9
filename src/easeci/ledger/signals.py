"""The vocabulary of signals: what a developer is told of a commit, and how every place shows it.

A signal's value is the text that is recorded. Its word, colours, symbol and exit code are here and
nowhere else, so that the terminal, the report and the pages always agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from easeci.errors import ExitCode


class Signal(StrEnum):
    """What a developer is told of a commit."""

    PASS = "pass"  # noqa: S105 - an answer, not a password
    FAIL = "fail"
    ACCEPTED = "accepted"
    PENDING = "pending"
    BASELINE = "baseline"
    UNCHANGED = "unchanged"
    BUILD_ERROR = "build error"
    UNBUILT = "not built"
    DROPPED = "dropped"
    SUPERSEDED = "superseded"

    @property
    def word(self) -> str:
        """How people read it."""
        return APPEARANCES[self].word

    @property
    def style(self) -> str:
        """Its colour on a terminal."""
        return APPEARANCES[self].style

    @property
    def css_class(self) -> str:
        """The class that gives it its colour on a page, and the id of its symbol there."""
        return self.value.replace(" ", "-")

    @property
    def symbol(self) -> str:
        """Its shape: SVG elements in a box of 20 by 20. No two signals differ by colour alone."""
        return APPEARANCES[self].symbol

    @property
    def exit_code(self) -> ExitCode:
        """How a command ends that gives this signal."""
        return APPEARANCES[self].exit_code


@dataclass(frozen=True)
class SignalAppearance:
    """How one signal is shown."""

    word: str
    style: str
    exit_code: ExitCode
    symbol: str


APPEARANCES = {
    Signal.PASS: SignalAppearance(
        "pass",
        "green",
        ExitCode.PASS,
        '<circle cx="10" cy="10" r="9" fill="currentColor"/>'
        '<path d="M5.5 10.5l3 3 6-7" fill="none" stroke="var(--page)" stroke-width="2.2"/>',
    ),
    Signal.FAIL: SignalAppearance(
        "fail",
        "red",
        ExitCode.FAIL,
        '<rect x="1.5" y="1.5" width="17" height="17" rx="2" fill="none" '
        'stroke="currentColor" stroke-width="2"/>'
        '<path d="M6 6l8 8M14 6l-8 8" stroke="currentColor" stroke-width="2.2"/>',
    ),
    Signal.ACCEPTED: SignalAppearance(
        "accepted",
        "cyan",
        ExitCode.PASS,
        '<circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" stroke-width="2"/>'
        '<circle cx="10" cy="10" r="3.5" fill="currentColor"/>',
    ),
    Signal.PENDING: SignalAppearance(
        "pending",
        "yellow",
        ExitCode.WAITING_FOR_LABELS,
        '<circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" stroke-width="2" '
        'stroke-dasharray="3 2.4"/>',
    ),
    Signal.BASELINE: SignalAppearance(
        "baseline",
        "cyan",
        ExitCode.PASS,
        '<path d="M10 1.5l8.5 8.5-8.5 8.5-8.5-8.5z" fill="none" stroke="currentColor" '
        'stroke-width="2"/>',
    ),
    Signal.UNCHANGED: SignalAppearance(
        "unchanged",
        "cyan",
        ExitCode.PASS,
        '<path d="M4 7h12M4 13h12" stroke="currentColor" stroke-width="2.5"/>',
    ),
    Signal.BUILD_ERROR: SignalAppearance(
        "build error",
        "magenta",
        ExitCode.BUILD_ERROR,
        '<path d="M10 2l8.5 16h-17z" fill="none" stroke="currentColor" stroke-width="2"/>'
        '<path d="M10 8v5M10 15v1.5" stroke="currentColor" stroke-width="2"/>',
    ),
    Signal.UNBUILT: SignalAppearance(
        "not built",
        "yellow",
        ExitCode.BUILD_ERROR,
        '<path d="M4 10h12" stroke="currentColor" stroke-width="2.5"/>',
    ),
    Signal.DROPPED: SignalAppearance(
        "dropped",
        "yellow",
        ExitCode.NEW_TESTSET_NEEDED,
        '<circle cx="10" cy="10" r="8" fill="none" stroke="currentColor" stroke-width="2"/>'
        '<path d="M4.5 15.5l11-11" stroke="currentColor" stroke-width="2"/>',
    ),
    Signal.SUPERSEDED: SignalAppearance(
        "superseded",
        "yellow",
        ExitCode.WAITING_FOR_LABELS,
        '<path d="M4 4l6 6-6 6M10 4l6 6-6 6" fill="none" stroke="currentColor" '
        'stroke-width="2.2"/>',
    ),
}
