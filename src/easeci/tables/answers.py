"""Answers of labellers: one row for each answer. Several labellers may answer one example.

The answers to one example are folded into one: the answer that all agree on, or a dispute. No
message here quotes a label. Only the vault compares answers with known labels.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from easeci.evidence.cells import LabelState

KNOWN = (LabelState.LABEL, LabelState.CANNOT_TELL)
COLUMNS = ("id", "label", "state", "by", "at", "answers")
"""The columns of a file of labels. ``answers`` has all answers to a disputed example, as JSON."""


@dataclass(frozen=True)
class Answers:
    """Answers from one source. Columns: id, label, state, by, at; all but the id are text.

    ``repeats`` says whether an id may occur more than once, because the source names labellers.
    """

    name: str
    frame: pl.DataFrame
    repeats: bool = True

    @property
    def labellers(self) -> tuple[str, ...]:
        """The names of the labellers, sorted."""
        return tuple(sorted(name for name in self.frame["by"].unique() if name))


def answers_frame(
    ids: pl.Series, labels: pl.Series, states: pl.Series, by: pl.Series, at: pl.Series
) -> pl.DataFrame:
    """A table of answers, without rows that have no answer."""
    frame = pl.DataFrame({"id": ids, "label": labels, "state": states, "by": by, "at": at})
    silent = (pl.col("state") == LabelState.LABEL) & pl.col("label").is_null()
    return frame.filter(~silent)


def fold_answers(frame: pl.DataFrame) -> pl.DataFrame:
    """One row for each example, with a column ``answers`` where labellers dispute.

    The last answer of a labeller counts. A skip does not count if another labeller answered.
    """
    if frame["id"].n_unique() == len(frame):
        return frame.with_columns(answers=pl.lit(None, pl.String))
    last = frame.unique(["id", "by"], keep="last", maintain_order=True)
    known = pl.col("state").is_in(list(KNOWN))
    kept = last.filter(known | ~known.any().over("id"))
    said = pl.concat_str("state", pl.col("label").fill_null(""), separator=":")
    disputed = kept.filter(said.n_unique().over("id") > 1)
    plain = kept.filter(said.n_unique().over("id") == 1).unique(
        "id", keep="first", maintain_order=True
    )
    rows = [plain.with_columns(answers=pl.lit(None, pl.String))]
    for group in disputed.partition_by("id", maintain_order=True):
        rows.append(_dispute(group))
    return pl.concat(rows)


def _dispute(group: pl.DataFrame) -> pl.DataFrame:
    said = json.dumps(group.select("by", "at", "state", "label").to_dicts(), ensure_ascii=False)
    return group.head(1).with_columns(
        label=pl.lit(None, pl.String),
        state=pl.lit(str(LabelState.DISPUTED)),
        by=pl.lit(", ".join(group["by"])),
        at=pl.lit(group["at"].max(), pl.String),
        answers=pl.lit(said),
    )


@dataclass(frozen=True)
class Agreement:
    """How well labellers agree on the examples that at least two of them answered.

    Of more than two labellers, the means over pairs. Kappa is None where chance alone explains
    everything: all answers of a pair are one class.
    """

    labellers: int
    examples: int
    share: float
    kappa: float | None


def agreement(frame: pl.DataFrame) -> Agreement | None:
    """How well labellers agree; None if no example has answers of two labellers."""
    known = frame.filter(pl.col("state").is_in(list(KNOWN)))
    last = known.unique(["id", "by"], keep="last", maintain_order=True)
    shared = last.filter(pl.len().over("id") > 1)
    if shared.is_empty():
        return None
    by_labeller: dict[str, dict[object, tuple[str, str | None]]] = {}
    for row in shared.select("id", "by", "state", "label").iter_rows():
        by_labeller.setdefault(row[1], {})[row[0]] = (row[2], row[3])
    shares, kappas = [], []
    for first, second in combinations(by_labeller.values(), 2):
        common = [(first[key], second[key]) for key in first if key in second]
        if common:
            share, kappa = cohen(common)
            shares.append(share)
            kappas += [] if kappa is None else [kappa]
    return Agreement(
        labellers=len(by_labeller),
        examples=shared["id"].n_unique(),
        share=sum(shares) / len(shares),
        kappa=sum(kappas) / len(kappas) if kappas else None,
    )


def cohen(pairs: Sequence[tuple[object, object]]) -> tuple[float, float | None]:
    """The share of equal answers, and Cohen's kappa (1960): this share corrected for chance."""
    total = len(pairs)
    share = sum(one == other for one, other in pairs) / total
    ones, others = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(ones[value] * others[value] for value in ones) / total**2
    return share, None if chance >= 1.0 else (share - chance) / (1.0 - chance)
