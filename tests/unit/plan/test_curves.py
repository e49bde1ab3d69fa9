"""The curves of a plan: they go through its own numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from easeci.plan import plan
from easeci.plan.curves import pass_curve, tolerance_curve
from easeci.service.scripts import make_script
from tests.cases import each_case

TENTH = Fraction(1, 10)


def test_labels_fall_with_the_tolerance_and_pass_through_the_forecast() -> None:
    """Each point is the plan of the script with that tolerance."""
    made = plan(make_script("n - o > 0.02 +/- 0.02", reliability="0.99", steps=8))
    curve = tolerance_curve(made)
    assert curve is not None
    assert curve.here == (2.0, made.life.labels)
    labels = [y for x, y in curve.points if x <= 3.0]  # beyond, there are only a few dozen
    assert len(labels) == 5
    assert labels == sorted(labels, reverse=True)
    tolerance, there = curve.points[0]
    wider = make_script(f"n - o > 0.02 +/- {tolerance / 100}", reliability="0.99", steps=8)
    assert plan(wider).life.labels == there


def test_several_clauses_are_widened_together() -> None:
    made = plan(make_script(r"n - o > 0 +/- 0.02 /\ n > 0.8 +/- 0.04", reliability="0.99", steps=4))
    curve = tolerance_curve(made)
    assert curve is not None
    assert curve.multiples
    assert curve.here[0] == 1.0


@each_case(
    ("condition", "mode", "name", "zone"),
    [
        ("n - o > 0.02 +/- 0.01", "fp-free", "n - o", (2.0, 4.0)),
        ("n - o > 0.02 +/- 0.01", "fn-free", "n - o", (0.0, 2.0)),
        ("o - n < 0.01 +/- 0.01", "fp-free", "n - o", (-1.0, 1.0)),
        ("2 * n > 1.6 +/- 0.02", "fp-free", "n", (80.0, 82.0)),
        (r"n - o > 0 +/- 0.01 /\ n > 0.8 +/- 0.02", "fp-free", "", (0.0, 4.0)),
    ],
)
def test_a_pass_gets_likelier_with_the_truth(
    condition: str, mode: str, name: str, zone: tuple[float, float]
) -> None:
    curve = pass_curve(plan(make_script(condition, mode=mode)), TENTH)
    assert curve is not None
    assert (curve.name, curve.share) == (name, name == "n")
    assert [round(x, 9) for x in curve.zone] == list(zone)
    assert [x for x, _ in curve.points] == sorted(x for x, _ in curve.points)
    chances = [y for _, y in curve.points]
    assert all(a <= b + 1e-6 for a, b in pairwise(chances))
    assert chances[0] < 0.01 < 0.99 < chances[-1]


def test_no_truth_is_drawn_that_cannot_be() -> None:
    """Of models that differ on 5%, none is better by more than 5 points; no n is above 100%."""
    close = pass_curve(plan(make_script("n - o > 0.02 +/- 0.01")), Fraction(1, 20))
    high = pass_curve(plan(make_script("n > 0.97 +/- 0.01")), TENTH)
    assert close is not None
    assert high is not None
    assert close.points[-1][0] <= 5.0
    assert high.points[-1][0] <= 100.0


@each_case("condition", ["d < 0.1 +/- 0.01", r"d < 0.1 +/- 0.01 /\ n - o > 0.2 +/- 0.01"])
def test_there_is_nothing_to_draw_without_labels_or_passes(condition: str) -> None:
    made = plan(make_script(condition))
    assert tolerance_curve(made) is None
    assert pass_curve(made, TENTH) is None
