"""Forecasts of lives for conditions on measures, against simulated lives."""

from __future__ import annotations

import pytest

from easeci.plan.commit_mix import MIXED
from easeci.plan.forecast import Forecast, forecast
from easeci.plan.prefix import shared_prefixes
from easeci.plan.sequential import sequential_size
from easeci.script import Mode
from easeci.service.scripts import make_script
from easeci.simulation import Developer, SimulationSize, simulate
from tests.cases import each_case


def life(condition: str, **keys: object) -> Forecast:
    return forecast(make_script(condition, **{"reliability": 0.99, "steps": 12, **keys}))


@each_case(
    "condition",
    [
        "recall(a) > 0.8 +/- 0.05",
        "n.f1(a) - o.f1(a) > 0 +/- 0.05",
        "n.recall(a) - o.precision(b) > 0 +/- 0.1",
        "n.recall(a) - o.recall(a) > -0.02 +/- 0.02",
        "n / o > 1 +/- 0.02",
        "auc(a) > 0.9 +/- 0.02",
        "n.auc(a) - o.auc(a) > 0 +/- 0.03",
        "n[x=1] - o[x=1] > 0 +/- 0.02",
        "d[x=1] < 0.1 +/- 0.02",
        "n - top(3) > 0 +/- 0.02",
        r"recall(a) > 0.8 +/- 0.05 /\ precision(a)[x=1] > 0.8 +/- 0.05 /\ d < 0.1 +/- 0.02",
    ],
)
def test_every_measure_has_a_forecast(condition: str) -> None:
    found = life(condition, mode=Mode.FN_FREE if len(condition) % 2 else Mode.FP_FREE)
    examples = sum(2 if "[x" in part else 1 for part in condition.split("/")) * found.examples
    assert 0.0 <= found.labels <= examples
    assert found.commits == pytest.approx(12.0)
    assert 0.0 <= found.passes <= found.commits + 1e-9


def test_rarer_labels_cost_more_and_precision_costs_little() -> None:
    recall, f1, precision = (
        life(f"{name}(a) > 0.8 +/- 0.05").labels for name in ("recall", "f1", "precision")
    )
    assert recall > f1 > 3.0 * precision
    assert life("recall(a) > 0.8 +/- 0.05", expected="a: 2%").labels > 3.0 * recall


def test_a_first_model_is_at_the_floor() -> None:
    for name in ("recall", "precision", "f1", "auc"):
        fitted = MIXED.fitted(make_script(f"{name}(a) > 0.85 +/- 0.02"))
        assert fitted.accuracy == pytest.approx(0.85, abs=0.005)
    kept = MIXED.fitted(make_script("n.recall(a) - o.recall(a) > 0.02 +/- 0.01"))
    assert kept.accuracy == MIXED.accuracy


def test_a_prefix_is_labelled_whatever_commits_are_like() -> None:
    asked = make_script("n.recall(a) - o.recall(a) > -0.02 +/- 0.02", reliability=0.99, steps=12)
    (prefix,) = shared_prefixes(asked).values()
    found = forecast(asked)
    assert prefix.length < found.labels < 4.0 * prefix.length
    assert found.worst_commit > prefix.length


@each_case(
    "condition", ["precision(a) > 0.7 +/- 0.05", "n.recall(a) - o.recall(a) > -0.05 +/- 0.05"]
)
def test_a_life_takes_about_the_labels_that_are_forecast(condition: str) -> None:
    """Lives differ much, so within a third over six of them."""
    asked = make_script(condition, reliability=0.99, steps=12)
    expected = forecast(asked)
    limits = SimulationSize(testsets=6, life=12, examples=sequential_size(asked))
    found = simulate(asked, limits=limits, developer=Developer.MIXED).rounds[0].measured[0].life
    assert found is not None
    assert expected.labels == pytest.approx(found.per_life.mean, rel=0.34)


def test_many_clauses_are_forecast_by_the_dearest() -> None:
    """So a plan with a floor for each of thirty classes takes no longer than with twelve."""
    names = [f"c{number}" for number in range(30)]
    found = life("recall(*) > 0.7 +/- 0.1", classes=names)
    assert 0.0 < found.labels <= found.examples
