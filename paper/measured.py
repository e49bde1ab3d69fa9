"""Results of the simulations, which take minutes, kept in a file so that tests take seconds."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from paper.digits import Digits, Spread
from paper.semeval import Again


@dataclass(frozen=True)
class MonthLabels:
    """Labels of each simulated month at one sensitivity, and of active labelling on the same."""

    sensitivity: str
    labels: tuple[int, ...]
    differing: tuple[int, ...]

    @property
    def mean(self) -> float:
        return sum(self.labels) / len(self.labels)

    @property
    def active_mean(self) -> float:
        return sum(self.differing) / len(self.differing)


@dataclass(frozen=True)
class Measured:
    """Everything that is simulated rather than computed."""

    digits: Digits
    months: tuple[MonthLabels, ...]
    semeval: tuple[Again, ...]

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Measured:
        data = json.loads(text)
        return Measured(
            digits=_digits(data["digits"]),
            months=tuple(_month(month) for month in data["months"]),
            semeval=tuple(
                Again(tuple(runs["labels"]), tuple(runs["active"])) for runs in data["semeval"]
            ),
        )


def _digits(data: dict[str, Any]) -> Digits:
    spreads = tuple(Spread(**spread) for spread in data.pop("spreads"))
    return Digits(**data, spreads=spreads)


def _month(data: dict[str, Any]) -> MonthLabels:
    return MonthLabels(data["sensitivity"], tuple(data["labels"]), tuple(data["differing"]))
