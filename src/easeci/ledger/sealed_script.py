"""A script as it is sealed with a testset: the texts of its keys, and back.

Texts and not values, so that constants stay exactly as the owner wrote them.
"""

from __future__ import annotations

from collections.abc import Mapping

from easeci.script import Entry, Script, assemble


def sealed(entries: Mapping[str, Entry]) -> dict[str, list[str]]:
    return {name: list(entry.texts) for name, entry in entries.items()}


def unsealed(texts: Mapping[str, list[str]]) -> Script:
    entries = {name: Entry.options(name, values) for name, values in texts.items()}
    return assemble(entries, "the sealed script")
