"""The blocks of a letter as plain text of at most 78 columns, and as simple HTML. Pure.

In the HTML only lines have colours, so that it can be read on light and dark backgrounds. It
fetches nothing and escapes all text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from easeci.html import render
from easeci.notify.letter import one_line

COLUMNS = 78
_WORD = re.compile(r"`[^`]{1,40}`\S*|\S+")  # a command is best copied from one line
_LONGEST = 5000  # characters; letters cut what they quote long before


@dataclass(frozen=True)
class Heading:
    """A title above what follows."""

    text: str


@dataclass(frozen=True)
class Paragraph:
    """Words in `backquotes` are commands."""

    text: str


@dataclass(frozen=True)
class FactRows:
    """Names and values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Literal:
    """Lines to be copied, never wrapped."""

    lines: tuple[str, ...]


Block = Heading | Paragraph | FactRows | Literal


def as_text(blocks: tuple[Block, ...]) -> str:
    """The blocks as plain text."""
    return "\n\n".join("\n".join(_text_lines(block)) for block in blocks) + "\n"


def as_html(title: str, blocks: tuple[Block, ...]) -> str:
    """The blocks as an HTML document."""
    named = [(type(block).__name__, block) for block in blocks]
    return render("letter.html", ("easeci.notify",), title=title, blocks=named, shown=_shown)


def _text_lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            lines = list(wrapped(text))
            yield from (*lines, "-" * max(map(columns, lines)))
        case Paragraph(text):
            yield from wrapped(text)
        case FactRows(rows):
            width = max(len(name) for name, _ in rows) + 4
            for name, value in rows:
                yield from wrapped(value, f"  {name}".ljust(width), " " * width)
        case Literal(lines):
            yield from (f"  {_shown(line)}" for line in lines)


def _shown(text: str) -> str:
    return one_line(text, _LONGEST)


def columns(text: str) -> int:
    """How wide a text is on a screen: East Asian characters take two columns."""
    return sum(_width(c) for c in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def wrapped(text: str, first: str = "", rest: str = "") -> Iterator[str]:
    """Lines of at most ``COLUMNS`` columns; only a word that is longer than a line is broken."""
    line, empty = first, True
    for word in _WORD.findall(_shown(text)):
        if not empty and columns(line) + 1 + columns(word) > COLUMNS:
            yield line.rstrip()
            line, empty = rest, True
        line, empty = (line if empty else f"{line} "), False
        for piece in word:
            if columns(line) + _width(piece) > COLUMNS:
                yield line
                line = rest
            line += piece
    yield line.rstrip()
