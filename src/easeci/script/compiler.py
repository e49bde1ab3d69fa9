"""From the tree of a condition to its clauses in normal form. Loaded when it is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from easeci.script.algebra import Auc, Terms, Top, Value, d_in_a_ratio, evaluate, parts_of
from easeci.script.lattice import Lattice, ScoreTerm, Scoring
from easeci.script.measures import BY_NAME, EVEN, Form, block_shape, expected_share
from easeci.script.normal import MOST_CLAUSES, NormalClause
from easeci.script.outcomes import ExampleAlphabet
from easeci.script.problem import Problem, shortened
from easeci.script.resolve import resolve
from easeci.script.score import LARGEST, Blocks, Entries, Ratio, Score
from easeci.script.syntax import (
    PRODUCT,
    UNARY,
    Clause,
    Comparison,
    Condition,
    Expression,
    Negation,
    Operation,
    Operator,
    Slice,
    Span,
    unparse_expression,
)

MOST_RATIOS = 2


def compiled_clauses(
    condition: Condition,
    classes: Sequence[str] = (),
    expected: Sequence[tuple[str, Fraction]] = (),
    scoring: Scoring | None = None,
) -> tuple[NormalClause, ...]:
    """The clauses in normal form: see :func:`easeci.script.compile_condition`."""
    compiled: list[NormalClause] = []
    for clause in condition.clauses:
        for resolved in resolve(clause, classes, scoring):
            if len(compiled) == MOST_CLAUSES:
                raise Problem(
                    f"for all classes together these are more than {MOST_CLAUSES:,} clauses",
                    clause.span,
                )
            compiled.append(_compile_clause(resolved, classes, expected, scoring))
            _require_one_ranking(compiled, clause.span)
    return tuple(compiled)


def _require_one_ranking(clauses: Sequence[NormalClause], span: Span) -> None:
    """Predictions carry one score, so only one class can be ranked by it."""
    blocks = (clause.score.blocks for clause in clauses)
    named = list(dict.fromkeys(found.positive for found in blocks if found is not None))
    if len(named) > 1:
        raise Problem(
            f"auc of two classes, '{shortened(named[0])}' and '{shortened(named[1])}'",
            span,
            "Predictions have one score an example, which ranks one class. With two classes, both "
            "have the same AUC.",
        )


def _compile_clause(
    clause: Clause,
    classes: Sequence[str],
    expected: Sequence[tuple[str, Fraction]],
    scoring: Scoring | None,
) -> NormalClause:
    tolerance = Fraction(clause.tolerance.value)
    if tolerance <= 0:
        raise Problem(
            "the tolerance must be greater than 0",
            clause.tolerance.span,
            "No finite testset can measure exactly; +/- 0.01 is one accuracy point.",
        )
    terms = Terms(ExampleAlphabet.of(_named_classes(clause)), scoring)
    left, right = (evaluate(side, terms) for side in (clause.left, clause.right))
    sides, comparison = (clause.left, clause.right), clause.comparison
    if left.is_constant and not right.is_constant:
        # Messages show 0.02 < n - o as n - o > 0.02, because users think of it in that order.
        left, right, sides = right, left, (clause.right, clause.left)
        comparison = _MIRRORED[comparison]
    form = left.plus(right, Fraction(-1))
    if form.is_constant:
        raise Problem(
            "this clause does not depend on n, o or d",
            clause.span,
            "Compare an expression in n, o or d with a constant, such as n > 0.8 +/- 0.05.",
        )
    entries = [entry for above in form.ratios.values() for entry in above]
    _require_ordinary_size(
        [*form.weights.values(), *entries, form.constant, tolerance], clause.span
    )
    builder = _Builder(clause, terms, form, _name(*sides, terms), comparison)
    normal = NormalClause(
        score=builder.score(classes, expected),
        comparison=comparison,
        threshold=-form.constant,
        tolerance=tolerance,
        text=str(clause),
    )
    _require_both_answers_possible(normal, clause.span)
    return normal


def _named_classes(clause: Clause) -> tuple[str, ...]:
    """The classes that the alphabet must tell apart."""
    named: dict[str, Span] = {}
    for measure in clause.measures:
        if measure.argument and BY_NAME[measure.name].form is Form.CLASS:
            named.setdefault(measure.argument.value, measure.span)
    if len(named) > MOST_RATIOS:
        raise _too_many_ratios(list(named.values())[MOST_RATIOS])
    return tuple(named)


def _too_many_ratios(span: Span) -> Problem:
    return Problem(
        "one clause can have at most two measures that are shares of different examples",
        span,
        r"Write several clauses, such as recall(fraud) > 0.8 +/- 0.02 /\ recall(spam) > 0.8 "
        "+/- 0.02, or recall(*) > 0.8 +/- 0.02 for every class.",
    )


_MIRRORED = {Comparison.GREATER: Comparison.LESS, Comparison.LESS: Comparison.GREATER}


# -- the score


@dataclass(frozen=True)
class _Builder:
    """Makes the score of one clause from the value of its left side minus its right side."""

    clause: Clause
    terms: Terms
    form: Value
    named: str
    comparison: Comparison

    @property
    def alphabet(self) -> ExampleAlphabet:
        return self.terms.alphabet

    @property
    def where(self) -> Slice | None:
        return self.clause.measures[0].slice

    def score(self, classes: Sequence[str], expected: Sequence[tuple[str, Fraction]]) -> Score:
        aucs = [atom for atom in self.form.weights if isinstance(atom, Auc)]
        tops = [atom for atom in self.form.weights if isinstance(atom, Top)]
        if aucs:
            share = expected_share(aucs[0].positive, classes, expected)
            return self._blocks(aucs, EVEN if share is None else share)
        if tops:
            return self._rank(tops)
        if any(isinstance(atom, ScoreTerm) for atom in self.form.weights):
            return self._on_lattice()
        if not self.form.ratios:
            n, o, d = (self.form.weight(name) for name in "nod")
            # Without a slice, the score names itself, whatever the spelling.
            return Score.linear(
                n, o, d, named=None if self.where is None else self.named, where=self.where
            )
        return self._ratios()

    def _on_lattice(self) -> Score:
        weights = {a: w for a, w in self.form.weights.items() if isinstance(a, ScoreTerm)}
        assert self.terms.scoring is not None
        tolerance = Fraction(self.clause.tolerance.value)
        lattice = Lattice.of(weights, self.form.weight("d"), tolerance, self.terms.scoring)
        return Score.on_lattice(lattice, self.named, self.where)

    def _ratios(self) -> Score:
        if self.form.weight("d"):
            raise d_in_a_ratio(self.clause)
        parts = list(parts_of(self.form, self.alphabet).items())
        if len(parts) > MOST_RATIOS:
            raise _too_many_ratios(self.clause.span)
        ratios = [Ratio(above, below) for below, above in parts]
        if len(ratios) == 1:
            return Score(self.named, self.alphabet, ratios[0], slice=self.where)
        if any(max(-ratio.reach[0], ratio.reach[1]) >= LARGEST for ratio in ratios):
            raise Problem(
                "a ratio such as n / o cannot be mixed with another measure",
                self.clause.span,
                "Write it in a clause of its own, such as n / o > 1.1 +/- 0.05.",
            )
        first, second = ratios if _is_positive(ratios[0].numerator) else reversed(ratios)
        return Score(self.named, self.alphabet, first, subtracted=-second, slice=self.where)

    def _blocks(self, aucs: list[Auc], share: Fraction) -> Score:
        if len(aucs) < len(self.form.weights) or self.form.ratios:
            raise Problem(
                "auc cannot be mixed with other measures",
                self.clause.span,
                r"Write two clauses, such as auc(fraud) > 0.9 +/- 0.02 /\ n > 0.8 +/- 0.02.",
            )
        positive = aucs[0].positive
        if any(auc.positive != positive for auc in aucs):
            raise Problem(
                "one clause can have the auc of one class only",
                self.clause.span,
                "Name the same class for both models, such as n.auc(fraud) - o.auc(fraud).",
            )
        new, old = (self.form.weight(Auc(model, positive)) for model in "no")
        blocks = Blocks(positive, *block_shape(share), new, old)
        return Score.of_blocks(blocks, self.named, self.where)

    def _rank(self, tops: list[Top]) -> Score:
        weight = self.form.weight("n")
        exactly = {"n": weight, tops[0]: -weight}
        if len(tops) > 1 or self.form.ratios or self.form.weights != exactly:
            raise Problem(
                f"top({tops[0].rank}) can only be compared with n",
                self.clause.span,
                f"Write n - top({tops[0].rank}) > 0 +/- 0.01.",
            )
        if (weight > 0) is not (self.comparison is Comparison.GREATER):
            raise Problem(
                "a clause can only ask that the new model is better than the others",
                self.clause.span,
                f"Write n - top({tops[0].rank}) > 0 +/- 0.01.",
            )
        return Score.linear(
            weight, -weight, Fraction(0), named=self.named, where=self.where, top=tops[0].rank
        )


def _is_positive(entries: Entries) -> bool:
    return any(entry > 0 for entry in entries)


def _name(left: Expression, right: Expression, among: Terms) -> str:
    """The name of left − right without its constant, in the user's own words."""
    terms = [*_terms(left, 1), *_terms(right, -1)]
    values = [evaluate(term, among) for _, term in terms]
    shown = [
        (sign, one, v)
        for (sign, one), v in zip(terms, values, strict=True)
        if v.weights or v.ratios
    ]
    constant = sum((sign * value.constant for sign, _, value in shown), Fraction(0))
    text = "".join(
        f" {'-' if sign < 0 else '+'} {unparse_expression(term, PRODUCT)}"
        for sign, term, _ in shown[1:]
    )
    if constant:
        text += f" {'+' if constant < 0 else '-'} {float(abs(constant)):g}"
    sign, first, _ = shown[0]
    start = f"-{unparse_expression(first, UNARY)}" if sign < 0 else unparse_expression(first)
    return start + text


