"""Single keys from a terminal, and text that is safe and fits when it is shown on one."""

from __future__ import annotations

import json
import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.text import Text

from easeci.errors import UsageError

SMALLEST = (20, 10)
USUAL = (80, 24)
LOOK_AROUND = 0.2
"""Seconds."""
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
    """A terminal that hands out keys as they are pressed. Ctrl-C stays what it is everywhere."""

    def __init__(self) -> None:
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError(
                "labelling one by one needs a terminal",
                hint="`easeci labels export FILE` and `easeci labels import FILE` work anywhere.",
            )
        self._input = sys.stdin.fileno()

    @contextmanager
    def pressed(self) -> Iterator[None]:
        """Take keys as they are pressed; afterwards the terminal is as it was."""
        before = termios.tcgetattr(self._input)
        tty.setcbreak(self._input)
        try:
            yield
        finally:
            termios.tcsetattr(self._input, termios.TCSADRAIN, before)

    def key(self) -> str:
        """The next key: a character, or the name of one that is none."""
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
        """Until there is something to read, with looks around: Ctrl-C may reach another thread."""
        while not select.select([self._input], [], [], LOOK_AROUND)[0]:
            pass

    def size(self) -> tuple[int, int]:
        """Columns and rows."""
        try:
            columns, rows = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            columns, rows = USUAL
        columns, rows = columns or USUAL[0], rows or USUAL[1]
        return max(columns, SMALLEST[0]), max(rows, SMALLEST[1])


def safe(text: str) -> str:
    """Without anything that would make a terminal do more than show it."""
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def in_words(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, str):
        return safe(value)
    return safe(json.dumps(value, ensure_ascii=False))


def wrapped(text: str, width: int) -> list[str]:
    """Lines that fit, wide characters counted as such."""
    console = Console(width=width, file=None, color_system=None)
    lines: list[str] = []
    for paragraph in text.split("\n"):
        found = Text(paragraph).wrap(console, width, tab_size=4)
        lines += [line.plain.rstrip() for line in found] or [""]
    return lines
