"""A mistake in a text becomes an error that points at its place."""

from __future__ import annotations

from easeci.script.problem import Problem, locate, shortened
from easeci.script.syntax import Span

TEXT = "ab\n\ncde\nf"


def test_line_and_column_lead_to_the_character() -> None:
    """For every place of a text of several lines: counting from 1 leads back to its character."""
    lines = TEXT.split("\n")
    for start, character in enumerate(TEXT):
        excerpt = locate(Problem("wrong", Span(start, start + 1)), TEXT).excerpt
        assert excerpt is not None
        assert excerpt.text == lines[excerpt.line - 1]
        assert (excerpt.text + "\n")[excerpt.column - 1] == character
        assert excerpt.caret == excerpt.column - 1


def test_a_place_behind_the_end_is_the_end() -> None:
    excerpt = locate(Problem("too short", Span(99, 100)), TEXT).excerpt
    assert excerpt is not None
    assert (excerpt.line, excerpt.column) == (4, 2)


def test_without_a_place_the_whole_text_is_meant() -> None:
    error = locate(Problem("wrong", hint="Mend it."), "abc", "--steps")
    assert error.excerpt is not None
    assert (error.excerpt.location, error.excerpt.width) == ("--steps, line 1, column 1", 3)
    assert (error.message, error.hint) == ("wrong", "Mend it.")


def test_a_shortened_text_fits_and_begins_the_same() -> None:
    for length in range(12):
        text = "abcdefghijkl"[:length]
        short = shortened(text, 6)
        assert len(short) <= 6
        assert short == text if length <= 6 else text.startswith(short.removesuffix("…"))
