"""Worlds: models for measures, slices, scores and earlier models are where they claim to be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from easeci.errors import UsageError
from easeci.evidence.cells import Code
from easeci.evidence.codes import Counts
from easeci.evidence.facts import Facts
from easeci.plan.commit_mix import MIXED
from easeci.script import Mode, NormalClause
from easeci.simulation import Developer, SimulationSize, simulate
from easeci.simulation.mixed_models import MixedModels
from easeci.simulation.worlds import World, concrete, world_at
from tests.cases import each_case
from tests.scripts import script

CONDITIONS = [
    "recall(a) > 0.8 +/- 0.05",
    "precision(a) < 0.6 +/- 0.05",
    "f1(a) > 0.7 +/- 0.05",
    "n.recall(a) - o.recall(a) > -0.02 +/- 0.02",
    "n.precision(a) - o.f1(b) > 0 +/- 0.05",
    "n / o > 1.05 +/- 0.05",
    "auc(a) > 0.9 +/- 0.03",
    "n.auc(a) - o.auc(a) > 0 +/- 0.04",
    "n[x=1] > 0.8 +/- 0.05",
    r"recall(a) > 0.8 +/- 0.05 /\ n - o > 0 +/- 0.05",
    "recall(a) - precision(a) > 0.1 +/- 0.05",
    "n - f1(b) < -0.1 +/- 0.05",
    r"recall(a) - recall(b) > -0.1 +/- 0.05 /\ n > 0.6 +/- 0.05",
]
EXAMPLES = 50_000


def measured(clause: NormalClause, facts: Facts) -> float:
    """The score of a clause in a drawn testset, in the form Φ > c, computed from its columns."""
    score = clause.greater.score
    if score.blocks is not None:
        ranks, classes = facts.ranks[score.blocks.positive], facts.classes
        assert classes is not None
        positive = classes.label == classes.names.index(score.blocks.positive)
        assert ranks.old is not None
        new, old = (
            float(
                (
                    column[positive][:20_000]
                    > np.resize(column[~positive], 20_000)[: min(positive.sum(), 20_000)]
                ).mean()
            )
            for column in (ranks.new, ranks.old)
        )
        return float(score.blocks.new) * new + float(score.blocks.old) * old
    value = Counts.of(facts.codes(score), score.alphabet).value(score)
    assert value is not None
    return float(value)


@each_case("accuracy", [0.0, 1.0])
def test_earlier_models_are_drawn_for_models_that_are_always_wrong_or_right(
    accuracy: float,
) -> None:
    law = np.array([accuracy, 1.0 - accuracy, 0.0, 0.0, 0.0])
    gap = 0.1 if accuracy else -0.1
    facts = World((), law, accuracy, 0.1, gaps=(gap,)).draw(2000, np.random.default_rng(1))
    (codes,) = facts.rivals
    differing = float((codes >= Code.NEW_RIGHT).mean())
    assert math.isclose(differing, 0.1, abs_tol=0.03)


@each_case("mode", Mode)
@each_case("condition", CONDITIONS)
def test_worlds_are_where_they_claim_to_be(condition: str, mode: Mode) -> None:
    asked = script(condition, mode=mode)
    sign = 1.0 if mode is Mode.FP_FREE else -1.0
    for index, clause in enumerate(asked.clauses):
        for place in (0, 1, 2):
            world = world_at(asked, index, place, least=None)
            assert world is not None
            facts = world.draw(EXAMPLES, np.random.default_rng(place))
            form = clause.greater
            expected = float(form.threshold) + sign * place * float(form.tolerance)
            assert measured(clause, facts) == pytest.approx(expected, abs=0.025)


def test_cells_and_classes_of_a_drawn_testset_agree() -> None:
    world = world_at(script("n.precision(a) - o.f1(b) > 0 +/- 0.05"), 0, 1, least=None)
    assert world is not None
    facts = world.draw(20_000, np.random.default_rng(1))
    classes = facts.classes
    assert classes is not None
    named = classes.label < 2
    right = np.isin(facts.cells, (0, 2))
    assert (right[named] == (classes.new == classes.label)[named]).all()
    assert not (right & (classes.new != classes.label)).any()


def test_the_best_rivals_are_at_the_value() -> None:
    """Two of four earlier models are as good as the clause says, the others worse."""
    asked = script("n - top(2) > 0.02 +/- 0.02")
    world = world_at(asked, 0, 0, least=None)
    assert world is not None
    facts = world.draw(EXAMPLES, np.random.default_rng(2))
    gaps = sorted(float((codes == 2).mean() - (codes == 3).mean()) for codes in facts.rivals)
    assert len(gaps) == 4
    assert gaps[:2] == pytest.approx([0.02, 0.02], abs=0.01)
    assert gaps[2] > 0.1


def test_a_star_becomes_two_slices() -> None:
    assert len(concrete(script("n[x=*] > 0.8 +/- 0.05")).clauses) == 2


@each_case(
    "condition",
    [
        "recall(a) > 0.8 +/- 0.1",
        "precision(a) > 0.8 +/- 0.1",
        "n / o > 1 +/- 0.1",
        "auc(a) > 0.8 +/- 0.08",
        "n[x=*] > 0.8 +/- 0.1",
        "n - top(3) > 0 +/- 0.1",
    ],
)
def test_every_measure_can_be_simulated(condition: str) -> None:
    asked = script(condition, reliability=0.8, steps=2, adaptivity="full")
    found = simulate(asked, limits=SimulationSize(testsets=5, commits=2, examples=4_000, life=2))
    (one,) = found.rounds
    assert [m.developer for m in one.measured] == [
        Developer.EDGE, Developer.MIDDLE, Developer.CLEAR, Developer.MIXED,
    ]  # fmt: skip
    assert not found.broken


def test_what_cannot_be_simulated_is_said() -> None:
    asked = script("recall(a) > 0.8 +/- 0.1", adaptivity="full")
    with pytest.raises(UsageError, match="adaptive is only simulated"):
        simulate(asked, developer=Developer.ADAPTIVE)
    names = [f"c{number}" for number in range(13)]
    with pytest.raises(UsageError, match="at most 12 classes"):
        simulate(script("recall(*) > 0.8 +/- 0.1", classes=names))


def test_a_life_keeps_labels_and_moves_the_baseline() -> None:
    asked = script(r"precision(a) > 0.6 +/- 0.1 /\ auc(a) > 0.6 +/- 0.1 /\ n - top(2) > 0 +/- 0.1")
    models = MixedModels(asked, 20_000, MIXED, np.random.default_rng(4))
    first = models.commit(0.02)
    models.answered(passed=True)
    second = models.commit(-0.02)
    assert first.classes is not None
    assert second.classes is not None
    assert (first.classes.label == second.classes.label).all()
    assert (first.classes.new == second.classes.old).all()
    assert len(first.rivals) == 1
    assert len(second.rivals) == 2
    assert (second.rivals[1] == second.cells).all()  # the last that passed is the baseline
    changed = float(np.isin(second.cells, (2, 3, 4)).mean())
    assert math.isclose(changed, MIXED.difference, abs_tol=0.01)
