"""The shared prefix: how many examples are labelled once, so that every commit needs few labels.

A clause such as ``n.recall(fraud) - o.recall(fraud) > c`` compares a mean with c times the share of
a class, and the share is the same for all models. It can be tested in two ways
(:mod:`easeci.evidence.shared_prefix`):

* **Everywhere.** Label every example of the walk. All commits share these labels.
* **With a prefix.** Label the first P examples once. They give limits of the share. Then each
  commit needs labels only where the numerator is not 0 anyway.

*The rule.* All numbers are for a commit in the middle of the zone, where a walk is longest. Let p
be the expected share of the class, V the variance of the numerator, r the share of the examples
that count in it, and L the evidence that a proof (or giving up) needs. At a distance D from its
hypothesis, evidence grows by about D²/(2V) an example. A prefix of P examples knows p to about
h = z √(p (1 − p) / P), which takes |b| h from the distance ε p, b being the threshold. So the cost
is

    P + m · r · 2 V L / (ε p − |b| h)²      against       2 V′ L / (ε p)²  everywhere

with m commits that pay for a whole walk, and V′ the variance of numerator − b · denominator. P is
the first of a fixed row of round numbers with the least cost; there is no prefix if labels
everywhere cost less. Clauses with the same class and slice share the longest of their prefixes.

The rule depends on the script alone. Verdicts depend on the lengths, so they are recorded when a
testset is sealed. If it is a bad choice, because the share is not what was expected, commits need
more labels; no promise is broken.

*Levels.* The limits of all shares together get ``PREFIX_SHARE`` of δ and of β, once for the life of
a testset. The steps get the rest (:func:`step_risks`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from types import MappingProxyType

from easeci.evidence.clause_test import FUTILITY_SHARE, Goal
from easeci.evidence.levels import StepLevels, levels_after, log_fraction
from easeci.evidence.shared_prefix import Prefix
from easeci.script import Adaptivity, NormalClause, Script, Slice

PREFIX_SHARE = Fraction(1, 20)
"""The part of δ and of β for the limits of shares, if the script has a prefix."""
PROOFS = Fraction(1, 8)
"""The largest share of proofs (passes in fp-free) that a plan assumes."""
IN_THE_ZONE = 0.25
"""So many of a life's commits are expected to pay for a whole walk; others end early."""
LENGTHS: tuple[int, ...] = tuple(
    int(step * 10**power) for power in range(2, 9) for step in (1, 1.5, 2, 3, 4, 5, 7)
)
"""The lengths that a prefix can have."""
NEARLY = 1e-6
"""Costs that differ by less are the same, so that rounding never decides."""

Prefixes = Mapping[NormalClause, Prefix]
NO_PREFIXES: Prefixes = MappingProxyType({})


@lru_cache(maxsize=256)
def shared_prefixes(script: Script) -> Prefixes:
    """The clauses that are tested with a prefix, each with its prefix."""
    return recorded_prefixes(script, prefix_lengths(script))


def prefix_lengths(script: Script) -> dict[str, int]:
    """How many examples are labelled first, by the text of the clause that needs it."""
    longest: dict[object, int] = {}
    found = {}
    for clause in script.clauses:
        if not clause.score.is_linear and clause.score.class_share is not None:
            length = _length(script, clause)
            if length is not None:
                found[clause.text] = _share_of(clause)
                longest[_share_of(clause)] = max(longest.get(_share_of(clause), 0), length)
    return {text: longest[share] for text, share in found.items()}


def recorded_prefixes(script: Script, lengths: Mapping[str, int]) -> Prefixes:
    """The prefixes of these lengths, by the texts of their clauses."""
    with_prefix = [clause for clause in script.clauses if clause.text in lengths]
    if not with_prefix:
        return NO_PREFIXES
    shares = {_share_of(clause) for clause in with_prefix}
    risk = PREFIX_SHARE * min(script.delta, script.beta)
    level = log_fraction(risk) - math.log(2.0 * len(shares))
    return MappingProxyType(
        {
            clause: Prefix(lengths[clause.text], level, _expected_share(script, clause))
            for clause in with_prefix
        }
    )


def _share_of(clause: NormalClause) -> tuple[str | None, Slice | None]:
    return clause.score.class_share, clause.score.slice


def _expected_share(script: Script, clause: NormalClause) -> float:
    """The share of the class that bets are chosen for."""
    name = clause.score.class_share
    assert name is not None
    expected = script.expected_share(name)
    usual = Fraction(1, len(script.classes)) if script.classes else Fraction(1, 10)
    return float(usual if expected is None else expected)


