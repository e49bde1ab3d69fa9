"""What a plan assumes: the history at the last step, and d."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from easeci.evidence.levels import step_levels
from easeci.plan.assumptions import COMMON_DIFFERENCE, planned_difference, typical_step
from easeci.script import Mode
from tests.cases import each_case
from tests.scripts import script


@each_case(("mode", "proof"), [("fp-free", "P"), ("fn-free", "F")])
def test_no_history_with_fewer_proofs_has_a_stricter_level(mode: str, proof: str) -> None:
    """All histories of eight answers with at most one proof in eight, as the plan assumes."""
    made = script("n - o > 0.02 +/- 0.01", mode=mode, adaptivity="full", steps=9)
    typical = typical_step(made).levels.safety
    chosen = [h for h in map("".join, product("PF", repeat=8)) if h.count(proof) <= 1]
    strictest = min(
        step_levels(
            delta=made.delta,
            beta=made.beta,
            mode=made.mode,
            adaptivity=made.adaptivity,
            steps=9,
            history=history,
        ).safety
        for history in chosen
    )
    assert len(chosen) == 9
    assert typical == strictest


@each_case("on_d", ["d < 0.3 +/- 0.05", "2 * d < 0.6 +/- 0.1", "-d > -0.3 +/- 0.05"])
def test_a_clause_on_d_limits_the_difference(on_d: str) -> None:
    """fp-free promises up to a d that is clearly good; fn-free up to one that is clearly bad."""
    for mode, share in ((Mode.FP_FREE, Fraction(1, 5)), (Mode.FN_FREE, Fraction(2, 5))):
        made = script(rf"n - o > 0 +/- 0.1 /\ {on_d}", mode=mode, difference=0.9)
        planned = planned_difference(made, made.clauses[0])
        assert planned.share == share
        assert f"'{made.clauses[1].text}'" in planned.why
        # A clause does not limit itself.
        assert planned_difference(made, made.clauses[1]).share == Fraction(9, 10)


def test_without_a_clause_on_d_the_owner_or_a_common_value_decides() -> None:
    made = script("n - o > 0 +/- 0.1", difference=0.25)
    assert planned_difference(made, made.clauses[0]).share == Fraction(1, 4)
    made = script("n - o > 0 +/- 0.1")
    assert planned_difference(made, made.clauses[0]).share == COMMON_DIFFERENCE


def test_the_step_is_described_by_what_its_level_depends_on() -> None:
    condition = "n - o > 0.02 +/- 0.01"
    assert typical_step(script(condition)).description == "the first step"
    full = typical_step(script(condition, adaptivity="full", steps=1001)).description
    assert full == "step 1,001, if at most 125 of the 1,000 before it passed"
    for made in (
        script(condition, adaptivity="firstChange", steps=9),
        script("n > 0.5 +/- 0.1", steps=9),
    ):
        assert typical_step(made).description == "each of 9 steps"
