"""From columns to codes: every measure against its definition, on data that anybody can count."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from easeci.errors import DataError
from easeci.evidence.codes import Counts
from easeci.evidence.facts import Facts
from easeci.evidence.labelled import LabelledTestset
from easeci.script import Score, Script
from easeci.tables.align import example_codes
from easeci.tables.column import ModelRanks, RankKind
from easeci.tables.facts import ExampleColumns, ModelOutput, example_facts, require_named_classes
from easeci.tables.slices import ExampleSlices
from tests.cases import each_case
from tests.scripts import script

DRAW = np.random.default_rng(5)
SIZE = 400
LABEL, NEW, OLD = (DRAW.choice(["a", "b", "c"], SIZE, p=[0.5, 0.3, 0.2]) for _ in range(3))
NEW, OLD = (np.where(DRAW.random(SIZE) < 0.6, LABEL, made) for made in (NEW, OLD))
LANG = DRAW.choice(["de", "en"], SIZE)
RANK = (DRAW.integers(0, 20, SIZE) / 20 + (LABEL == "a")) / 2
ALL = np.ones(SIZE, bool)


def recall(made: np.ndarray, name: str, among: np.ndarray = ALL) -> Fraction:
    positive = among & (name == LABEL)
    return Fraction(int((positive & (made == name)).sum()), int(positive.sum()))


def precision(made: np.ndarray, name: str) -> Fraction:
    return Fraction(int(((made == name) & (name == LABEL)).sum()), int((made == name).sum()))


def f1(made: np.ndarray, name: str) -> Fraction:
    one, other = precision(made, name), recall(made, name)
    return 2 * one * other / (one + other)


def accuracy(made: np.ndarray, among: np.ndarray = ALL) -> Fraction:
    return Fraction(int((among & (made == LABEL)).sum()), int(among.sum()))


MEASURES: dict[str, Callable[[], Fraction]] = {
    "recall(a)": lambda: recall(NEW, "a"),
    "o.precision(b)": lambda: precision(OLD, "b"),
    "f1(c)": lambda: f1(NEW, "c"),
    "n / o": lambda: accuracy(NEW) / accuracy(OLD),
    "n.recall(a) - o.recall(a)": lambda: recall(NEW, "a") - recall(OLD, "a"),
    "n.f1(b) - o.f1(b)": lambda: f1(NEW, "b") - f1(OLD, "b"),
    "n.recall(a) - n.recall(b)": lambda: recall(NEW, "a") - recall(NEW, "b"),
    "n[lang=de]": lambda: accuracy(NEW, LANG == "de"),
    "recall(a)[lang!=de]": lambda: recall(NEW, "a", LANG != "de"),
    "n[lang=en] - o[lang=en]": lambda: accuracy(NEW, LANG == "en") - accuracy(OLD, LANG == "en"),
}


def facts_for(made: Script, labels: np.ndarray = LABEL, order: bool = True) -> Facts:
    new, old = pl.Series(NEW), pl.Series(OLD)
    known = pl.Series(labels.tolist(), dtype=pl.String)
    scores = ModelRanks(RankKind.PROBABILITY, pl.Series(RANK))
    columns = ExampleColumns(
        example_codes(new, old, known),
        ModelOutput(new, scores),
        ModelOutput(old),
        known,
        ExampleSlices(pl.DataFrame({"lang": LANG})),
    )
    return example_facts(
        made, columns, np.random.default_rng(1).permutation(SIZE) if order else None
    )


def value(score: Score, facts: Facts) -> Fraction | None:
    return Counts.of(facts.codes(score), score.alphabet).value(score)


@each_case("measure", list(MEASURES))
def test_a_measure_is_what_it_says(measure: str) -> None:
    made = script(f"{measure} > 0 +/- 0.01" if "-" in measure else f"{measure} > 0.1 +/- 0.01")
    (clause,) = made.clauses
    assert value(clause.score, facts_for(made)) == MEASURES[measure]()


def test_blocks_along_the_order_have_the_pairs_of_their_examples() -> None:
    """The mean over blocks, pair by pair; ties count half."""
    made = script("auc(a) > 0.5 +/- 0.1")
    facts, score = facts_for(made), made.clauses[0].score
    testset = LabelledTestset(facts)
    assert score.blocks is not None
    track = testset.reading(score).block_track(score.blocks, testset.ranks(score))
    assert facts.classes is not None
    positive, ranks = facts.classes.label == 0, facts.ranks["a"].new
    lists = [ranks[positive].tolist(), ranks[~positive].tolist()]
    size = min(len(found) // 2 for found in lists)
    assert len(track.known) == size
    for block, code in enumerate(track.known):
        first, second = (found[2 * block : 2 * block + 2] for found in lists)
        pairs = [Fraction((p > n) * 2 + (p == n), 2) for p in first for n in second]
        assert score.ratio.numerator[code] == sum(pairs, Fraction(0)) / 4


def test_one_label_changes_what_all_of_them_would() -> None:
    """Put into a testset one by one, labels lead to the same codes for every clause."""
    made = script(r"f1(a) > 0.5 +/- 0.1 /\ n[lang=de] > 0.5 +/- 0.1 /\ auc(a) > 0.6 +/- 0.1")
    nothing = np.full(SIZE, None)
    whole, empty = facts_for(made), facts_for(made, nothing)
    testset = LabelledTestset(empty)
    readings = [testset.reading(clause.score) for clause in made.clauses]
    for position in np.random.default_rng(2).permutation(SIZE).tolist():
        testset.put(position, whole.known_at(position))
    for clause, reading in zip(made.clauses, readings, strict=True):
        assert reading.codes.tolist() == whole.codes(clause.score).tolist()


def test_a_class_that_nobody_has_is_refused() -> None:
    with pytest.raises(DataError, match="'fruad'") as found:
        require_named_classes(("fruad",), [pl.Series(["fraud", "ok"])])
    assert "'fraud'" in (found.value.hint or "")
