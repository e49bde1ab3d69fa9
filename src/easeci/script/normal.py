"""From the tree to the normal form: ``Φ > c ± ε`` or ``Φ < c ± ε``.

Φ is a :class:`~easeci.script.score.Score`: a mean, a ratio of two means, or the difference of two
ratios. The threshold and the tolerance are on its own scale.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from easeci.errors import ScriptError
from easeci.script.problem import closest, shortened
from easeci.script.score import Score
from easeci.script.syntax import (
    Comparison,
    Slice,
)

MOST_CLAUSES = 1000
"""After ``(*)`` and ``[column=*]`` have become one clause for each class and value."""


@dataclass(frozen=True)
class NormalClause:
    """A clause in normal form, with exact rational constants.

    ``score`` is Φ; the clause holds if Φ > ``threshold`` (or <, by ``comparison``).
    """

    score: Score
    comparison: Comparison
    threshold: Fraction
    tolerance: Fraction
    text: str

    @property
    def greater(self) -> NormalClause:
        """The same clause in the form Φ > c: a ``<`` is negated on both sides."""
        if self.comparison is Comparison.GREATER:
            return self
        return NormalClause(
            -self.score, Comparison.GREATER, -self.threshold, self.tolerance, self.text
        )


# -- slices


def expand_slices(
    clauses: Sequence[NormalClause], values: Mapping[str, Sequence[str]]
) -> tuple[NormalClause, ...]:
    """The clauses with one for each value of the column in place of each ``[column=*]``.

    ``values`` are the values of each column of the examples. Raises :class:`ScriptError` if a
    column is missing or empty, or if there would be too many clauses.
    """
    expanded: list[NormalClause] = []
    for clause in clauses:
        where = clause.score.slice
        if where is None or not where.every:
            expanded.append(clause)
            continue
        if not values.get(where.column):
            raise _no_values(where, values)
        found = values[where.column]
        if len(expanded) + len(found) > MOST_CLAUSES:
            raise ScriptError(
                f"'{shortened(where.column)}' has {len(found):,} values: with {where} these are "
                f"more than {MOST_CLAUSES:,} clauses",
                hint="Choose a column with fewer values, or name the values that matter.",
            )
        expanded += [_of_value(clause, where, value) for value in found]
    if len(expanded) > MOST_CLAUSES:
        raise ScriptError(f"these are more than {MOST_CLAUSES:,} clauses")
    return tuple(expanded)


def _of_value(clause: NormalClause, where: Slice, value: str) -> NormalClause:
    one = replace(where, value=value, every=False)
    # A text in quotes may look like the slice; it stays as it is.
    either = re.compile(rf'{re.escape(str(where))}|"(?:\\.|[^"\\])*"', re.DOTALL)

    def with_value(text: str) -> str:
        return either.sub(lambda found: str(one) if found[0] == str(where) else found[0], text)

    score = replace(clause.score, slice=one, named=with_value(clause.score.named))
    return replace(clause, score=score, text=with_value(clause.text))


def _no_values(where: Slice, values: Mapping[str, Sequence[str]]) -> ScriptError:
    if where.column in values:
        return ScriptError(
            f"the column '{shortened(where.column)}' of the examples has no values",
            hint=f"{where} needs one clause for each value.",
        )
    close = closest(where.column, values)
    hint = f"Did you mean '{close}'? " if close else ""
    columns = ", ".join(values) or "none"
    return ScriptError(
        f"the examples have no column '{shortened(where.column)}'",
        hint=f"{hint}Columns: {shortened(columns, 200)}.",
    )
