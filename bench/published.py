"""What the published estimators ask for, reckoned as favourably to them as the paper does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from easeci.bounds.bound import round_up
from easeci.plan import BennettTest, Estimate, Plan, plan
from easeci.script import Adaptivity, Estimator
from easeci.service import make_script

CONDITION = "n - o > 0.02 +/- 0.01"


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


def published(difference: float, adaptivity: Adaptivity) -> Published:
    share = Fraction(str(difference))
    single = planned(difference, adaptivity)
    filtered = plan(
        make_script(rf"{CONDITION} /\ d < {difference} +/- 0.01", adaptivity=adaptivity)
    )
    test = _bennett(filtered.estimate(Estimator.PATTERN1))
    examples = test.bound_for(share).examples(float(test.clause.tolerance), test.log_level)
    return Published(
        hoeffding=_known(single.estimate(Estimator.HOEFFDING).labels),
        pattern1=round_up(examples),
        pattern1_active=round_up(float(share) * examples),
        pattern2=_known(single.estimate(Estimator.PATTERN2).labels_per_commit),
    )


def planned(difference: float, adaptivity: Adaptivity) -> Plan:
    """The plan of the condition for 32 commits, which are expected to differ this much."""
    return plan(make_script(CONDITION, adaptivity=adaptivity, difference=difference))


def _bennett(estimate: Estimate) -> BennettTest:
    return next(test for test in estimate.tests if isinstance(test, BennettTest))


def _known(labels: int | None) -> int:
    assert labels is not None
    return labels
