"""One content, written twice: as plain text of at most 78 columns, and as simple HTML. Pure.

The HTML has no colours of its own but for lines, so that it can be read on light and dark ground,
fetches nothing, and escapes whatever it is given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from easeci.notify.letter import one_line

COLUMNS = 78
_WORD = re.compile(r"`[^`]{1,40}`\S*|\S+")  # a command is best copied from one line
_LONGEST = 5000  # characters; letters cut what they quote long before


@dataclass(frozen=True)
class Heading:
    text: str


@dataclass(frozen=True)
class Paragraph:
    """Words in `backquotes` are commands."""

    text: str


@dataclass(frozen=True)
class Facts:
    """Names and values."""

    rows: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Literal:
    """Lines to be copied, never wrapped."""

    lines: tuple[str, ...]


Block = Heading | Paragraph | Facts | Literal


def as_text(blocks: tuple[Block, ...]) -> str:
    return "\n\n".join("\n".join(_text_lines(block)) for block in blocks) + "\n"


def as_html(title: str, blocks: tuple[Block, ...]) -> str:
    body = "\n".join(_html(block) for block in blocks)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{_shown(title)}</title>\n</head>\n"
        '<body style="font-family:sans-serif;line-height:1.45;max-width:40em">\n'
        f"{body}\n</body>\n</html>\n"
    )


def _text_lines(block: Block) -> Iterator[str]:
    match block:
        case Heading(text):
            lines = list(wrapped(text))
            yield from (*lines, "-" * max(map(columns, lines)))
        case Paragraph(text):
            yield from wrapped(text)
        case Facts(rows):
            width = max(len(name) for name, _ in rows) + 4
            for name, value in rows:
                yield from wrapped(value, f"  {name}".ljust(width), " " * width)
        case Literal(lines):
            yield from (f"  {one_line(line, _LONGEST)}" for line in lines)


def _html(block: Block) -> str:
    match block:
        case Heading(text):
            return f'<h2 style="font-size:1.1em;margin:1.2em 0 0.4em">{_shown(text)}</h2>'
        case Paragraph(text):
            marked = re.sub(
                "`([^`]+)`", r'<code style="font-family:monospace">\1</code>', _shown(text)
            )
            return f'<p style="margin:0.6em 0">{marked}</p>'
        case Facts(rows):
            cells = "\n".join(_html_row(name, value) for name, value in rows)
            return f'<table style="border-collapse:collapse;margin:0.6em 0">\n{cells}\n</table>'
        case Literal(lines):
            shown = "\n".join(_shown(line) for line in lines)
            style = "border-left:3px solid #888888;padding-left:0.8em;margin:0.6em 0;"
            wrap = "white-space:pre-wrap;overflow-wrap:anywhere"
            return f'<pre style="{style}{wrap}">{shown}</pre>'


def _html_row(name: str, value: str) -> str:
    style = "text-align:left;vertical-align:top;padding:0.15em 1em 0.15em 0;"
    line = "border-bottom:1px solid #888888"
    return (
        f'<tr><th style="{style}font-weight:normal;{line}">{_shown(name)}</th>'
        f'<td style="{style}{line};overflow-wrap:anywhere">{_shown(value)}</td></tr>'
    )


def _shown(text: str) -> str:
    return escape(one_line(text, _LONGEST), quote=True)


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
    for word in _WORD.findall(one_line(text, _LONGEST)):
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
