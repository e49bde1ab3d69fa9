"""Mean scores keep their level on small testsets, by exact enumeration.

The lattice has halves only. Some laws have scores between its points, which every test must count
at the point that is worse for it. All sequences of scores are walked by the engine, and the
probabilities of those that end with an error are summed up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import product

import numpy as np
import pytest

from easeci import make_script
from easeci.evidence import codes
from easeci.evidence.cells import Code
from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts
from easeci.evidence.labelled import LabelledTestset
from easeci.script import Mode, NormalClause, Score
from easeci.script.lattice import ScoreTerm
from tests.cases import each_case

ALPHA, NEVER, LENGTH = 0.3, 1e6, 5


@dataclass(frozen=True)
class Kind:
    """What one example may show: the scores of both outputs, and whether they differ."""

    chance: float
    new: float
    old: float = 0.0
    differ: bool = True


Law = tuple[Kind, ...]


def scores_of(*pairs: tuple[float, float]) -> Law:
    """A law of the new model's scores: chances and scores."""
    return tuple(Kind(chance, score) for chance, score in pairs)


@lru_cache(maxsize=8)
def on_halves(condition: str) -> NormalClause:
    """The clause on a lattice of halves, which is much coarser than that of a script."""
    clause = make_script(condition, scorer="./score.py").clauses[0]
    lattice = clause.score.lattice
    assert lattice is not None
    halves = replace(lattice, parts=2)
    return replace(clause, score=Score.on_lattice(halves, clause.score.named))


MEAN, GAIN = "n > 0.3 +/- 0.2", "n - o > -0.7 +/- 0.15"
MIRRORED = {MEAN: "n > 0.7 +/- 0.2", GAIN: "n - o > 0.7 +/- 0.15"}
AT_THRESHOLD: dict[str, list[Law]] = {
    MEAN: [
        scores_of((0.7, 0.0), (0.3, 1.0)),
        scores_of((0.4, 0.0), (0.6, 0.5)),
        scores_of((0.5, 0.0), (0.4, 0.5), (0.1, 1.0)),
        scores_of((1.0, 0.3)),
        scores_of((0.5, 0.3), (0.35, 0.0), (0.15, 1.0)),
        scores_of((0.5, 0.0), (0.5, 0.6)),
        scores_of((0.75, 0.1), (0.25, 0.9)),
    ],
    GAIN: [
        (Kind(0.7, 0.0, 1.0), Kind(0.3, 0.5, 0.5)),
        (Kind(0.4, 0.0, 1.0), Kind(0.6, 0.5, 1.0)),
        (Kind(0.8, 0.0, 1.0), Kind(0.2, 1.0, 0.5)),
        (Kind(1.0, 0.1, 0.8),),
        (Kind(0.5, 0.1, 0.7), Kind(0.5, 0.0, 0.8)),
        (Kind(0.75, 0.0, 14 / 15), Kind(0.25, 0.3, 0.3, differ=False)),
        (Kind(0.7, 0.0, 1.0), Kind(0.1, 0.3, 0.3), Kind(0.2, 0.9, 0.9, differ=False)),
    ],
}
"""Laws at which each condition is only just false."""


def raised(condition: str, law: Law) -> Law:
    """The law mixed with one of the best scores, so that the condition is just clearly true."""
    clause = on_halves(condition)
    here = float(clause.threshold)
    share = 2.0 * float(clause.tolerance) / (1.0 - here)
    kept = tuple(replace(kind, chance=kind.chance * (1.0 - share)) for kind in law)
    return (*kept, Kind(share, 1.0, 0.0))


def value_of(condition: str, law: Law) -> float:
    lattice = on_halves(condition).score.lattice
    assert lattice is not None
    weights = {term.model: float(weight) for term, weight in lattice.terms}
    return math.fsum(
        kind.chance * (weights["n"] * kind.new + weights.get("o", 0.0) * kind.old) for kind in law
    )


def labelled(kinds: Sequence[Kind], skipped: Sequence[bool] = ()) -> LabelledTestset:
    cells = [Code.BOTH_WRONG if kind.differ else Code.AGREE_WRONG for kind in kinds]
    for place, skip in enumerate(skipped):
        if skip:
            differ = kinds[place].differ
            cells[place] = Code.DIFFER_UNSETTLED if differ else Code.AGREE_UNSETTLED
    scores = {
        ScoreTerm("n"): np.array([kind.new for kind in kinds]),
        ScoreTerm("o"): np.array([kind.old for kind in kinds]),
    }
    return LabelledTestset(Facts(np.array(cells, np.uint8), scores=scores))


