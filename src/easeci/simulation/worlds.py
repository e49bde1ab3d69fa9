"""Models for conditions that n, o and d don't describe: classes, slices, scores and earlier models.

A world says how often both models are right, which classes are predicted and labelled, which AUC
each model has, and how good earlier models are. One clause is exactly at a place
(:mod:`easeci.simulation.laws`). The lift from cells to classes is that of plans
(:mod:`easeci.plan.outcome_laws`), for all named classes together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from easeci.errors import UsageError
from easeci.evidence.bets import Floats
from easeci.evidence.cells import CODE_OF, Code
from easeci.evidence.codes import Codes
from easeci.evidence.facts import ClassColumns, Facts, RankColumns
from easeci.plan.assumptions import planned_difference
from easeci.plan.outcome_laws import (
    EVEN,
    RARE,
    aucs_at,
    cells_law,
    class_share,
    deciding_families,
    lift,
    normal_quantile,
    tables_of,
)
from easeci.plan.tilted_laws import tilted, value_of_means
from easeci.script import Mode, NormalClause, Score, Script
from easeci.script.outcomes import Cell, ExampleAlphabet
from easeci.script.syntax import Slice

MOST_CLASSES = 12
"""More named classes than this are not simulated: their combinations are too many."""
RANK_CORRELATION = 0.9
"""The correlation of the scores that two models give."""
MORE_RIVALS = 2
"""So many earlier models beyond the K of top(K)."""
FAR = 6
"""How many tolerances away models are that should not matter."""
COMFORT, USUAL_ACCURACY, NEAR = 2.0, 0.8, 1e-9
GRID = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.94, 0.97, 0.99, 0.4, 0.3, 0.2, 0.1)

Aucs = Mapping[str, tuple[float, float]]


def beyond_cells(script: Script) -> bool:
    """Whether a script needs worlds: whether n, o and d don't describe its condition."""
    return any(not clause.score.is_linear for clause in script.clauses)


def concrete(script: Script) -> Script:
    """The script with two values in place of each ``[column=*]``."""
    columns = [where.column for where in script.slices if where.every]
    if not columns:
        return script
    return script.expanded({column: ["first", "second"] for column in columns})


@dataclass(frozen=True)
class World:
    """The joint law of examples.

    ``law`` is over the outcomes of the named classes, ``accuracy`` that of the new model. ``gaps``
    are by how much it is better than each of the earlier models, which differ from it on the share
    ``difference``. ``slices`` are the slices that clauses name; each has ``part`` of the examples.
    """

    names: tuple[str, ...]
    law: Floats
    accuracy: float
    difference: float
    aucs: Aucs = field(default_factory=dict)
    gaps: tuple[float, ...] = ()
    slices: tuple[Slice, ...] = ()
    part: float = 1.0

    def __reduce__(self) -> tuple[Callable[..., World], tuple[object, ...]]:
        """Worlds go to other processes; plain dictionaries do."""
        parts = (self.names, self.law, self.accuracy, self.difference, dict(self.aucs))
        return World, (*parts, self.gaps, self.slices, self.part)

    def draw(self, examples: int, draw: np.random.Generator) -> Facts:
        """A testset with every label known."""
        shown = _columns(self.names)
        outcomes = draw.choice(len(self.law), examples, p=self.law)
        cells = shown.cells[outcomes]
        classes = ClassColumns(
            self.names, shown.new[outcomes], shown.old[outcomes], shown.label[outcomes]
        )
        ranks = {
            name: _ranks(classes.label == self.names.index(name), aucs, draw)
            for name, aucs in self.aucs.items()
        }
        rivals = tuple(self._rival(cells, gap, draw) for gap in self.gaps)
        slices = self.draw_slices(examples, draw)
        return Facts(cells, classes if self.names else None, slices, ranks, rivals)

    def draw_slices(
        self, examples: int, draw: np.random.Generator
    ) -> dict[Slice, npt.NDArray[np.intp]]:
        """The examples of each slice."""
        return {where: draw_slice(examples, self.part, draw) for where in self.slices}

    def _rival(self, cells: Codes, gap: float, draw: np.random.Generator) -> Codes:
        """The codes against an earlier model, given where the new one is right."""
        law = cells_law(self.accuracy, self.accuracy - gap, self.difference)
        right = (cells == Code.AGREE_RIGHT) | (cells == Code.NEW_RIGHT)
        codes = np.zeros(len(cells), np.uint8)
        for is_right in (True, False):
            mine = [CODE_OF[cell] for cell in Cell if bool(cell.value[0]) is is_right]
            shares = np.array([max(float(law[code]), 0.0) for code in mine])
            if not shares.any():  # an accuracy of 0 or 1: at most rounding leaves an example here
                shares[:] = 1.0
            inside = right == is_right
            codes[inside] = draw.choice(
                np.array(mine, np.uint8), int(inside.sum()), p=shares / shares.sum()
            )
        return codes


