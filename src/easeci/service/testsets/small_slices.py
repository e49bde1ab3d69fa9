"""Slices that are too small, named when a testset is sealed.

A clause about a slice has only the examples of the slice. If these are too few, clearly good
commits may fail; and if they are very few, no commit can ever pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from easeci.errors import DataError
from easeci.plan.bring import sample_size
from easeci.plan.sequential import least_slice, smallest_slice
from easeci.script import Script
from easeci.vault.intake import Offered

MOST_NAMED = 8


@dataclass(frozen=True)
class SmallSlice:
    """A clause whose slice is smaller than planned, with the examples that are likely sealed.

    ``hopeless``: the proof of the clause would need more examples than the slice has.
    """

    clause: str
    examples: int
    needed: int
    hopeless: bool

    def __str__(self) -> str:
        return f"'{self.clause}': {self.examples:,} of {self.needed:,}"


def require_large_slices(script: Script, offered: Offered, *, allowed: bool) -> tuple[str, ...]:
    """Warnings about slices that are too small. DataError if they are not allowed."""
    small = small_slices(script, offered)
    if not small:
        return ()
    hopeless = [found for found in small if found.hopeless]
    if not allowed:
        raise DataError(
            f"slices are too small for the plan: {_named(small)}",
            hint="Bring more examples of them, name only the slices that matter, or loosen their "
            "clauses. Or use --allow-smaller: no answer gets less safe, but clearly good commits "
            "may be missed more often." + (f" {_hopeless(hopeless)}" if hopeless else ""),
        )
    warnings = [f"slices are smaller than planned: {_named(small)}."]
    return (*warnings, *([_hopeless(hopeless)] if hopeless else []))


def small_slices(script: Script, offered: Offered) -> tuple[SmallSlice, ...]:
    """The clauses whose slices have fewer examples than the plan needs, the smallest first."""
    if not script.slices:
        return ()
    slices = offered.slices(script.slices)
    script = expanded(script, offered)
    sealed = 1.0 - sample_size(script.sample, offered.size) / offered.size
    found = []
    for clause in script.clauses:
        if clause.score.slice is not None:
            examples = int(len(slices.positions(clause.score.slice)) * sealed)
            needed = smallest_slice(script, clause)
            if examples < needed:
                hopeless = examples < least_slice(script, clause)
                found.append(SmallSlice(clause.text, examples, needed, hopeless))
    return tuple(sorted(found, key=lambda small: small.examples / small.needed))


def expanded(script: Script, offered: Offered) -> Script:
    """The script with a clause for each slice in place of ``[column=*]``."""
    every = [where for where in script.slices if where.every]
    if not every:
        return script
    slices = offered.slices(every)
    return script.expanded({where.column: slices.values_of(where.column) for where in every})


def _named(small: Sequence[SmallSlice]) -> str:
    more = len(small) - MOST_NAMED
    named = "; ".join(str(found) for found in small[:MOST_NAMED])
    return f"{named}; and {more:,} more" if more > 0 else named


def _hopeless(small: Sequence[SmallSlice]) -> str:
    texts = ", ".join(f"'{found.clause}'" for found in small[:MOST_NAMED])
    more = f" and {len(small) - MOST_NAMED:,} more" if len(small) > MOST_NAMED else ""
    return f"Too few examples to ever show {texts}{more}."
