"""One column of values by id, checked: predictions of a model, or labels.

Messages name files, ids, rows and kinds of values. They never quote a label.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.errors import DataError

LONGEST_VALUE = 10_000
"""The most bytes that a class may have."""
LONGEST_REFERENCE = 100_000
"""The most bytes that a reference for outputs may have."""
MOST_NAMED = 3
LOOKED_AT = 100
LABEL_NAMES = ("label", "labels")
"""Names that only columns of labels have."""
SUSPICIOUS_NAMES = (*LABEL_NAMES, "target", "y")
"""Names that columns of labels often have."""


class ColumnRole(StrEnum):
    """Whose values a column holds."""

    NEW = "new"
    OLD = "old"
    LABELS = "labels"

    @property
    def column(self) -> str:
        """The name of the column in a file."""
        return "label" if self is ColumnRole.LABELS else "prediction"

    @property
    def more_columns(self) -> tuple[str, ...]:
        """Other columns that a file may have for each value."""
        return ("state", "by", "at") if self is ColumnRole.LABELS else ()

    @property
    def plural(self) -> str:
        """What the values are called."""
        return f"{self.column}s"


class RankKind(StrEnum):
    """What the ranks of a model mean. The value is the name of their column in a file."""

    PROBABILITY = "probability"
    """The probability of the class that ``auc`` names in the condition."""
    CONFIDENCE = "confidence"
    """The probability of the class that the model predicts."""


@dataclass(frozen=True)
class ModelRanks:
    """One score for each prediction of a model: Float64, from 0 to 1, none missing."""

    kind: RankKind
    values: pl.Series

    def ordered(self, order: npt.NDArray[np.intp]) -> ModelRanks:
        """The same ranks with row ``order[0]`` first."""
        return ModelRanks(self.kind, self.values.gather(order))

    def towards(self, positive: str, predictions: pl.Series) -> npt.NDArray[np.float64]:
        """How probable the model finds a class, for each of its predictions.

        A confidence counts for the class that is predicted, so elsewhere its rest is taken.
        """
        if self.kind is RankKind.PROBABILITY:
            return self.values.to_numpy()
        predicted, _ = comparable(predictions, pl.Series([positive]))
        return np.where(
            (predicted == positive).to_numpy(), self.values.to_numpy(), 1.0 - self.values.to_numpy()
        )


class Kind(StrEnum):
    """What the values of a column are, for example whole numbers, even if stored as text."""

    WHOLE = "whole numbers"
    DECIMAL = "decimal numbers"
    TEXT = "text"


@dataclass(frozen=True)
class Column:
    """Values by id. No id is null. A null value is a label that is not known yet.

    Ids and values are either Int64 or String, values possibly Float64: see :func:`checked`.
    """

    name: str
    role: ColumnRole
    ids: pl.Series
    values: pl.Series
    positional: bool = False
    """Whether the ids are positions in a list."""
    ranks: ModelRanks | None = None
    """The ranks beside a model's predictions, if they were asked for."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def blank(self) -> bool:
        """Whether no value is known."""
        return self.values.null_count() == len(self.values)

    @cached_property
    def distinct(self) -> pl.Series:
        """The different values. Classes are few, so checks of these are quick."""
        return self.values.drop_nulls().unique()

    def whole_as_decimals(self) -> pl.Series:
        """The whole numbers that this column spells like 3.0, now spelt like 3."""
        text = self.distinct.cast(pl.String)
        return text.filter(text.str.contains(r"^[+-]?[0-9]+\.0+$")).str.replace(r"\.0+$", "")

    @cached_property
    def kind(self) -> Kind:
        """What the values are. Texts of digits are whole numbers, texts like 3.0 are decimal."""
        if self.values.dtype != pl.String:
            return Kind.WHOLE if self.values.dtype == pl.Int64 else Kind.DECIMAL
        whole = self.distinct.str.contains(r"^[+-]?[0-9]+$")
        decimal = self.distinct.str.contains(r"^[+-]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$")
        if whole.all():
            return Kind.WHOLE
        return Kind.DECIMAL if (whole | decimal).all() else Kind.TEXT


def checked(
    name: str,
    role: ColumnRole,
    ids: pl.Series,
    values: pl.Series,
    *,
    positional: bool = False,
    references: bool = False,
) -> Column:
    """A column from raw ids and values. DataError if something is wrong with them.

    Labels may cover any part of the examples, also none of them. With ``references``, they are not
    classes but texts that a scorer compares outputs with, which may be long.
    """
    if len(ids) == 0 and role is not ColumnRole.LABELS:
        raise DataError(f"{name} has no rows", hint=f"Expected one {role.column} for each id.")
    ids = checked_ids(name, ids)
    column = Column(name, role, ids, _plain_values(name, role, values), positional)
    _check_values(column, references=references)
    return column


def checked_ids(name: str, ids: pl.Series) -> pl.Series:
    """Ids as Int64 or String. DataError if one is missing."""
    ids = plain(ids)
    if ids.dtype not in (pl.Int64, pl.String):
        raise DataError(
            f"{name}: ids must be whole numbers or text, not {type_name(ids.dtype)}",
            hint="Joins are by id, so an id must be written the same way everywhere.",
        )
    texts = ids.dtype == pl.String
    if ids.null_count() or (texts and ids.str.len_bytes().min() == 0):
        missing = ids.fill_null("") == "" if texts else ids.is_null()
        raise DataError(f"{name}: {_rows(missing)} no id")
    return ids


def require_unique(column: Column) -> None:
    """Refuse ids that occur twice."""
    repeated = repeated_ids(column.ids)
    if repeated is not None:
        raise DataError(
            f"{column.name}: ids that occur more than once: {where(column, repeated)}",
            hint="Every id must have exactly one row.",
        )


