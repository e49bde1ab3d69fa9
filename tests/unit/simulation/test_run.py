"""Simulated models are where they claim to be, rates are exact, and a broken engine is seen."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from scipy import stats

from easeci.cli.main import run
from easeci.errors import ExitCode, UsageError
from easeci.evidence.levels import StepLevels
from easeci.plan import plan
from easeci.plan.estimate import HoeffdingTest
from easeci.script import Adaptivity, Mode, Script
from easeci.script.cells import Cell
from easeci.simulation import Developer, Finding, Rate, Simulation, SimulationSize, simulate
from easeci.simulation.attack import Attack
from easeci.simulation.developers import clear_commits, developers_for
from easeci.simulation.laws import CELLS, Law, Laws
from easeci.simulation.report import LabelUse
from tests.cases import each_case
from tests.scripts import script

CONDITIONS = [
    "n - o > 0.02 +/- 0.01",
    "n - o > -0.05 +/- 0.02",
    "n - o > 0.3 +/- 0.1",
    "n > 0.8 +/- 0.05",
    "n > 0.97 +/- 0.01",
    "o < 0.9 +/- 0.02",
    "d < 0.1 +/- 0.01",
    "n - 1.1*o > 0.01 +/- 0.02",
    "2*n - o - 0.5*d > 0.6 +/- 0.1",
    r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
    r"n > 0.7 +/- 0.02 /\ n - o > 0 +/- 0.02 /\ d < 0.3 +/- 0.05",
]


def phi(asked: Script, index: int, law: Law) -> float:
    """Φ of a clause in the form Φ > c, recomputed from n, o and d."""
    cells = list(zip(law.tolist(), CELLS, strict=True))
    n, o, d = (math.fsum(p * cell.value[i] for p, cell in cells) for i in range(3))
    score = asked.clauses[index].greater.score
    return float(score.new) * n + float(score.old) * o + float(score.difference) * d


@each_case("mode", Mode)
@each_case("condition", CONDITIONS)
def test_laws_are_where_they_claim_to_be(condition: str, mode: Mode) -> None:
    """At the threshold, ±ε and ±2ε from it; the other clauses do not spoil what is at stake."""
    asked = script(condition, mode=mode)
    laws = Laws.of(asked)
    assert CELLS == (
        Cell.AGREE_RIGHT, Cell.AGREE_WRONG, Cell.NEW_RIGHT, Cell.OLD_RIGHT, Cell.BOTH_WRONG,
    )  # fmt: skip
    sign = 1.0 if mode is Mode.FP_FREE else -1.0
    for place, found in enumerate((laws.edge, laws.middle, laws.clear)):
        for index, law in enumerate(found):
            assert law is not None
            assert np.all(law >= 0.0)
            assert math.isclose(law.sum(), 1.0, abs_tol=1e-12)
            form = asked.clauses[index].greater
            expected = float(form.threshold) + sign * place * float(form.tolerance)
            assert math.isclose(phi(asked, index, law), expected, abs_tol=1e-12)
            for other in range(len(asked.clauses)):
                beyond = phi(asked, other, law) - float(asked.clauses[other].greater.threshold)
                if other != index:
                    assert beyond >= 2 * float(asked.clauses[other].tolerance) - 1e-7


def test_a_plausible_model_is_chosen() -> None:
    law = Laws.of(script("n - o > 0.02 +/- 0.01")).edge[0]
    assert law == pytest.approx([0.74, 0.16, 0.06, 0.04, 0.0])
    expected = Laws.of(script("n - o > 0.02 +/- 0.01", difference=0.3)).edge[0]
    assert expected is not None
    assert expected[2:].sum() == pytest.approx(0.3)


def test_places_beyond_the_end_of_a_score_are_left_out() -> None:
    """n > .95 ± .1 can be false but never clearly true, so there is no law for that."""
    asked = script("n > 0.95 +/- 0.1", adaptivity="full", steps=4)
    laws = Laws.of(asked)
    assert laws.edge[0] is not None
    assert laws.clear == (None,)
    assert laws.middle == (None,)
    assert developers_for(plan(asked), laws) == (Developer.EDGE,)


@each_case(
    ("condition", "mode"),
    [
        ("n - o > 0.1 +/- 0.1", Mode.FP_FREE),
        ("n - o > 0.1 +/- 0.1", Mode.FN_FREE),
        ("n > 0.6 +/- 0.1", Mode.FP_FREE),
        ("n - 1.1*o > 0.05 +/- 0.05", Mode.FP_FREE),
        ("d < 0.3 +/- 0.1", Mode.FN_FREE),
    ],
)
@each_case("leanings", [[1, -1, -1], [1, 1, 1], [-1, -1]])
def test_an_attack_has_the_truth_that_it_claims(
    condition: str, mode: Mode, leanings: list[int]
) -> None:
    """Over half a million fresh examples, with leanings that know nothing of them, its mean is the
    threshold's: the attack's true Φ. More than 5 standard errors off: once in a million."""
    asked = script(condition, mode=mode)
    middle = Laws.of(asked).middle[0]
    assert middle is not None
    attack = Attack(asked.clauses[0], (), mode, middle)
    draw = np.random.default_rng(1)
    pattern = attack.pattern(500_000, draw)
    probes = [attack.probe(pattern, draw) for _ in leanings]
    codes = attack.commit(pattern, probes, leanings, draw)
    assert codes is not None
    clause = asked.clauses[0]
    scores = np.array([float(clause.score.of(cell)) for cell in CELLS])[codes]
    error = 5 * scores.std() / math.sqrt(len(scores))
    assert abs(scores.mean() - float(clause.threshold)) <= error


def test_limits_are_clopper_and_pearsons() -> None:
    for broken, testsets in ((0, 40), (3, 40), (40, 40), (17, 200)):
        rate = Rate(broken, testsets)
        low = stats.beta.ppf(0.025, broken, testsets - broken + 1) if broken else 0.0
        high = stats.beta.ppf(0.975, broken + 1, testsets - broken) if broken < testsets else 1.0
        assert rate.low == pytest.approx(low)
        assert rate.high == pytest.approx(high)


def test_findings() -> None:
    """A promise is broken only if the lower limit is above it; a tiny one can't be seen kept."""
    tenth = Fraction(1, 10)
    assert Rate(0, 200).against(tenth) is Finding.KEPT
    assert Rate(28, 200).against(tenth) is Finding.KEPT
    assert Rate(31, 200).against(tenth) is Finding.BROKEN
    assert Rate(0, 200).against(Fraction(1, 10_000)) is Finding.UNSEEN
    assert Rate(1, 200).against(Fraction(1, 10_000)) is Finding.BROKEN
    assert Rate(0, 200).against(None) is Finding.NOT_PROMISED


