"""A developer who knows every rule, can label any input, and wants a wrong pass.

The developer asks of small pieces of the input space whether a sealed example lies there. A piece
is asked about by a commit, and the answer is read from what disclosure shows of it. Then comes a
model that is right on pieces where the baseline is wrong and examples lie, and wrong where it is
right and no example lies: on the testset it only wins, but its true gain is not above the
threshold.

Everything that the developer does is a function of the answers. So two lives with the same
disclosed bits must look the same, whatever is sealed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from easeci.ledger.signals import Signal
from tests.guarantee.life import (
    CRASH,
    OTHER,
    RIGHT,
    UNDECLARED,
    WRONG,
    EndedError,
    Life,
    Model,
    Piece,
)

Ask = Callable[[Life, Piece], bool]
"""Whether an example seems to lie in a piece, by the answer to one commit."""


def by_same_predictions(life: Life, piece: Piece) -> bool:
    """A model that differs from the baseline there only."""
    return life.submit(Model(((piece, OTHER),)), test=True) is not Signal.BASELINE


def by_unchanged(life: Life, piece: Piece) -> bool:
    """The same, without asking for a test."""
    return life.submit(Model(((piece, OTHER),))) is not Signal.UNCHANGED


def by_crash(life: Life, piece: Piece) -> bool:
    """A program that fails there."""
    return life.submit(Model(((piece, CRASH),)), test=True) is Signal.BUILD_ERROR


def by_undeclared_class(life: Life, piece: Piece) -> bool:
    """A program that writes a class there that is not declared."""
    return life.submit(Model(((piece, UNDECLARED),)), test=True) is Signal.BUILD_ERROR


def by_spelling(life: Life, piece: Piece) -> bool:
    """A program that uses the class which only the inputs of this piece have."""
    return life.submit(Model(spells=piece), test=True) is not Signal.BUILD_ERROR


def by_waiting(life: Life, piece: Piece) -> bool:
    """A model that differs there only; it waits if there is something to label."""
    waits = life.submit(Model(((piece, OTHER),)), test=True) is Signal.PENDING
    life.label_wanted()
    life.look_again()
    life.wait_for_tick()
    life.look_again()
    return waits


@dataclass(frozen=True)
class Search:
    """How to ask: ``width`` is in expected examples; ``wins`` are wanted on the baseline's faults.

    ``attempts`` steps are kept for the models that shall pass. ``patience`` is how many pieces are
    asked about at most, on either side of the cut.
    """

    ask: Ask
    width: float
    wins: int
    attempts: int = 2
    patience: int = 100

    def run(self, life: Life) -> None:
        """Live a whole life."""
        try:
            won = self._pieces_with_examples(life)
            threshold = float(life.testset.script.clauses[0].threshold)
            width = self.width / len(life.world.examples)
            losses = math.ceil(round(len(won) - threshold / width, 6))
            lost = self._pieces_without(life, losses)
            for attempt in range(self.attempts):
                chosen = lost[attempt * losses : (attempt + 1) * losses]
                says = [(piece, RIGHT) for piece in won] + [(piece, WRONG) for piece in chosen]
                life.submit(Model(tuple(says)), test=True)
                life.label_wanted()
                life.wait_for_tick()
        except EndedError:
            pass
        life.look_at_all()

    def _pieces_with_examples(self, life: Life) -> list[Piece]:
        """Pieces where an example seems to lie; in the end, any that were not asked about."""
        found: list[Piece] = []
        for number, piece in enumerate(self._pieces(life, 0.0, life.world.cut)):
            ended = life.steps_left <= self.attempts or number >= self.patience
            if ended or self.ask(life, piece):
                found.append(piece)
            if len(found) == self.wins:
                break
        return found

    def _pieces_without(self, life: Life, wanted: int) -> list[Piece]:
        """Pieces where no example seems to lie, then others, as many as all attempts need."""
        found: list[Piece] = []
        for piece in self._pieces(life, life.world.cut, 1.0):
            enough = life.steps_left <= self.attempts or len(found) >= wanted
            if enough or not self.ask(life, piece):
                found.append(piece)
            if len(found) == wanted * self.attempts:
                break
        return found

    def _pieces(self, life: Life, start: float, end: float) -> Iterator[Piece]:
        """Pieces of equal width, without those in which a public example lies."""
        width = self.width / len(life.world.examples)
        for number in range(int((end - start) / width)):
            piece = Piece(start + number * width, start + (number + 1) * width)
            public = life.world.sample
            if not ((public >= piece.start) & (public < piece.end)).any():
                yield piece
