"""The size of a testset for the sequential estimator."""

from __future__ import annotations

from easeci.plan import plan
from easeci.script import Estimator
from tests.scripts import script


def test_in_fn_free_a_clause_on_d_does_not_make_the_others_easier() -> None:
    """A commit that is bad by n − o must fail whatever its d is, unless it is bad by d as well."""
    condition = r"n - o > 0 +/- 0.02 /\ d < 0.3 +/- 0.14"
    sizes = {
        mode: plan(script(condition, mode=mode, reliability=0.9)).estimate(Estimator.SEQUENTIAL)
        for mode in ("fp-free", "fn-free")
    }
    strict = plan(script("n - o > 0 +/- 0.02", mode="fn-free", reliability=0.9, difference=0.58))
    wide = strict.estimate(Estimator.SEQUENTIAL).examples
    found = sizes["fn-free"].examples
    assert found is not None
    assert wide is not None
    assert found >= wide
    assert found > 5 * (sizes["fp-free"].examples or 0)
