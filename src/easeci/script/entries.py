"""The texts of a script's keys, and where each was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from easeci.errors import ScriptError
from easeci.script.problem import Problem, locate


class Place(Protocol):
    """Where a value was written: in a file, or as an option."""

    def error(self, problem: Problem, text: str) -> ScriptError:
        """An error that says what is wrong and where it was written."""
        ...


@dataclass(frozen=True)
class Option:
    """A value given as an option of a command, or as an argument of a function."""

    name: str

    def error(self, problem: Problem, text: str) -> ScriptError:
        """An error that names the option."""
        return locate(problem, text, self.name)


@dataclass(frozen=True)
class Entry:
    """The value of one key: a text, or the texts of a list, and where each was written."""

    texts: tuple[str, ...]
    places: tuple[Place, ...]

    @staticmethod
    def option(name: str, text: str) -> Entry:
        """An entry with one text, given as an option."""
        return Entry.options(name, [text])

    @staticmethod
    def options(name: str, texts: Sequence[str]) -> Entry:
        """An entry with several texts, given as an option."""
        return Entry(tuple(text.strip() for text in texts), (Option(name),) * len(texts))
