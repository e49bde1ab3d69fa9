"""The simulated developers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from easeci.errors import UsageError
from easeci.plan import plan
from easeci.script import Adaptivity, Script
from easeci.simulation import Developer
from easeci.simulation.developers import (
    Case,
    clear_commits,
    developer_named,
    developers_for,
    simulate_life,
)
from easeci.simulation.laws import Laws
from tests.cases import each_case
from tests.scripts import script

SMALL = "n - o > 0.1 +/- 0.1"


def visible(condition: str = SMALL, **keys: object) -> Script:
    return script(condition, **{"reliability": 0.9, "steps": 3, "adaptivity": "full", **keys})


def test_as_many_clear_commits_as_the_plan_assumes() -> None:
    assert clear_commits(plan(visible(steps=32)), 6) == 5
    assert clear_commits(plan(visible(steps=32, estimator="hoeffding")), 6) == 6
    assert clear_commits(plan(visible(steps=32, adaptivity="firstChange")), 6) == 1
    assert clear_commits(plan(visible("n > 0.5 +/- 0.1", steps=6, adaptivity="none")), 6) == 6


def case(developer: Developer, condition: str = SMALL, **keys: object) -> Case:
    made = plan(visible(condition, **{"steps": 4, **keys}))
    return Case(made, developer, Laws.of(made.script), examples=40, commits=4, seed=1, number=0)


def test_a_life_depends_on_its_testset_alone() -> None:
    """The same testset lives the same life again, whatever was simulated before it."""
    edge = case(Developer.EDGE)
    for developer in Developer:
        one = replace(edge, developer=developer)
        lives = [simulate_life(one, testset) for testset in (0, 1, 2)]
        assert [simulate_life(one, testset) for testset in (2, 0)] == [lives[2], lives[0]]
        for life in lives:
            assert len(life.history) == len(life.labels) <= 4
            assert all(0 <= labels <= 40 for labels in life.labels)


@each_case(("mode", "proof"), [("fp-free", "P"), ("fn-free", "F")])
def test_a_life_ends_with_a_wrong_answer(mode: str, proof: str) -> None:
    """At the threshold only the proof is wrong: a life is broken exactly if it ends with one."""
    edge = case(Developer.EDGE, "n > 0.5 +/- 0.1", mode=mode, reliability=0.3, adaptivity="none")
    lives = [simulate_life(edge, testset) for testset in range(25)]
    assert {life.broken for life in lives} == {True, False}
    for life in lives:
        assert life.broken == (proof in life.history)
        assert proof not in life.history[:-1]


def test_a_life_ends_with_the_answer_that_retires_its_testset() -> None:
    """Under firstChange a proof ends a testset, even one that is right."""
    middle = case(Developer.MIDDLE, "n > 0.5 +/- 0.1", reliability=0.3, adaptivity="firstChange")
    lives = [simulate_life(middle, testset) for testset in range(25)]
    assert any(life.history.endswith("P") for life in lives)
    for life in lives:
        assert not life.broken
        assert "P" not in life.history[:-1]
        assert len(life.history) == 4 or life.history.endswith("P")


def test_a_developer_who_hears_no_answer_cannot_adapt() -> None:
    made = plan(visible())
    laws = Laws.of(made.script)
    assert developers_for(made, laws) == tuple(Developer)
    hidden = replace(made, script=replace(made.script, adaptivity=Adaptivity.NONE))
    others = tuple(developer for developer in Developer if developer is not Developer.ADAPTIVE)
    assert developers_for(hidden, laws) == others


def test_a_developer_by_name() -> None:
    assert developer_named("mixed") is Developer.MIXED
    with pytest.raises(UsageError, match="there is no developer 'mix'"):
        developer_named("mix")


@each_case("condition", [SMALL, "n > 0.5 +/- 0.1", r"n - o > 0 +/- 0.1 /\ d < 0.5 +/- 0.1"])
@each_case("adaptivity", ["full", "none"])
def test_mixed_commits_share_their_labels(condition: str, adaptivity: str) -> None:
    """A life takes fewer labels than its commits use, and the first commit buys all that it uses."""
    made = plan(visible(condition, steps=12, adaptivity=adaptivity))
    mixed = Case(made, Developer.MIXED, Laws.of(made.script), 3000, 12, seed=1, number=0)
    for testset in range(4):
        life = simulate_life(mixed, testset)
        assert not life.broken
        assert len(life.history) == len(life.labels) == len(life.new_labels) == 12
        assert life.new_labels[0] == life.labels[0]
        assert all(new <= used for new, used in zip(life.new_labels, life.labels, strict=True))
        assert sum(life.new_labels) < max(sum(life.labels), 1)
        assert sum(life.new_labels) <= 3000


def test_other_developers_share_nothing() -> None:
    life = simulate_life(case(Developer.EDGE), 0)
    assert life.new_labels == life.labels
