"""Labelling in a terminal: one example at a time, until every waiting commit has its signal.

The terminal has a label session of its own (:mod:`easeci.service.labelling.session`). Whenever a
verdict is known, it records the answers and goes on to the next commit.
"""

from __future__ import annotations

from collections.abc import Callable

from easeci.evidence.cells import LabelState
from easeci.service.commits.advance import acting
from easeci.service.labelling.files import latest, require_labels, scoring_warnings
from easeci.service.labelling.questions import Given, OpenQuestions, Question, roughly
from easeci.service.labelling.session import Flushed, LabelSession
from easeci.service.project import Project

HOLDER = "terminal"


class TerminalSession:
    """One labeller in a terminal, and the question that the screen shows.

    With ``unsettled``, examples that were skipped or are disputed are asked again. ``more`` says
    how many labels are still to come by the plan.
    """

    question: Question | None
    classes: list[str]
    declared: bool
    references: bool
    """Whether answers are references for a scorer, and not classes."""
    more: str
    can_undo: bool

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
            pass  # catch up, so that the open step is known
        require_labels(latest(project))
        self._session = LabelSession(project)
        self._ask_next()
        if self._session.has_work:
            self._flush()  # this labeller looks at examples

    def answer(self, state: LabelState, label: str | None = None) -> None:
        """Store the answer to the question, and go on to the next one."""
        assert self.question is not None
        with self._session.open() as questions:
            given = questions.answer(HOLDER, self.by, self.question.ticket, state, label)
        self.given += given in (Given.STORED, Given.SPARE)
        self._ask_next()

    def undo(self) -> None:
        """Take back the last answer, unless it is recorded, and ask its question again."""
        with self._session.open() as questions:
            question = questions.undo(HOLDER, self.by)
            if question is not None:
                self.given = max(self.given - 1, 0)
                self._show(questions, question)

    def close(self) -> None:
        """Record what was answered, and leave the journal to the next session."""
        self._add(self._session.close(self.project, self._waiting))
        self.problems += scoring_warnings(self.project)

    def _ask_next(self) -> None:
        """Take the next question. Record first whenever a verdict is known."""
        while True:
            with self._session.open() as questions:
                taken = questions.take(HOLDER, self.by, 1, unsettled=self._unsettled)
                if taken or not questions.awaiting_flush:
                    self._show(questions, taken[0] if taken else None)
                    return
            self._flush()

    def _show(self, questions: OpenQuestions, question: Question | None) -> None:
        self.question = question
        self.classes, self.declared = questions.classes, questions.declared
        self.references = questions.references
        self.can_undo = questions.undoable(self.by) is not None
        more = questions.more_unsettled(self.by) if self._unsettled else questions.more
        self.more = roughly(more)

    def _flush(self) -> None:
        self._add(self._session.flush(self.project, self._waiting))

    def _add(self, done: Flushed) -> None:
        self.answered += done.answered
        self.problems += done.problems