def repeated_ids(ids: pl.Series) -> pl.Series | None:
    """Marks the rows that are the first of several with the same id; None if there are none.

    Quick checks come first: rising ids are distinct, as texts or as the numbers that they spell,
    and so are ids with distinct hashes.
    """
    if _rise(ids) or (ids.dtype == pl.String and _rise(ids, as_type=pl.Int64)):
        return None
    if ids.hash().n_unique() == len(ids) or ids.n_unique() == len(ids):
        return None
    return ids.is_duplicated() & ids.is_first_distinct()


def _rise(ids: pl.Series, as_type: type[pl.Int64] | None = None) -> bool:
    """Whether all ids are of a type and greater than the one before. The first few decide often."""
    for part in (ids.head(LOOKED_AT), ids):
        values = part if as_type is None else part.cast(as_type, strict=False)
        if values.null_count() or not (values.slice(1) > values.head(-1)).all():
            return False
    return True


def _plain_values(name: str, role: ColumnRole, values: pl.Series) -> pl.Series:
    values = plain(values)
    if values.dtype not in (pl.Int64, pl.String, pl.Float64):
        raise DataError(
            f"{name}: {role.plural} must be numbers or text, not {type_name(values.dtype)}"
        )
    if values.dtype == pl.String and values.str.len_bytes().min() == 0:
        return values.set(values == "", None)  # an empty cell, quoted or not
    return values


def _check_values(column: Column, *, references: bool) -> None:
    values = column.values
    longest = LONGEST_REFERENCE if references else LONGEST_VALUE
    if values.dtype == pl.Float64:
        _refuse(column, values.is_nan().fill_null(False), "that are NaN")
    if values.dtype == pl.String:
        distinct = column.distinct
        long = distinct.filter(distinct.str.len_bytes() > longest)
        # As a class it is a missing value that was written as text; a reference may be any text.
        nan = distinct.filter((distinct.str.to_lowercase() == "nan") & (not references))
        for bad, why in ((long, f"longer than {longest:,} bytes"), (nan, "that are NaN")):
            if len(bad):
                _refuse(column, values.is_in(bad.implode()), why)
    if column.role is not ColumnRole.LABELS and values.null_count():
        _refuse(column, values.is_null(), "that are missing")


def _refuse(column: Column, bad: pl.Series, why: str) -> None:
    if bad.any():
        raise DataError(f"{column.name}: {column.role.plural} {why}: {where(column, bad)}")


def where(column: Column, rows: pl.Series) -> str:
    """How many rows, and the first few: by id, or by number in a file of labels.

    If the header of a file of labels is wrong, its column of ids contains the labels.
    """
    if column.role is ColumnRole.LABELS:
        return by_number(rows)
    found = column.ids.filter(rows)
    return f"{len(found):,}, at id {named(found)}"


def by_number(rows: pl.Series) -> str:
    """How many rows, and the numbers of the first few."""
    numbers = ", ".join(str(index + 1) for index in rows.arg_true().head(MOST_NAMED))
    return f"{int(rows.sum()):,}, at data row {numbers}{_and_more(int(rows.sum()))}"


def _and_more(total: int) -> str:
    return "" if total <= MOST_NAMED else f" and {total - MOST_NAMED:,} more"


def comparable(first: pl.Series, second: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Both columns as one type. A number and a text are compared as texts, so 3 equals "3"."""
    if first.dtype == second.dtype:
        return first, second
    return first.cast(pl.String), second.cast(pl.String)


def as_text(values: pl.Series) -> pl.Series:
    """Values as they are stored: equal values are spelt the same."""
    if values.dtype == pl.Float64:
        # -0.0 equals 0.0 and must be spelt the same; adding 0.0 does not change it in polars.
        values = values.set(values == 0.0, 0.0)
    return values.cast(pl.String)


def named(ids: pl.Series) -> str:
    """The first few ids, and how many more there are."""
    shown = ", ".join(shortened(str(value)) for value in ids.head(MOST_NAMED))
    return shown + _and_more(len(ids))


def shortened(text: str, longest: int = 40) -> str:
    """A text as a message shows it: at most so many characters, all printable."""
    shown = "".join(c if c.isprintable() else "?" for c in text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _rows(bad: pl.Series) -> str:
    rows = [index + 1 for index in bad.arg_true().head(MOST_NAMED)]
    total = int(bad.sum())
    listed = ", ".join(str(row) for row in rows)
    if total == 1:
        return f"data row {listed} has"
    return f"{total:,} data rows have ({listed}{', …' if total > len(rows) else ''})"


def plain(values: pl.Series) -> pl.Series:
    """Values as Int64, Float64 or String if nothing is lost by it, otherwise unchanged."""
    dtype = values.dtype
    if dtype in (pl.Int64, pl.Float64, pl.String):
        return values
    if dtype == pl.Null:
        return values.cast(pl.String)
    if dtype in (pl.UInt64, pl.Int128):
        fits = values.cast(pl.Int64, strict=False)
        return fits if fits.null_count() == values.null_count() else values.cast(pl.String)
    if dtype.is_integer():
        return values.cast(pl.Int64)
    if dtype == pl.Float32:
        return values.cast(pl.Float64)
    if dtype in (pl.Categorical, pl.Enum, pl.Boolean):
        return values.cast(pl.String)
    return values


def type_name(dtype: pl.DataType) -> str:
    """What people call values of this type."""
    if dtype.is_float() or dtype.is_decimal():
        return "decimal numbers"
    if dtype.is_temporal():
        return "dates or times"
    if dtype.is_nested():
        return "lists or objects"
    return str(dtype).lower()