@dataclass(frozen=True)
class _Columns:
    cells: Codes
    new: npt.NDArray[np.uint16]
    old: npt.NDArray[np.uint16]
    label: npt.NDArray[np.uint16]


@lru_cache(maxsize=16)
def _columns(names: tuple[str, ...]) -> _Columns:
    """What each outcome of the named classes shows, as columns."""
    code_of = {cell.value: CODE_OF[cell] for cell in Cell}
    shown = ExampleAlphabet.of(names).shown
    cells = [code_of[(one.new_right, one.old_right, one.differ)] for one in shown]
    return _Columns(
        np.array(cells, np.uint8),
        *(np.array([getattr(one, side) for one in shown], np.uint16) for side in _SIDES),
    )


_SIDES = ("new", "old", "label")


def _ranks(
    positive: npt.NDArray[np.bool_], aucs: tuple[float, float], draw: np.random.Generator
) -> RankColumns:
    """Scores of two models with these AUCs: normal with equal variances, and correlated."""
    new = draw.normal(size=len(positive))
    own = draw.normal(size=len(positive))
    old = RANK_CORRELATION * new + math.sqrt(1.0 - RANK_CORRELATION**2) * own
    shifts = [score_distance(auc) for auc in aucs]
    return RankColumns(new + positive * shifts[0], old + positive * shifts[1])


def score_distance(auc: float) -> float:
    """How far apart the mean scores of two classes are, in standard deviations."""
    return math.sqrt(2.0) * normal_quantile(min(max(auc, 1e-9), 1.0 - 1e-9))


def draw_slice(examples: int, part: float, draw: np.random.Generator) -> npt.NDArray[np.intp]:
    """The positions of a slice that has this part of the examples."""
    size = max(round(part * examples), 1)
    return np.sort(draw.choice(examples, size, replace=False)).astype(np.intp)


# -- worlds at a place


def world_at(script: Script, index: int, place: int, *, least: int | None) -> World | None:
    """A world with one clause exactly at a place and the others on the good side, or None.

    ``least`` is how many tolerances on the good side the others must be at least.
    """
    return _Builder.of(script).world(index, place, least)


