"""A mistake in a text that the user wrote, and how it becomes an error with a caret."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from easeci.errors import Excerpt, ScriptError
from easeci.script.syntax import Span


class Problem(Exception):  # noqa: N818 - becomes an error once its place is known
    """What is wrong, at a span of a text. Never leaves this package.

    The caller that knows where the text was written (a file, an option) turns the problem into a
    ScriptError.
    """

    def __init__(self, message: str, span: Span | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hint = hint


def locate(problem: Problem, text: str, source: str = "the condition") -> ScriptError:
    """The problem as an error that shows the line of the text, with a caret."""
    span = problem.span or Span(0, len(text))
    start = min(span.start, len(text))
    before = text[:start]
    line_start = before.rfind("\n") + 1
    caret = start - line_start
    excerpt = Excerpt(
        source=source,
        line=before.count("\n") + 1,
        column=caret + 1,
        text=text[line_start:].split("\n", 1)[0],
        caret=caret,
        width=max(1, span.end - start),
    )
    return ScriptError(problem.message, hint=problem.hint, excerpt=excerpt)


def shortened(text: str, most: int = 40) -> str:
    """The text for a message, cut to at most so many characters."""
    return text if len(text) <= most else text[: most - 1] + "…"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that the user probably meant, or None."""
    by_folded = {option.lower(): option for option in known}
    for folded, option in by_folded.items():
        if name and folded.startswith(name.lower()):
            return option
    found = difflib.get_close_matches(name.lower(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None
