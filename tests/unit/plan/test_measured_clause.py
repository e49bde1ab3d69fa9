"""Sizes and forecasts of measures, against walks that the engine really makes."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from easeci.evidence.clause_test import FUTILITY_SHARE, Goal, Targets
from easeci.evidence.endings import Ending
from easeci.evidence.labelled import LabelledTestset
from easeci.evidence.sizing import ImpracticalError
from easeci.plan import plan
from easeci.plan.assumptions import typical_step
from easeci.plan.measured_clause import MeasuredClause, possible_size, sample_with
from easeci.plan.measured_walk import chances_of_proof
from easeci.plan.prefix import shared_prefixes
from easeci.plan.sequential import labels_alone, least_slice, sequential, smallest_slice
from easeci.script import Estimator, Mode, Script
from easeci.service.scripts import make_script
from easeci.simulation.worlds import world_at
from easeci.verdict.sequential import ConditionTest
from tests.cases import each_case
from tests.measures import Shown, alphabet_of, most_errors

MEASURES = [
    "recall(a) > 0.8 +/- 0.05",
    "precision(a) > 0.8 +/- 0.05",
    "f1(a) > 0.8 +/- 0.05",
    "n.recall(a) - o.recall(a) > -0.05 +/- 0.05",
    "n.precision(a) - o.precision(a) > -0.05 +/- 0.05",
    "n / o > 1.05 +/- 0.05",
    "auc(a) > 0.9 +/- 0.03",
    "n.auc(a) - o.auc(a) > 0 +/- 0.04",
    "n[x=1] > 0.8 +/- 0.05",
]


WITHIN_A_MODEL = [
    "recall(a) - precision(a) > -0.1 +/- 0.05",
    "recall(a) - recall(b) > 0.05 +/- 0.05",
    "recall(a) - n > 0 +/- 0.05",
    "f1(a) - precision(a) < 0.02 +/- 0.05",
]


def made(condition: str, **keys: object) -> Script:
    return make_script(condition, **{"reliability": 0.9, "steps": 4, **keys})


def walks(asked: Script, place: int, examples: int, count: int) -> list[tuple[int, Ending]]:
    """Labels and endings of real walks of models at a place, at the levels of the last step."""
    world = world_at(asked, 0, place, least=None)
    assert world is not None
    levels, found = typical_step(asked).levels, []
    for number in range(count):
        facts = world.draw(examples, np.random.default_rng([3, place, number]))
        testset = LabelledTestset(facts)
        test = ConditionTest.of(asked.clauses, asked.mode, levels, testset, shared_prefixes(asked))
        (walk,), _ = test.walk(testset)
        found.append((walk.labels, walk.ending))
    return found


@each_case("mode", Mode)
@each_case("condition", [text for text in MEASURES if "precision(a) - o" not in text])
def test_a_clearly_good_commit_rarely_runs_out_of_examples(condition: str, mode: Mode) -> None:
    """Exhaustion has 5% of β, which is .1 here; none of 12 walks should be exhausted."""
    asked = made(condition, mode=mode)
    size = sequential(asked).examples
    assert size is not None
    examples = size * (2 if asked.slices else 1)  # a slice is half of the testset
    endings = [ending for _, ending in walks(asked, 2, examples, 12)]
    assert endings.count(Ending.EXHAUSTED) == 0
    assert endings.count(Ending.PROVEN) >= 9


def test_a_difference_within_a_model_is_sized_for_its_value() -> None:
    """At c + 2ε of a testset of the planned size, the promise is .9 for each of four commits."""
    sensitive_walks(made(WITHIN_A_MODEL[0], mode=Mode.FP_FREE), 16)


@pytest.mark.long
@each_case("condition", WITHIN_A_MODEL)
@each_case("mode", Mode)
def test_differences_within_a_model_keep_their_sensitivity(condition: str, mode: Mode) -> None:
    sensitive_walks(made(condition, mode=mode), 100)


def sensitive_walks(asked: Script, count: int) -> None:
    """More misses than in one of a thousand such runs would break the promise."""
    size = sequential(asked).examples
    assert size is not None
    measured = MeasuredClause.of(asked, asked.clauses[0])
    law = measured.law(measured.goal.clear)
    shown, levels = Shown(alphabet_of(measured.score)), typical_step(asked).levels
    endings = []
    for number in range(count):
        drawn = np.random.default_rng([11, number]).choice(len(law), size, p=law)
        testset = LabelledTestset(shown.facts(drawn.astype(np.uint8)))
        test = ConditionTest.of(asked.clauses, asked.mode, levels, testset, shared_prefixes(asked))
        (walk,), _ = test.walk(testset)
        endings.append(walk.ending)
    assert count - endings.count(Ending.PROVEN) <= most_errors(count, math.exp(levels.sensitivity))
    assert endings.count(Ending.EXHAUSTED) <= 1


@each_case("condition", ["f1(a) - precision(a) > 0.2 +/- 0.02", "n - o + 0.5 * d > -0.329 +/- 0.2"])
def test_a_clause_that_no_testset_can_show_is_a_script_error(condition: str) -> None:
    """F1 exceeds precision by at most .17, and −n + o − 0.5·d is at most half of d."""
    mode = Mode.FP_FREE if "f1" in condition else Mode.FN_FREE
    asked = made(condition, mode=mode)
    with pytest.raises(ImpracticalError) as raised:
        plan(asked)
    assert raised.value.message == f"no testset of a practical size can show '{condition}'"
    assert not sequential(asked).applies
    other = plan(replace(asked, estimator=Estimator.EXACT)) if "f1" not in condition else None
    if other is not None:
        assert other.row(Estimator.SEQUENTIAL).labels_in_all is None
        assert other.recommended is None
        assert other.cheaper is None
        assert "no testset of a practical size" in other.why


@each_case("condition", ["precision(a) > 0.8 +/- 0.05", "f1(a) > 0.8 +/- 0.05"])
def test_the_expected_labels_are_those_of_walks(condition: str) -> None:
    compare_labels(made(condition, reliability=0.99), 150, 0.2)


@pytest.mark.long
@each_case(
    "condition",
    [
        "recall(a) > 0.8 +/- 0.02",
        "precision(a) > 0.8 +/- 0.02",
        "f1(a) > 0.8 +/- 0.02",
        "auc(a) > 0.9 +/- 0.02",
        "n.recall(a) - o.recall(a) > -0.02 +/- 0.02",
        "n.precision(a) - o.precision(a) > -0.03 +/- 0.03",
    ],
)
def test_the_expected_labels_are_those_of_200_walks(condition: str) -> None:
    compare_labels(made(condition, reliability=0.999, steps=8), 200, 0.15)


def compare_labels(asked: Script, count: int, nearly: float) -> None:
    levels = typical_step(asked).levels
    targets = Targets.of(levels)
    measured = MeasuredClause.of(asked, asked.clauses[0])
    size = measured.size(targets, levels.sensitivity + math.log1p(-FUTILITY_SHARE))
    labels = np.mean([used for used, _ in walks(asked, 2, size, count)])
    assert measured.labels_at(measured.goal.clear, targets, size) == pytest.approx(
        labels, rel=nearly
    )


@each_case("condition", MEASURES)
def test_the_chance_of_a_proof_grows_from_almost_none_to_almost_all(condition: str) -> None:
    asked = made(condition, reliability=0.99)
    levels = typical_step(asked).levels
    targets, size = Targets.of(levels), sequential(asked).examples
    assert size is not None
    measured = MeasuredClause.of(asked, asked.clauses[0])
    goal = measured.goal
    values = np.linspace(goal.bound, goal.clear, 9)
    chances = chances_of_proof(measured, targets, size, values)
    assert chances[0] < 0.02
    assert chances[-1] > 0.97
    assert (np.diff(chances) > -1e-6).all()


def test_a_slice_needs_what_all_examples_would_need() -> None:
    """The size of a clause on a slice is that of the slice's own examples."""
    sliced, whole = made("n[x=1] > 0.8 +/- 0.05"), made("n > 0.8 +/- 0.05")
    estimate = sequential(sliced)
    assert estimate.in_each_slice == estimate.examples == sequential(whole).examples
    assert "in each slice" in estimate.derivation[2]
    assert sequential(whole).in_each_slice is None
    assert smallest_slice(sliced, sliced.clauses[0]) == estimate.in_each_slice


