"""What commands print: text, errors, warnings, JSON, and the drawing of an interval."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from easeci.errors import EaseciError, ScriptError

JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON document instead.")]
WIDEST = 100


@cache
def output() -> Console:
    """The console of stdout, at most 100 columns wide."""
    console = Console(highlight=False, emoji=False)
    if console.width > WIDEST:
        console.width = WIDEST
    return console


def print_hanging(first: str, words: str) -> None:
    """Print words behind a first part, and their further lines below the words."""
    console = output()
    for line in Text(words).wrap(console, console.width - len(first)):
        line.rstrip()
        console.print(Text(first) + line)
        first = " " * len(first)


def safe(text: str) -> str:
    """The text without control characters, which could command the terminal."""
    text = text.replace("\r\n", "\n").replace("\t", "    ")
    return "".join(c if c.isprintable() or c == "\n" else "�" for c in text)


def program_output(log: str) -> str:
    """What a program printed, as safe lines: without colours, and with each step of a progress bar
    on a line of its own."""
    plain = re.sub(r"\x1b\[[0-9;]*[mK]", "", log.replace("\r\n", "\n"))
    return safe(plain.replace("\r", "\n")).strip("\n")


def print_json(document: object) -> None:
    """Print the document that ``--json`` asks for."""
    print(json.dumps(document, indent=2, ensure_ascii=False))


def show_error(error: EaseciError) -> None:
    """Print an error on stderr: message, place in the text, hint."""
    lines = [Text.assemble(("error: ", "bold red"), error.message)]
    if isinstance(error, ScriptError) and error.excerpt is not None:
        lines.append(Text(f"in {error.excerpt.location}:", "dim"))
        lines.append(Text(error.excerpt.drawing()))
    if error.hint is not None:
        lines.append(Text(error.hint))
    _to_stderr(lines)


def show_warnings(warnings: tuple[str, ...]) -> None:
    """Print warnings on stderr, one a line."""
    _to_stderr([Text.assemble(("warning: ", "bold yellow"), warning) for warning in warnings])


def _to_stderr(lines: list[Text]) -> None:
    console = Console(stderr=True, soft_wrap=True)
    for line in lines:  # as Text, so that rich reads no markup in what users wrote
        console.print(line)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner while something takes long; does nothing if stderr is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} …"):
        yield


def plain_characters() -> bool:
    """Whether the terminal can only show ASCII."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower()
    return "utf" not in encoding


class Ruler:
    """A line of characters onto which values are drawn to scale; the unit is behind the scale."""

    def __init__(self, low: float, high: float, width: int, unit: str = "") -> None:
        self.low, self.high, self.width, self.unit = low, high, width, unit

    def column(self, value: float) -> int:
        """The column of a value; values beyond an end are drawn at that end."""
        share = (value - self.low) / (self.high - self.low)
        return max(0, min(self.width - 1, round(share * (self.width - 1))))

    def draw(
        self, interval: tuple[float, float], estimate: float | None, threshold: float, style: str
    ) -> tuple[Text, Text]:
        """The interval against the threshold, and the scale below it."""
        line, dash, left, right, dot, bar = "·─├┤●│" if not plain_characters() else ".-[]o|"
        cells = [(line, "dim")] * self.width
        first, last = self.column(interval[0]), self.column(interval[1])
        for position in range(first, last + 1):
            cells[position] = (dash, style)
        cells[first], cells[last] = (left, style), (right, style)
        if estimate is not None:
            cells[self.column(estimate)] = (dot, f"bold {style}")
        cells[self.column(threshold)] = (bar, "bold")
        drawing = Text()
        for character, character_style in cells:
            drawing.append(character, character_style)
        return drawing, self._scale(threshold)

    def _scale(self, threshold: float) -> Text:
        labels = [" "] * self.width
        for value in (self.low, self.high, threshold):
            text = f"{value:.4g}"
            start = self.column(value) - len(text) // 2
            start = max(0, min(self.width - len(text), start))
            around = labels[max(0, start - 1) : start + len(text) + 1]
            if value != threshold or all(c == " " for c in around):
                labels[start : start + len(text)] = text
            elif value == threshold:
                labels[0 : self.width] = [" "] * self.width
                labels[start : start + len(text)] = text
        return Text(f"{''.join(labels)} {self.unit}".rstrip(), "dim")


def ruler_around(values: list[float], width: int, unit: str = "") -> Ruler:
    """A ruler from a little below the least to a little above the greatest value."""
    low, high = min(values), max(values)
    margin = max((high - low) * 0.15, 1e-9)
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-9)) - 1)
    first, last = math.floor((low - margin) / step) * step, math.ceil((high + margin) / step) * step
    return Ruler(first, last, width, unit)
