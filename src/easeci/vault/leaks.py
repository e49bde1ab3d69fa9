"""Do examples give their labels away: by a column, their ids, names of files, or their order?

A program sees all of these, so a model could learn them and look better than it is. A column that
contains the labels is refused. A column that predicts them may be honest, so it is a warning.
Before any label is known, only the names of columns are checked. No message quotes a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import lgamma, log

import polars as pl

from easeci.errors import DataError
from easeci.tables.column import LABEL_NAMES, SUSPICIOUS_NAMES
from easeci.vault.fingerprints import canonical

FEWEST_LABELS = 20
GOOD, EASY = 0.9, 0.8
"""A guess that is right this often is suspicious, unless the commonest class is this common."""
CHANCE = log(1 / 100)
"""A column is refused only if unrelated values would fit the labels with less probability."""


@dataclass(frozen=True)
class Giveaways:
    """Columns that contain the labels, perhaps under other names."""

    certain: tuple[str, ...] = ()
    by_chance: tuple[str, ...] = ()
    """Columns that fit the labels, but so few labels that unrelated values could fit too."""

    def refuse(self) -> None:
        """DataError if a column surely contains the labels."""
        if self.certain:
            raise DataError(
                f"column '{self.certain[0][:40]}' gives the labels away",
                hint="Programs would see it. Leave it out, or name it as --label-column.",
            )

    @property
    def warnings(self) -> tuple[str, ...]:
        """A sentence for each of the columns."""
        return (
            *(f"column '{name[:40]}' gives the labels away" for name in self.certain),
            *(f"column '{name[:40]}' fits the labels one to one" for name in self.by_chance),
        )


def giveaways(columns: pl.DataFrame, labels: pl.Series) -> Giveaways:
    """The columns that contain the labels, perhaps spelt differently, on all rows with a label."""
    certain, by_chance = [], []
    known = labels.is_not_null()
    label = canonical(labels.filter(known))
    telling = _log_chance(label) < CHANCE
    # An honest column may equal a few labels of 0 and 1, but not all labels, and not names.
    spelt = telling or bool(known.all()) or not label.str.contains(r"^[0-9.+-]*$").all()
    for name in columns.columns:
        pairs = pl.DataFrame({"value": canonical(columns[name].filter(known)), "label": label})
        renamed = _renamed(pairs)
        same = _same(pairs)
        if (same and spelt) or (renamed and telling):
            certain.append(name)
        elif same or renamed:
            by_chance.append(name)
    return Giveaways(tuple(certain), tuple(by_chance))


def _same(pairs: pl.DataFrame) -> bool:
    """Whether values and labels are equal but for case and space around them."""
    if pairs["label"].n_unique() < 2:
        return False
    value, label = (pl.col(c).str.strip_chars().str.to_lowercase() for c in ("value", "label"))
    return bool(pairs.select((value == label).all()).item())


def _renamed(pairs: pl.DataFrame) -> bool:
    """Whether each class has its own value, on several examples."""
    classes = pairs["label"].n_unique()
    return (
        2 <= classes < len(pairs)
        and pairs["value"].n_unique() == classes
        and pairs.n_unique() == classes
    )


def _log_chance(labels: pl.Series) -> float:
    """ln of the probability that the same values in random order fit, under any names."""
    counts = labels.value_counts()["count"].to_list()
    ways = lgamma(sum(counts) + 1) - sum(lgamma(count + 1) for count in counts)
    return lgamma(len(counts) + 1) - ways


def label_column_among(columns: Sequence[str]) -> str | None:
    """The first column with a name that only labels have."""
    return next((name for name in columns if name.strip().lower() in LABEL_NAMES), None)


def name_warnings(columns: Sequence[str]) -> tuple[str, ...]:
    """Warnings about columns with names that labels often have."""
    return tuple(
        f"column '{name}' will be shown to programs: if it holds labels, name it as --label-column"
        for name in columns
        if name.lower() in SUSPICIOUS_NAMES
    )


def prediction_warnings(
    ids: pl.Series, paths: Sequence[pl.Series], labels: pl.Series
) -> tuple[str, ...]:
    """Warnings about ids, paths and an order that predict the labels."""
    known = labels.is_not_null()
    labels = labels.filter(known)
    if len(labels) < FEWEST_LABELS or labels.value_counts()["count"].max() >= EASY * len(labels):  # type: ignore[operator]
        return ()
    warnings = []
    texts = ids.filter(known).cast(pl.String)
    if any(_foretells(part, labels) for part in _parts(texts)):
        warnings.append(
            "the ids predict the labels: programs see them, so use ids that say nothing"
        )
    for column in paths:
        if any(_foretells(part, labels) for part in _parts(column.filter(known).fill_null(""))):
            warnings.append(
                f"the paths in column '{column.name[:40]}' predict the labels: programs see them, "
                "so use names that say nothing"
            )
    if _in_blocks(labels):
        warnings.append("the order of the file predicts the labels: shuffle its rows")
    elif _in_blocks(labels.gather(_by_number(texts).arg_sort())):
        warnings.append("the numbers in the ids predict the labels: number examples at random")
    return tuple(warnings)


def _parts(texts: pl.Series) -> Iterator[pl.Series]:
    """The parts of a name that may contain a class: folder, beginning, words without digits."""
    yield texts.str.extract(r"^(.*)/[^/]*$").fill_null("")
    yield texts.str.extract(r"([^/]*)/[^/]*$").fill_null("")
    yield texts.str.extract(r"^([^0-9]*)").fill_null("")
    yield texts.str.extract(r"([^/]*)$").str.replace_all(r"[0-9]+", "").fill_null("")
    yield texts.str.extract(r"^([^-_./ ]*)[-_./ ]").fill_null("")
    yield texts.str.extract(r"[-_./ ]([^-_./ ]*)$").fill_null("")


def _foretells(part: pl.Series, labels: pl.Series) -> bool:
    """Whether a guess learnt from the even rows is right on the odd rows.

    A part that differs for every example teaches nothing about the odd rows.
    """
    frame = pl.DataFrame({"part": part, "label": labels}).with_row_index("row")
    seen, new = frame.filter(pl.col("row") % 2 == 0), frame.filter(pl.col("row") % 2 == 1)
    counts = seen.group_by("part", "label").len().sort("len", "label", descending=True)
    guesses = counts.unique("part", keep="first").select("part", guess="label")
    right = new.join(guesses, on="part", how="left").select(
        (pl.col("guess") == pl.col("label")).fill_null(False).mean()
    )
    return float(right.item()) > GOOD


def _in_blocks(labels: pl.Series) -> bool:
    """Whether the label of an example predicts the next one."""
    return float((labels.slice(1) == labels.slice(0, len(labels) - 1)).mean()) > GOOD  # type: ignore[arg-type]


def _by_number(texts: pl.Series) -> pl.Series:
    return texts.str.extract(r"([0-9]{1,18})[^0-9]*$").cast(pl.Int64)
