"""Which labels a published verdict used, and which it asks for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from easeci.plan import plan
from easeci.verdict.decide import decide
from tests.cells import codes_of
from tests.scripts import script


def test_n_minus_o_needs_labels_only_where_the_models_differ() -> None:
    made = script("n - o > 0.1 +/- 0.1", reliability=0.9, estimator="hoeffding")
    verdict = decide(made, codes_of(agree_unlabelled=700, new_right=250, old_right=50))
    assert (verdict.passed, verdict.labels) == (False, 300)
    assert verdict.clauses[0].estimate == Fraction(1, 5)


def test_d_needs_no_labels() -> None:
    made = script("d < 0.3 +/- 0.1", reliability=0.9, estimator="hoeffding")
    verdict = decide(made, codes_of(agree_unlabelled=950, differ_unlabelled=50))
    assert (verdict.passed, verdict.labels) == (True, 0)


def test_only_the_planned_number_of_labels_is_asked_for() -> None:
    """If the testset is larger than planned, only the first examples of the order are labelled."""
    made = script("n > 0.5 +/- 0.05", reliability=0.99, estimator="hoeffding")
    verdict = decide(made, codes_of(agree_unlabelled=5000))
    assert verdict.passed is None
    assert verdict.wanted == tuple(range(922))
    answered = np.concatenate(
        [codes_of(agree_right=800, agree_wrong=122), codes_of(agree_unlabelled=4078)]
    )
    assert decide(made, answered).passed is True
    assert decide(made, answered).clauses[0].sample == 922


def test_pattern3_asks_for_its_planned_sample_first() -> None:
    made = script("n > 0.9 +/- 0.01", steps=32, estimator="pattern3")
    verdict = decide(made, codes_of(agree_unlabelled=100_000))
    assert len(verdict.wanted) == plan(made).chosen.examples == 40_302


def test_labels_count_once_whatever_the_number_of_clauses() -> None:
    made = script(r"n > 0.2 +/- 0.1 /\ o > 0.2 +/- 0.1", reliability=0.9, estimator="hoeffding")
    verdict = decide(made, codes_of(agree_right=900, new_right=100))
    assert verdict.labels == 1000
