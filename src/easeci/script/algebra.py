"""The value of an expression: a constant, weighted measures, and ratios of means.

    2 * (n - o) + 0.1                     weights of n and o, and a constant
    n.recall(fraud) - o.recall(fraud)     one ratio: both have the same denominator
    n / o                                 one ratio: the mean of n over the mean of o

Ratios with the same denominator are added by adding their numerators. All numbers are exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm

from easeci.script.lattice import ScoreTerm, Scoring
from easeci.script.measures import ACCURACY, BY_NAME, MODELS, Form, best_of, table_of
from easeci.script.outcomes import ExampleAlphabet
from easeci.script.problem import Problem, shortened
from easeci.script.score import Entries
from easeci.script.syntax import (
    SUM,
    Clause,
    Expression,
    Measure,
    Negation,
    Number,
    Operation,
    Operator,
    unparse_expression,
)


@dataclass(frozen=True)
class Auc:
    """The AUC of a model (n or o) for a class."""

    model: str
    positive: str


@dataclass(frozen=True)
class Top:
    """The accuracy of the model of this rank."""

    rank: int


Atom = str | Auc | Top | ScoreTerm
"""What is weighted: n, o, d, an AUC, a rank, or a mean score."""
_ONE = Fraction(1)


@dataclass(frozen=True)
class Value:
    """constant + Σ weight · atom + Σ mean of a numerator / mean of its denominator.

    ``ratios`` are numerators by their denominator. Nothing in it is 0.
    """

    constant: Fraction = Fraction(0)
    weights: Mapping[Atom, Fraction] = field(default_factory=dict)
    ratios: Mapping[Entries, Entries] = field(default_factory=dict)

    @property
    def is_constant(self) -> bool:
        """Whether no measure is left in it."""
        return not self.weights and not self.ratios

    def weight(self, atom: Atom) -> Fraction:
        """The weight of an atom, 0 if it does not occur."""
        return self.weights.get(atom, Fraction(0))

    def plus(self, other: Value, factor: Fraction = _ONE) -> Value:
        """self + factor · other."""
        weights = dict(self.weights)
        for atom, weight in other.weights.items():
            weights[atom] = weights.get(atom, Fraction(0)) + factor * weight
        ratios = dict(self.ratios)
        for denominator, numerator in other.ratios.items():
            before = ratios.get(denominator, (Fraction(0),) * len(numerator))
            ratios[denominator] = tuple(
                x + factor * y for x, y in zip(before, numerator, strict=True)
            )
        return Value(
            self.constant + factor * other.constant,
            {atom: weight for atom, weight in weights.items() if weight},
            {below: above for below, above in ratios.items() if any(above)},
        )

    def times(self, factor: Fraction) -> Value:
        """factor · self."""
        return Value().plus(self, factor)


def parts_of(value: Value, alphabet: ExampleAlphabet) -> dict[Entries, Entries]:
    """All ratios without the constant, by denominator; that of n and o is 1 everywhere."""
    parts = dict(value.ratios)
    if any(isinstance(atom, str) for atom in value.weights):
        ones = (_ONE,) * alphabet.outcomes
        linear = tuple(
            sum(
                (
                    value.weight(name) * count
                    for name, count in zip(
                        "nod", (one.new_right, one.old_right, one.differ), strict=True
                    )
                ),
                Fraction(0),
            )
            for one in alphabet.shown
        )
        before = parts.get(ones, (Fraction(0),) * alphabet.outcomes)
        parts[ones] = tuple(x + y for x, y in zip(before, linear, strict=True))
    return parts


@dataclass(frozen=True)
class Terms:
    """What the measures of a clause are about: the outcomes of examples, or scores of outputs."""

    alphabet: ExampleAlphabet
    scoring: Scoring | None = None


def evaluate(expression: Expression, terms: Terms) -> Value:
    """The value of a resolved expression.

    Raises :class:`Problem` if it is not a sum of measures and ratios.
    """
    match expression:
        case Number():
            return Value(Fraction(expression.value))
        case Measure():
            return _measure(expression, terms)
        case Negation():
            return evaluate(expression.operand, terms).times(Fraction(-1))
        case Operation(operator=Operator.MULTIPLY):
            return _product(expression, terms)
        case Operation(operator=Operator.DIVIDE):
            return _quotient(expression, terms)
        case Operation():
            sign = Fraction(1) if expression.operator is Operator.ADD else Fraction(-1)
            left, right = (evaluate(x, terms) for x in (expression.left, expression.right))
            return left.plus(right, sign)


def _measure(measure: Measure, terms: Terms) -> Value:
    if terms.scoring is not None and measure.name != "d":
        return Value(weights={_score_term(measure): _ONE})
    model, name = measure.model or "n", measure.name
    if name == ACCURACY:
        return Value(weights={model: _ONE})
    definition = BY_NAME[name]
    if definition.form is Form.PLAIN:
        return Value(weights={name: _ONE})
    assert measure.argument is not None
    argument = measure.argument.value
    if definition.form is Form.BLOCKS:
        return Value(weights={Auc(model, argument): _ONE})
    if definition.form is Form.RANK:
        return Value(weights={Top(int(argument)): _ONE})
    assert definition.numerator is not None
    assert definition.denominator is not None
    above, below = (
        table_of(count, terms.alphabet, model, argument)
        for count in (definition.numerator, definition.denominator)
    )
    return Value(ratios={below: above})


def _score_term(measure: Measure) -> ScoreTerm:
    """The mean score that a measure names: n, o, n.faithful, n.pass@3."""
    if measure.name in MODELS:
        return ScoreTerm(measure.name)
    model, tries = measure.model or "n", best_of(measure.name)
    return ScoreTerm(model, measure.name) if tries is None else ScoreTerm(model, best_of=tries)


def _product(product: Operation, terms: Terms) -> Value:
    left, right = (evaluate(x, terms) for x in (product.left, product.right))
    if not left.is_constant and not right.is_constant:
        raise Problem(
            f"'{shortened(unparse_expression(product))}' is not linear",
            product.span,
            "Multiply measures by constants only, such as n - 1.1 * o.",
        )
    if left.is_constant:
        left, right = right, left
    return left.times(right.constant)


_DIVISORS = "Divide by n, o, a sum of them, or 1 - o"


def _quotient(quotient: Operation, terms: Terms) -> Value:
    left, right = (evaluate(x, terms) for x in (quotient.left, quotient.right))
    if right.is_constant:
        if right.constant == 0:
            raise Problem("this divides by 0", quotient.right.span, f"{_DIVISORS}.")
        return left.times(1 / right.constant)
    above, below = _over_one_denominator(quotient, left, right, terms.alphabet)
    if any(entry < 0 for entry in below) or not any(below):
        raise Problem(
            f"the denominator '{_shown(quotient.right)}' can be negative or 0",
            quotient.right.span,
            f"{_DIVISORS}; or write a difference, such as n - 1.1 * o > 0 +/- 0.01.",
        )
    scale = _scale(below)
    denominator = tuple(scale * entry for entry in below)
    return Value(ratios={denominator: tuple(scale * entry for entry in above)}).plus(Value())


def _over_one_denominator(
    quotient: Operation, left: Value, right: Value, alphabet: ExampleAlphabet
) -> tuple[Entries, Entries]:
    """Numerators of both sides over one common denominator, which then cancels."""
    for value, side in ((right, quotient.right), (left, quotient.left)):
        if any(isinstance(atom, ScoreTerm) for atom in value.weights):
            raise Problem(
                f"'{_shown(side)}' is a mean score, which cannot be part of a ratio",
                side.span,
                "Write a difference instead, such as n - 1.1 * o > 0 +/- 0.01.",
            )
        if any(not isinstance(atom, str) for atom in value.weights):
            raise Problem(
                f"'{_shown(side)}' cannot be part of a ratio",
                side.span,
                "Write a difference instead, such as n.auc(fraud) - o.auc(fraud) > 0 +/- 0.01.",
            )
    if right.weight("d"):
        raise Problem(
            f"the denominator '{_shown(quotient.right)}' can be 0: the models may agree everywhere",
            quotient.right.span,
            f"{_DIVISORS}, and write d in a clause of its own.",
        )
    if left.weight("d"):
        raise d_in_a_ratio(quotient.left)
    parts = [parts_of(value, alphabet) for value in (left, right)]
    denominators = {denominator for part in parts for denominator in part}
    if len(denominators) > 1:
        raise Problem(
            f"'{_shown(quotient)}' is not a ratio of two means: its sides are shares of "
            "different examples",
            quotient.span,
            f"Write the difference instead: {_shown(quotient.left, SUM)} - "
            f"{_shown(quotient.right, SUM + 1)} > 0 +/- 0.01.",
        )
    (denominator,) = denominators
    zero = (Fraction(0),) * len(denominator)
    above, below = (
        tuple(
            x + value.constant * y
            for x, y in zip(part.get(denominator, zero), denominator, strict=True)
        )
        for part, value in zip(parts, (left, right), strict=True)
    )
    return above, below


def d_in_a_ratio(place: Expression | Clause) -> Problem:
    """The mistake of a clause that mixes d with a ratio."""
    return Problem(
        "d cannot be mixed with a ratio",
        place.span,
        r"Write d in a clause of its own, such as n / o > 1.1 +/- 0.05 /\ d < 0.1 +/- 0.01.",
    )


def _scale(entries: Entries) -> Fraction:
    """What makes the entries whole numbers without a common divisor, so that equals look equal."""
    below = lcm(*(entry.denominator for entry in entries))
    return Fraction(below, gcd(*(int(entry * below) for entry in entries)))


def _shown(expression: Expression, binding: int = 0) -> str:
    return shortened(unparse_expression(expression, binding), 60)
