"""The levels of all nodes add up to no more than was promised, whatever the developer does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product

import pytest

from easeci.evidence.levels import (
    ADOPTED,
    FAIL,
    SAFETY_CODE,
    SENSITIVITY_CODE,
    MixtureCode,
    StepLevels,
    step_levels,
    uniform_levels,
)
from easeci.script import Adaptivity, Mode
from tests.cases import each_case

DELTA, BETA = Fraction(1, 10), Fraction(1, 5)
STEPS = 4


def levels(mode: Mode, adaptivity: Adaptivity, history: str) -> StepLevels:
    return step_levels(
        delta=DELTA, beta=BETA, mode=mode, adaptivity=adaptivity, steps=STEPS, history=history
    )


def nodes(adaptivity: Adaptivity, mode: Mode) -> list[str]:
    """All histories at which a commit can be tested on the testset, the shortest first."""
    change = "P" if mode is Mode.FP_FREE else "F"
    strings = ["".join(bits) for t in range(STEPS) for bits in product("PF", repeat=t)]
    if adaptivity is Adaptivity.FIRST_CHANGE:
        return [s for s in strings if change not in s]
    return strings


def worst_tree(
    level: Callable[[str], float],
    wrong: str,
    retired_at: str | None,
    history: str = "",
    steps: int = STEPS,
) -> float:
    """The largest sum of levels over first errors, over all trees of bad and good nodes.

    At a bad node the answer ``wrong`` is an error, and what follows it no longer counts. At a good
    node nothing is an error and both answers lead on.
    """
    if len(history) == steps:
        return 0.0

    def onwards(bit: str) -> float:
        if bit == retired_at:
            return 0.0
        return worst_tree(level, wrong, retired_at, history + bit, steps)

    right = "F" if wrong == "P" else "P"
    bad = level(history) + onwards(right)
    good = onwards("P") + onwards("F")
    return max(bad, good)


def all_trees(names: list[str]) -> Iterator[frozenset[str]]:
    for kinds in product((False, True), repeat=len(names)):
        yield frozenset(name for name, bad in zip(names, kinds, strict=True) if bad)


def first_errors(bad: frozenset[str], names: list[str], wrong: str) -> list[str]:
    """The nodes at which the first error can happen: no bad node before answered wrongly."""

    def clean(history: str) -> bool:
        return all(history[:i] not in bad or history[i] != wrong for i in range(len(history)))

    return [name for name in names if name in bad and clean(name)]


CASES = [
    (mode, adaptivity, promise)
    for mode in Mode
    for adaptivity in (Adaptivity.FULL, Adaptivity.FIRST_CHANGE, Adaptivity.NONE)
    for promise in ("safety", "sensitivity")
]


@each_case(("mode", "adaptivity", "promise"), CASES)
def test_levels_of_first_errors_add_up_to_no_more_than_promised(
    mode: Mode, adaptivity: Adaptivity, promise: str
) -> None:
    """The errors add up to at most δ, for every tree of true and false nodes of up to three steps."""
    names = [s for s in nodes(adaptivity, mode) if len(s) < 3]
    proof, other = ("P", "F") if mode is Mode.FP_FREE else ("F", "P")
    wrong = proof if promise == "safety" else other
    budget = DELTA if promise == "safety" else BETA
    size = {s: math.exp(getattr(levels(mode, adaptivity, s), promise)) for s in names}
    for bad in all_trees(names):
        assert sum(size[s] for s in first_errors(bad, names, wrong)) <= budget * (1 + 1e-12)


@pytest.mark.parametrize(("mode", "adaptivity", "promise"), CASES)
def test_no_adversarial_tree_of_four_steps_exceeds_the_promise(
    mode: Mode, adaptivity: Adaptivity, promise: str
) -> None:
    """The errors of the worst of all 2^15 trees, found by dynamic programming, add up to at most δ."""
    proof, other = ("P", "F") if mode is Mode.FP_FREE else ("F", "P")
    wrong = proof if promise == "safety" else other
    retired = proof if adaptivity is Adaptivity.FIRST_CHANGE else None
    budget = float(DELTA if promise == "safety" else BETA)

    def level(history: str) -> float:
        return math.exp(getattr(levels(mode, adaptivity, history), promise))

    worst = worst_tree(level, wrong, retired)
    assert worst <= budget * (1 + 1e-12)
    # firstChange leaves nothing over: its levels could not be larger.
    assert adaptivity is not Adaptivity.FIRST_CHANGE or math.isclose(worst, budget)


def test_the_same_enumeration_refutes_levels_without_a_union() -> None:
    assert worst_tree(lambda _: float(DELTA), "P", None) > 4 * DELTA


def adoptions(adaptivity: Adaptivity, mode: Mode, steps: int) -> list[str]:
    """How a first baseline can be adopted within so many steps: after k programs that failed.

    Under firstChange a failure is a change in fn-free, and ends the testset.
    """
    ended = adaptivity is Adaptivity.FIRST_CHANGE and mode is Mode.FN_FREE
    return [FAIL * failed + ADOPTED for failed in range(1 if ended else steps)]


@each_case(("mode", "adaptivity", "promise"), CASES)
def test_levels_behind_the_adoption_of_a_baseline_add_up_to_no_more_than_promised(
    mode: Mode, adaptivity: Adaptivity, promise: str
) -> None:
    """The errors add up to at most δ, for every tree of four steps of which one is the adoption.

    Whether a program fails depends on sealed examples, so every adoption after k failures counts.
    """
    behind = nodes(adaptivity, mode)
    names = [
        start + s
        for start in adoptions(adaptivity, mode, STEPS)
        for s in behind
        if len(start + s) < STEPS
    ]
    proof, other = ("P", "F") if mode is Mode.FP_FREE else ("F", "P")
    wrong = proof if promise == "safety" else other
    budget = DELTA if promise == "safety" else BETA
    size = {s: math.exp(getattr(levels(mode, adaptivity, s), promise)) for s in names}
    assert len(names) >= 3
    for bad in all_trees(names):
        assert sum(size[s] for s in first_errors(bad, names, wrong)) <= budget * (1 + 1e-12)


def worst_life(
    level: Callable[[str], float], mode: Mode, adaptivity: Adaptivity, promise: str, steps: int
) -> float:
    """The largest sum of levels over first errors of lives that begin without a baseline."""
    proof, other = ("P", "F") if mode is Mode.FP_FREE else ("F", "P")
    wrong = proof if promise == "safety" else other
    retired = proof if adaptivity is Adaptivity.FIRST_CHANGE else None
    return sum(
        worst_tree(level, wrong, retired, start, steps)
        for start in adoptions(adaptivity, mode, steps)
    )


@each_case(("mode", "adaptivity", "promise"), CASES)
def test_no_life_of_ten_steps_that_adopts_a_baseline_exceeds_the_promise(
    mode: Mode, adaptivity: Adaptivity, promise: str
) -> None:
    """Dynamic programming over all trees; with the whole δ behind each adoption some exceed it."""
    budget, steps = float(DELTA if promise == "safety" else BETA), 10

    @cache
    def by_counts(start: str, behind: str) -> float:
        found = step_levels(
            delta=DELTA,
            beta=BETA,
            mode=mode,
            adaptivity=adaptivity,
            steps=steps,
            history=start + behind,
        )
        return math.exp(getattr(found, promise))

    def level(history: str, *, shared: bool = True) -> float:
        start, adopted, behind = history.rpartition(ADOPTED)
        return by_counts(start + adopted if shared else "", "".join(sorted(behind)))

    assert worst_life(level, mode, adaptivity, promise, steps) <= budget * (1 + 1e-12)
    if len(adoptions(adaptivity, mode, steps)) > 1:
        whole = partial(level, shared=False)
        assert worst_life(whole, mode, adaptivity, promise, steps) > 1.5 * budget


@each_case("mode", list(Mode))
def test_claims_behind_adoptions_add_up_over_all_nodes(mode: Mode) -> None:
    total = sum(
        math.exp(levels(mode, Adaptivity.FULL, FAIL * failed + ADOPTED + "".join(bits)).claim)
        for failed in range(20)
        for t in range(7)
        for bits in product("PF", repeat=t)
    )
    assert total <= DELTA


def test_only_failures_come_before_the_first_baseline() -> None:
    with pytest.raises(ValueError, match="before the first baseline"):
        levels(Mode.FP_FREE, Adaptivity.FULL, "PBF")


@each_case("mode", list(Mode))
def test_claims_for_the_owner_add_up_over_all_nodes(mode: Mode) -> None:
    total = sum(
        math.exp(levels(mode, Adaptivity.FULL, "".join(bits)).claim)
        for t in range(8)
        for bits in product("PF", repeat=t)
    )
    assert total <= DELTA


@each_case("code", [SAFETY_CODE, SENSITIVITY_CODE])
def test_codes_are_probabilities_of_strings(code: MixtureCode) -> None:
    """Q() = 1 and Q(s) = Q(s·pass) + Q(s·fail)."""
    log_probability = code.log_probability
    assert math.isclose(math.exp(log_probability(0, 0)), 1.0)
    for proofs, others in product(range(6), repeat=2):
        both = math.exp(log_probability(proofs + 1, others)) + math.exp(
            log_probability(proofs, others + 1)
        )
        assert math.isclose(both, math.exp(log_probability(proofs, others)), rel_tol=1e-9)


def test_a_thousand_steps_stay_in_range() -> None:
    found = step_levels(
        delta=Fraction(1, 10_000),
        beta=Fraction(1, 10_000),
        mode=Mode.FP_FREE,
        adaptivity=Adaptivity.FULL,
        steps=5000,
        history="PF" * 2000,
    )
    assert -3000.0 < found.safety < -2700.0
    assert math.isfinite(found.sensitivity)


def test_published_levels_are_kept() -> None:
    found = uniform_levels(delta=DELTA, beta=BETA, adaptivity=Adaptivity.FULL, steps=32)
    assert math.isclose(found.safety, math.log(0.1) - 32 * math.log(2.0))
    assert math.isclose(found.sensitivity, math.log(0.2) - 32 * math.log(2.0))


def test_conditions_without_a_baseline_share_evenly_under_none() -> None:
    found = step_levels(
        delta=DELTA,
        beta=BETA,
        mode=Mode.FP_FREE,
        adaptivity=Adaptivity.NONE,
        steps=4,
        history="PP",
        fixed_models=True,
    )
    assert math.isclose(found.safety, math.log(0.1 / 4))


def test_a_testset_is_retired_at_its_first_change() -> None:
    with pytest.raises(ValueError, match="retired"):
        levels(Mode.FP_FREE, Adaptivity.FIRST_CHANGE, "FP")
    assert levels(Mode.FN_FREE, Adaptivity.FIRST_CHANGE, "PP").sensitivity == math.log(0.2)
    with pytest.raises(ValueError, match="used up"):
        levels(Mode.FP_FREE, Adaptivity.FIRST_CHANGE, "FFFF")


def test_histories_are_letters_p_and_f() -> None:
    with pytest.raises(ValueError, match="P and F"):
        levels(Mode.FP_FREE, Adaptivity.FULL, "PX")
