"""Everything that one check can answer, label by label and with the last label, enumerated.

A user labels what is asked for, or anything else along the order, and asks again as often as they
like, to the last label. At the threshold itself the condition is false, and a pass is wrong. The
probability that any of these answers is a pass is computed exactly: a dynamic programme over the
number of right labels, because evidence depends on counts alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from easeci.evidence.cells import Code
from easeci.evidence.clause_test import Goal, SequentialTest, Targets
from easeci.evidence.codes import Flags
from easeci.evidence.levels import uniform_levels
from easeci.evidence.wealth import ROUNDING
from easeci.script import Estimator, Script
from easeci.service.checks import Checked, check
from easeci.service.scripts import make_script
from easeci.tables.order import keyed_order
from tests.cases import each_case

DELTA = 0.1


@dataclass(frozen=True)
class Case:
    """A condition on a testset where models agree everywhere (n) or differ everywhere (n - o).

    ``right`` is the probability of the better outcome at the threshold.
    """

    condition: str
    size: int
    right: float
    differ: bool = False

    @property
    def script(self) -> Script:
        return make_script(
            self.condition, reliability=1 - DELTA, sensitivity=0.9999, steps=1, adaptivity="none"
        )

    def crosses(self) -> list[Flags]:
        """For n = 0, …, size: whether the proof stands after n labels, by how many are right."""
        script = self.script
        (clause,) = script.clauses
        levels = uniform_levels(
            delta=script.delta, beta=script.beta, adaptivity=script.adaptivity, steps=1
        )
        targets = Targets.of(levels.per_clause(script.mode, 1))
        goal = Goal.of(clause, script.mode)
        test = SequentialTest.of(goal, targets, self.size, self.size if self.differ else 0)
        good, bad = (
            (Code.NEW_RIGHT, Code.OLD_RIGHT)
            if self.differ
            else (Code.AGREE_RIGHT, Code.AGREE_WRONG)
        )
        rows = []
        for labels in range(self.size + 1):
            counts = np.zeros((labels + 1, 5))
            counts[:, good] = np.arange(labels + 1)
            counts[:, bad] = labels - counts[:, good]
            rows.append(test.proof.after(counts) >= targets.proof + ROUNDING)
        return rows

    def ask(self, path: str, script: Script) -> Checked:
        """What check itself answers if the labels along the order are as in ``path``."""
        order = keyed_order(pl.int_range(self.size, eager=True), "").tolist()
        new = np.arange(self.size) % 2
        labels = {i: int(new[i] == int(bit)) for i, bit in zip(order, path, strict=True)}
        return check(script, new=new, old=1 - new if self.differ else None, labels=labels)


def followed(alive: dict[int, tuple[float, str]], right: float) -> dict[int, tuple[float, str]]:
    """One label more: of each number of right labels the probability, and one way to get there."""
    after: dict[int, tuple[float, str]] = {}
    for k, (weight, path) in alive.items():
        for bit, share in ((1, right), (0, 1 - right)):
            before, first = after.get(k + bit, (0.0, path + str(bit)))
            after[k + bit] = (before + weight * share, first)
    return after


def wrong_pass(case: Case, last: Estimator, batch: int) -> float:
    """The probability of a pass, if ``last`` decides once the last ``batch`` labels are there.

    Until then the sequential estimator decides, at every label. Whether check itself agrees is
    asserted at the last label.
    """
    crosses, alive, total = case.crosses(), {0: (1.0, "")}, 0.0
    before = case.size - batch if last is Estimator.EXACT else case.size
    for labels in range(1, case.size + 1):
        alive = followed(alive, case.right)
        if labels <= before:
            for k in [k for k in alive if crosses[labels][k]]:
                weight, path = alive.pop(k)
                total += weight
                if labels == case.size:
                    assert case.ask(path, case.script).verdict.passed is True
    script = replace(case.script, estimator=last)
    for weight, path in alive.values():
        total += weight * (case.ask(path, script).verdict.passed is True)
    return total


CASES = [
    Case("n > 0.5 +/- 0.1", 60, 0.5),
    Case("n > 0.5 +/- 0.1", 150, 0.5),
    Case("n > 0.5 +/- 0.2", 70, 0.5),
    Case("n > 0.8 +/- 0.08", 100, 0.8),
    Case("n - o > 0 +/- 0.3", 100, 0.5, differ=True),
]


@each_case("case", CASES)
def test_no_way_to_ask_passes_more_often_than_promised(case: Case) -> None:
    """Sequential at every label, then the answer with the last label: error ≤ δ."""
    assert wrong_pass(case, Estimator.AUTO, 20) <= DELTA


def test_another_estimator_with_the_last_label_would_break_the_promise() -> None:
    """The enumeration can fail: exact, once all labels are there, is a second chance."""
    rates = [wrong_pass(case, Estimator.EXACT, 20) for case in CASES]
    assert max(rates) > 1.15 * DELTA
    assert all(math.isfinite(rate) for rate in rates)
