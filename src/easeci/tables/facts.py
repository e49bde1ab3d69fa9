"""From columns of predictions, labels and examples to what a script's clauses read of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from easeci.errors import DataError
from easeci.evidence.bets import Floats
from easeci.evidence.codes import Codes
from easeci.evidence.facts import ClassColumns, Facts, Places, RankColumns
from easeci.script import Script
from easeci.script.lattice import ScoreTerm
from easeci.script.syntax import SliceTest
from easeci.tables.column import ModelRanks, as_text, shortened
from easeci.tables.order import Positions
from easeci.tables.slices import ExampleSlices


@dataclass(frozen=True)
class ModelOutput:
    """What a model gave for each example: a prediction, and a score if the script needs it."""

    predictions: pl.Series
    ranks: ModelRanks | None = None


@dataclass(frozen=True)
class ExampleColumns:
    """All that clauses may look at, in one order: cells, models, labels, slices, earlier models.

    ``labels`` are null where none is known. ``rivals`` are the codes of n, o and d against models
    that were tested before, for ``top``. ``scores`` are those of outputs, NaN where one is not
    known.
    """

    cells: Codes
    new: ModelOutput
    old: ModelOutput | None
    labels: pl.Series | None
    slices: ExampleSlices | None = None
    rivals: Sequence[Codes] = ()
    scores: Mapping[ScoreTerm, Floats] = field(default_factory=dict)


def example_facts(script: Script, columns: ExampleColumns, order: Positions | None = None) -> Facts:
    """What is known of every example, as far as the script needs it; row ``order[0]`` first."""
    names, slices = script.named_classes, columns.slices
    classes = _classes(names, columns) if names else None
    ranks = {name: _ranks(name, columns) for name in _ranked(script)}
    rivals, cells, scores = tuple(columns.rivals), columns.cells, dict(columns.scores)
    if slices is not None:
        for column in {where.column for where in script.slices if where.test is SliceTest.EQUAL}:
            slices.partition(column)  # all its slices in one pass
    if order is not None:
        cells, rivals = cells[order], tuple(codes[order] for codes in rivals)
        classes = None if classes is None else classes.taken(order)
        ranks = {name: found.taken(order) for name, found in ranks.items()}
        scores = {term: values[order] for term, values in scores.items()}
        slices = None if slices is None else slices.ordered(order)
    members = {} if slices is None else {w: slices.positions(w) for w in script.slices}
    return Facts(cells, classes, members, ranks, rivals, scores)


def _classes(names: tuple[str, ...], columns: ExampleColumns) -> ClassColumns:
    made, labels = class_places(columns.new.predictions, names), columns.labels
    return ClassColumns(
        names,
        made,
        made if columns.old is None else class_places(columns.old.predictions, names),
        np.full(len(made), len(names), np.uint16)
        if labels is None
        else class_places(labels, names),
    )


def class_places(values: pl.Series, names: Sequence[str]) -> Places:
    """The place of each value among the names; their number for any other value, and for none."""
    places = {name: place for place, name in enumerate(names)}
    found = as_text(values).replace_strict(places, default=len(names), return_dtype=pl.UInt16)
    return found.to_numpy()


def require_named_classes(names: Sequence[str], columns: Sequence[pl.Series]) -> None:
    """Refuse a class that no column has: most likely it is spelt differently."""
    if not names:
        return
    texts = [as_text(values.drop_nulls().unique()) for values in columns]
    known = sorted(set().union(*(values.to_list() for values in texts)))
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            raise DataError(
                f"the condition names the class '{shortened(name)}', which is neither predicted "
                "nor the label of any example",
                hint=f"Did you mean '{shortened(close[0])}'?"
                if close
                else "Is it spelt as in the predictions?",
            )


def _ranked(script: Script) -> set[str]:
    blocks = (clause.score.blocks for clause in script.clauses)
    return {found.positive for found in blocks if found is not None}


def _ranks(positive: str, columns: ExampleColumns) -> RankColumns:
    new, old = columns.new, columns.old
    assert new.ranks is not None
    before = None
    if old is not None and old.ranks is not None:
        before = old.ranks.towards(positive, old.predictions)
    return RankColumns(new.ranks.towards(positive, new.predictions), before)
