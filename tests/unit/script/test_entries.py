"""Texts of keys that were given as options."""

from __future__ import annotations

from easeci.script.entries import Entry
from easeci.script.problem import Problem
from easeci.script.syntax import Span


def test_an_error_names_the_option() -> None:
    """Each text of a list has its own place, and all of them name the option."""
    entry = Entry.options("--mounts", [" /a ", "b"])
    assert entry.texts == ("/a", "b")
    for text, place in zip(entry.texts, entry.places, strict=True):
        error = place.error(Problem("wrong", Span(1, 2)), text)
        assert "in --mounts, line 1, column 2:" in str(error)
    assert Entry.option("--mounts", "b") == Entry.options("--mounts", ["b"])