def step_risks(script: Script, prefixes: Prefixes | None = None) -> tuple[Fraction, Fraction]:
    """δ and β of all steps together: less than the script's if a prefix takes its part."""
    if all(clause.score.is_linear for clause in script.clauses):
        return script.delta, script.beta
    if not (shared_prefixes(script) if prefixes is None else prefixes):
        return script.delta, script.beta
    return _after_prefix(script)


def _after_prefix(script: Script) -> tuple[Fraction, Fraction]:
    return (1 - PREFIX_SHARE) * script.delta, (1 - PREFIX_SHARE) * script.beta


def proofs_before_last(script: Script) -> int:
    """How many proofs a plan assumes before the last step."""
    if script.adaptivity is Adaptivity.FIRST_CHANGE:
        return 0
    return round((script.steps - 1) * PROOFS)


def levels_of_step(script: Script, proofs: float, others: float) -> StepLevels:
    """The levels of the step after so many proofs and other answers."""
    return _levels(script, proofs, others, step_risks(script))


def _levels(
    script: Script, proofs: float, others: float, risks: tuple[Fraction, Fraction]
) -> StepLevels:
    return levels_after(
        proofs,
        others,
        delta=risks[0],
        beta=risks[1],
        adaptivity=script.adaptivity,
        steps=script.steps,
        fixed_models=not script.needs_old_model,
    )


def _length(script: Script, clause: NormalClause) -> int | None:
    """The length by the rule above; None if labels everywhere cost less."""
    costs = _Costs(script, clause)
    prefixes = [costs.with_prefix(length) for length in LENGTHS]
    least = min(prefixes)
    if not least < costs.everywhere * (1.0 - NEARLY):
        return None
    return next(
        length
        for length, cost in zip(LENGTHS, prefixes, strict=True)
        if cost <= least * (1.0 + NEARLY)
    )


class _Costs:
    """The labels of a life with and without a prefix, for one clause."""

    def __init__(self, script: Script, clause: NormalClause) -> None:
        # Here and not above: most scripts have no such clause, and a plan must start fast.
        from easeci.plan.expected_difference import planned_difference
        from easeci.plan.outcome_laws import law_at, shares_of

        goal = Goal.of(clause, script.mode)
        score, name = goal.score, goal.score.class_share
        shares = shares_of(script, score)
        assert name is not None
        self._share = shares[score.classes.index(name)]
        difference = float(planned_difference(script, clause).share)
        middle = (goal.bound + goal.clear) / 2.0
        law = law_at(score, middle, shares, difference).tolist()
        self._distance = self._share * (goal.clear - goal.bound) / 2.0
        self._ends = (abs(goal.bound), abs(goal.clear))
        numerator = [float(x) for x in score.ratio.numerator]
        self._variance = _variance(numerator, law)
        pairs = zip(numerator, score.ratio.denominator, strict=True)
        around = [x - middle * float(y) for x, y in pairs]
        groups = score.without_share().relevant
        members = [o for group in groups for o in score.alphabet.groups[group]]
        self._relevant = math.fsum(law[o] for o in members)
        before, proofs = script.steps - 1, proofs_before_last(script)
        levels = _levels(script, proofs, before - proofs, _after_prefix(script))
        levels = levels.per_clause(script.mode, len(script.clauses))
        self._targets = (-levels.safety, -levels.sensitivity - math.log(FUTILITY_SHARE))
        risk = log_fraction(PREFIX_SHARE * min(script.delta, script.beta)) - math.log(2.0)
        self._z = math.sqrt(max(-2.0 * risk - math.log(-4.0 * math.pi * risk), 1.0))
        self._commits = max(1.0, IN_THE_ZONE * script.steps)
        self.everywhere = max(self._examples(_variance(around, law), 0.0))

    def _examples(self, variance: float, width: float) -> list[float]:
        """Up to the proof and up to giving up, if the share is known to this width."""
        found = []
        for end, target in zip(self._ends, self._targets, strict=True):
            distance = self._distance - end * width
            found.append(2.0 * variance * target / distance**2 if distance > 0.0 else math.inf)
        return found

    def with_prefix(self, length: int) -> float:
        """The labels of a life with a prefix of this length."""
        width = self._z * math.sqrt(self._share * (1.0 - self._share) / length)
        walk = max(self._examples(self._variance, width))
        return length + self._commits * self._relevant * walk


def _variance(scores: list[float], law: list[float]) -> float:
    mean = math.fsum(x * p for x, p in zip(scores, law, strict=True))
    return math.fsum(x * x * p for x, p in zip(scores, law, strict=True)) - mean * mean
