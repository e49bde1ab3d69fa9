"""The levels of a step: its probabilities of error, so small that all steps together keep δ.

The model of a step is a fixed function of the bits disclosed before it. So the histories form a
tree in which every node has a fixed pair of models, and errors may be added up over nodes.

In the paper every node gets the same level: δ over the number of models that could ever be tested,
which is one per step under ``none`` and ``firstChange`` and 2^steps under ``full``.

Here a node with history s gets the levels

    safety       α(s) = δ · Q(s·x),   x the answer that needs proof
    sensitivity  β(s) = β · R(s·y),   y the other answer

(x is pass in fp-free and fail in fn-free) for any two probability distributions Q and R on bit
strings (Q(s) = Q(s·pass) + Q(s·fail)).

*Proof.* Safety, in fp-free: before the first wrong pass every node on the way whose condition is
false answered fail. So of two different strings s·pass at which a first wrong pass can happen
neither is a prefix of the other: if s·pass were a prefix of t·pass, the false node s would have
passed before. By Kraft's inequality their probabilities under Q add up to at most 1, and each
error has probability at most α(s); in all δ. Sensitivity is the same with "condition clearly
true" for false and fail for pass, and fn-free exchanges the two answers. Q and R need not be
related, and neither depends on the number of steps: an answer costs −ln of its probability.

Claims, which only the owner sees, need their own level. Before a first wrong claim there may be
other nodes of the same kind that gave the same bit without the claim, so these strings are not free
of prefixes. So the errors of all nodes are added up: δ · Q(s) / ((t+1)(t+2)) after t bits, which is
δ over all lengths t because the Q(s) of one length add up to 1.

**The first baseline.** If a testset is sealed before any commit has the program, the first commit
becomes the baseline, untested. Its program runs on sealed examples, so that it did not fail is an
answer too: after k failures the history is F…FB, and all levels behind it are multiplied by
1 / ((k+1)(k+2)). No other answer than FAIL is possible before it, so the histories split at the
moment of adoption. Behind each of these moments the argument above holds with δ / ((k+1)(k+2)),
and these add up to at most δ.

Everything is in logarithms, because δ / 2^steps leaves the range of floats at about a thousand
steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from easeci.script import Adaptivity, Mode

PASS = "P"  # noqa: S105 - an answer, not a password
FAIL = "F"
ADOPTED = "B"
"""The first commit became the baseline, untested."""


def log_histories(adaptivity: Adaptivity, steps: int) -> float:
    """ln of the number of models over which the paper adds up errors."""
    match adaptivity:
        case Adaptivity.FULL:
            return steps * math.log(2.0)
        case Adaptivity.NONE | Adaptivity.FIRST_CHANGE:
            return math.log(steps)


def log_level(delta: Fraction, adaptivity: Adaptivity, steps: int) -> float:
    """ln(δ / histories): the level of each step, the same for all of them."""
    return log_fraction(delta) - log_histories(adaptivity, steps)


def log_fraction(probability: Fraction) -> float:
    """ln of an exact rational, also where it is too small for a float."""
    return math.log(probability.numerator) - math.log(probability.denominator)


def log_sum(logarithms: Iterable[float]) -> float:
    """ln Σ exp, without leaving the range of floats."""
    terms = list(logarithms)
    top = max(terms)
    if top == -math.inf:
        return top
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))


@dataclass(frozen=True)
class StepLevels:
    """Natural logarithms of the levels of one step.

    ``safety`` is for the answer that needs proof, ``sensitivity`` for the other one, and ``claim``
    for what only the owner sees: that the condition is False in fp-free, True in fn-free.
    """

    safety: float
    sensitivity: float
    claim: float

    def per_clause(self, mode: Mode, clauses: int) -> StepLevels:
        """The levels of each of ``clauses`` clauses.

        fp-free: if the condition is false, one fixed clause is false, and a pass needs a proof of
        that clause, so each clause is tested at the full α. If the condition is clearly true, any
        clause might wrongly stop it, so β is divided. fn-free is the mirror image.
        """
        share = math.log(clauses)
        if mode is Mode.FP_FREE:
            return StepLevels(self.safety, self.sensitivity - share, self.claim - share)
        return StepLevels(self.safety - share, self.sensitivity, self.claim)


@dataclass(frozen=True)
class BetaCode:
    """The probability of a bit string if the share of proofs among its bits is Beta distributed.

    ``proof`` and ``other`` are the two parameters; after k proofs and m other answers the next
    is a proof with probability (proof + k) / (proof + other + k + m).
    """

    proof: float
    other: float

    def log_probability(self, proofs: float, others: float) -> float:
        """ln of the probability of a string with so many proofs and other answers."""
        return _log_beta(self.proof + proofs, self.other + others) - _log_beta(
            self.proof, self.other
        )


@dataclass(frozen=True)
class CoinCode:
    """Every string of a length is equally probable: 2^−length.

    As a part of a mixture it makes sure that no history is much less probable than 2^−steps.
    """

    def log_probability(self, proofs: float, others: float) -> float:
        """ln of the probability of a string with so many proofs and other answers."""
        return -(proofs + others) * math.log(2.0)


@dataclass(frozen=True)
class MixtureCode:
    """A mixture of codes; the weights add up to 1."""

    parts: tuple[tuple[float, BetaCode | CoinCode], ...]

    def __post_init__(self) -> None:
        if not math.isclose(math.fsum(weight for weight, _ in self.parts), 1.0, abs_tol=1e-12):
            raise ValueError("the weights of a mixture must add up to 1")

    def log_probability(self, proofs: float, others: float) -> float:
        """ln of the probability of a string with so many proofs and other answers."""
        return log_sum(
            math.log(weight) + code.log_probability(proofs, others) for weight, code in self.parts
        )


SAFETY_CODE = MixtureCode(
    ((0.8, BetaCode(1.5, 10.0)), (0.1, BetaCode(0.5, 0.5)), (0.1, CoinCode()))
)
"""Proofs are rare. The code favours them a little, because α(s) also pays for the next proof."""
SENSITIVITY_CODE = MixtureCode(
    ((0.8, BetaCode(1.0, 14.0)), (0.1, BetaCode(0.5, 0.5)), (0.1, CoinCode()))
)


def proof_bit(mode: Mode) -> str:
    """The answer that needs proof in a mode."""
    return PASS if mode is Mode.FP_FREE else FAIL


def step_levels(
    *,
    delta: Fraction,
    beta: Fraction,
    mode: Mode,
    adaptivity: Adaptivity,
    steps: int,
    history: str = "",
    fixed_models: bool = False,
) -> StepLevels:
    """The levels of the step after ``history``, the answers so far as letters P and F.

    A letter B stands for the commit that became the first baseline; only F may come before it.

    Under ``full`` these are the answers disclosed. Under ``none`` they are the hidden ones, because
    the baseline depends on them; with ``fixed_models`` (conditions on n alone) nothing does, and
    every step gets its share of 1 / steps. Under ``firstChange`` the testset is retired at the
    first proof, so all nodes lie on one string of other answers: safety is divided by the steps.
    Sensitivity is not divided: a first miss can only happen at the first clearly true node, because
    a proof there would retire the testset.
    """
    before, adopted, history = history.rpartition(ADOPTED)
    share = log_adoption_share(before) if adopted else 0.0
    proofs, others = _count_answers(history, mode)
    if adaptivity is Adaptivity.FIRST_CHANGE and proofs:
        raise ValueError("under firstChange a testset is retired at its first change")
    if adaptivity is Adaptivity.FIRST_CHANGE or (adaptivity is Adaptivity.NONE and fixed_models):
        _require_step(proofs + others, steps)
    levels = levels_after(
        proofs,
        others,
        delta=delta,
        beta=beta,
        adaptivity=adaptivity,
        steps=steps,
        fixed_models=fixed_models,
    )
    return StepLevels(levels.safety + share, levels.sensitivity + share, levels.claim + share)


def levels_after(
    proofs: float,
    others: float,
    *,
    delta: Fraction,
    beta: Fraction,
    adaptivity: Adaptivity,
    steps: int,
    fixed_models: bool = False,
) -> StepLevels:
    """The levels of the step after so many answers of each kind; their order does not matter.

    A forecast may ask for an expected number of answers, which need not be whole.
    """
    log_delta, log_beta = log_fraction(delta), log_fraction(beta)
    if adaptivity is Adaptivity.FIRST_CHANGE:
        return StepLevels(log_delta - math.log(steps), log_beta, log_delta - math.log(steps))
    if adaptivity is Adaptivity.NONE and fixed_models:
        share = math.log(steps)
        return StepLevels(log_delta - share, log_beta - share, log_delta - share)
    length = proofs + others
    claim = SENSITIVITY_CODE.log_probability(proofs, others)
    return StepLevels(
        safety=log_delta + SAFETY_CODE.log_probability(proofs + 1, others),
        sensitivity=log_beta + SENSITIVITY_CODE.log_probability(proofs, others + 1),
        claim=log_delta + claim - math.log((length + 1) * (length + 2)),
    )


def log_adoption_share(before: str) -> float:
    """ln of the share of δ behind the adoption of a baseline after these answers."""
    if before.strip(FAIL):
        raise ValueError(f"only failures come before the first baseline, got {before!r}")
    return -math.log((len(before) + 1) * (len(before) + 2))


def uniform_levels(
    *, delta: Fraction, beta: Fraction, adaptivity: Adaptivity, steps: int
) -> StepLevels:
    """The paper's levels, the same for every step: for callers that don't know the history."""
    safety = log_level(delta, adaptivity, steps)
    return StepLevels(safety, log_level(beta, adaptivity, steps), safety)


def _count_answers(history: str, mode: Mode) -> tuple[int, int]:
    proofs = history.count(proof_bit(mode))
    others = history.count(FAIL if mode is Mode.FP_FREE else PASS)
    if proofs + others != len(history):
        raise ValueError(f"a history consists of P and F, got {history!r}")
    return proofs, others


def _require_step(before: int, steps: int) -> None:
    if before >= steps:
        raise ValueError(f"all {steps} steps of the testset are used up")


def _log_beta(a: float, b: float) -> float:
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