@dataclass(frozen=True)
class _Builder:
    script: Script
    names: tuple[str, ...]
    matrix: Floats
    tables: tuple[Floats | None, ...]
    """For each clause about examples, the means of its tables given the cell."""

    @staticmethod
    @lru_cache(maxsize=16)
    def of(script: Script) -> _Builder:
        names = script.named_classes
        if len(names) > MOST_CLASSES:
            raise UsageError(
                f"simulate draws at most {MOST_CLASSES} classes, and this condition names "
                f"{len(names)}",
                hint="Simulate it with fewer classes: the promises don't depend on their number.",
            )
        positive = {c.score.blocks.positive for c in script.clauses if c.score.blocks is not None}
        shares = tuple(
            class_share(script, name, usual=EVEN if name in positive else RARE) for name in names
        )
        total = sum(shares)
        if total > 1.0:
            shares = tuple(share / total for share in shares)
        alphabet = ExampleAlphabet.of(names)
        matrix = lift(alphabet, shares)
        tables = tuple(
            None if clause.score.blocks else matrix @ _tables_on(clause.greater.score, alphabet).T
            for clause in script.clauses
        )
        return _Builder(script, names, matrix, tables)

    def world(self, index: int, place: int, least: int | None) -> World | None:
        at_stake = self.script.clauses[index]
        form = at_stake.greater
        sign = 1 if self.script.mode is Mode.FP_FREE else -1
        target = float(form.threshold + sign * place * form.tolerance)
        if not float(form.score.lowest) <= target <= float(form.score.highest):
            return None
        difference = self._difference(at_stake)
        aucs = self._aucs(index, target)
        if any(self._excess_of_auc(i, aucs) < _floor(least) for i in self._others(index, "blocks")):
            return None
        law = self._law(index, target, least, difference)
        if law is None:
            return None
        accuracy = float(law @ _new_right(self.names))
        sliced = bool(self.script.slices)
        return World(
            self.names,
            law,
            accuracy,
            difference,
            aucs,
            self._gaps(index, target, place, accuracy),
            self.script.slices,
            0.5 if sliced else 1.0,
        )

    def _difference(self, clause: NormalClause) -> float:
        return float(planned_difference(self.script, clause).share)

    def _others(self, index: int, kind: str) -> Iterator[int]:
        for i, clause in enumerate(self.script.clauses):
            is_block = clause.score.blocks is not None
            if i != index and is_block is (kind == "blocks") and clause.score.top is None:
                yield i

    # -- laws

    def _law(
        self, index: int, target: float, least: int | None, difference: float
    ) -> Floats | None:
        """A law at which a clause has a value and the others are on the good side, or None."""
        score = self.script.clauses[index].greater.score
        if score.blocks is not None:
            found = self._accuracies(None, 0.0, least, difference)
        elif score.top is not None:
            found = self._accuracies(None, target / float(score.new), least, difference)
        elif self._decided_by_accuracies(index, difference):
            found = self._accuracies(index, target, least, difference)
        else:
            return self._tilted(index, target, least, difference)
        return None if found is None else cells_law(*found, difference) @ self.matrix

    def _decided_by_accuracies(self, index: int, difference: float) -> bool:
        by_cell = self.tables[index]
        assert by_cell is not None
        return bool(deciding_families(by_cell, difference))

    def _tilted(
        self, index: int, target: float, least: int | None, difference: float
    ) -> Floats | None:
        """A law in which mistakes are of other kinds, because no accuracies give the value."""
        alphabet = ExampleAlphabet.of(self.names)
        labels = np.array([one.label for one in alphabet.shown], np.intp)
        tables = _tables_on(self.script.clauses[index].greater.score, alphabet)
        law = cells_law(USUAL_ACCURACY, USUAL_ACCURACY, difference) @ self.matrix
        law = tilted(tables, law, labels, target)
        if abs(value_of_means(tables @ law) - target) > NEAR:
            return None
        for i in self._others(index, "examples"):
            form = self.script.clauses[i].greater
            value = value_of_means(_tables_on(form.score, alphabet) @ law)
            if (value - float(form.threshold)) / float(form.tolerance) < _floor(least):
                return None
        return law

    # -- accuracies

    def _accuracies(
        self, index: int | None, target: float, least: int | None, difference: float
    ) -> tuple[float, float] | None:
        """The accuracies at which a clause has a value and the others are on the good side.

        Without a clause, the target is by how much the new model is better than an earlier one,
        whose accuracy must be possible.
        """
        best: tuple[tuple[float, float], tuple[float, float]] | None = None
        for pair in self._candidates(index, target, difference):
            law = cells_law(*pair, difference)
            if index is not None and abs(self._value(index, law) - target) > NEAR:
                continue
            if index is None and not 0.0 <= pair[0] - target <= 1.0:
                continue
            excess = [
                self._excess(i, law)
                for i in self._others(-1 if index is None else index, "examples")
            ]
            comfort = min([*excess, COMFORT])
            if comfort < _floor(least):
                continue
            usual = abs(pair[0] - USUAL_ACCURACY) + abs(pair[1] - USUAL_ACCURACY)
            rank = (comfort, -usual)
            if best is None or rank > best[0]:
                best = rank, pair
        return None if best is None else best[1]

    def _candidates(
        self, index: int | None, target: float, difference: float
    ) -> Iterator[tuple[float, float]]:
        for fixed in GRID:
            if index is None:
                yield from ((fixed, fixed), (fixed, fixed - 0.05), (fixed - 0.05, fixed))
                continue
            for path in (_new_varies, _old_varies, _both_vary):
                found = _root(self._along(index, path, fixed, difference), target)
                if found is not None:
                    yield path(found, fixed)

    def _along(
        self, index: int, path: _Path, fixed: float, difference: float
    ) -> Callable[[float], float]:
        return lambda x: self._value(index, cells_law(*path(x, fixed), difference))

    def _value(self, index: int, law: Floats) -> float:
        table = self.tables[index]
        assert table is not None
        means = law @ table
        values = [
            float(means[i] / means[i + 1]) if means[i + 1] > 0.0 else 0.0
            for i in range(0, len(means), 2)
        ]
        return values[0] - sum(values[1:])

    def _excess(self, index: int, law: Floats) -> float:
        """How many tolerances a clause is on its good side."""
        form = self.script.clauses[index].greater
        return (self._value(index, law) - float(form.threshold)) / float(form.tolerance)

    # -- scores and earlier models

    def _aucs(self, index: int, target: float) -> dict[str, tuple[float, float]]:
        found: dict[str, tuple[float, float]] = {}
        order = sorted(range(len(self.script.clauses)), key=lambda i: i != index)
        for i in order:
            form = self.script.clauses[i].greater
            blocks = form.score.blocks
            if blocks is None or blocks.positive in found:
                continue
            good = float(form.threshold + int(COMFORT) * form.tolerance)
            value = target if i == index else min(good, float(form.score.highest))
            found[blocks.positive] = aucs_at(blocks, value)
        return found

    def _excess_of_auc(self, index: int, aucs: Aucs) -> float:
        form = self.script.clauses[index].greater
        blocks = form.score.blocks
        assert blocks is not None
        new, old = aucs[blocks.positive]
        value = float(blocks.new) * new + float(blocks.old) * old
        return (value - float(form.threshold)) / float(form.tolerance) + NEAR

    def _gaps(self, index: int, target: float, place: int, accuracy: float) -> tuple[float, ...]:
        """By how much the new model is better than earlier ones.

        The clause is about the one of rank K. Where a clause must not be proven, the K best are at
        the value. Where a proof in fp-free is promised, K − 1 of them are much better.
        """
        ranked = [i for i, clause in enumerate(self.script.clauses) if clause.score.top is not None]
        if not ranked:
            return ()
        most = max(self.script.clauses[i].score.top or 1 for i in ranked)
        chosen = index if index in ranked else ranked[0]
        form = self.script.clauses[chosen].greater
        scale = float(form.score.new)
        good = float(form.threshold + int(COMFORT) * form.tolerance)
        value = (target if index in ranked else good) / scale
        rank = form.score.top or 1
        far = FAR * float(form.tolerance) / scale
        more = most - rank + MORE_RIVALS
        if place and self.script.mode is Mode.FP_FREE:
            gaps = [value - far] * (rank - 1) + [value] * (1 + more)
        else:
            gaps = [value] * rank + [value + far] * more
        return tuple(min(max(gap, accuracy - 1.0), accuracy) for gap in gaps)


