"""The texts that the keys of a script were given, and where each was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from easeci.errors import ScriptError
from easeci.script.problem import Problem, locate


class Place(Protocol):
    """Where a value was written; turns a problem with it into an error that says so."""

    def error(self, problem: Problem, text: str) -> ScriptError: ...


@dataclass(frozen=True)
class Option:
    """A value given as an option of a command, or as an argument of a function."""

    name: str

    def error(self, problem: Problem, text: str) -> ScriptError:
        return locate(problem, text, self.name)


@dataclass(frozen=True)
class Entry:
    """The text, or the texts of a list, that a key was given."""

    texts: tuple[str, ...]
    places: tuple[Place, ...]

    @staticmethod
    def option(name: str, text: str) -> Entry:
        return Entry.options(name, [text])

    @staticmethod
    def options(name: str, texts: Sequence[str]) -> Entry:
        return Entry(tuple(text.strip() for text in texts), (Option(name),) * len(texts))
