"""Ranks: the probabilities beside predictions by which a measure ranks examples (auc)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from easeci.errors import DataError
from easeci.tables.column import Column, ModelRanks, RankKind, plain, type_name, where

RANK_COLUMNS = tuple(str(kind) for kind in RankKind)
"""The columns that a file may have for ranks, one of them."""
HINT = (
    "Write one of two columns beside 'prediction': 'probability', the model's probability for the "
    "class that auc names; or 'confidence', its probability for the class that it predicts."
)


def with_ranks(column: Column, columns: Sequence[pl.Series]) -> Column:
    """A model's predictions with the ranks that are among these columns of the same rows.

    DataError if there are none, or if one of them is not a number from 0 to 1.
    """
    found = {values.name: values for values in columns if values.name in RANK_COLUMNS}
    if not found:
        raise no_ranks(column.name)
    if len(found) > 1:
        raise DataError(
            f"{column.name} has two columns for auc, '{RankKind.PROBABILITY}' and "
            f"'{RankKind.CONFIDENCE}'",
            hint="Leave one of them out: AUC ranks the examples by the other.",
        )
    ((name, values),) = found.items()
    return Column(
        column.name,
        column.role,
        column.ids,
        column.values,
        column.positional,
        ModelRanks(RankKind(name), _numbers(column, name, plain(values))),
    )


def no_ranks(name: str) -> DataError:
    """The error for predictions without ranks."""
    return DataError(
        f"{name} has no probabilities, and the condition needs them for auc: it has neither a "
        f"column '{RankKind.PROBABILITY}' nor a column '{RankKind.CONFIDENCE}'",
        hint=HINT,
    )


def _numbers(column: Column, name: str, values: pl.Series) -> pl.Series:
    """Scores as Float64. Texts of numbers are numbers: a CSV file has nothing else."""
    if values.dtype == pl.String:
        values = values.set(values == "", None)
    if values.dtype not in (pl.Int64, pl.Float64, pl.String) and not values.dtype.is_decimal():
        kind = type_name(values.dtype)
        raise DataError(f"{column.name}: '{name}' must be a column of numbers, not {kind}")
    numbers = values.cast(pl.Float64, strict=False).alias(name)
    unreadable = numbers.is_null()
    for bad, why in (
        (values.is_null(), f"without a {name}"),
        (unreadable & values.is_not_null(), f"with a {name} that is not a number"),
        (~numbers.is_finite(), f"with a {name} that is not finite"),
        ((numbers < 0.0) | (numbers > 1.0), f"with a {name} outside 0 to 1"),
    ):
        if bad.any():
            raise DataError(
                f"{column.name}: predictions {why}: {where(column, bad.fill_null(False))}",
                hint="It is a number from 0 to 1, such as 0.85.",
            )
    # -0.0 equals 0.0, so it must be stored in the same way.
    return numbers.set(numbers == 0.0, 0.0) if (numbers == 0.0).any() else numbers
