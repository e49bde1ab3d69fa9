"""Single keys from a terminal, and text that is safe and fits when it is shown on one."""

from __future__ import annotations

import json
import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text

from easeci.cli.terminal import safe
from easeci.errors import UsageError

SMALLEST = (20, 10)
USUAL = (80, 24)
TURN_SECONDS = 0.2
NAMED = {
    b"\x1b[5~": "page up",
    b"\x1b[6~": "page down",
    b"\x1b[A": "page up",
    b"\x1b[B": "page down",
    b" ": "page down",
    b"\r": "enter",
    b"\n": "enter",
    b"\x7f": "backspace",
    b"\x08": "backspace",
    b"\x04": "end",
    b"": "end",
}


class Keyboard:
    """Keys of the terminal, as they are pressed. Ctrl-C interrupts, as everywhere."""

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                "labelling one by one needs a terminal",
                hint="`easeci labels export FILE` and `easeci labels import FILE` work anywhere.",
            )
        self._input = sys.stdin.fileno()

    @contextmanager
    def pressed(self) -> Iterator[None]:
        """Read single keys instead of lines; afterwards the terminal is as before."""
        import termios  # here and not above, because only Unix has it
        import tty

        before = termios.tcgetattr(self._input)
        tty.setcbreak(self._input)
        try:
            yield
        finally:
            termios.tcsetattr(self._input, termios.TCSADRAIN, before)

    def key(self) -> str:
        """The next key: a character, or a name such as "page up"."""
        self._wait()
        first = os.read(self._input, 1)
        if first == b"\x1b":
            while select.select([self._input], [], [], 0.02)[0]:
                first += os.read(self._input, 1)
                if first[-1:].isalpha() or first[-1:] == b"~":
                    break
        return NAMED.get(first) or (first.decode() if first.isascii() and len(first) == 1 else "")

    def line(self) -> str:
        """A line with the terminal's own editing."""
        import termios

        attributes = termios.tcgetattr(self._input)
        pressed = [*attributes[:3], attributes[3] | termios.ICANON | termios.ECHO, *attributes[4:]]
        termios.tcsetattr(self._input, termios.TCSADRAIN, pressed)
        try:
            self._wait()
            text = os.read(self._input, 4096)
        finally:
            termios.tcsetattr(self._input, termios.TCSADRAIN, attributes)
        return safe(text.decode("utf-8", errors="replace")).strip()

    def _wait(self) -> None:
        """Wait for input in short turns: Ctrl-C may reach another thread first."""
        while not select.select([self._input], [], [], TURN_SECONDS)[0]:
            pass

    def size(self) -> tuple[int, int]:
        """Columns and rows of the terminal."""
        try:
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            columns, rows = USUAL
        columns, rows = columns or USUAL[0], rows or USUAL[1]
        return max(columns, SMALLEST[0]), max(rows, SMALLEST[1])


def in_words(value: Any) -> str:
    """A value of an example as safe text."""
    if value is None:
        return "–"
    if isinstance(value, str):
        return safe(value)
    return safe(json.dumps(value, ensure_ascii=False))


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` columns; wide characters count two."""
    console = Console(width=width, file=None, color_system=None)
    lines: list[str] = []
    for paragraph in text.split("\n"):
        found = Text(paragraph).wrap(console, width, tab_size=4)
        lines += [line.plain.rstrip() for line in found] or [""]
    return lines
