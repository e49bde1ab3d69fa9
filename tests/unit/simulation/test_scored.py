"""Drawn models of scripts about scores: their truth, their scores, and the promises of the engine."""

from __future__ import annotations

import math
from importlib import import_module

import numpy as np
import pytest
from bench.forecast import AT_MOST, compare, script_of

from easeci.cli.main import run
from easeci.errors import UsageError
from easeci.evidence.cells import differs
from easeci.evidence.facts import Facts
from easeci.evidence.levels import StepLevels
from easeci.script import Mode, NormalClause, Script
from easeci.simulation import Developer, Finding, SimulationSize, simulate
from easeci.simulation.laws import Laws
from easeci.simulation.scored import POINTS, DrawnScores, right_or_wrong
from tests.cases import each_case
from tests.scripts import script

PROGRAM: dict[str, object] = {"scorer": "./score.py"}
TRIALS: dict[str, object] = {"scorer": "exact", "trials": 5}
NAMED: dict[str, object] = {"scorer": "external", "scores": ["faithful"]}
SCRIPTS: list[tuple[str, dict[str, object]]] = [
    ("n - o > 0.1 +/- 0.1", PROGRAM),
    ("n - o > 0.1 +/- 0.1", {"scorer": "exact"}),
    ("n > 0.6 +/- 0.1", TRIALS),
    ("pass@3 > 0.6 +/- 0.1", TRIALS),
    ("n.pass@3 - o.pass@3 > 0 +/- 0.1", TRIALS),
    (r"n.faithful > 0.7 +/- 0.1 /\ n - o > 0 +/- 0.1", NAMED),
    ("n[lang=de] > 0.6 +/- 0.1", PROGRAM),
    (r"n - o > 0.1 +/- 0.1 /\ d < 0.5 +/- 0.1", PROGRAM),
    ("n - 1.1 * o - 0.2 * d > -0.1 +/- 0.1", PROGRAM),
]


def asked_for(condition: str, keys: dict[str, object], **more: object) -> Script:
    usual = {"reliability": 0.9, "sensitivity": 0.9, "steps": 3, "adaptivity": "full"}
    return script(condition, **{**usual, **keys, **more})


def value_of(clause: NormalClause, facts: Facts) -> tuple[float, float]:
    """Φ of a clause in a drawn testset and its standard error, from the columns themselves."""
    score, differ = clause.score, differs(facts.cells).astype(float)
    if score.lattice is None:
        values = float(score.difference) * differ
    else:
        values = float(score.lattice.difference) * differ
        for term, weight in score.lattice.terms:
            values = values + float(weight) * facts.scores[term]
    if score.slice is not None:
        values = values[facts.slices[score.slice]]
    return float(values.mean()), float(values.std() / math.sqrt(len(values)))


@each_case("graded", [False, True])
@each_case("mode", Mode)
@each_case(("condition", "keys"), SCRIPTS)
def test_models_are_where_their_laws_claim_to_be(
    condition: str, keys: dict[str, object], mode: Mode, graded: bool
) -> None:
    """At the threshold, and one and two tolerances from it, whether scores are graded or not.

    More than 5 standard errors off: about once in a million.
    """
    asked = asked_for(condition, keys, mode=mode)
    laws, scores = Laws.of(asked), DrawnScores.of(asked)
    assert scores is not None
    sign = 1.0 if mode is Mode.FP_FREE else -1.0
    for place, found in enumerate((laws.edge, laws.middle, laws.clear)):
        for clause, law in zip(asked.clauses, found, strict=True):
            assert law is not None
            facts = scores.draw(law, 40_000, np.random.default_rng(place), graded=graded)
            value, error = value_of(clause, facts)
            away = place * float(clause.tolerance)
            side = sign if clause.greater is clause else -sign
            assert abs(value - float(clause.threshold) - side * away) <= 5.0 * error


def drawn_scores(condition: str, keys: dict[str, object], *, graded: bool) -> tuple[Facts, Script]:
    asked = asked_for(condition, keys)
    law, scores = Laws.of(asked).edge[0], DrawnScores.of(asked)
    assert scores is not None
    assert law is not None
    return scores.draw(law, 5000, np.random.default_rng(1), graded=graded), asked


@each_case(
    ("condition", "keys", "steps"),
    [
        ("n - o > 0.1 +/- 0.1", PROGRAM, POINTS),
        ("n - o > 0.1 +/- 0.1", {"scorer": "exact"}, 1),
        ("n > 0.6 +/- 0.1", TRIALS, 5),
        ("pass@3 > 0.6 +/- 0.1", TRIALS, 1),
    ],
)
def test_graded_scores_are_those_that_the_scorer_can_give(
    condition: str, keys: dict[str, object], steps: int
) -> None:
    """Sevenths of a program, means over the trials of a built-in rule, and otherwise 0 and 1."""
    for graded, expected in ((False, 1), (True, steps)):
        facts, asked = drawn_scores(condition, keys, graded=graded)
        for term in asked.score_terms:
            found = set(np.round(facts.scores[term] * expected, 9))
            assert found <= set(range(expected + 1))
            assert len(found) > (2 if expected > 1 else 1)