@each_case(
    "condition",
    ["n[x=1] > 0.8 +/- 0.05", "n[x=1] - o[x=1] > 0 +/- 0.05", "recall(a)[x=1] > 0.5 +/- 0.1"],
)
def test_below_the_least_size_nothing_can_be_proven(condition: str) -> None:
    """If every example is the best, one less than the least size is not enough."""
    asked = made(condition)
    clause = asked.clauses[0]
    least = least_slice(asked, clause)
    assert 1 < least < smallest_slice(asked, clause)
    goal = Goal.of(clause, asked.mode)
    easier = possible_size(goal, 1.0)
    assert easier < least


def test_a_slice_of_d_needs_as_many_as_the_tail_says() -> None:
    """No example differs with probability 0.9^N, which must be at most the step's level."""
    asked = made("d[x=1] < 0.1 +/- 0.05", steps=1)
    level = typical_step(asked).levels.safety
    assert least_slice(asked, asked.clauses[0]) == math.ceil(level / math.log(0.9))


def test_more_rivals_need_more_examples() -> None:
    sizes = [sequential(made("n - top(2) > 0 +/- 0.05", steps=steps)).examples for steps in (2, 32)]
    alone = sequential(made("n - o > 0 +/- 0.05", steps=2)).examples
    assert sizes[0] is not None
    assert sizes[1] is not None
    assert alone is not None
    assert alone < sizes[0] < sizes[1]


def test_a_sample_has_enough_of_a_rare_class() -> None:
    from scipy import stats

    size = sample_with(100, 0.02, math.log(0.01))
    assert stats.binom.cdf(99, size, 0.02) <= 0.01
    assert stats.binom.cdf(99, size - size // 500, 0.02) > 0.01


def test_labels_alone_are_most_in_the_zone() -> None:
    for condition in MEASURES[:3]:
        labels = labels_alone(made(condition))
        assert labels.worst >= labels.middle > labels.better
