"""A script as it is sealed with a testset: the texts of its keys, and back.

Texts and not values, so that constants stay exactly as the owner wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from easeci.script import Adaptivity, Entry, Mode, Script, assemble
from easeci.script.keys import (
    parse_adaptivity,
    parse_branches,
    parse_mode,
    parse_probability,
    parse_steps,
)
from easeci.script.problem import Problem


@dataclass(frozen=True)
class SealedTerms:
    """What developers may see of a sealed script, with the condition as the owner wrote it.

    Reading it parses no condition, so that commands that only show something start quickly.
    """

    condition: str
    reliability: Fraction
    mode: Mode
    adaptivity: Adaptivity
    steps: int
    fixed_times: bool
    """Whether signals are given at fixed times only."""
    is_scored: bool = False
    """Whether quality is a score of outputs."""


def sealed(entries: Mapping[str, Entry]) -> dict[str, list[str]]:
    """The texts of the keys, to be recorded."""
    return {name: list(entry.texts) for name, entry in entries.items()}


def unsealed(texts: Mapping[str, list[str]]) -> Script:
    """The script that was sealed."""
    kept = {
        name: [text for text in values if name != "branches" or _can_match(text)]
        for name, values in texts.items()
    }
    entries = {name: Entry.options(name, values) for name, values in kept.items() if values}
    return assemble(entries, "the sealed script")


def _can_match(text: str) -> bool:
    """Whether a pattern of branches is valid. Older versions sealed some that match nothing."""
    try:
        parse_branches(text)
    except Problem:
        return False
    return True


def sealed_terms(texts: Mapping[str, list[str]]) -> SealedTerms:
    """The terms of the script that was sealed. Its texts were checked when it was."""
    return SealedTerms(
        condition=" ".join(texts["condition"][0].split()),
        reliability=parse_probability(texts["reliability"][0]),
        mode=parse_mode(texts["mode"][0]),
        adaptivity=parse_adaptivity(texts["adaptivity"][0])[0],
        steps=parse_steps(texts["steps"][0]),
        fixed_times="disclose" in texts,
        is_scored="scorer" in texts or "scores" in texts,
    )
