"""Simulations of every kind of script: the same for a seed, and a broken engine is seen."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import pytest

from easeci.cli.main import run
from easeci.errors import ExitCode, UsageError
from easeci.evidence.levels import StepLevels
from easeci.plan.estimate import HoeffdingTest
from easeci.script import Adaptivity, Mode, Script
from easeci.simulation import Developer, Finding, Simulation, SimulationSize, simulate
from tests.cases import each_case
from tests.scripts import script

SMALL = "n - o > 0.1 +/- 0.1"
FEW = SimulationSize(testsets=12, commits=3)


def visible(condition: str = SMALL, **keys: object) -> Script:
    return script(condition, **{"reliability": 0.9, "steps": 3, "adaptivity": "full", **keys})


def test_a_seed_gives_the_same_on_any_number_of_processes() -> None:
    alone = simulate(visible(), limits=FEW, seed=5)
    assert alone == simulate(visible(), limits=FEW, seed=5, workers=2)
    assert alone != simulate(visible(), limits=FEW, seed=6)


def test_progress_is_told() -> None:
    told: list[tuple[int, int]] = []
    simulate(visible(), limits=FEW, progress=lambda done, total: told.append((done, total)))
    assert told[0][0] == 0
    assert told[-1][0] == told[-1][1] == 3 * 12 + 2 * 5
    assert told == sorted(told)


def by_developer(found: Simulation) -> dict[Developer, Finding]:
    return {measured.developer: measured.finding for measured in found.rounds[-1].measured}


KINDS: list[tuple[str, str]] = [
    (SMALL, "auto"),
    (SMALL, "hoeffding"),
    (SMALL, "pattern2"),
    ("n > 0.6 +/- 0.1", "exact"),
    (r"n - o > 0.1 +/- 0.1 /\ d < 0.5 +/- 0.1", "pattern1-active"),
    (r"n - o > 0.1 +/- 0.1 /\ n > 0.5 +/- 0.1", "auto"),
    ("d < 0.3 +/- 0.1", "auto"),
    ("n > 0.95 +/- 0.02", "pattern3"),
]


@each_case(
    ("mode", "adaptivity"),
    [
        (Mode.FP_FREE, Adaptivity.FULL),
        (Mode.FN_FREE, Adaptivity.FULL),
        (Mode.FN_FREE, Adaptivity.FIRST_CHANGE),
        (Mode.FP_FREE, Adaptivity.NONE),
    ],
)
@each_case(("condition", "estimator"), KINDS)
def test_every_kind_of_script_can_be_simulated(
    condition: str, estimator: str, mode: Mode, adaptivity: Adaptivity
) -> None:
    """No promise is broken, under none no developer adapts, and a first change retires."""
    asked = visible(condition, estimator=estimator, mode=mode, adaptivity=adaptivity)
    found = simulate(asked, limits=SimulationSize(testsets=4, commits=2))
    findings = by_developer(found)
    assert not found.broken
    assert (Developer.ADAPTIVE in findings) == (adaptivity is not Adaptivity.NONE)
    assert {Developer.EDGE, Developer.MIDDLE, Developer.CLEAR} <= set(findings)
    if adaptivity is Adaptivity.FIRST_CHANGE:
        # A clear commit is proven and retires the testset, or ends it as a wrong answer.
        assert found.rounds[0].measured[2].labels.commits == 4


def test_where_an_error_cannot_be_seen_there_is_a_second_round() -> None:
    found = simulate(visible(reliability="0.9999", steps=9), limits=FEW)
    first, second = found.rounds
    assert (first.script.steps, first.commits, second.script.steps) == (9, 3, 3)
    assert second.script.delta == second.script.beta == Fraction(1, 10)
    assert first.measured[0].finding is Finding.UNSEEN
    assert second.measured[0].finding is Finding.KEPT
    assert first.examples > second.examples
    assert Developer.MIXED in [measured.developer for measured in first.measured]
    assert Developer.MIXED not in [measured.developer for measured in second.measured]


def test_one_developer_alone() -> None:
    """Only this one commits, on all testsets; mixed lives whole lives, and in one round."""
    asked = visible("n - o > 0 +/- 0.1", reliability="0.9999", steps=9)
    (only,) = simulate(asked, limits=FEW, developer=Developer.MIXED).rounds
    (mixed,) = only.measured
    assert (only.commits, mixed.rate.testsets, mixed.labels.commits) == (9, 12, 9 * 12)
    assert mixed.finding is Finding.NOT_PROMISED
    assert mixed.life is not None
    assert mixed.life.commits == 9
    assert mixed.life.per_commit.mean == pytest.approx(mixed.life.per_life.mean / 9)
    assert mixed.life.per_life.mean < 9 * mixed.labels.mean
    again = simulate(asked, limits=FEW, developer=Developer.MIXED, workers=2)
    assert again.rounds == (only,)
    assert simulate(asked, limits=FEW, developer=Developer.MIXED, seed=1).rounds != (only,)
    short = simulate(asked, limits=replace(FEW, life=4), developer=Developer.MIXED).rounds[0]
    assert short.commits == 4
    edges = simulate(asked, limits=FEW, developer=Developer.EDGE).rounds
    assert [measured.developer for one in edges for measured in one.measured] == [
        Developer.EDGE
    ] * 2


def test_a_small_testset_promises_no_sensitivity() -> None:
    found = simulate(visible(), limits=replace(FEW, examples=50)).rounds[0]
    assert found.capped
    assert found.measured[2].developer is Developer.CLEAR
    assert found.measured[2].finding is Finding.NOT_PROMISED
    assert found.measured[0].promised == Fraction(1, 10)


@pytest.mark.parametrize(
    ("safety", "sensitivity", "seen"),
    [
        (0.5, 0.01, {Developer.EDGE, Developer.ADAPTIVE}),
        (0.01, 0.8, {Developer.CLEAR}),
    ],
    ids=["five times δ at every step", "gives up early"],
)
def test_wrong_levels_are_seen_broken(
    safety: float, sensitivity: float, seen: set[Developer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With wrong levels the simulation reports exactly the promises that these levels break."""
    levels = StepLevels(math.log(safety), math.log(sensitivity), math.log(safety))
    module = import_module("easeci.verdict.decide")
    monkeypatch.setattr(module, "levels_of", lambda *_: levels)
    asked = visible("n > 0.6 +/- 0.1", steps=6)
    found = simulate(asked, limits=SimulationSize(testsets=25, commits=6))
    findings = by_developer(found)
    assert {who for who, finding in findings.items() if finding is Finding.BROKEN} == seen


