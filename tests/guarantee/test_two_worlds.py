"""Two worlds that differ only in what is hidden look the same to developers, at the same cost.

With ``disclose:`` the hidden facts are how long each step waits for its labels. Under ``none`` they
are the verdicts themselves.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping

import pytest

from easeci.views.status import rests_on
from tests.guarantee.worlds import World

TICKS = {"disclose": "1h", "timeout": "10m", "steps": "40", "branches": "[side]"}
NONE = {"adaptivity": "none -> a@b.org", "steps": "40", "branches": "[side]"}
STEPS = [(testset, number) for testset in range(1, 20) for number in range(1, 41)]


def world(
    *answers: bool,
    keys: Mapping[str, str] = TICKS,
    delay: int = 0,
    baseline: str | None = "B",
    model: str = "old",
) -> World:
    """A world in which the first step waits for so many seconds, and later ones fail."""
    known = dict.fromkeys(STEPS, False) | {(1, n): p for n, p in enumerate(answers, start=1)}
    made = World(known, {(1, 1): delay}, keys)
    made.seal(baseline, model)
    return made


def test_what_a_step_is_compared_with_does_not_depend_on_waiting() -> None:
    """A side commit comes to the main branch while it and the next commit are hidden."""
    told = []
    for delay in (0, 1800):
        here = world(True, False, False, delay=delay)
        here.run("S", "side", candidate=False)
        here.run("X", "x")
        here.wait(60)
        here.run("S", "side")
        here.wait(7200)
        told.append((here.run("X2", "x"), here.view))
        assert here.testset.steps[1].baseline_model == "old"
        assert here.real == here.public == ("S", "side")
    assert told[0] == told[1]


def test_other_weights_of_one_commit_are_other_models() -> None:
    """Both are baselines for a while: one for developers, one that has passed and is hidden."""
    here = world(True, model="weights 1")
    assert here.run("B", "weights 2") == ("pending", 1, 1)
    assert here.run("B2", "weights 1")[0] == "baseline"
    assert (here.real, here.public) == (("B", "weights 2"), ("B2", "weights 1"))
    here.wait(7200)
    assert here.real == here.public == ("B", "weights 2")


def test_a_commit_of_the_baseline_that_also_passed_with_other_weights() -> None:
    here = world(True, model="weights 1")
    here.run("C", "weights 2")
    here.run("C", "weights 1")
    here.wait(7200)
    assert here.real == here.public == ("C", "weights 2")


def test_what_was_never_run_does_not_fail_in_fn_free() -> None:
    """At its tick it is Unknown, and nobody takes it for the baseline."""
    here = world(keys=TICKS | {"mode": "fn-free"})
    here.run("X", "x", run="waits")
    here.wait(7200)
    assert here.run("X", "x") == ("pass", 1, 0)
    assert here.real == here.public == ("B", "old")


def test_a_baseline_that_is_set_under_none_leaves_verdicts_hidden() -> None:
    views = []
    for passed in (True, False):
        here = world(passed, keys=NONE)
        here.run("X", "x", run="waits")
        here.set_baseline("B2", "other")
        here.catch_up()
        here.keys = TICKS
        here.next_testset()
        views.append(here.public)
    assert views[0] == views[1] == (None, None)


def test_a_named_baseline_tells_nothing_of_hidden_verdicts() -> None:
    """It may be the one that hidden verdicts have led to, or not."""
    told = []
    for passed in (True, False):
        here = world(passed, keys=NONE)
        here.run("X", "x")
        here.retire()
        here.seal("B", "old", named=True)
        told.append((here.run("B", "old"), here.view))
    assert told[0] == told[1]
    assert told[0][0] == ("accepted", None, 0)


def test_commits_of_a_model_that_was_adopted_share_its_step_and_not_its_name() -> None:
    here = world(baseline=None)
    here.run("X", "x")
    here.run("X1", "x")
    here.wait(7200)
    assert here.real == here.public == ("X", "x")
    here.run("X2", "x")
    assert here.real == here.public == ("X2", "x")


def test_an_adoption_that_was_not_told_is_known_on_the_next_testset() -> None:
    """Its testset has ended, so the answer may be told; otherwise nobody would know the baseline."""
    here = world(baseline=None)
    here.run("X", "x")
    here.next_testset()
    assert here.real == here.public == ("X", "x")


def test_a_pass_that_was_not_told_stays_the_baseline_after_the_end() -> None:
    """Another commit of the model that developers know as the baseline does not replace it."""
    here = world(True)
    here.run("X", "x")
    here.retire()
    assert here.run("B2", "old")[0] == "baseline"
    assert (here.real, here.public) == (("X", "x"), ("B2", "old"))


def test_on_a_testset_of_an_older_version_the_baseline_is_known_by_its_commit() -> None:
    """That version built it with the first commit, and not when it was sealed."""
    here = world(True, keys={"steps": "40"})
    here.run("X", "x")
    here.retire()
    here.seal(None)
    assert here.run("X", "x")[0] == "baseline"


def acts(chance: random.Random, adopts: bool) -> Iterator[tuple[str, ...]]:
    """What developers and the owner do in one life."""
    models: dict[str, str] = {} if adopts else {"B": "old"}
    for number in range(chance.randint(4, 18)):
        kind = chance.choices(
            ["new", "again", "same", "test", "sent", "fails", "wait", "next"],
            [25, 10, 12, 10, 10, 7, 21, 5],
        )[0]
        branch = chance.choice(["main", "main", "side"])
        if kind == "wait":
            yield kind, str(chance.choice([100, 1000, 3600, 7200]))
        elif kind == "next":
            yield (kind,)
        elif kind in ("new", "fails"):
            if kind == "new":
                models[f"c{number}"] = f"m{number}"
            yield kind, f"c{number}", f"m{number}", branch
        elif models:
            commit = chance.choice(sorted(models))
            if kind == "sent" and chance.random() < 0.5:
                commit = f"f{number}"
                models[commit] = f"m{number}"
            elif kind == "same":
                models[f"s{number}"] = models[commit]
                commit = f"s{number}"
            yield kind, commit, models[commit], "main" if kind == "again" else branch


def act(here: World, kind: str, *rest: str) -> object:
    """One act; what is told."""
    if kind == "wait":
        here.wait(int(rest[0]))
    elif kind == "next":
        here.next_testset()
    else:
        commit, model, branch = rest
        run = kind if kind in ("fails", "sent") else "ends"
        test, candidate = kind == "test", branch == "main"
        return here.run(commit, model, candidate=candidate, test=test, run=run)
    return None


def compare(seed: int) -> None:
    """One life in two worlds. A failure names the seed."""
    chance = random.Random(seed)
    hidden_verdicts, adopts = seed % 2 == 0, chance.random() < 0.3
    keys = {"mode": chance.choice(["fp-free", "fn-free"])}
    answers = {step: chance.random() < 0.4 for step in STEPS}
    if hidden_verdicts:
        keys |= NONE | ({"disclose": "1h", "timeout": "10m"} if chance.random() < 0.5 else {})
        other = {step: chance.random() < 0.4 for step in STEPS}
        worlds = [World(answers, {}, keys), World(other, {}, keys)]
    else:
        # Decided before their ticks, so that the answers are the same.
        keys |= TICKS | {"adaptivity": chance.choice(["full", "firstChange"])}
        delays = [{step: chance.choice([0, 0, 30]) for step in STEPS} for _ in range(2)]
        worlds = [World(answers, delay, keys) for delay in delays]
    for here in worlds:
        here.seal(None if adopts else "B", "old")
    done: list[tuple[str, ...]] = []
    for what in acts(chance, adopts):
        if what[0] == "next" and not hidden_verdicts:
            continue  # whether a pass that was not told yet was decided would be told then
        done.append(what)
        told = [(act(here, *what), here.view) for here in worlds]
        if any(step.at_tick for here in worlds for step in here.testset.steps):
            return  # too many waited for each other: the worlds have other answers
        assert told[0] == told[1], (seed, done)
    if not hidden_verdicts:
        for here in worlds:
            here.wait(8_000)
            ended = here.testset.retired is not None
            assert ended or here.real == here.public, (seed, done)


@pytest.mark.parametrize(
    "seeds", [range(100), pytest.param(range(100, 2000), marks=pytest.mark.long)]
)
def test_hidden_facts_change_nothing_that_developers_see(seeds: range) -> None:
    for seed in seeds:
        compare(seed)


def test_a_file_of_predictions_tells_nothing_of_hidden_verdicts() -> None:
    """Its commit may have the model of a baseline that hidden verdicts have led to, or not."""
    told, kept = [], []
    for passed in (True, False):
        here = world(passed, keys=NONE)
        here.run("X", "x")
        here.next_testset()
        told.append((here.run("X", "x", run="sent"), here.view, rests_on(here.state, here.testset)))
        kept.append(here.testset.predictions["x"].sent is None)
    assert told[0] == told[1]
    assert "for 1 of its 1 steps" in "".join(told[0][2])
    assert kept == [True, False]  # the worlds do differ, for the owner