def _terms(expression: Expression, sign: int) -> Iterator[tuple[int, Expression]]:
    """The terms of a sum, each with its sign."""
    match expression:
        case Negation():
            yield from _terms(expression.operand, -sign)
        case Operation(operator=Operator.ADD):
            yield from _terms(expression.left, sign)
            yield from _terms(expression.right, sign)
        case Operation(operator=Operator.SUBTRACT):
            yield from _terms(expression.left, sign)
            yield from _terms(expression.right, -sign)
        case _:
            yield sign, expression


# -- what makes no sense


def _require_ordinary_size(numbers: list[Fraction], span: Span) -> None:
    """Refuse numbers so small that no testset could measure them, or too large for floats."""
    if any(number != 0 and not 1 / LARGEST <= abs(number) <= LARGEST for number in numbers):
        raise Problem("the numbers of this clause are too large or too small", span)


def _require_both_answers_possible(normal: NormalClause, span: Span) -> None:
    clause = normal.greater
    if clause.score.highest <= clause.threshold:
        raise Problem("this clause can never be true", span, _reach_in_words(normal.score))
    if clause.score.lowest > clause.threshold:
        raise Problem("this clause is always true", span, _reach_in_words(normal.score))


def _reach_in_words(score: Score) -> str:
    lowest, highest = score.lowest, score.highest
    if highest >= LARGEST:
        return f"Whatever the models do, {score} is at least {float(lowest):g}."
    if lowest <= -LARGEST:
        return f"Whatever the models do, {score} is at most {float(highest):g}."
    reach = f"Whatever the models do, {score} lies between {float(lowest):g} and {float(highest):g}"
    why = " (n, o and d lie in [0, 1], and |n - o| is at most d)" if score.is_linear else ""
    return f"{reach}{why}."
