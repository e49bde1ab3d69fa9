"""The paper's baseline, by Hoeffding's inequality."""

from __future__ import annotations

from itertools import permutations

from easeci.plan import plan
from easeci.script import Estimator
from tests.cases import each_case
from tests.scripts import script

PAIR = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"


@each_case("clauses", list(permutations(["n > 0.9 +/- 0.05", "d < 0.1 +/- 0.01"])))
def test_labels_are_what_the_labelled_clauses_need(clauses: tuple[str, ...]) -> None:
    """d is measured on more examples, but those need no label."""
    estimate = plan(script(r" /\ ".join(clauses))).estimate(Estimator.HOEFFDING)
    assert (
        estimate.labels
        == plan(script("n > 0.9 +/- 0.05", reliability=0.99995))
        .estimate(Estimator.HOEFFDING)
        .examples
    )
    assert estimate.examples is not None
    assert estimate.labels is not None
    assert estimate.examples > 20 * estimate.labels


def test_a_hundred_thousand_adaptive_steps() -> None:
    """Plans for very many steps work: 2^steps never overflows."""
    for condition in (PAIR, "n > 0.95 +/- 0.01"):
        made = plan(script(condition, steps=100_000, adaptivity="full"))
        baseline = made.estimate(Estimator.HOEFFDING)
        assert baseline.examples is not None
        assert baseline.examples > 10**8
        assert "2^100000" in "\n".join(baseline.derivation)