def test_labels_are_summed_up() -> None:
    use = LabelUse.of([1, 2, 3, 4, 5, 6, 7, 8, 9, 100], 100)
    assert (use.mean, use.median, use.nine_tenths, use.most) == (14.5, 5, 9, 100)
    assert sum(use.histogram) == use.commits == 10


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
    assert told[-1][0] == told[-1][1] == 3 * 12 + 5
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


def test_a_small_testset_promises_no_sensitivity() -> None:
    found = simulate(visible(), limits=replace(FEW, examples=50)).rounds[0]
    assert found.capped
    assert found.measured[2].developer is Developer.CLEAR
    assert found.measured[2].finding is Finding.NOT_PROMISED
    assert found.measured[0].promised == Fraction(1, 10)


def test_as_many_clear_commits_as_the_plan_assumes() -> None:
    assert clear_commits(plan(visible(steps=32)), 6) == 5
    assert clear_commits(plan(visible(steps=32, estimator="hoeffding")), 6) == 6
    assert clear_commits(plan(visible(steps=32, adaptivity="firstChange")), 6) == 1
    assert clear_commits(plan(visible("n > 0.5 +/- 0.1", steps=6, adaptivity="none")), 6) == 6


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


def test_exact_is_as_sensitive_as_its_plan_says() -> None:
    """The exact estimator's size must allow for the limit on d that its test finds itself."""
    for mode in ("fp-free", "fn-free"):
        asked = visible(estimator="exact", mode=mode)
        assert not simulate(asked, limits=SimulationSize(testsets=40, commits=1)).broken


def test_mistakes() -> None:
    for wrong in ({"testsets": 0}, {"commits": 0}, {"examples": -1}):
        with pytest.raises(UsageError, match="at least 1"):
            SimulationSize(**wrong)
    with pytest.raises(UsageError, match="seed"):
        simulate(visible(), seed=-1)
    with pytest.raises(UsageError, match="workers"):
        simulate(visible(), workers=0)
