"""A session of labelling: one example at a time, until every commit that waits has its answer.

An answer is on the disk the moment it is given (the vault's journal), but it is recorded, and so
consulted, only when a verdict is known with it or the session ends. Until then it can be taken
back; afterwards it stands, like any label. A session that was killed leaves its journal to the
next one.

The labeller is blind: a question is an example and nothing else, and how many are still to come is
said by the plan and not by the evidence, which would show where it is heading.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from easeci.errors import DataError
from easeci.evidence.cells import Codes, unlabelled
from easeci.ledger.events import LABELLING, Looked
from easeci.ledger.state import Step, Testset
from easeci.plan import plan
from easeci.script import Script
from easeci.service.labelling import answered_now, answers_of, classes_of, latest, record
from easeci.service.progress import resume
from easeci.service.project import Project, utc_now
from easeci.tables.answers import Answered
from easeci.vault import Journal, SealedTestset
from easeci.verdict import Verdict, decide

AHEAD = 20
"""How many examples are read at a time."""


@dataclass(frozen=True)
class Question:
    """An example to label, as programs see it; ``files`` are the columns that name a file."""

    position: int
    row: dict[str, Any]
    files: tuple[str, ...] = ()


class Asking:
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
        self.project, self.by, self._waiting = project, by, waiting
        self.given = 0
        self.answered: list[int] = []
        self.problems: tuple[str, ...] = ()
        self._rows: dict[int, dict[str, Any]] = {}
        self._verdict: Verdict | None = None
        with project.exclusive(waiting):
            resume(project)
            self._testset = latest(project)
        self._sealed = project.sealed(self._testset)
        self._journal = Journal(self._sealed.labels_folder)
        self._again: list[int] | None = None
        if unsettled:
            self._again = self._sealed.unsettled(self._testset.label_files).tolist()
        self.classes = list(classes_of(self._sealed, self._testset))
        self.declared = bool(self._testset.script.classes)
        for entry in self._journal.entries:
            self._remember(entry.get("label"))
        self._expected = self._expectation()
        self._load()
        self.question = self._next()
        if self.question is not None:
            with project.exclusive(waiting):
                project.append(Looked(LABELLING))

    # -- what the labeller does

    def answer(self, state: Answered, label: str | None = None) -> None:
        """Store the answer to the question, and go on to the next one."""
        assert self.question is not None
        position = self.question.position
        entry = {
            "id": str(self._sealed.ids_at([position])[0]),
            "position": position,
            "label": label,
            "state": str(state),
            "by": self.by,
            "at": utc_now(),
        }
        self._journal.add(entry)
        self._remember(label)
        self.given += 1
        self._apply(entry)
        self.question = self._next()

    @property
    def can_undo(self) -> bool:
        return bool(self._journal.entries)

    def undo(self) -> None:
        """Take back the last answer that nothing rests on yet, and ask again."""
        position = int(self._journal.undo()["position"])
        self.given = max(self.given - 1, 0)
        self._load()
        self._verdict = self._decide()
        self.question = self._question(position)

    @property
    def more(self) -> int:
        """How many labels are still to come: as planned, and not as the evidence says."""
        if self._again is not None:
            return len(self._left())
        if self._verdict is None:
            return 0
        if self._expected is None:
            return len(self._verdict.wanted)
        return max(self._expected - self._verdict.labels, 1)

    def close(self) -> None:
        """Record what was answered; leave the journal to whoever comes next."""
        try:
            self._record()
        finally:
            self._journal.close()

    # -- how it goes on

    def _next(self) -> Question | None:
        """The next example to ask for; records whenever a verdict is known."""
        if self._again is not None:
            left = self._left()
            return self._question(left[0]) if left else None
        while (verdict := self._decide()) is not None and verdict.passed is not None:
            self._record()
            self._load()
        self._verdict = verdict
        return None if verdict is None else self._question(verdict.wanted[0])

    def _left(self) -> list[int]:
        done = {entry["position"] for entry in self._journal.entries}
        return [position for position in self._again or [] if position not in done]

    def _load(self) -> None:
        """The codes of the open step, with the answers that are not recorded yet."""
        self._verdict = None
        self._codes: Codes | None = None
        step = self._step()
        if step is None:
            return
        submission = self.project.state.submission(step.submission)
        new = self._testset.predictions[submission.commit].file
        old = None if step.baseline is None else self._testset.predictions[step.baseline].file
        self._codes = self._sealed.codes(new, old, self._testset.label_files).copy()
        self._new = self._sealed.predictions(new)
        self._old = None if old is None else self._sealed.predictions(old)
        for entry in self._journal.entries:
            self._apply(entry)

    def _apply(self, entry: dict[str, Any]) -> None:
        position = int(entry["position"])
        if self._codes is None or not unlabelled(self._codes[[position]])[0]:
            return
        state = Answered(entry["state"])
        self._codes[position] = self._sealed.code_of(
            position, state, entry["label"], self._new, self._old
        )

    def _step(self) -> Step | None:
        return None if self._testset.retired is not None else self._testset.open_step

    def _decide(self, batch: int = 1) -> Verdict | None:
        if self._codes is None:
            return None
        return decide(_script(self._testset), self._codes, self._testset.history, batch)

    def _question(self, position: int) -> Question:
        if position not in self._rows:
            ahead = self._left() if self._again is not None else self._ahead()
            wanted = [position, *(p for p in ahead[:AHEAD] if p != position)]
            self._rows = dict(zip(wanted, self._sealed.rows_at(wanted), strict=True))
        row = self._rows[position]
        files = [name for name, value in row.items() if self._sealed.has_file(value)]
        return Question(position, row, tuple(files))

    def _ahead(self) -> list[int]:
        verdict = self._decide(AHEAD)
        return [] if verdict is None else list(verdict.wanted)

    def _record(self) -> None:
        entries = self._journal.entries
        with self.project.exclusive(self._waiting):
            self._testset = self.project.state.testsets[self._testset.number]
            if entries:
                answers = answers_of("the answers", entries)
                try:
                    received = record(self.project, self._testset, answers)
                    self.problems += received.problems
                except DataError as error:
                    if not _already_known(self._sealed, self._testset, entries):
                        raise
                    self.problems += (error.message,)
            self.answered += answered_now(self.project)
        self._journal.clear()
        self._sealed = self.project.sealed(self._testset)

    def _remember(self, label: str | None) -> None:
        if label is not None and label not in self.classes:
            self.classes.append(label)

    def _expectation(self) -> int | None:
        """How many labels a commit takes by plan, where that is not simply all that are missing."""
        expected = plan(_script(self._testset)).chosen.expected
        return None if expected is None else expected.middle


def _script(testset: Testset) -> Script:
    return replace(testset.script, estimator=testset.estimator)


def _already_known(sealed: SealedTestset, testset: Testset, entries: list[dict[str, Any]]) -> bool:
    """Whether all examples have got labels from elsewhere: then those stand."""
    rows = sealed.order[[int(entry["position"]) for entry in entries]]
    return bool(sealed.labels(testset.label_files).gather(rows).is_not_null().all())
