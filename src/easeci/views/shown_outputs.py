"""The outputs of two models on some examples, as a page shows them.

They are hostile: see :mod:`easeci.views.readable`. All texts of a page share a budget of
characters, so that a page stays small whatever models write.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from easeci.evidence.bets import Floats
from easeci.evidence.cells import STATES, LabelState
from easeci.evidence.codes import Flags
from easeci.evidence.facts import Positions
from easeci.vault.scored_facts import NEW, OLD, OutputColumns, ScoredExamples
from easeci.vault.testset import SealedTestset
from easeci.views.readable import (
    MOST_CHARACTERS,
    Readable,
    fair_limit,
    readable,
    readable_value,
)

MOST_EXAMPLES = 10
"""Of those that lost, and of those that gained."""
MOST_OUTPUTS = 5
"""Different outputs of a model for one example."""
MOST_COLUMNS = 12
BUDGET = 150_000
"""Characters of all texts together. In HTML, a character has up to five bytes."""
LONGEST_NAME = 100
_DIGITS = 9
"""Changes are rounded to so many digits: what is left of a difference of equal means is noise."""


@dataclass(frozen=True)
class ScorePair:
    """One score of both models, in the order of the file of examples; None if it is not asked for.

    ``name`` is the scorer's name for it, ``title`` how a page calls it.
    """

    name: str
    title: str
    new: Floats | None
    old: Floats | None

    @property
    def change(self) -> Floats | None:
        """New minus old; None if there is only one of them."""
        if self.new is None or self.old is None:
            return None
        return np.asarray(np.round(self.new - self.old, _DIGITS))


@dataclass(frozen=True)
class ChangedScores:
    """The scores to choose examples by: ``by`` is one of ``pairs``.

    ``known`` marks the examples whose scores are known, and ``place`` is the position of each in
    the secret order: of equal changes the first ones in that order are shown.
    """

    pairs: tuple[ScorePair, ...]
    by: ScorePair
    known: Flags
    place: Positions


@dataclass(frozen=True)
class ShownColumn:
    """A column of an example."""

    name: str
    text: Readable


@dataclass(frozen=True)
class ShownOutput:
    """An output that a model gave in ``trials`` trials, and its score; None if it is not known.

    ``failed``: it could not be scored, and so its score is 0.
    """

    text: Readable
    trials: int
    score: float | None
    failed: bool


@dataclass(frozen=True)
class ModelOutputs:
    """The different outputs of one model for an example; ``more`` are not shown."""

    model: str
    outputs: tuple[ShownOutput, ...]
    more: int


@dataclass(frozen=True)
class ExampleScore:
    """The score of an example by both models."""

    title: str
    old: float | None
    new: float | None


@dataclass(frozen=True)
class ShownExample:
    """An example with its reference, the outputs of both models, and their scores.

    ``reference`` is None if the scorer needs none. ``cannot_tell``: labellers could not tell what
    is right, so every output scores 0.
    """

    id: str
    columns: tuple[ShownColumn, ...]
    more_columns: int
    reference: Readable | None
    cannot_tell: bool
    scores: tuple[ExampleScore, ...]
    models: tuple[ModelOutputs, ...]


@dataclass(frozen=True)
class OutputGroup:
    """Some examples under one title; ``more`` of the same kind are not shown."""

    title: str
    examples: tuple[ShownExample, ...]
    more: int


def output_groups(
    sealed: SealedTestset, found: ScoredExamples, changed: ChangedScores
) -> tuple[OutputGroup, ...]:
    """The examples whose score fell most and rose most; with one model, those with the lowest."""
    chosen = list(_chosen(changed))
    reader = _Reader(sealed, found, changed)
    parts = {row: reader.parts(row) for _, rows, _ in chosen for row in rows}
    wide = [text for part in parts.values() for text in part.texts(MOST_CHARACTERS)]
    limit = fair_limit([len(text.text) for text in wide], BUDGET)
    return tuple(
        OutputGroup(title, tuple(parts[row].shown(limit) for row in rows), more)
        for title, rows, more in chosen
    )


def _chosen(changed: ChangedScores) -> Iterator[tuple[str, list[int], int]]:
    """The title of each group, the rows of its examples, and how many more there are."""
    change = changed.by.change
    if change is None:
        values = changed.by.new if changed.by.new is not None else changed.by.old
        assert values is not None
        yield "Lowest scores", *_first(values, changed.known, changed.place)
        return
    for title, sign in (("Scores that fell most", 1.0), ("Scores that rose most", -1.0)):
        rows, more = _first(sign * change, changed.known & (sign * change < 0), changed.place)
        if rows:
            yield title, rows, more


def _first(values: Floats, candidates: Flags, place: Positions) -> tuple[list[int], int]:
    """The rows with the least values, and how many candidates there are beyond them."""
    rows = np.flatnonzero(candidates)
    order = np.lexsort((place[rows], values[rows]))
    shown = rows[order][:MOST_EXAMPLES].tolist()
    return shown, len(rows) - len(shown)


@dataclass(frozen=True)
class _Outputs:
    """The different outputs of a model for one example, the most frequent one first."""

    model: str
    texts: tuple[str, ...]
    trials: tuple[int, ...]
    scores: tuple[float | None, ...]
    failed: tuple[bool, ...]

    def shown(self, limit: int) -> ModelOutputs:
        outputs = tuple(
            ShownOutput(readable(text, limit), trials, score, failed)
            for text, trials, score, failed in zip(
                self.texts[:MOST_OUTPUTS], self.trials, self.scores, self.failed, strict=False
            )
        )
        return ModelOutputs(self.model, outputs, max(len(self.texts) - MOST_OUTPUTS, 0))


@dataclass(frozen=True)
class _Parts:
    """All that is shown of an example, before its texts are cut."""

    id: str
    columns: tuple[tuple[str, Any], ...]
    more_columns: int
    reference: str | None
    cannot_tell: bool
    scores: tuple[ExampleScore, ...]
    models: tuple[_Outputs, ...]

    def shown(self, limit: int) -> ShownExample:
        return ShownExample(
            id=readable(self.id, LONGEST_NAME).text,
            columns=tuple(
                ShownColumn(readable(name, LONGEST_NAME).text, readable_value(value, limit))
                for name, value in self.columns
            ),
            more_columns=self.more_columns,
            reference=None if self.reference is None else readable(self.reference, limit),
            cannot_tell=self.cannot_tell,
            scores=self.scores,
            models=tuple(outputs.shown(limit) for outputs in self.models),
        )

    def texts(self, limit: int) -> list[Readable]:
        shown = self.shown(limit)
        found = [column.text for column in shown.columns]
        found += [] if shown.reference is None else [shown.reference]
        return found + [output.text for model in shown.models for output in model.outputs]


@dataclass(frozen=True)
class _Reader:
    """Reads what is shown of one example after the other."""

    sealed: SealedTestset
    found: ScoredExamples
    changed: ChangedScores

    def parts(self, row: int) -> _Parts:
        (example,) = self.sealed.examples.rows_of(np.array([row], np.int64))
        columns = [(name, value) for name, value in example.items() if name != "id"]
        references = self.found.references
        needed = self.found.script.needs_references
        return _Parts(
            id=str(self.sealed.examples.ids[row]),
            columns=tuple((name, self._value(value)) for name, value in columns[:MOST_COLUMNS]),
            more_columns=max(len(columns) - MOST_COLUMNS, 0),
            reference=references.texts[row] if needed else None,
            cannot_tell=needed
            and bool(references.states[row] == STATES.index(LabelState.CANNOT_TELL)),
            scores=tuple(
                ExampleScore(pair.title, _at(pair.old, row), _at(pair.new, row))
                for pair in self.changed.pairs
            ),
            models=tuple(self._outputs(row)),
        )

    def _value(self, value: Any) -> Any:
        return f"file {value}" if self.sealed.examples.has_file(value) else value

    def _outputs(self, row: int) -> Iterator[_Outputs]:
        """The old model first, as it was before."""
        sides = ((OLD, "Old model", self.found.old), (NEW, "New model", self.found.new))
        for model, words, columns in sides:
            if columns is not None:
                yield self._of_model(model, words, columns, row)

    def _of_model(self, model: str, words: str, columns: OutputColumns, row: int) -> _Outputs:
        trials = columns.trials
        texts = columns.table["text"].slice(row * trials, trials)
        rows = pl.DataFrame({"text": texts, "trial": np.arange(trials)})
        groups = rows.group_by("text", maintain_order=True).agg(pl.len(), pl.col("trial").first())
        groups = groups.sort("len", descending=True, maintain_order=True)
        first = groups["trial"].to_list()
        known = self.found.scores.get((model, self.changed.by.name))
        values = [None] * len(first) if known is None else [known.values[row, t] for t in first]
        failed = [known is not None and bool(known.failed[row, t]) for t in first]
        return _Outputs(
            words,
            tuple(groups["text"].to_list()),
            tuple(groups["len"].to_list()),
            tuple(_finite(value) for value in values),
            tuple(failed),
        )


def _at(values: Floats | None, row: int) -> float | None:
    return None if values is None else _finite(values[row])


def _finite(value: float | None) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
