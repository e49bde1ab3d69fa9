"""Sizes of the exact estimator, against tails that scipy sums up."""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from easeci.bounds import trinomial
from easeci.plan.assumptions import typical_step
from easeci.plan.exact import exact_estimate
from easeci.script import Script
from tests.cases import each_case
from tests.scripts import script


def keeps_both_promises(made: Script, size: int, threshold: float, clear: float) -> bool:
    """Whether some cut-off is reached seldom enough at c, and missed seldom enough at c + 2ε."""
    levels = typical_step(made).levels.per_clause(made.mode, 1)
    cutoffs = np.arange(size + 2)
    wrong = stats.binom.sf(cutoffs - 1, size, threshold)
    missed = stats.binom.cdf(cutoffs - 1, size, clear)
    safe, seen = math.exp(levels.safety), math.exp(levels.sensitivity)
    return bool(((wrong <= safe) & (missed <= seen)).any())


@each_case("reliability", [0.8, 0.99])
def test_a_size_keeps_both_promises_and_one_less_does_not(reliability: float) -> None:
    made = script("n > 0.5 +/- 0.1", reliability=reliability)
    size = exact_estimate(made).examples
    assert size is not None
    assert keeps_both_promises(made, size, 0.5, 0.7)
    assert not keeps_both_promises(made, size - 1, 0.5, 0.7)


@each_case(
    "texts",
    [
        ("n > 0.7 +/- 0.1", "n < 0.3 +/- 0.1", "-2 * n > -0.6 +/- 0.2"),
        ("o > 0.7 +/- 0.1", "d < 0.3 +/- 0.1", "3 * o > 2.1 +/- 0.3"),
    ],
)
def test_what_is_counted_does_not_matter(texts: tuple[str, ...]) -> None:
    """n > 0.7 asks of right answers what n < 0.3 asks of wrong ones; o and d share their levels."""
    sizes = {exact_estimate(script(text, reliability=0.99)).examples for text in texts}
    assert len(sizes) == 1


def test_nothing_to_promise_needs_one_example() -> None:
    """n > 0 in fn-free: a proof that n is below 0 is impossible."""
    assert exact_estimate(script("n > 0 +/- 0.05", mode="fn-free")).examples == 1


def test_a_bound_on_d_spares_the_search_for_one() -> None:
    """With a clause d < A the size is that of the trinomial test at A; without one it is larger."""
    made = script(r"n - o > 0 +/- 0.1 /\ d < 0.3 +/- 0.1", reliability=0.9)
    levels = typical_step(made).levels.per_clause(made.mode, 2)
    level = (levels.safety, levels.sensitivity)
    assert exact_estimate(made).labels == trinomial.contract_sample_size(0.0, 0.1, 0.3, *level)
    alone = script("n - o > 0 +/- 0.1", reliability=0.9, difference=0.3)
    levels = typical_step(alone).levels.per_clause(alone.mode, 1)
    level = (levels.safety, levels.sensitivity)
    found = exact_estimate(alone).labels
    assert found is not None
    assert found > trinomial.contract_sample_size(0.0, 0.1, 0.3, *level)


@each_case(
    ("condition", "share"),
    [
        ("precision(a) > 0.6 +/- 0.1", 0.1),
        ("recall(a) > 0.6 +/- 0.1", 0.1),
        ("n[x=1] > 0.6 +/- 0.1", 1.0),
    ],
)
def test_shares_are_sized_on_their_own_examples(condition: str, share: float) -> None:
    """The examples have enough trials with probability 1 − β/2, and trials keep both promises."""
    made = script(condition, reliability=0.99)
    estimate = exact_estimate(made)
    assert estimate.applies
    assert estimate.examples is not None
    assert (estimate.in_each_slice is None) == (share < 1.0)
    trials = (
        int(stats.binom.ppf(0.004, estimate.examples, share)) if share < 1 else estimate.examples
    )
    assert keeps_both_promises(made, trials, 0.6, 0.8)


def test_measures_without_a_binomial_law_are_refused_with_a_reason() -> None:
    estimate = exact_estimate(script("f1(a) > 0.6 +/- 0.1"))
    assert not estimate.applies
    assert "'f1(a)'" in estimate.reason
