"""The open questions of a testset: which labels are wanted, who was asked, and what they answered.

A question is an example and nothing else: labellers see no prediction, commit or verdict. A ticket
names it, which does not show its position; and the number of labels to come is the plan's, because
the evidence's would show where the verdict is heading.

Nothing here is safe for threads. :class:`easeci.service.labelling.session.LabelSession` owns the
open questions, and hands them out under its lock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from easeci.evidence.cells import LabelState
from easeci.service.labelling.files import latest, record_open
from easeci.service.labelling.leases import Leases
from easeci.service.labelling.message_order import MessageOrder
from easeci.service.labelling.open_step import OpenStep
from easeci.service.project import Project, utc_now
from easeci.vault.journal import Journal
from easeci.vault.tickets import Tickets, invalid_ticket

MOST_CACHED = 1000
"""Questions kept in memory, so that showing them again reads nothing from the disk."""


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
    """It is on the disk too, but the verdict did not need it any more."""
    REPEATED = "stored before"
    """The same labeller had sent the same answer before."""
    ALREADY_ANSWERED = "already answered"
    """Another answer is stored for this example. Nothing was changed."""
    GONE = "of an earlier testset"
    """There is a newer testset. Nothing was stored."""


class OpenQuestions:
    """The questions of the project's latest testset. BusyError if they are open elsewhere.

    Answers go to the testset's journal. Only one process can have that open. ``looks`` tells for
    every holder and labeller who was shown examples whether that is recorded. With ``shared``,
    leases survive a killed server.
    """

    def __init__(
        self,
        project: Project,
        leases: Leases,
        order: MessageOrder,
        looks: dict[tuple[str, str], bool],
        *,
        shared: bool,
    ) -> None:
        self._project, self._leases, self._order = project, leases, order
        self._looks, self._shared = looks, shared
        self._tickets = Tickets(project.vault.key)
        testset = latest(project)
        self._journal = Journal(project.sealed(testset).labels_folder)
        try:
            self._step = OpenStep(project, testset, self._journal.entries)
        except BaseException:
            self._journal.close()
            raise
        self._answers = {int(entry["position"]): _answer(entry) for entry in self._journal.entries}
        """All answers of this session by position, recorded or not."""
        self._asked_again: dict[str, set[int]] = {}
        """The unsettled examples that each labeller has answered again."""
        self._taken_back: set[int] = set()
        """Positions that are asked again because their answers were taken back."""
        self._cache: dict[int, Question] = {}
        self._stored_leases: dict[str, list[int]] = {}
        if shared:
            self._restore_leases()

    def _restore_leases(self) -> None:
        """Take over the leases of a server that was killed."""
        self._leases.restore(self._journal.held())
        wanted = set(self._step.wanted)
        self._leases.keep_only(lambda p: p in wanted or self._step.is_unsettled(p))
        self._stored_leases = self._leases.held

    def _store_leases(self) -> None:
        if self._shared and self._leases.held != self._stored_leases:
            self._stored_leases = self._leases.held
            self._journal.keep_held(self._stored_leases)

    # -- what labellers do

    def take(
        self,
        holder: str,
        by: str,
        count: int,
        *,
        unsettled: bool = False,
        message: int | None = None,
    ) -> list[Question]:
        """The questions that a holder has, filled up to ``count``; the first one is asked next.

        Fewer, or none, if others hold what is wanted, and none while :attr:`awaiting_flush` or if
        the holder left after it sent this ``message``. With ``unsettled``, examples that were
        skipped or are disputed are asked again, but each labeller gets an example only once.
        """
        if message is not None and not self._order.is_present(holder, message):
            return []
        self._leases.renew(holder)
        if self.awaiting_flush:
            return []
        wanted = self._unsettled_left(by) if unsettled else self._step.wanted
        if not unsettled:  # what was loaded ahead may not be needed any more
            self._leases.keep_only(
                lambda p: self._step.is_wanted(p) or p in self._taken_back, holder
            )
        held = self._leases.fill(holder, wanted, count)
        self._store_leases()
        if held:
            self._looks.setdefault((holder, by), False)
        return [self._question(position) for position in held]

    def answer(
        self, holder: str, by: str, ticket: str, state: LabelState, label: str | None = None
    ) -> Given:
        """Store an answer; it is on the disk when this returns.

        UsageError if the ticket is invalid, or the script does not have the class.
        """
        self._leases.renew(holder)
        testset, position = self._tickets.read(ticket)
        if 0 < testset < self._step.testset.number:
            return Given.GONE
        if testset != self._step.testset.number or position >= len(self._step.sealed.examples):
            raise invalid_ticket()
        self._step.require_answer(state, label)
        if self._step.is_unsettled(position):
            self._asked_again.setdefault(by, set()).add(position)
        if self._answers.get(position) == (by, str(state), label or ""):
            self._leases.end(holder, position)
            return Given.REPEATED
        if self._step.is_answered(position):
            self._leases.end(holder, position)
            return Given.ALREADY_ANSWERED
        return self._store(holder, by, position, state, label)

    def _store(
        self, holder: str, by: str, position: int, state: LabelState, label: str | None
    ) -> Given:
        # A step that is open can use every label, also one that nobody was asked for just now.
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
        self._answers[position] = _answer(entry)
        self._step.add(entry)
        self._taken_back.discard(position)
        self._leases.end(holder, position)
        self._store_leases()
        return Given.STORED if needed else Given.SPARE

    def undo(self, holder: str, by: str, ticket: str | None = None) -> Question | None:
        """Take back a labeller's own answer that is not recorded yet, and ask it again.

        The answer to ``ticket``, or else the last one. Its question becomes the holder's first
        one, also if the same request came before. None if there is nothing to take back. An answer
        that a verdict is known with counts as recorded.
        """
        self._leases.renew(holder)
        ticket = ticket or self.undoable(by)
        if ticket is None or self.awaiting_flush:
            return None
        testset, position = self._tickets.read(ticket)
        if testset != self._step.testset.number:
            return None
        if position not in self._unrecorded_of(by):
            return self._question(position) if self._leases.holds(holder, position) else None
        self._journal.undo(position)
        self._answers.pop(position, None)
        self._asked_again.get(by, set()).discard(position)
        self._step.remove(position)
        self._taken_back.add(position)
        self._leases.give(holder, position)
        self._store_leases()
        return self._question(position)

    def undoable(self, by: str) -> str | None:
        """The ticket of a labeller's last answer, if it can be taken back."""
        mine = () if self.awaiting_flush else self._unrecorded_of(by)
        return self._tickets.ticket(self._step.testset.number, mine[-1]) if mine else None

    def _unrecorded_of(self, by: str) -> list[int]:
        entries = self._journal.entries
        return [int(entry["position"]) for entry in entries if entry.get("by") == by]

    def leave(self, holder: str) -> None:
        """End a holder's lease, so that others get its questions at once."""
        self._leases.leave(holder)
        self._store_leases()

    def file(self, holder: str, ticket: str, column: str) -> Callable[[], Path | None] | None:
        """What finds and checks the file that a column of a question names; that can take long.

        None if the column names no file, or the question is neither among those that the holder
        has, nor its last one.
        """
        testset, position = self._tickets.read(ticket)
        here = testset == self._step.testset.number
        if not here or position not in self._leases.shown(holder):
            return None
        question = self._question(position)
        if column not in question.files:
            return None
        return partial(self._step.sealed.examples.file_at, question.row[column])

    def _question(self, position: int) -> Question:
        if position not in self._cache:
            if len(self._cache) > MOST_CACHED:
                self._cache.clear()
            sealed = self._step.sealed
            (row,) = sealed.examples.rows_at([position])
            shown = {name: value for name, value in row.items() if name != "id"}
            files = tuple(name for name, value in shown.items() if sealed.examples.has_file(value))
            ticket = self._tickets.ticket(self._step.testset.number, position)
            self._cache[position] = Question(ticket, shown, files)
        return self._cache[position]

    # -- what pages show

    @property
    def classes(self) -> list[str]:
        """The classes that the script declares, or those of all labels and answers so far."""
        return list(self._step.classes)

    @property
    def declared(self) -> bool:
        """Whether the script declares the classes, so that there are no others."""
        return self._step.declared

    @property
    def references(self) -> bool:
        """Whether answers are references for a scorer: any text, and not a class."""
        return self._step.testset.terms.is_scored

    @property
    def more(self) -> int:
        """How many labels are still to come by the plan."""
        return self._step.more

    @property
    def wanted(self) -> int:
        """How many labels the open step asks for now. Only the owner may see this."""
        return sum(1 for _ in self._step.wanted)

    @property
    def unrecorded(self) -> int:
        """How many answers are on the disk and not recorded yet."""
        return len(self._journal.entries)

    @property
    def are_held(self) -> bool:
        """Whether any holder has a question."""
        self._leases.let_lapse()
        return bool(self._leases.held)

    def more_unsettled(self, by: str) -> int:
        """How many unsettled labels one labeller can still be asked for."""
        return sum(1 for _ in self._unsettled_left(by))

    def _unsettled_left(self, by: str) -> Iterable[int]:
        done = self._asked_again.get(by, set())
        return (p for p in self._step.unsettled if p not in done and not self._step.is_answered(p))

    # -- what the session's owner does

    @property
    def awaiting_flush(self) -> bool:
        """Whether nothing is handed out until the answers are recorded.

        A verdict is known with them, the owner's scorer must score them, or there is a newer
        testset.
        """
        if self._step.decided:
            return True
        return self.unrecorded > 0 and (self._is_outdated or self._step.awaits_scores)

    @property
    def are_over(self) -> bool:
        """Whether there is a newer testset, and nothing of this one is left to be recorded."""
        return self._is_outdated and not self.unrecorded

    @property
    def _is_outdated(self) -> bool:
        return latest(self._project).number != self._step.testset.number

    def refresh(self) -> None:
        """Notice new labels and steps of this testset; cheap if there are none."""
        testset = latest(self._project)
        if self._is_outdated or not self._step.is_stale(testset):
            return
        before = self._step
        step = OpenStep(self._project, testset, self._journal.entries, before)
        self._step = step
        wanted = set(step.wanted) if before.number != step.number else None

        def is_kept(position: int) -> bool:
            wished = wanted is None or position in wanted or step.is_unsettled(position)
            return wished and not step.is_answered(position)

        self._leases.keep_only(is_kept)

    def record(self, project: Project) -> tuple[str, ...]:
        """Record all answers; the caller acts alone on ``project``. Returns what is unusable."""
        if not self._journal.entries:
            return ()
        problems = record_open(project, self._step.testset.number, self._journal.entries)
        self._journal.clear()
        return problems

    def close(self) -> None:
        """Free the journal. Leases stay stored: pages outlive a server that is restarted."""
        self._leases.let_lapse()
        self._store_leases()
        self._journal.close()


def roughly(count: int) -> str:
    """How many labels are still to come, for a labeller; an exact number would be a promise."""
    if count == 0:
        return "no more"
    if count < 10:
        return "a few more"
    step = 10 if count < 200 else 100
    return f"about {round(count / step) * step:,} more"


def _answer(entry: dict[str, Any]) -> tuple[str, ...]:
    return (str(entry.get("by")), str(entry["state"]), entry.get("label") or "")
