"""Declared classes: predictions and labels outside of them are refused, with their spelling.

Messages here quote what is spelt wrongly. Those on predictions are for developers on the public
sample, and for the owner on a testset. Those on labels are for the owner alone. No refusal of
predictions depends on labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import polars as pl

from easeci.errors import DataError

MOST_QUOTED = 3
MOST_DECLARED = 10
LONGEST_QUOTED = 40
MOST_SUGGESTED = 36
"""With more different labels than this, they are probably not classes."""


def require_predicted_classes(values: pl.Series, classes: Sequence[str]) -> None:
    """Refuse predictions that are none of the declared classes."""
    _require(values, classes, "predictions")


def require_labelled_classes(labels: pl.Series, classes: Sequence[str]) -> None:
    """Refuse labels that are none of the declared classes; a missing label is fine."""
    _require(labels.drop_nulls(), classes, "labels")


def _require(values: pl.Series, classes: Sequence[str], what: str) -> None:
    foreign = values.filter(~values.is_in(list(classes)))
    if classes and len(foreign):
        raise DataError(
            f"{len(foreign):,} of {len(values):,} {what} are none of the declared classes: "
            f"{spelt(foreign.unique(maintain_order=True), MOST_QUOTED)}",
            hint=f"classes: of the script declares {spelt(classes, MOST_DECLARED)}.",
        )


def classes_line(labels: pl.Series) -> str | None:
    """The line of a script that declares the classes of these labels.

    None if they are too many, or if a script cannot declare one: it takes blanks around it away.
    """
    found = labels.drop_nulls().unique().to_list()
    if not 0 < len(found) <= MOST_SUGGESTED or any(name != name.strip() for name in found):
        return None
    return f"classes: [{', '.join(map(_in_yaml, sorted(found, key=class_order)))}]"


def class_order(name: str) -> tuple[bool, int, str]:
    """Sorts whole numbers by their value, and before all texts."""
    digits = name.isascii() and name.isdigit()
    return not digits, int(name) if digits else 0, name


def spelt(classes: Iterable[str], most: int) -> str:
    """The first classes as they are spelt, and how many more there are."""
    found = list(classes)
    shown = ", ".join(repr(_shortened(str(name))) for name in found[:most])
    return shown + ("" if len(found) <= most else f" and {len(found) - most:,} more")


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTED else f"{text[: LONGEST_QUOTED - 1]}…"


def _in_yaml(name: str) -> str:
    if re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", name):
        return name
    return "'" + name.replace("'", "''") + "'"
