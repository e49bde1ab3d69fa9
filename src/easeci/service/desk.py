"""The desk: several labellers at one testset, none of whom is ever asked what another one is.

Every labeller has a *seat*: a browser's tab or a terminal. The desk hands out questions in the
testset's secret order, each to one seat, and never more than the open step wants from its first
missing label on; so nobody gets far ahead of somebody slow. A seat that is not heard of for a while
loses what it held to the others.

An answer is on the disk (the vault's journal) before :meth:`Desk.answer` returns, but it is recorded,
and so consulted, only when a verdict is known with it, or when the desk is closed. Until then who
gave it can take it back; afterwards it stands, like any label. A desk that was killed leaves its
journal to the next one.

Labellers are blind: a question is an example and nothing else. It is named by a ticket, which says
nothing of its place; and how many are still to come is said by the plan and not by the evidence,
which would show where it is heading.

All methods may be called from several threads. One lock guards the desk, and it is never held while
a command waits for the project: a build may hold that for half an hour.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from easeci.service.project import Project
from easeci.tables.answers import Answered

LEASE_SECONDS = 60.0
"""How long a seat keeps its questions without being heard of."""


@dataclass(frozen=True)
class Question:
    """An example to label, as a labeller may see it: without its id.

    ``files`` are the columns of ``row`` that name a file.
    """

    ticket: str
    row: dict[str, Any]
    files: tuple[str, ...] = ()


class Given(StrEnum):
    """What became of an answer. None of these is a labeller's mistake."""

    STORED = "stored"
    """It is on the disk."""
    SPARE = "stored, but no longer wanted"
    """It is on the disk too; the verdict did not need it any more."""
    REPEATED = "stored before"
    """The same answer of the same labeller, posted again."""
    ALREADY_ANSWERED = "already answered"
    """Somebody else's answer stands, or another one of the labeller's own; nothing was stored."""
    GONE = "of an earlier testset"
    """There is a newer testset; nothing was stored."""


@dataclass(frozen=True)
class Settled:
    """What recording led to: submissions that have their signal now, and what could not be used."""

    answered: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()


class Desk:
    """The questions of the latest testset, and who holds them."""

    @staticmethod
    def open(
        project: Project,
        *,
        clock: Callable[[], float] = time.monotonic,
        lease: float = LEASE_SECONDS,
    ) -> Desk:
        """The desk of a project's latest testset, on the state as read: it waits for nobody.

        ``project`` is the desk's from here on; nobody else uses it in another thread. UsageError
        if somebody is labelling the testset already.
        """
        raise NotImplementedError

    # -- what labellers do

    def take(self, seat: str, by: str, count: int, *, unsettled: bool = False) -> list[Question]:
        """The questions that a seat holds, filled up to ``count`` with new ones; the first is next.

        Fewer, or none, if others hold what is wanted, and none while :attr:`settled`. With
        ``unsettled``, what was skipped or is disputed is asked again, but nothing twice of one
        labeller.
        """
        raise NotImplementedError

    def answer(
        self, seat: str, by: str, ticket: str, state: Answered, label: str | None = None
    ) -> Given:
        """Store an answer; it is on the disk when this returns.

        UsageError if it is no answer: a ticket that is none, a class that the script does not have.
        """
        raise NotImplementedError

    def undo(self, seat: str, by: str) -> Question | None:
        """Take back a labeller's own last answer that is not recorded yet, and ask it again.

        The question is the first one of that seat then. None if there is nothing to take back.
        """
        raise NotImplementedError

    def can_undo(self, by: str) -> bool:
        """Whether a labeller has an answer that is not recorded yet."""
        raise NotImplementedError

    def renew(self, seat: str) -> bool:
        """A seat is still there; whether it still holds what it held."""
        raise NotImplementedError

    def leave(self, seat: str) -> None:
        """A seat is given up; what it held goes to others at once."""
        raise NotImplementedError

    def file(self, seat: str, ticket: str, column: str) -> Path | None:
        """The file that a column of a question names, verified.

        Only of a question that the seat holds or held last; otherwise, or if it names none, None.
        """
        raise NotImplementedError

    # -- what pages show

    @property
    def classes(self) -> list[str]:
        """What a label can be: as declared, or as labels and answers so far are."""
        raise NotImplementedError

    @property
    def declared(self) -> bool:
        """Whether the script declares the classes, so that there are no others."""
        raise NotImplementedError

    @property
    def more(self) -> int:
        """How many labels are still to come: as planned, and not as the evidence says."""
        raise NotImplementedError

    def more_unsettled(self, by: str) -> int:
        """How many unsettled labels one labeller can still be asked for."""
        raise NotImplementedError

    # -- what the keeper does: whoever may wait for the project

    @property
    def settled(self) -> bool:
        """Whether nothing is handed out until :meth:`settle` has recorded: a verdict is known."""
        raise NotImplementedError

    def settle(self, project: Project, waiting: Callable[[], None] | None = None) -> Settled:
        """Record the answers if a verdict is known with them, and go on to the next open step.

        ``project`` is the caller's own. Waits for other commands, while labellers go on; letters
        are sent without holding up anybody either.
        """
        raise NotImplementedError

    @property
    def look_due(self) -> bool:
        """Whether somebody new was shown examples, which the owner's record must say."""
        raise NotImplementedError

    def record_look(self, project: Project, waiting: Callable[[], None] | None = None) -> None:
        """Record that somebody looked at examples to label them; nothing if that is done."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Notice what other commands recorded; cheap if they did not. ``take``, ``answer`` do it."""
        raise NotImplementedError

    def close(self, project: Project, waiting: Callable[[], None] | None = None) -> Settled:
        """Record all answers, and leave the journal to whoever comes next."""
        raise NotImplementedError
