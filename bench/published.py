"""The labels of the published estimators, computed as favourably to them as in the paper."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from easeci.bounds.bound import round_up
from easeci.plan import BennettTest, Estimate, Plan, plan
from easeci.plan.baseline import hoeffding
from easeci.plan.patterns import pattern1, pattern2
from easeci.script import Adaptivity
from easeci.service.scripts import make_script

CONDITION = "n - o > 0.02 +/- 0.01"
RELIABILITY = "0.9999"


@dataclass(frozen=True)
class Published:
    """Labels that one commit needs on a testset without any, by each published estimator.

    Pattern 1 is told d and uses it as the paper prints it, p = d; Pattern 2 measures it to 2D.
    Hoeffding and Pattern 1 label all examples, the others only those on which the models differ.
    """

    hoeffding: int
    pattern1: int
    pattern1_active: int
    pattern2: int

    @property
    def by_name(self) -> dict[str, int]:
        return {
            "Hoeffding": self.hoeffding,
            "Pattern 1": self.pattern1,
            "Pattern 1, active labelling": self.pattern1_active,
            "Pattern 2, active labelling": self.pattern2,
        }


def published(
    difference: float,
    adaptivity: Adaptivity,
    condition: str = CONDITION,
    reliability: str = RELIABILITY,
) -> Published:
    """The labels of the published estimators for a condition on n - o, if d is known."""
    share = Fraction(str(difference))
    keys = {"adaptivity": adaptivity, "reliability": reliability}
    single = make_script(condition, difference=difference, **keys)
    filtered = make_script(rf"{condition} /\ d < {difference} +/- 0.01", **keys)
    test = _bennett(pattern1(filtered))
    examples = test.bound_for(share).examples(float(test.clause.tolerance), test.log_level)
    return Published(
        hoeffding=_known(hoeffding(single).labels),
        pattern1=round_up(examples),
        pattern1_active=round_up(float(share) * examples),
        pattern2=_known(pattern2(single).labels_per_commit),
    )


def planned(
    difference: float,
    adaptivity: Adaptivity,
    condition: str = CONDITION,
    reliability: str = RELIABILITY,
) -> Plan:
    """The plan of a condition on n - o for 32 commits, which are expected to differ this much."""
    keys = {"adaptivity": adaptivity, "difference": difference, "reliability": reliability}
    return plan(make_script(condition, **keys))


def _bennett(estimate: Estimate) -> BennettTest:
    return next(test for test in estimate.tests if isinstance(test, BennettTest))


def _known(labels: int | None) -> int:
    assert labels is not None
    return labels