def ends_with(goal: Goal, targets: Targets, testset: LabelledTestset, ending: Ending) -> bool:
    return SequentialTest.on(goal, targets, testset).walk(testset).ending is ending


def sequences(law: Law, length: int) -> Iterator[tuple[float, tuple[Kind, ...]]]:
    for kinds in product(law, repeat=length):
        yield math.prod(kind.chance for kind in kinds), kinds


def probability(goal: Goal, targets: Targets, law: Law, ending: Ending) -> float:
    """Of an ending, over all testsets of a law; walks never stop for anything else."""
    return math.fsum(
        chance
        for chance, kinds in sequences(law, LENGTH)
        if ends_with(goal, targets, labelled(kinds), ending)
    )


PROOF, FUTILITY = Targets(-math.log(ALPHA), NEVER, NEVER), Targets(NEVER, -math.log(ALPHA), NEVER)


def proof_probabilities(condition: str) -> list[float]:
    goal = Goal.of(on_halves(condition), Mode.FP_FREE)
    return [probability(goal, PROOF, law, Ending.PROVEN) for law in AT_THRESHOLD[condition]]


@each_case("condition", list(AT_THRESHOLD))
def test_laws_are_where_they_claim_to_be(condition: str) -> None:
    clause = on_halves(condition)
    for law in AT_THRESHOLD[condition]:
        assert math.isclose(math.fsum(kind.chance for kind in law), 1.0)
        assert math.isclose(value_of(condition, law), float(clause.threshold))
        clear = float(clause.threshold + 2 * clause.tolerance)
        assert math.isclose(value_of(condition, raised(condition, law)), clear)


@each_case("condition", list(AT_THRESHOLD))
def test_a_false_clause_is_proven_with_at_most_its_level(condition: str) -> None:
    """Every moment of every sequence is looked at. Not vacuous: some sequences end with a proof."""
    found = proof_probabilities(condition)
    assert max(found) <= ALPHA + 1e-9
    assert max(found) > 0.05


@each_case("condition", list(AT_THRESHOLD))
def test_a_true_clause_is_refuted_with_at_most_its_level_in_fn_free(condition: str) -> None:
    """The mirror image: here the worse point of a gap is the upper one."""
    goal = Goal.of(on_halves(MIRRORED[condition]), Mode.FN_FREE)
    found = []
    for law in AT_THRESHOLD[condition]:
        image = tuple(mirrored(condition, kind) for kind in law)
        found.append(probability(goal, PROOF, image, Ending.PROVEN))
    assert max(found) <= ALPHA + 1e-9
    assert max(found) > 0.05


def mirrored(condition: str, kind: Kind) -> Kind:
    if condition == MEAN:
        return replace(kind, new=1.0 - kind.new)
    return replace(kind, new=kind.old, old=kind.new)


@each_case("condition", list(AT_THRESHOLD))
def test_a_clearly_true_clause_is_futile_with_at_most_its_level(condition: str) -> None:
    goal = Goal.of(on_halves(condition), Mode.FP_FREE)
    # Laws of three kinds would have four now, and take four times as long.
    laws = [raised(condition, law) for law in AT_THRESHOLD[condition] if len(law) < 3]
    found = [probability(goal, FUTILITY, law, Ending.FUTILE) for law in laws]
    assert max(found) <= ALPHA + 1e-9
    assert max(found) > 0.05


@each_case("condition", list(AT_THRESHOLD))
def test_no_choice_of_unsettled_scores_leads_to_a_proof(condition: str) -> None:
    """A testset that is not proven with all scores is not proven with some of them unsettled."""
    goal = Goal.of(on_halves(condition), Mode.FP_FREE)
    for law in AT_THRESHOLD[condition][3:6]:
        for _, kinds in sequences(law, 4):
            if ends_with(goal, PROOF, labelled(kinds), Ending.PROVEN):
                continue
            for skipped in product((False, True), repeat=4):
                assert not ends_with(goal, PROOF, labelled(kinds, skipped), Ending.PROVEN)


@each_case("condition", list(AT_THRESHOLD))
def test_gaps_that_count_at_their_upper_point_would_break_the_level(condition: str) -> None:
    """So the enumeration above would notice an engine that rounds upwards."""
    ends = codes._gap_ends
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            codes, "_gap_ends", lambda alphabet: (ends(alphabet)[1],) * 2 + ends(alphabet)[2:]
        )
        assert max(proof_probabilities(condition)) > ALPHA