def test_outputs_differ_everywhere_unless_a_clause_is_about_the_difference() -> None:
    facts, _ = drawn_scores("n - o > 0.1 +/- 0.1", PROGRAM, graded=True)
    assert differs(facts.cells).all()
    facts, asked = drawn_scores(SCRIPTS[-2][0], PROGRAM, graded=True)
    agree = ~differs(facts.cells)
    assert 0.2 < agree.mean() < 1.0
    new, old = (facts.scores[term] for term in asked.score_terms)
    assert (new == old)[agree].all()
    assert not (new == old)[~agree].all()


def test_scores_that_cancel_each_other_out_are_refused() -> None:
    asked = asked_for("n.faithful - n > 0.1 +/- 0.1", NAMED)
    with pytest.raises(UsageError, match="cancel each other out"):
        simulate(asked, limits=SimulationSize(testsets=1))


@pytest.mark.long
@each_case("mode", Mode)
@each_case(("condition", "keys"), SCRIPTS)
def test_every_kind_of_script_about_scores_can_be_simulated(
    condition: str, keys: dict[str, object], mode: Mode
) -> None:
    """No promise is broken, and a developer adapts unless there is a slice."""
    asked = asked_for(condition, keys, mode=mode, steps=2)
    found = simulate(asked, limits=SimulationSize(testsets=3, commits=2))
    assert not found.broken
    who = {measured.developer for measured in found.rounds[-1].measured}
    assert who == set(Developer) - ({Developer.ADAPTIVE} if asked.slices else set())


@pytest.mark.long
@each_case(("condition", "keys"), [SCRIPTS[0], SCRIPTS[2]])
def test_promises_about_scores_are_kept(condition: str, keys: dict[str, object]) -> None:
    """At δ = .1: none of these seeded rates is significantly above what is promised."""
    found = simulate(asked_for(condition, keys), limits=SimulationSize(testsets=30, commits=3))
    findings = {measured.developer: measured.finding for measured in found.rounds[0].measured}
    for developer in (Developer.EDGE, Developer.CLEAR, Developer.ADAPTIVE):
        assert findings[developer] is Finding.KEPT


@pytest.mark.long
@each_case(("condition", "keys"), SCRIPTS)
def test_promises_about_scores_are_kept_in_many_testsets(
    condition: str, keys: dict[str, object]
) -> None:
    assert not simulate(asked_for(condition, keys), workers=2).broken


def test_wrong_levels_are_seen_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five times δ at every step: the developers at the threshold notice, the attack too."""
    levels = StepLevels(math.log(0.5), math.log(0.01), math.log(0.5))
    monkeypatch.setattr(import_module("easeci.verdict.decide"), "levels_of", lambda *_: levels)
    asked = asked_for("n > 0.6 +/- 0.1", TRIALS, steps=6)
    found = simulate(asked, limits=SimulationSize(testsets=25, commits=6))
    broken = {measured.developer for measured in found.broken}
    assert broken == {Developer.EDGE, Developer.ADAPTIVE}


def test_the_truth_of_a_twin_is_that_of_its_clause() -> None:
    twin = right_or_wrong(asked_for(SCRIPTS[-1][0], PROGRAM)).clauses[0].score
    assert [float(factor) for factor in (twin.new, twin.old, twin.difference)] == [1, -1.1, -0.2]


FORECAST: list[tuple[str, dict[str, object]]] = [
    ("n - o > 0 +/- 0.04", {**PROGRAM, "reliability": "0.99", "sensitivity": "0.9", "steps": 8}),
    ("n > 0.8 +/- 0.03", {**TRIALS, "reliability": "0.99", "sensitivity": "0.9", "steps": 12}),
]


@pytest.mark.long
@each_case(("condition", "keys"), FORECAST)
def test_a_forecast_is_close_to_simulated_lives(condition: str, keys: dict[str, object]) -> None:
    """Within 15%, beyond three standard errors of few lives."""
    compared = compare(script_of(condition, keys), lives=12, workers=1)
    assert abs(compared.ratio - 1.0) <= AT_MOST + 3.0 * compared.error


@pytest.mark.long
@each_case(("condition", "keys"), FORECAST)
def test_a_forecast_is_close_to_many_simulated_lives(
    condition: str, keys: dict[str, object]
) -> None:
    """Within 15%, beyond one standard error of 100 lives."""
    compared = compare(script_of(condition, keys), lives=100)
    assert abs(compared.ratio - 1.0) <= AT_MOST + compared.error


def test_the_command_simulates_scores(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--scorer", "exact", "--trials", "2", "-r", "0.9", "--testsets", "2"]
    arguments = ["simulate", "-c", "pass@2 > 0.6 +/- 0.2", *options, "--workers", "1"]
    assert run(arguments) == 0
    assert "adaptive" in capsys.readouterr().out
