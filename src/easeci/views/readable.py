"""Texts of unknown authors made readable: short, nothing hidden in them, JSON indented.

An output of a model can be anything: megabytes, control characters, marks that turn the direction
of reading, letters that no screen shows. Pages show what :func:`readable` makes of it, and escape
that as any text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MOST_CHARACTERS = 4_000
"""Of one text, where nothing else is said."""
LONGEST_JSON = 50_000
"""Longer texts are not indented: whether they are JSON would have to be found out first."""
DEEPEST = 20
"""Deeper parts of JSON are indented as much as those at this depth."""
BOX_LINES, BOX_CHARACTERS = 20, 1_600
"""What a box on a page shows without being scrolled; a little less on a phone."""


class TextKind(StrEnum):
    """How a text is shown: as prose, or in letters of equal width."""

    PROSE = "prose"
    JSON = "json"
    CODE = "code"


@dataclass(frozen=True)
class Readable:
    """A text as it is shown. ``cut`` counts the characters at its end that are left out."""

    text: str
    kind: TextKind = TextKind.PROSE
    cut: int = 0

    @property
    def is_long(self) -> bool:
        """Whether a box that shows it has to be scrolled."""
        return self.text.count("\n") >= BOX_LINES or len(self.text) > BOX_CHARACTERS


def readable(text: str, most: int = MOST_CHARACTERS) -> Readable:
    """A text of at most ``most`` characters, without characters that are invisible or act."""
    if text[:LONGEST_JSON].lstrip()[:1] in ("{", "["):
        if _is_json(text):
            shown, used = _indented(text, most)
            return Readable(visible(shown), TextKind.JSON, len(text) - used)
        return _plain(text, most, TextKind.CODE)
    return _plain(text, most)


def readable_value(value: Any, most: int = MOST_CHARACTERS) -> Readable:
    """A value of an example, which may be any JSON value; empty if there is none."""
    if value is None:
        return Readable("")
    if isinstance(value, str):
        return readable(value, most)
    return readable(json.dumps(value, ensure_ascii=False), most)


def _plain(text: str, most: int, kind: TextKind | None = None) -> Readable:
    shown = visible(text[:most].replace("\r\n", "\n"))
    if kind is None:
        kind = TextKind.CODE if looks_like_code(shown) else TextKind.PROSE
    return Readable(shown, kind, max(len(text) - most, 0))


def fair_limit(lengths: Sequence[int], budget: int, most: int = MOST_CHARACTERS) -> int:
    """The largest limit for each of some texts with which all of them are within the budget.

    Short texts leave their share to the others. It is at least 1.
    """
    left = budget
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        if length > share:
            return max(min(share, most), 1)
        left -= length
    return most


# -- characters

_KEPT = frozenset("\n\t\u061c\u200c\u200d\u200e\u200f")
"""Line breaks, and marks that many scripts are written with: they act on their neighbours only."""
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories of characters that control something or are invisible; blanks are in none of them."""


def visible(text: str) -> str:
    """The same number of characters, with � for those that nobody would see."""
    if text.isprintable():
        return text
    return "".join("�" if _is_hidden(character) else character for character in text)


def _is_hidden(character: str) -> bool:
    if character.isprintable() or character in _KEPT:
        return False
    return unicodedata.category(character) in _HIDDEN


# -- code

_CODE_LINE = re.compile(
    r"[ \t]{2,}\S|.*[;{}][ \t]*$|(def|class|import|from|return|function|const|let|var|SELECT)\b"
)


def looks_like_code(text: str) -> bool:
    """Whether a text reads better in letters of equal width: at least a third of its lines."""
    if text.startswith(("```", "#!", "<?xml", "<!doctype", "<html")):
        return True
    lines = [line for line in text.split("\n") if line.strip()]
    return len(lines) > 1 and 3 * sum(map(bool, map(_CODE_LINE.match, lines))) >= len(lines)


# -- JSON

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s"{}\[\],:]+')


def _is_json(text: str) -> bool:
    if len(text) > LONGEST_JSON:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _indented(text: str, most: int) -> tuple[str, int]:
    """JSON on lines of its own, and how many characters of the text are in it.

    Only white space is changed: numbers and strings stay as they were written.
    """
    pieces: list[str] = []
    size, depth, before = 0, 0, ""
    for found in _TOKEN.finditer(text):
        token = found[0]
        depth -= token in ("}", "]")
        gap = _gap(before, token, depth)
        pieces += (gap, token)
        size += len(gap) + len(token)
        if size > most:
            over = min(size - most, len(token))
            return "".join(pieces)[:most], found.end() - over
        depth += token in ("{", "[")
        before = token
    return "".join(pieces), len(text)


def _gap(before: str, token: str, depth: int) -> str:
    """The white space between two tokens of JSON."""
    empty = before in ("{", "[") and token in ("}", "]")
    if not before or token in (",", ":") or empty:
        return ""
    return " " if before == ":" else "\n" + "  " * min(depth, DEEPEST)
