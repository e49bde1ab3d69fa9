"""Whether any commit can get the answer that a script asks for: what n, o and d can be at once.

n, o and d are means over the five cells, so together they lie in the convex hull of the cells'
values. A clause cuts that hull. If nothing is left, no pair of models can satisfy all clauses. All
numbers here are exact. A clause about something else, such as a recall or a slice, is looked at on
its own.

In fp-free a commit can pass if some models have every Φ > c (by a published estimator: every
estimate above c + ε), and is promised a pass from c + 2ε on. In fn-free a commit can fail if some
models have a Φ < c, and is promised a fail from c − 2ε down.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from easeci.script.normal import NormalClause
from easeci.script.outcomes import Cell
from easeci.script.syntax import Comparison

MANY_CLAUSES = 8
"""In three dimensions convex sets have a common point if every four of them have (Helly). With more
clauses than this, only every two are looked at: a warning may be missing, but none is wrong."""

Point = tuple[Fraction, Fraction, Fraction]


class Obstacle(Enum):
    """What stands in the way of a sensible answer."""

    NEVER_PASSES = "no commit can pass"
    NEVER_MET = "no commit can meet this condition"
    NEVER_FAILS = "no commit can fail"
    NO_CERTAIN_PASS = "no commit is certain to pass"  # noqa: S105 - an answer, not a password
    NO_CERTAIN_FAIL = "no commit is certain to fail"

    @property
    def final(self) -> bool:
        """Whether every commit gets the same answer, so that testing is useless."""
        return self not in (Obstacle.NO_CERTAIN_PASS, Obstacle.NO_CERTAIN_FAIL)


@dataclass(frozen=True)
class ReachWarning:
    """An obstacle, and a sentence that says why and what to change."""

    obstacle: Obstacle
    sentence: str


@lru_cache(maxsize=256)
def passing(clauses: tuple[NormalClause, ...], published: str | None) -> tuple[ReachWarning, ...]:
    """What stands in the way of a pass in fp-free; ``published`` names a published estimator."""
    shown = Fraction(0 if published is None else 1)
    for some in _sets(clauses):
        if not _common(some, shown, strictly=True):
            return (ReachWarning(Obstacle.NEVER_PASSES, _never_passes(some, published)),)
    alone = tuple(
        ReachWarning(Obstacle.NO_CERTAIN_PASS, _no_certain_pass(clause))
        for clause in clauses
        if not _common([clause], Fraction(2), strictly=False)
    )
    if alone:
        return alone
    for some in _sets(clauses):
        if not _common(some, Fraction(2), strictly=False):
            text = f"no commit is certain to pass: none is clearly good by {_named(some)} at once."
            return (ReachWarning(Obstacle.NO_CERTAIN_PASS, f"{text} Use smaller tolerances."),)
    return ()


@lru_cache(maxsize=256)
def failing(clauses: tuple[NormalClause, ...], published: str | None) -> tuple[ReachWarning, ...]:
    """What stands in the way of a fail, or of a condition that is met, in fn-free."""
    for some in _sets(clauses):
        if not _common(some, Fraction(0), strictly=True):
            text = f"no commit can meet this condition: {_named(some)} contradict each other."
            return (ReachWarning(Obstacle.NEVER_MET, text),)
    shown = 0 if published is None else 1
    if all(_below(clause) <= shown * clause.tolerance for clause in clauses):
        return (ReachWarning(Obstacle.NEVER_FAILS, _never_fails(clauses, published)),)
    if all(_below(clause) < 2 * clause.tolerance for clause in clauses):
        return tuple(
            ReachWarning(Obstacle.NO_CERTAIN_FAIL, _no_certain_fail(clause)) for clause in clauses
        )
    return ()


def _sets(clauses: Sequence[NormalClause]) -> Iterator[tuple[NormalClause, ...]]:
    """Sets of clauses, small ones first, so that the first that fails names no idle clause.

    Only clauses that are linear in n, o and d are looked at together.
    """
    yield from combinations(clauses, 1)
    linear = [clause for clause in clauses if clause.score.is_linear]
    most = 4 if len(linear) <= MANY_CLAUSES else 2
    for size in range(2, min(most, len(linear)) + 1):
        yield from combinations(linear, size)


def _common(some: Sequence[NormalClause], tolerances: Fraction, *, strictly: bool) -> bool:
    """Whether models exist whose every Φ is at least (or above) c plus so many tolerances."""
    if len(some) == 1:
        room = _above(some[0]) - tolerances * some[0].tolerance
        return room > 0 if strictly else room >= 0
    points: set[Point] = {_point(cell) for cell in Cell}
    for clause in some:
        points = _cut(points, clause, tolerances)
    return bool(points) and not (
        strictly and any(all(_excess(p, c, tolerances) == 0 for p in points) for c in some)
    )


def _point(cell: Cell) -> Point:
    n, o, d = cell.value
    return Fraction(n), Fraction(o), Fraction(d)


def _excess(point: Point, clause: NormalClause, tolerances: Fraction) -> Fraction:
    """By how much Φ is above c plus so many tolerances."""
    form = clause.greater
    n, o, d = point
    phi = form.score.new * n + form.score.old * o + form.score.difference * d
    return phi - form.threshold - tolerances * form.tolerance


def _cut(points: set[Point], clause: NormalClause, tolerances: Fraction) -> set[Point]:
    """Points whose hull is the part of the given points' hull on the good side of a clause."""
    excess = {point: _excess(point, clause, tolerances) for point in points}
    inside = {point for point in points if excess[point] >= 0}
    return inside | {
        _between(a, b, excess[a] / (excess[a] - excess[b])) for a in inside for b in points - inside
    }