_Path = Callable[[float, float], tuple[float, float]]


def _new_varies(accuracy: float, fixed: float) -> tuple[float, float]:
    return accuracy, fixed


def _old_varies(accuracy: float, fixed: float) -> tuple[float, float]:
    return fixed, accuracy


def _both_vary(accuracy: float, fixed: float) -> tuple[float, float]:  # noqa: ARG001
    return accuracy, accuracy


def _floor(least: int | None) -> float:
    return -math.inf if least is None else least - NEAR


def _root(at: Callable[[float], float], target: float) -> float | None:
    """Where a monotone function of an accuracy has a value, or None."""
    low, high = 0.01, 1.0
    first, last = at(low), at(high)
    if abs(first - last) < NEAR or not min(first, last) <= target <= max(first, last):
        return None
    rising = last > first
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if (at(middle) < target) is rising else (low, middle)
    return (low + high) / 2.0


@lru_cache(maxsize=16)
def _new_right(names: tuple[str, ...]) -> Floats:
    """For each outcome, whether the new model is right."""
    return np.array([float(one.new_right) for one in ExampleAlphabet.of(names).shown])


def _tables_on(score: Score, alphabet: ExampleAlphabet) -> Floats:
    """A score's tables over the outcomes of all named classes."""
    own = score.alphabet
    assert isinstance(own, ExampleAlphabet)
    places = {
        (one.new_right, one.old_right, one.differ, one.new, one.old, one.label): number
        for number, one in enumerate(own.shown)
    }
    other = len(own.classes)
    place_of = [
        own.classes.index(name) if name in own.classes else other for name in alphabet.classes
    ] + [other]
    seen = [
        places[
            (
                one.new_right,
                one.old_right,
                one.differ,
                *(place_of[getattr(one, side)] for side in _SIDES),
            )
        ]
        for one in alphabet.shown
    ]
    return np.asarray(tables_of(score)[:, seen])
