"""A session of one labeller: one example at a time, until every commit that waits has its answer.

It is the only seat at a desk (:mod:`easeci.service.labelling.session`), and the desk's keeper too:
whenever a verdict is known it records, and goes on to what waits next.
"""

from __future__ import annotations

from collections.abc import Callable

from easeci.evidence.cells import LabelState
from easeci.service.commits.advance import acting
from easeci.service.labelling.session import Flushed, Given, LabelSession, Question, roughly
from easeci.service.project import Project

SEAT = "terminal"


class TerminalSession:
    """One labeller's session with a testset.

    With ``unsettled``, what is asked for is what was skipped or disputed before.
    """

    def __init__(
        self,
        project: Project,
        by: str,
        *,
        unsettled: bool = False,
        waiting: Callable[[], None] | None = None,
    ) -> None:
        self.project, self.by = project, by
        self._unsettled, self._waiting = unsettled, waiting
        self.given = 0
        self.answered: list[int] = []
        self.problems: tuple[str, ...] = ()
        with acting(project, waiting):
            pass  # what waits for a label is known now
        self._session = LabelSession.open(project)
        self.question = self._next()
        self._session.record_look(project, waiting)

    @property
    def classes(self) -> list[str]:
        return self._session.classes

    @property
    def declared(self) -> bool:
        return self._session.declared

    @property
    def more(self) -> str:
        """How many labels are still to come: as planned, and not as the evidence says."""
        more = self._session.more_unsettled(self.by) if self._unsettled else self._session.more
        return roughly(more)

    def answer(self, state: LabelState, label: str | None = None) -> None:
        """Store the answer to the question, and go on to the next one."""
        assert self.question is not None
        given = self._session.answer(SEAT, self.by, self.question.ticket, state, label)
        self.given += given in (Given.STORED, Given.SPARE)
        self.question = self._next()

    @property
    def can_undo(self) -> bool:
        return self._session.undoable(self.by) is not None

    def undo(self) -> None:
        """Take back the last answer that nothing rests on yet, and ask again."""
        taken_back = self._session.undo(SEAT, self.by)
        if taken_back is not None:
            self.given = max(self.given - 1, 0)
            self.question = taken_back

    def close(self) -> None:
        """Record what was answered; leave the journal to whoever comes next."""
        self._add(self._session.close(self.project, self._waiting))

    def _next(self) -> Question | None:
        """The next example to ask for; records whenever a verdict is known."""
        while True:
            questions = self._session.take(SEAT, self.by, 1, unsettled=self._unsettled)
            if questions or not self._session.awaiting_flush:
                return questions[0] if questions else None
            self._add(self._session.flush(self.project, self._waiting))

    def _add(self, done: Flushed) -> None:
        self.answered += done.answered
        self.problems += done.problems