def _between(a: Point, b: Point, share: Fraction) -> Point:
    n, o, d = (x + share * (y - x) for x, y in zip(a, b, strict=True))
    return n, o, d


def _above(clause: NormalClause) -> Fraction:
    """By how much Φ can be above c."""
    return clause.greater.score.highest - clause.greater.threshold


def _below(clause: NormalClause) -> Fraction:
    """By how much Φ can be below c."""
    return clause.greater.threshold - clause.greater.score.lowest


def _never_passes(some: Sequence[NormalClause], published: str | None) -> str:
    if len(some) > 1 and published is None:
        return f"no commit can pass: {_named(some)} contradict each other."
    if len(some) > 1:
        return f"no commit can pass: {published} never shows {_named(some)} at once."
    clause = some[0]
    return (
        f"no commit can pass: {published} shows '{clause.text}' only by an estimate beyond "
        f"{_at(clause, 1)}, and {_good_end(clause)}. Use a smaller tolerance."
    )


def _no_certain_pass(clause: NormalClause) -> str:
    return (
        f"no commit is certain to pass '{clause.text}': a pass is promised from {_at(clause, 2)} "
        f"on, and {_good_end(clause)}. Use a tolerance of at most {float(_above(clause) / 2):g}."
    )


def _never_fails(clauses: Sequence[NormalClause], published: str | None) -> str:
    if published is None:
        return f"no commit can fail: nothing can show that {_named(clauses)} does not hold."
    clause = clauses[0]
    return (
        f"no commit can fail: {published} shows that '{clause.text}' is false only by an estimate "
        f"beyond {_at(clause, -1)}, and {_bad_end(clause)}. Use a smaller tolerance."
    )


def _no_certain_fail(clause: NormalClause) -> str:
    return (
        f"no commit is certain to fail '{clause.text}': a fail is promised from {_at(clause, -2)} "
        f"on, and {_bad_end(clause)}. Use a tolerance of at most {float(_below(clause) / 2):g}."
    )


def _at(clause: NormalClause, tolerances: int) -> str:
    """The value of the clause's own score, so many tolerances on its good side."""
    sign = 1 if clause.comparison is Comparison.GREATER else -1
    value = clause.threshold + sign * tolerances * clause.tolerance
    return f"{clause.score} = {float(value):g}"


def _good_end(clause: NormalClause) -> str:
    return _end(clause, greatest=clause.comparison is Comparison.GREATER)


def _bad_end(clause: NormalClause) -> str:
    return _end(clause, greatest=clause.comparison is not Comparison.GREATER)


def _end(clause: NormalClause, *, greatest: bool) -> str:
    if greatest:
        return f"the largest possible {clause.score} is {float(clause.score.highest):g}"
    return f"the smallest possible {clause.score} is {float(clause.score.lowest):g}"


def _named(clauses: Sequence[NormalClause]) -> str:
    texts = [f"'{clause.text}'" for clause in clauses]
    return " and ".join([", ".join(texts[:-1]), texts[-1]] if len(texts) > 2 else texts)
