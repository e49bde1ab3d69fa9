"""Mean scores of outputs keep their promises at the threshold, by seeded simulation.

Scores are graded, continuous, at the ends, or means over trials of one example, which are not
independent of each other. Walks never stop early, and in three of four runs somebody who knows the
truth leaves scores unsettled. With fixed seeds a test always has the same answer; of other seeds it
would fail, for a right engine, at most one in a thousand.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from easeci import make_script
from easeci.evidence import codes
from easeci.evidence.endings import Ending
from easeci.evidence.facts import Facts
from easeci.evidence.levels import StepLevels
from easeci.script import Mode, NormalClause
from tests.cases import each_case
from tests.guarantee.measured_worlds import NEVER
from tests.guarantee.scored_worlds import ScoredWorld, at_the_ends, graded, judged, repeated
from tests.measures import most_errors

ALPHA = 0.1
FUTILITY = 0.95 * ALPHA


def clause(condition: str, **keys: object) -> NormalClause:
    return make_script(condition, **{"scorer": "./score.py", **keys}).clauses[0]


DIFFERENCE, MEAN = "n - o > 0.05 +/- 0.05", "n > 0.6 +/- 0.05"
WORLDS = {
    "graded": ScoredWorld(
        clause(DIFFERENCE),
        700,
        graded((0.3, 0.3, 0.2, 0.1, 0.1), (0.1, 0.2, 0.4, 0.2, 0.1)),
        graded((0.0, 0.1, 0.1, 0.3, 0.5), (0.1, 0.2, 0.4, 0.2, 0.1)),
    ),
    "graded, half of the outputs equal": ScoredWorld(
        clause(DIFFERENCE),
        900,
        graded((0.5, 0.3, 0.1, 0.1, 0.0), (0.1, 0.2, 0.4, 0.2, 0.1)),
        graded((0.0, 0.0, 0.1, 0.2, 0.7), (0.2, 0.4, 0.2, 0.1, 0.1)),
        equal=0.5,
    ),
    "a judge": ScoredWorld(
        clause(DIFFERENCE), 500, judged((4.0, 6.0), (5.0, 5.0)), judged((8.0, 2.0), (5.0, 5.0))
    ),
    "a weighted difference": ScoredWorld(
        clause("1.5 * n - 1.5 * o > -0.1 +/- 0.1"),
        600,
        replace(at_the_ends(0.2, 0.6), mean=1.5 * 0.98 * -0.4),
        replace(at_the_ends(0.8, 0.5), mean=1.5 * 0.98 * 0.3),
    ),
    "at the ends": ScoredWorld(
        clause(DIFFERENCE), 1500, at_the_ends(0.3, 0.6), at_the_ends(0.9, 0.4)
    ),
    "trials of one example": ScoredWorld(
        clause(MEAN, scorer="exact", trials=4), 1500, repeated((0.4, 0.6), 4), repeated((2, 0.5), 4)
    ),
    "pass@2": ScoredWorld(
        clause("pass@2 > 0.6 +/- 0.05", scorer="exact", trials=4),
        1500,
        repeated((0.3, 1.2), 4, 2),
        repeated((2, 0.5), 4, 2),
    ),
    "right or wrong": ScoredWorld(
        clause(DIFFERENCE, scorer="exact"),
        1500,
        replace(graded((0.6, 0, 0, 0, 0.4), (0.5, 0, 0, 0, 0.5)), mean=-0.1),
        replace(graded((0.1, 0, 0, 0, 0.9), (0.5, 0, 0, 0, 0.5)), mean=0.4),
    ),
}


def check(world: ScoredWorld, runs: int) -> None:
    for mode in Mode:
        proofs = world.wrong_proofs(mode, ALPHA, runs)
        assert proofs <= most_errors(runs, ALPHA), (mode, "proofs", proofs)
        futile = world.wrong_futility(mode, ALPHA, runs)
        assert futile <= most_errors(runs, FUTILITY), (mode, "futile", futile)


@each_case("name", list(WORLDS))
def test_errors_at_the_threshold_are_as_rare_as_promised(name: str) -> None:
    """Both modes: wrong proofs at c, and walks that are futile where a proof is promised."""
    check(WORLDS[name], 12)


@pytest.mark.long
@pytest.mark.parametrize("name", list(WORLDS))
def test_errors_at_the_threshold_are_as_rare_as_promised_in_many_runs(name: str) -> None:
    check(WORLDS[name], 800)


@each_case("name", list(WORLDS))
def test_each_side_of_the_zone_is_recognised(name: str) -> None:
    """These testsets are long enough that the tests above would notice an error."""
    proofs, futile = WORLDS[name].right_endings(ALPHA, 5)
    assert proofs >= 3, name
    assert futile >= 3, name


def _means(world: ScoredWorld, value: float, draws: int = 40) -> float:
    drawn = [world.draw(value, np.random.default_rng((7, run)), None) for run in range(draws)]
    lattice = world.clause.score.lattice
    assert lattice is not None
    return float(
        np.mean(
            [sum(float(w) * facts.scores[t].mean() for t, w in lattice.terms) for facts in drawn]
        )
    )


@each_case("name", list(WORLDS))
def test_testsets_have_the_value_that_they_are_drawn_at(name: str) -> None:
    """Otherwise the simulations would not be at the threshold."""
    world = WORLDS[name]
    value = float(world.clause.threshold)
    assert abs(_means(world, value) - value) < 4.0 / np.sqrt(40 * world.size)


def test_trials_taken_for_examples_would_break_the_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """The unit is the example: as units, trials of one example would lead to wrong proofs."""
    world = WORLDS["trials of one example"]

    class AsExamples(ScoredWorld):
        def draw(self, value, random, skip):  # type: ignore[no-untyped-def]
            facts = ScoredWorld.draw(self, value, random, skip)
            return Facts(
                np.repeat(facts.cells, 30),
                scores={term: np.repeat(values, 30) for term, values in facts.scores.items()},
            )

    small = AsExamples(world.clause, 200, world.low, world.high)
    assert small.wrong_proofs(Mode.FP_FREE, ALPHA, 60) > most_errors(60, ALPHA)


def test_rounding_upwards_would_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lattice that rounds upwards proves more than is true; this simulation would notice."""
    coarse = clause("n - o > 0.05 +/- 0.05")
    lattice = coarse.score.lattice
    assert lattice is not None
    wide = replace(lattice, parts=8)
    world = ScoredWorld(
        replace(coarse, score=type(coarse.score).on_lattice(wide, "n - o")),
        500,
        judged((4.0, 6.0), (5.0, 5.0)),
        judged((8.0, 2.0), (5.0, 5.0)),
    )
    levels = StepLevels(math.log(ALPHA), NEVER, NEVER)

    def wrong_proofs() -> int:
        drawn = (world.draw(0.05, np.random.default_rng((3, run)), None) for run in range(60))
        return sum(world.ending(Mode.FP_FREE, levels, facts) is Ending.PROVEN for facts in drawn)

    assert wrong_proofs() <= most_errors(60, ALPHA)
    ends = codes._gap_ends
    monkeypatch.setattr(
        codes, "_gap_ends", lambda alphabet: (ends(alphabet)[1],) * 2 + ends(alphabet)[2:]
    )
    assert wrong_proofs() > most_errors(60, ALPHA)
