"""The evidence for verdicts: what is known of every example, from predictions and labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from easeci.errors import DataError
from easeci.evidence.cells import Code, LabelState, code_of
from easeci.evidence.codes import Codes, Flags, unlabelled
from easeci.evidence.facts import Facts, Known
from easeci.script import Script
from easeci.tables.align import example_codes, require_common_value, require_comparable
from easeci.tables.column import Column, ColumnRole
from easeci.tables.facts import ExampleColumns, ModelOutput, class_places, example_facts
from easeci.tables.slices import ExampleSlices
from easeci.vault.scored_answers import ReferenceReader
from easeci.vault.scored_facts import ScoredExamples, load_scored_examples
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class VerdictModels:
    """The stored predictions that a verdict compares: new, old, and those of earlier models."""

    new: str
    old: str | None = None
    rivals: tuple[str, ...] = ()


def load_facts(
    testset: SealedTestset,
    script: Script,
    models: VerdictModels,
    label_files: Sequence[str],
    score_files: Sequence[str] = (),
) -> Facts:
    """What is known of every example, in the secret order, as far as the script needs it.

    It never refuses odd classes: a step that is charged must be decided.
    """
    if script.is_scored:
        found = load_scored_examples(
            testset, script, models.new, models.old, label_files, score_files
        )
        return _scored_facts(testset, script, found)
    known = testset.labels.known(label_files)
    new = _output(testset, script, models.new)
    old = None if models.old is None else _output(testset, script, models.old)

    def codes(other: pl.Series | None) -> Codes:
        return example_codes(new.predictions, other, known["label"], known["state"])

    columns = ExampleColumns(
        codes(None if old is None else old.predictions),
        new,
        old,
        known["label"],
        _slices(testset, script),
        [codes(testset.predictions.load(name)) for name in models.rivals],
    )
    return example_facts(script, columns, testset.examples.order)


def _scored_facts(testset: SealedTestset, script: Script, found: ScoredExamples) -> Facts:
    """The same where quality is a score."""
    order, slices = testset.examples.order, _slices(testset, script)
    members = {}
    if slices is not None:
        slices = slices.ordered(order)
        members = {where: slices.positions(where) for where in script.slices}
    scores = {term: found.term(term)[order] for term in script.score_terms}
    return Facts(found.cells[order], slices=members, scores=scores)


def known_by(
    testset: SealedTestset,
    script: Script,
    models: VerdictModels,
    label_files: Sequence[str],
    score_files: Sequence[str] = (),
) -> Flags:
    """Where the label was known by these files, or unsettled, in the secret order.

    Where a scorer compares with references, the reference counts: scores follow from it, whenever
    the scorer runs. Where scores come without references, the scores of all outputs count.
    """
    if script.is_scored and not script.needs_references:
        facts = load_facts(testset, script, models, label_files, score_files)
        return ~unlabelled(facts.cells)
    known = testset.labels.known(label_files)["state"].is_not_null()
    return np.asarray(known.to_numpy()[testset.examples.order])


def _output(testset: SealedTestset, script: Script, name: str) -> ModelOutput:
    ranks = testset.predictions.load_ranks(name) if script.needs_ranks else None
    return ModelOutput(testset.predictions.load(name), ranks)


def expanded_script(testset: SealedTestset, script: Script) -> Script:
    """The script with a clause for each slice in place of ``[column=*]``."""
    if not any(where.every for where in script.slices):
        return script
    slices = _slices(testset, script)
    assert slices is not None
    columns = {where.column for where in script.slices if where.every}
    return script.expanded({column: slices.values_of(column) for column in columns})


def _slices(testset: SealedTestset, script: Script) -> ExampleSlices | None:
    """The columns that slices are made by, in the order of the file of examples."""
    columns = tuple(dict.fromkeys(where.column for where in script.slices))
    return ExampleSlices(testset.examples.columns(columns)) if columns else None


@dataclass(frozen=True)
class AnswerReader:
    """From the answers of labellers to what they show of an example, as :func:`load_facts` would.

    Predictions are in the order of the file of examples.
    """

    testset: SealedTestset
    classes: tuple[str, ...]
    new: pl.Series
    old: pl.Series | None
    rivals: tuple[pl.Series, ...]

    @staticmethod
    def of(testset: SealedTestset, script: Script, models: VerdictModels) -> AnswerReader:
        """A reader for the models that a verdict compares."""
        load = testset.predictions.load
        old = None if models.old is None else load(models.old)
        rivals = tuple(load(name) for name in models.rivals)
        return AnswerReader(testset, script.named_classes, load(models.new), old, rivals)

    def known(self, position: int, state: LabelState, label: str | None) -> Known:
        """What an answer shows of the example at a position."""
        row = int(self.testset.examples.order[position])
        place = len(self.classes)
        if self.classes and label is not None:
            place = int(class_places(pl.Series([label]), self.classes)[0])
        rivals = tuple(self._code(row, rival, state, label) for rival in self.rivals)
        return Known(self._code(row, self.old, state, label), place, rivals)

    def _code(
        self, row: int, other: pl.Series | None, state: LabelState, label: str | None
    ) -> Code:
        made, before = self.new[row], None if other is None else other[row]
        return code_of(
            state,
            differ=before is not None and before != made,
            new_right=made == label,
            old_right=before == label,
        )


def answer_reader(
    testset: SealedTestset, script: Script, models: VerdictModels
) -> AnswerReader | ReferenceReader:
    """What reads the answers of labellers for the models that a verdict compares."""
    if script.is_scored:
        return ReferenceReader.of(testset, script, models.new, models.old)
    return AnswerReader.of(testset, script, models)


def class_warning(testset: SealedTestset, name: str, label_files: Sequence[str]) -> str | None:
    """A warning for the owner if predictions seem to spell classes in another way than labels do.

    They spell them differently (3.0 and 3), or all labels are known and no prediction occurs among
    them. It is never a reason to refuse predictions: that would tell developers about labels.
    """
    ids = testset.examples.ids
    labels = Column("the labels", ColumnRole.LABELS, ids, testset.labels.values(label_files))
    if labels.blank:
        return None
    made = Column("the predictions", ColumnRole.NEW, ids, testset.predictions.load(name))
    try:
        require_comparable(made, labels)
        if labels.values.null_count() == 0 and len(labels.distinct) > 1:
            require_common_value(made, labels)
    except DataError as found:
        return f"{found.message}. {found.hint}"
    return None
