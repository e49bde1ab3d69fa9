"""The open step of a testset, together with answers that are not recorded yet.

It is made anew after labels or steps were recorded, which reads every example. After that, the cost
of an answer grows with the labels known so far, not with the size of the testset.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from easeci.errors import DataError, UsageError
from easeci.evidence.cells import LabelState
from easeci.evidence.facts import Known
from easeci.ledger.state import Step, Testset
from easeci.script.scorer import Scorer
from easeci.service.commits.advance import evidence_of, verdict_models
from easeci.service.labelling.files import classes_of, takes_labels
from easeci.service.labelling.outlook import expected_labels
from easeci.service.project import Project
from easeci.tables.align import require_comparable
from easeci.tables.answers import KNOWN
from easeci.tables.column import LONGEST_REFERENCE, Column, ColumnRole
from easeci.tables.scorers import unusable_reason, usable_references
from easeci.vault.facts import answer_reader
from easeci.vault.testset import SealedTestset
from easeci.verdict.decide import Evaluation
from easeci.verdict.result import Verdict

LONGEST_CLASS = 200
GIVEN = (LabelState.LABEL, LabelState.CANNOT_TELL, LabelState.SKIPPED)
"""What one labeller can answer."""


class OpenStep:
    """A testset, its labels known so far, and the verdict that they lead to.

    ``entries`` are the journal's. ``before`` is an earlier object for the same testset: what cannot
    have changed is taken from it, and classes keep their order.
    """

    def __init__(
        self,
        project: Project,
        testset: Testset,
        entries: Sequence[dict[str, Any]],
        before: OpenStep | None = None,
    ) -> None:
        self.testset = testset
        if before is not None and before.testset is not testset:
            before = None
        self.sealed: SealedTestset = project.sealed(testset) if before is None else before.sealed
        step = testset.undecided_step
        self.number = None if step is None else step.number
        self._mark = _mark(testset)
        states = self.sealed.labels.known(testset.label_files)["state"]
        known = states.is_in([str(state) for state in KNOWN]).fill_null(False).to_numpy()
        self._known = known[self.sealed.examples.order]
        self._missing = int((~known).sum())
        self.unsettled: list[int] = self.sealed.labels.unsettled(testset.label_files).tolist()
        self._unsettled = set(self.unsettled)
        self.declared = bool(testset.script.classes)
        self._classes: list[str] = [] if before is None else before.classes
        self._remember(classes_of(self.sealed, testset))
        self._entries = {int(entry["position"]): entry for entry in entries}
        self._expected: int = expected_labels(testset) if before is None else before._expected
        self._evaluation: Evaluation | None = None
        self._verdict: Verdict | None = None
        self._answered: dict[int, Known | None] = {}
        """Positions with an answer in the journal, each with what was known before the answer."""
        if step is not None:
            self._evaluate(project, step)
        for entry in entries:
            self._apply(entry)
        self._decide()

    def _evaluate(self, project: Project, step: Step) -> None:
        evidence = evidence_of(project, self.testset, step)
        self._evaluation = Evaluation(*evidence)
        models = verdict_models(self.testset, step)
        self._answers = answer_reader(self.sealed, evidence.script, models)

    def is_stale(self, testset: Testset) -> bool:
        """Whether labels or steps were recorded since this was made."""
        return testset is not self.testset or _mark(testset) != self._mark

    # -- what is known

    @property
    def decided(self) -> bool:
        """Whether the answers lead to a verdict."""
        return self._verdict is not None and self._verdict.passed is not None

    @property
    def wanted(self) -> tuple[int, ...]:
        """Positions of the labels that are wanted next, in order, from the first missing one.

        An unsettled label may be wanted again (AUC waits for it), but not before it is recorded.
        An example whose reference is known waits for the scorer, and not for a labeller.
        """
        if self._verdict is None or not takes_labels(self.testset):
            return ()
        scored = self.testset.terms.is_scored
        return tuple(
            place
            for place in self._verdict.wanted
            if place not in self._answered and not (scored and self._known[place])
        )

    @property
    def awaits_scores(self) -> bool:
        """Whether all that is wanted is answered, and the owner's scorer must score it first."""
        verdict = self._verdict
        if verdict is None or self.decided or not self.testset.terms.is_scored:
            return False
        return bool(self._answered) and bool(verdict.wanted) and not self.wanted

    def is_wanted(self, position: int) -> bool:
        """Whether the label at this position is wanted next."""
        wanted = self.wanted
        place = bisect_left(wanted, position)
        return place < len(wanted) and wanted[place] == position

    @property
    def more(self) -> int:
        """How many labels are still to come by the plan; the evidence would show too much."""
        if self._verdict is None:
            return 0
        left = self._missing - len(self._answered)
        return max(min(self._expected - self._verdict.labels, left), 1)

    @property
    def classes(self) -> list[str]:
        """The declared classes, or those of all labels and answers so far, in a stable order.

        References for a scorer are no classes.
        """
        if self.testset.terms.is_scored:
            return []
        given = (entry.get("label") for entry in self._entries.values())
        new = dict.fromkeys(g for g in given if g is not None and g not in self._classes)
        return [*self._classes, *new]

    def is_answered(self, position: int) -> bool:
        """Whether a label is known or in the journal; an unsettled one may be answered again."""
        return position in self._answered or bool(self._known[position])

    def is_unsettled(self, position: int) -> bool:
        """Whether the label at this position was skipped or is disputed."""
        return position in self._unsettled

    def can_use(self, position: int) -> bool:
        """Whether an answer here is of use: a step is open, or the label is unsettled."""
        waiting = self._evaluation is not None and not self.decided
        return waiting or self.is_unsettled(position)

    def require_answer(self, state: LabelState, label: str | None) -> None:
        """Refuse an answer that could not be recorded later, while the labeller can correct it."""
        if state not in GIVEN or (label is None) != (state is not LabelState.LABEL):
            raise UsageError("an answer is a label, can't tell, or skipped")
        if label is None or label in self.classes:
            return
        scorer = self.testset.script.scorer
        if scorer is not None:
            _require_reference(scorer, label)
            return
        if self.declared:
            raise UsageError("the script has no such class")
        plain = label.isprintable() and label == label.strip()
        if not label or not plain or len(label) > LONGEST_CLASS:
            raise UsageError(
                "this cannot be the name of a class",
                hint=f"A class is a text of one line, of at most {LONGEST_CLASS} characters.",
            )
        try:
            require_comparable(_column(self.classes), _column([label]))
        except DataError as error:
            raise UsageError(
                "whole numbers would be spelt in two ways: 3 and 3.0 are not the same class",
                hint=error.hint,
            ) from None

    # -- what changes

    def add(self, entry: dict[str, Any]) -> None:
        """Add an answer."""
        self._entries[int(entry["position"])] = entry
        self._apply(entry)
        self._decide()

    def remove(self, position: int) -> None:
        """Take back the answer at a position."""
        self._entries.pop(position, None)
        before = self._answered.pop(position, None)
        if before is not None and self._evaluation is not None:
            self._evaluation.put(position, before)
        self._decide()

    def _apply(self, entry: dict[str, Any]) -> None:
        position, state = int(entry["position"]), LabelState(entry["state"])
        self._answered.setdefault(position, None)
        if self._evaluation is None or self._known[position]:
            return
        before = self._evaluation.known_at(position)
        self._evaluation.put(position, self._answers.known(position, state, entry["label"]))
        if self._answered[position] is None:
            self._answered[position] = before

    def _decide(self) -> None:
        self._verdict = None if self._evaluation is None else self._evaluation.verdict()

    def _remember(self, labels: Sequence[str]) -> None:
        self._classes += [label for label in labels if label not in self._classes]


def _mark(testset: Testset) -> tuple[int | None, int, int]:
    step = testset.undecided_step
    number = None if step is None else step.number
    return number, len(testset.label_files), len(testset.score_files)


def _require_reference(scorer: Scorer, label: str) -> None:
    """Refuse a reference that could not be recorded later."""
    if not 0 < len(label.encode("utf-8", "replace")) <= LONGEST_REFERENCE:
        raise UsageError(
            "this cannot be a reference",
            hint=f"A reference is a text of at most {LONGEST_REFERENCE:,} bytes.",
        )
    if not usable_references(scorer, pl.Series([label])).all():
        raise UsageError(f"the scorer cannot use references that {unusable_reason(scorer)}")


def _column(classes: Sequence[str]) -> Column:
    ids = pl.Series("id", np.arange(len(classes)))
    return Column(
        "the classes", ColumnRole.LABELS, ids, pl.Series("label", classes, dtype=pl.String)
    )