def test_a_broken_promise_is_an_error_and_no_verdict(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command names the broken promise and exits with 6, because 1 would mean a fail."""
    module = import_module("easeci.verdict.decide")
    monkeypatch.setattr(module, "levels_of", lambda *_: StepLevels(-0.5, -5.0, -0.5))
    arguments = ["simulate", "-c", "n > 0.6 +/- 0.1", "-r", "0.9", "--testsets", "12"]
    assert run([*arguments, "--workers", "1", "--json"]) == ExitCode.INTERNAL
    shown = capsys.readouterr()
    assert json.loads(shown.out)["broken"] is True
    assert "a promise was broken more often than it may be (edge" in shown.err


def test_a_quarter_of_the_tolerance_is_seen_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A published estimator with a tolerance far too small for its testset is found broken."""
    asked = visible("n > 0.5 +/- 0.1", estimator="hoeffding", steps=4, adaptivity="none")
    monkeypatch.setattr(HoeffdingTest, "tolerance", lambda self, _seen: self.clause.tolerance / 4)
    found = simulate(asked, limits=SimulationSize(testsets=60, commits=4))
    assert by_developer(found)[Developer.EDGE] is Finding.BROKEN


@pytest.mark.long
def test_exact_is_as_sensitive_as_its_plan_says() -> None:
    """The exact estimator's size must allow for the limit on d that its test finds itself."""
    for mode in ("fp-free", "fn-free"):
        asked = visible(estimator="exact", mode=mode)
        assert not simulate(asked, limits=SimulationSize(testsets=40, commits=1)).broken


def test_mistakes() -> None:
    for wrong in ({"testsets": 0}, {"commits": 0}, {"examples": -1}, {"life": 0}):
        with pytest.raises(UsageError, match="at least 1"):
            SimulationSize(**wrong)
    with pytest.raises(UsageError, match="seed"):
        simulate(visible(), seed=-1)
    with pytest.raises(UsageError, match="workers"):
        simulate(visible(), workers=0)
