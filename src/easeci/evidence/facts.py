"""What is known of the examples of a testset, as columns, and how a clause reads it as codes.

For n, o and d one code an example is enough. A clause that names classes also looks at which of
them were predicted and which one is the label. A slice leaves out examples, and AUC looks at the
ranks that the models gave. With a scorer, the codes of n, o and d only tell whether the outputs
differ and what is known of the label, and the scores of outputs stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from easeci.evidence.bets import Floats
from easeci.evidence.cells import CODE_OF, Code
from easeci.evidence.codes import Codes, Flags, in_groups
from easeci.script.lattice import Lattice, ScoreTerm
from easeci.script.outcomes import CELLS, Alphabet, Cell, ExampleAlphabet
from easeci.script.score import Score
from easeci.script.syntax import Slice

Positions = npt.NDArray[np.intp]
Places = npt.NDArray[np.uint16]

LABELS = Alphabet((2,))
"""What a block needs to know of an example: whether its label is the positive class (0) or not."""


@dataclass(frozen=True)
class Known:
    """What one example shows, with a label or without: its code and the place of its label's class.

    ``rivals`` are its codes with each of the earlier models in place of the old one. ``scores`` are
    in the order of those of the facts; NaN where one is not known.
    """

    code: Code
    label: int = 0
    rivals: tuple[Code, ...] = ()
    scores: tuple[float, ...] = ()


@dataclass(frozen=True)
class ClassColumns:
    """Classes as places in ``names``; the number of names stands for any other class."""

    names: tuple[str, ...]
    new: Places
    old: Places
    label: Places

    def taken(self, order: Positions) -> ClassColumns:
        """The same columns in another order."""
        return ClassColumns(self.names, self.new[order], self.old[order], self.label[order])


@dataclass(frozen=True)
class RankColumns:
    """How probable each model finds a class, for each example; ``old`` if it is compared."""

    new: Floats
    old: Floats | None = None

    def taken(self, order: Positions) -> RankColumns:
        """The same columns in another order."""
        return RankColumns(self.new[order], None if self.old is None else self.old[order])


@dataclass(frozen=True)
class Facts:
    """The columns of a testset, in its order.

    ``cells`` are the codes of n, o and d. ``slices`` has the rising positions of the examples of
    each slice, ``ranks`` the models' ranks for each class whose AUC is asked for, and ``rivals``
    the codes against each of the models that were tested before. ``scores`` are those of outputs,
    from 0 to 1, and NaN where a score is not known; one that is not known although the code says
    that the label is known counts as unsettled.
    """

    cells: Codes
    classes: ClassColumns | None = None
    slices: Mapping[Slice, Positions] = field(default_factory=dict)
    ranks: Mapping[str, RankColumns] = field(default_factory=dict)
    rivals: tuple[Codes, ...] = ()
    scores: Mapping[ScoreTerm, Floats] = field(default_factory=dict)

    @staticmethod
    def of(found: Facts | Codes) -> Facts:
        """Facts as they are, or codes of n, o and d as the only column."""
        return found if isinstance(found, Facts) else Facts(found)

    def __len__(self) -> int:
        return len(self.cells)

    def positions(self, score: Score) -> Positions | None:
        """The positions of the examples that a score is about; None if it is about all."""
        return None if score.slice is None else self.slices[score.slice]

    def codes(self, score: Score) -> Codes:
        """The codes of the examples that a score is about, in the testset's order."""
        positions = self.positions(score)
        cells = self.cells if positions is None else self.cells[positions]
        if score.lattice is not None:
            rows = slice(None) if positions is None else positions
            columns = {term: self.scores[term][rows] for term, _ in score.lattice.terms}
            return lattice_codes(score.lattice, cells, columns)
        if not score.classes:
            return cells
        classes = self.classes
        assert classes is not None
        if positions is not None:
            classes = classes.taken(positions)
        if score.blocks is not None:
            return _label_codes(cells, classes.label == classes.names.index(score.blocks.positive))
        assert isinstance(score.alphabet, ExampleAlphabet)
        place = _remapped(classes.names, score.alphabet.classes)
        rule = _rule(score.alphabet)
        return np.asarray(rule[cells, place[classes.new], place[classes.old], place[classes.label]])

    def code_at(self, position: int, known: Known, score: Score) -> int:
        """The code that an example would have for a score if this were known of it."""
        if score.lattice is not None:
            found = zip(self.scores, known.scores, strict=True)
            columns = {term: np.array([value]) for term, value in found}
            return int(lattice_codes(score.lattice, np.array([known.code], np.uint8), columns)[0])
        if not score.classes:
            return int(known.code)
        assert self.classes is not None
        names = self.classes.names
        if score.blocks is not None:
            positive = np.array([known.label == names.index(score.blocks.positive)])
            return int(_label_codes(np.array([known.code], np.uint8), positive)[0])
        assert isinstance(score.alphabet, ExampleAlphabet)
        place = _remapped(names, score.alphabet.classes)
        new, old = self.classes.new[position], self.classes.old[position]
        code = _rule(score.alphabet)[known.code, place[new], place[old], place[known.label]]
        return int(code)

    def known_at(self, position: int) -> Known:
        """What is known of one example."""
        label = 0 if self.classes is None else int(self.classes.label[position])
        rivals = tuple(Code(int(codes[position])) for codes in self.rivals)
        scores = tuple(float(values[position]) for values in self.scores.values())
        return Known(Code(int(self.cells[position])), label, rivals, scores)

    def copied(self) -> Facts:
        """A copy whose labels can be changed by :meth:`put`."""
        classes = self.classes
        if classes is not None:
            classes = replace(classes, label=classes.label.copy())
        rivals = tuple(codes.copy() for codes in self.rivals)
        scores = {term: values.copy() for term, values in self.scores.items()}
        return replace(self, cells=self.cells.copy(), classes=classes, rivals=rivals, scores=scores)

    def put(self, position: int, known: Known) -> None:
        """Change what is known of one example."""
        self.cells[position] = known.code
        if self.classes is not None:
            self.classes.label[position] = known.label
        for codes, code in zip(self.rivals, known.rivals, strict=True):
            codes[position] = code
        for values, value in zip(self.scores.values(), known.scores, strict=True):
            values[position] = value


