"""How many examples an owner has to bring: the sealed testset, and the public sample beside it."""

from __future__ import annotations

from dataclasses import dataclass

LARGEST_PART = 20
"""A sample takes at most one of so many examples: 5%."""


@dataclass(frozen=True)
class Bring:
    """Examples to bring: those that will be ``sealed``, and the public ``sample``.

    ``each_slice`` is how many of the sealed ones every slice must have that a clause names; None if
    none does. Nothing is known of the shares of slices, so there may have to be more in all.
    """

    sealed: int
    sample: int
    each_slice: int | None = None

    @property
    def examples(self) -> int:
        """All of them."""
        return self.sealed + self.sample


def sample_size(wanted: int, examples: int) -> int:
    """How many of these examples are set aside, if a script wants so many."""
    return min(wanted, examples // LARGEST_PART)


def examples_to_bring(needed: int, wanted: int) -> Bring:
    """The fewest examples of which ``needed`` are left after the sample is set aside."""
    least = min(needed + wanted, -(-needed * LARGEST_PART // (LARGEST_PART - 1)))
    while least - sample_size(wanted, least) < needed:
        least += 1
    while least > 1 and least - 1 - sample_size(wanted, least - 1) >= needed:
        least -= 1
    return Bring(least - sample_size(wanted, least), sample_size(wanted, least))
