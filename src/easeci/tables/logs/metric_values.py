"""The values of a log's metrics as scores from 0 to 1, or the reason why they are none."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

NOT_A_NUMBER = math.nan


class Absent(Enum):
    """Why a sample has no value of a metric."""

    FAILED = auto()
    """The call failed, which says nothing about the model."""
    MISSING = auto()
    """The sample was scored, but not by this metric."""


@dataclass(frozen=True)
class MetricRules:
    """How a tool writes the values of its metrics."""

    words: Mapping[str, float] = field(default_factory=dict)
    """Texts that stand for scores."""
    missing_is_zero: bool = False
    """Whether a missing value means that the output could not be scored."""
    lower_is_better: frozenset[str] = frozenset()
    """Metrics of which the tool says that less is better, such as error rates."""


@dataclass(frozen=True)
class MetricColumn:
    """The scores of one metric, or why it has none."""

    name: str
    values: Sequence[float | None] | None
    """From 0 to 1, null where the call failed; None if the metric is not a score."""
    problem: str = ""
    """Why it is not a score, to follow the metric's name."""
    unscored: int = 0
    """How many values were NaN or missing and became 0."""


def metric_columns(
    scores: Sequence[Mapping[str, Any] | None], rules: MetricRules
) -> list[MetricColumn]:
    """A column for every metric that any sample has, in the order in which they occur first."""
    names: dict[str, None] = {}
    for sample in scores:
        if sample is not None:
            names.update(dict.fromkeys(sample))
    return [metric_column(name, _values(scores, name), rules) for name in names]


def _values(scores: Iterable[Mapping[str, Any] | None], name: str) -> list[Any]:
    return [
        Absent.FAILED if sample is None else sample.get(name, Absent.MISSING) for sample in scores
    ]


def metric_column(name: str, values: Sequence[Any], rules: MetricRules) -> MetricColumn:
    """The scores of one metric, from its values as they were logged."""
    if name in rules.lower_is_better:
        return MetricColumn(name, None, "is better if it is lower")
    numbers: list[float | None] = []
    unscored = missing = outside = 0
    for value in values:
        if value is Absent.FAILED:
            numbers.append(None)
            continue
        if value is Absent.MISSING:
            missing += 1
            number = NOT_A_NUMBER
        else:
            read = _number(value, rules.words)
            if read is None:
                return MetricColumn(name, None, _kind_problem(value))
            number = read
        if math.isnan(number):
            unscored += 1
            number = 0.0
        elif not 0.0 <= number <= 1.0:
            outside += 1
        numbers.append(abs(number))  # -0.0 equals 0.0 and must be stored in the same way
    if outside:
        return MetricColumn(name, None, f"has {outside:,} values outside 0 to 1")
    if missing and not rules.missing_is_zero:
        scored = sum(number is not None for number in numbers)
        return MetricColumn(name, None, f"has no value for {missing:,} of {scored:,} samples")
    return MetricColumn(name, numbers, unscored=unscored)


def _number(value: Any, words: Mapping[str, float]) -> float | None:
    """A logged value as a number; NaN if it is null; None if it is no number."""
    if value is None:
        return NOT_A_NUMBER  # JSON has no NaN, so some writers write null
    if isinstance(value, str):
        known = words.get(value, words.get(value.lower()))
        if known is not None:
            return known
    elif not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except ValueError:
        return None
    except OverflowError:
        return math.inf


def _kind_problem(value: Any) -> str:
    if isinstance(value, list):
        return "has lists as values"
    if isinstance(value, dict):
        return "has objects as values"
    return "has values that are not numbers"
