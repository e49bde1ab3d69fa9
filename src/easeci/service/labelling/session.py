"""The desk: several labellers at one testset, none of whom is ever asked what another one is.

Every labeller has a *seat*: a browser's tab or a terminal. The desk hands out questions in the
testset's secret order, each to one seat, and never more than the open step wants from its first
missing label on; so nobody gets far ahead of somebody slow. A seat that is not heard of for a while
loses what it held to the others (:mod:`easeci.service.labelling.leases`).

An answer is on the disk (the vault's journal) before :meth:`LabelSession.answer` returns, but
recorded, and so consulted, only when a verdict is known with it, or when the session is closed.
Until then its labeller can take it back; afterwards it stands, like any label. A session that was
killed leaves its journal to the next one.

Labellers are blind: a question is an example and nothing else. It is named by a ticket, which says
nothing of its place; and how many are still to come is said by the plan and not by the evidence,
which would show where it is heading.

All methods may be called from several threads. One lock guards the desk, and it is never held while
a command waits for the project: a build may hold that for half an hour.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from easeci.errors import BusyError
from easeci.evidence.cells import LabelState
from easeci.ledger.events import LABELLING
from easeci.service.commits.advance import catch_up
from easeci.service.labelling.files import latest, record_open
from easeci.service.labelling.leases import Leases
from easeci.service.labelling.open_step import OpenStep
from easeci.service.looks import append_looks
from easeci.service.project import Project, utc_now
from easeci.vault.journal import Journal
from easeci.vault.tickets import Tickets, no_ticket

LEASE_SECONDS = 60.0
"""How long a seat keeps its questions without being heard of."""

MOST_REMEMBERED = 1000
"""Questions kept in memory, to be shown again without a look at the disk."""


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
class Flushed:
    """What recording led to: submissions that have their signal now, and what could not be used."""

    answered: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()


class LabelSession:
    """The questions of the latest testset, and who holds them."""

    def __init__(
        self, project: Project, clock: Callable[[], float], lease: float, *, shared: bool
    ) -> None:
        self._project, self._lock, self._shared = project, threading.RLock(), shared
        self._tickets = Tickets(project.vault.key)
        self._seats = Leases(clock, lease)
        self._looks: set[str] = set()
        self._looked: set[str] = set()
        self._answers: dict[int, tuple[str, ...]] = {}
        """What was answered here, by position, also after it was recorded."""
        self._asked_again: dict[str, set[int]] = {}
        """The unsettled examples that each labeller has answered again."""
        self._taken_back: set[int] = set()
        """What is asked again because somebody wants to answer it otherwise, wanted or not."""
        self._questions: dict[int, Question] = {}
        self._begin()

    def _begin(self) -> None:
        """Move to the latest testset; everything stays as it is if somebody labels that."""
        testset = latest(self._project)
        journal = Journal(self._project.sealed(testset).labels_folder)
        try:
            step = OpenStep(self._project, testset, journal.entries)
        except BaseException:
            journal.close()
            raise
        self._journal, self._step = journal, step
        self._seats.clear()
        self._questions.clear()
        self._asked_again.clear()
        self._taken_back.clear()
        self._answers = {int(entry["position"]): _answers(entry) for entry in journal.entries}
        if self._shared:
            self._restore()

    def _restore(self) -> None:
        """Whoever was being asked something when the desk before this one was killed still is."""
        self._seats.restore(self._journal.held())
        wanted = set(self._step.wanted)
        self._seats.keep_only(lambda p: p in wanted or self._step.is_unsettled(p))
        self._kept = self._seats.held

    def _keep_seats(self) -> None:
        if self._shared and self._seats.held != self._kept:
            self._kept = self._seats.held
            self._journal.keep_held(self._kept)

    @staticmethod
    def open(
        project: Project,
        *,
        clock: Callable[[], float] = time.monotonic,
        lease: float = LEASE_SECONDS,
        shared: bool = False,
    ) -> LabelSession:
        """The desk of a project's latest testset, on the state as read: it waits for nobody.

        ``project`` is the desk's from here on; nobody else uses it in another thread. BusyError
        if somebody is labelling the testset already. With ``shared``, several sit at it, and who
        holds what outlives a desk that is killed.
        """
        return LabelSession(project, clock, lease, shared=shared)

    # -- what labellers do

    def take(self, seat: str, by: str, count: int, *, unsettled: bool = False) -> list[Question]:
        """The questions that a seat holds, filled up to ``count`` with new ones; the first is next.

        Fewer, or none, if others hold what is wanted, and none while :attr:`awaiting_flush`. With
        ``unsettled``, what was skipped or is disputed is asked again, but nothing twice of one
        labeller.
        """
        with self._lock:
            self.refresh()
            self._seats.heard(seat)
            if self.awaiting_flush:
                return []
            wanted = self._unsettled_left(by) if unsettled else self._step.wanted
            if not unsettled:  # what was loaded ahead may not be needed any more
                self._seats.keep_only(
                    lambda p: self._step.is_wanted(p) or p in self._taken_back, seat
                )
            held = self._seats.fill(seat, wanted, count)
            self._keep_seats()
            questions = [self._question(position) for position in held]
            if questions and seat not in self._looked:
                self._looks.add(seat)
            return questions

    def answer(
        self, seat: str, by: str, ticket: str, state: LabelState, label: str | None = None
    ) -> Given:
        """Store an answer; it is on the disk when this returns.

        UsageError if it is no answer: a ticket that is none, a class that the script does not have.
        """
        with self._lock:
            self.refresh()
            self._seats.heard(seat)
            testset, position = self._tickets.read(ticket)
            if 0 < testset < self._step.testset.number:
                return Given.GONE
            if testset != self._step.testset.number or position >= len(self._step.sealed.examples):
                raise no_ticket()
            self._step.require_answer(state, label)
            if self._step.is_unsettled(position):
                self._asked_again.setdefault(by, set()).add(position)
            said = (by, str(state), label or "")
            if self._answers.get(position) == said:
                self._seats.done(seat, position)
                return Given.REPEATED
            if self._step.is_answered(position):
                self._seats.done(seat, position)
                return Given.ALREADY_ANSWERED
            return self._store(seat, by, position, state, label)

    def _store(
        self, seat: str, by: str, position: int, state: LabelState, label: str | None
    ) -> Given:
        # Whatever waits for this example, even if nobody was asked for it just now, can use it.
        needed = self._step.can_use(position)
        entry = {
            "id": str(self._step.sealed.examples.ids_at([position])[0]),
            "position": position,
            "label": label,
            "state": str(state),
            "by": by,
            "at": utc_now(),
        }
        self._journal.add(entry)
        self._answers[position] = _answers(entry)
        self._step.add(entry)
        self._taken_back.discard(position)
        self._seats.done(seat, position)
        self._keep_seats()
        return Given.STORED if needed else Given.SPARE

    def undo(self, seat: str, by: str, ticket: str | None = None) -> Question | None:
        """Take back an answer of a labeller's own that is not recorded yet, and ask it again.

        The one of ``ticket``, or else the last one. The question is the first one of that seat
        then, also if the same request has come before. None if there is nothing to take back: also
        if a verdict is known with it, which makes it like a recorded one.
        """
        with self._lock:
            self.refresh()
            self._seats.heard(seat)
            ticket = ticket or self.undoable(by)
            if ticket is None or self.awaiting_flush:
                return None
            testset, position = self._tickets.read(ticket)
            if testset != self._step.testset.number:
                return None
            if position not in self._unrecorded_of(by):
                return self._question(position) if self._seats.holds(seat, position) else None
            self._journal.undo(position)
            self._answers.pop(position, None)
            self._asked_again.get(by, set()).discard(position)
            self._step.remove(position)
            self._taken_back.add(position)
            self._seats.give(seat, position)
            self._keep_seats()
            return self._question(position)

    def undoable(self, by: str) -> str | None:
        """The ticket of a labeller's last answer, if nothing rests on it yet."""
        with self._lock:
            mine = () if self.awaiting_flush else self._unrecorded_of(by)
            return self._tickets.ticket(self._step.testset.number, mine[-1]) if mine else None

    def _unrecorded_of(self, by: str) -> list[int]:
        entries = self._journal.entries
        return [int(entry["position"]) for entry in entries if entry.get("by") == by]

    def leave(self, seat: str) -> None:
        """A seat is given up; what it held goes to others at once."""
        with self._lock:
            self._seats.leave(seat)
            self._keep_seats()

    @property
    def occupied(self) -> bool:
        """Whether anybody is being asked something."""
        with self._lock:
            self._seats.let_lapse()
            return bool(self._seats.held)

    def file(self, seat: str, ticket: str, column: str) -> Path | None:
        """The file that a column of a question names, verified.

        Only of a question that the seat holds or held last; otherwise, or if it names none, None.
        """
        with self._lock:
            testset, position = self._tickets.read(ticket)
            here = testset == self._step.testset.number
            if not here or position not in self._seats.shown(seat):
                return None
            question, sealed = self._question(position), self._step.sealed
        if column not in question.files:
            return None
        return sealed.examples.file_at(
            question.row[column]
        )  # a large file takes its time: without the lock

    def _question(self, position: int) -> Question:
        if position not in self._questions:
            if len(self._questions) > MOST_REMEMBERED:
                self._questions.clear()
            sealed = self._step.sealed
            (row,) = sealed.examples.rows_at([position])
            shown = {name: value for name, value in row.items() if name != "id"}
            files = tuple(name for name, value in shown.items() if sealed.examples.has_file(value))
            ticket = self._tickets.ticket(self._step.testset.number, position)
            self._questions[position] = Question(ticket, shown, files)
        return self._questions[position]

    # -- what pages show

    @property
    def classes(self) -> list[str]:
        """What a label can be: as declared, or as labels and answers so far are."""
        with self._lock:
            return list(self._step.classes)

    @property
    def declared(self) -> bool:
        """Whether the script declares the classes, so that there are no others."""
        with self._lock:
            return self._step.declared

    @property
    def more(self) -> int:
        """How many labels are still to come: as planned, and not as the evidence says."""
        with self._lock:
            return self._step.more

    @property
    def wanted(self) -> int:
        """How many labels the open step asks for just now; for the owner's eyes."""
        with self._lock:
            self.refresh()
            return sum(1 for _ in self._step.wanted)

    @property
    def unrecorded(self) -> int:
        """How many answers are on the disk and not recorded yet."""
        with self._lock:
            return len(self._journal.entries)

    def more_unsettled(self, by: str) -> int:
        """How many unsettled labels one labeller can still be asked for."""
        with self._lock:
            return sum(1 for _ in self._unsettled_left(by))

    def _unsettled_left(self, by: str) -> Iterable[int]:
        done = self._asked_again.get(by, set())
        return (p for p in self._step.unsettled if p not in done and not self._step.is_answered(p))

    # -- what the keeper does: whoever may wait for the project

    @property
    def awaiting_flush(self) -> bool:
        """Whether nothing is handed out until :meth:`flush` has recorded.

        A verdict is known, or there is a newer testset and answers to the one before.
        """
        with self._lock:
            return self._step.decided or self._overtaken

    def flush(self, project: Project, waiting: Callable[[], None] | None = None) -> Flushed:
        """Record the answers if a verdict is known with them, and go on to the next open step.

        ``project`` is the caller's own. Waits for other commands, while labellers go on; letters
        are sent without holding up anybody either.
        """
        with project.exclusive(waiting):
            if not self.awaiting_flush:  # another command has recorded labels meanwhile
                return Flushed()
            return self._record(project)

    def record(self, project: Project) -> Flushed:
        """Record all answers that there are, before something that must not miss them."""
        with project.exclusive():
            return self._record(project)

    @property
    def look_due(self) -> bool:
        """Whether somebody new was shown examples, which the owner's record must say."""
        with self._lock:
            return bool(self._looks)

    def record_look(self, project: Project, waiting: Callable[[], None] | None = None) -> None:
        """Record that somebody looked at examples to label them; nothing if that is done."""
        if not self.look_due:
            return
        with project.exclusive(waiting), self._lock:
            self._record_look(project)

    def refresh(self) -> None:
        """Notice what other commands recorded; cheap if they did not. Labellers' calls do it."""
        with self._lock:
            if self._journal.closed:
                raise BusyError("labelling has ended here", hint="What was answered is recorded.")
            self._project.refresh()
            testset = latest(self._project)
            if testset.number == self._step.testset.number:
                if self._step.is_stale(testset):
                    self._load()
            elif not self._journal.entries:
                self._move()

    @property
    def _overtaken(self) -> bool:
        """Whether there is a newer testset, but answers to this one are not recorded yet."""
        newer = latest(self._project).number != self._step.testset.number
        return newer and bool(self._journal.entries)

    def close(self, project: Project, waiting: Callable[[], None] | None = None) -> Flushed:
        """Record all answers, and leave the journal to whoever comes next."""
        try:
            with project.exclusive(waiting):
                return self._record(project)
        finally:
            with self._lock:
                self._seats.let_lapse()
                self._keep_seats()  # who is there still stays: pages outlive a server
                self._journal.close()

    def _record(self, project: Project) -> Flushed:
        """Record all answers and go on with what waited for them; the caller acts alone.

        Labellers can call meanwhile: only recording needs the lock, and what follows may take long.
        """
        problems: tuple[str, ...] = ()
        with self._lock:
            self._record_look(project)
            if self._journal.entries:
                problems = record_open(project, self._step.testset.number, self._journal.entries)
                self._journal.clear()
        answered = catch_up(project)
        with self._lock:
            self.refresh()
        return Flushed(answered, problems)

    # -- how it goes on; all of it under the lock

    def _record_look(self, project: Project) -> None:
        if self._looks:
            append_looks(project, LABELLING)
        self._looked |= self._looks
        self._looks.clear()

    def _load(self) -> None:
        """The same testset, with another open step or other labels."""
        before, testset = self._step, latest(self._project)
        step = OpenStep(self._project, testset, self._journal.entries, before)
        self._step = step
        wanted = set(step.wanted) if before.number != step.number else None

        def is_kept(position: int) -> bool:
            wished = wanted is None or position in wanted or step.is_unsettled(position)
            return wished and not step.is_answered(position)

        self._seats.keep_only(is_kept)

    def _move(self) -> None:
        """To the next testset, whose journal must be free."""
        old = self._journal
        self._begin()
        old.close()


def roughly(count: int) -> str:
    """How many labels are still to come, for a labeller; an exact number would be a promise."""
    if count == 0:
        return "no more"
    if count < 10:
        return "a few more"
    step = 10 if count < 200 else 100
    return f"about {round(count / step) * step:,} more"


def _answers(entry: dict[str, Any]) -> tuple[str, ...]:
    return (str(entry.get("by")), str(entry["state"]), entry.get("label") or "")