SNAP = 1e-10
"""A score this near to a point, in steps of the lattice, is the point: it differs by rounding only.
The widening of hypotheses (``MARGIN``) is more than that."""


def lattice_codes(lattice: Lattice, cells: Codes, scores: Mapping[ScoreTerm, Floats]) -> Codes:
    """The codes of combined scores on a lattice, by their two neighbours or the point itself."""
    alphabet = lattice.alphabet
    differ = in_groups(cells, CELLS, [1])
    groups = differ.astype(np.intp) if len(alphabet.sizes) > 1 else np.zeros(len(cells), np.intp)
    combined = np.where(differ, float(lattice.difference), 0.0)
    for term, weight in lattice.terms:
        combined = combined + float(weight) * scores[term]
    steps = combined * lattice.parts
    known = np.isfinite(steps) & (cells < CELLS.outcomes)
    steps = np.where(known, steps, 0.0)
    points = np.rint(steps)
    between = np.abs(steps - points) > SNAP
    points = np.where(between, np.floor(steps), points)
    ends = np.array(lattice.ends)
    first, last = ends[:, 0][groups], ends[:, 1][groups]
    place = np.clip(points - first, 0, last - first).astype(np.intp)
    between &= place < last - first
    starts = np.concatenate([[0], np.cumsum(alphabet.sizes)])[:-1]
    codes = starts[groups] + place
    gaps = alphabet.gap(0) + codes - groups  # each group has one gap fewer than it has points
    codes = np.where(between, gaps, codes)
    unlabelled = (cells >= CELLS.outcomes) & (cells < CELLS.unsettled(0))
    codes = np.where(known, codes, alphabet.unsettled(0) + groups)
    codes = np.where(unlabelled, alphabet.unlabelled(0) + groups, codes)
    return codes.astype(np.uint8 if alphabet.codes <= 256 else np.uint16)


def _label_codes(cells: Codes, positive: Flags) -> Codes:
    """The codes of :data:`LABELS`, from those of n, o and d and whether labels are positive."""
    codes = np.where(positive, 0, 1).astype(np.uint8)
    codes[(cells == Code.AGREE_UNLABELLED) | (cells == Code.DIFFER_UNLABELLED)] = LABELS.unlabelled(
        0
    )
    codes[(cells == Code.AGREE_UNSETTLED) | (cells == Code.DIFFER_UNSETTLED)] = LABELS.unsettled(0)
    return codes


@lru_cache(maxsize=1024)
def _remapped(names: tuple[str, ...], classes: tuple[str, ...]) -> Places:
    """From places in ``names`` to places in ``classes``; any other class comes last in both."""
    places = [classes.index(name) if name in classes else len(classes) for name in names]
    return np.array([*places, len(classes)], np.uint16)


@lru_cache(maxsize=1024)
def _rule(alphabet: ExampleAlphabet) -> Codes:
    """The code of an example, by its code of n, o and d and the classes of new, old and label."""
    other = len(alphabet.classes)
    rule = np.zeros((len(Code), *(other + 1,) * 3), np.uint16 if alphabet.codes > 255 else np.uint8)
    cell_of = {cell.value: CODE_OF[cell] for cell in Cell}
    for code, shown in enumerate(alphabet.shown):
        cell = cell_of[(shown.new_right, shown.old_right, shown.differ)]
        rule[cell, shown.new, shown.old, shown.label] = code
    for (new, old, differ), group in alphabet.group_at.items():
        missing = Code.DIFFER_UNLABELLED if differ else Code.AGREE_UNLABELLED
        disputed = Code.DIFFER_UNSETTLED if differ else Code.AGREE_UNSETTLED
        rule[missing, new, old, :] = alphabet.unlabelled(group)
        rule[disputed, new, old, :] = alphabet.unsettled(group)
    return rule
