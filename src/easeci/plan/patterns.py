"""The paper's optimisations: conditions whose shape bounds the variance of the estimate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from easeci.bounds.bound import round_up
from easeci.evidence.levels import log_fraction, log_level
from easeci.plan.baseline import beyond_published, hoeffding
from easeci.plan.clause_shapes import difference_of_accuracies, upper_bound_of_difference
from easeci.plan.estimate import (
    BennettTest,
    Estimate,
    FirstStage,
    HoeffdingTest,
    Rare,
    does_not_apply,
)
from easeci.plan.wording import count, exact, histories, probability, why_histories
from easeci.script import Estimator, NormalClause, Script

LOG_TWO = math.log(2.0)


def pattern1(script: Script) -> Estimate:
    """``d < A ± B /\\ n - o > C ± D``: filter on d without labels, then n − o by Bennett."""
    return _pattern1(script, Estimator.PATTERN1)


def pattern1_active(script: Script) -> Estimate:
    """Pattern 1, where only examples on which the models differ are labelled, commit by commit."""
    return _pattern1(script, Estimator.PATTERN1_ACTIVE)


def pattern2(script: Script) -> Estimate:
    """``n - o > C ± D``: d is measured to 2D without labels, then n − o by Bennett."""
    beyond = beyond_published(script, Estimator.PATTERN2)
    if beyond is not None:
        return beyond
    clause = script.clauses[0]
    scale = difference_of_accuracies(clause.score)
    if len(script.clauses) > 1 or scale is None:
        return does_not_apply(Estimator.PATTERN2, "needs a single clause, on n - o")
    level = log_level(script.delta, script.adaptivity, script.steps) - LOG_TWO
    stage = FirstStage(
        rare=Rare.DIFFERENCE,
        tolerance=2 * clause.tolerance / abs(scale),
        log_level=level,
        ceiling=None,
    )
    test = BennettTest(clause, level, scale, stage)
    opening = [
        *_halved_level_lines(script, level),
        f"First stage: d̂ to 2D = {exact(stage.tolerance)} without labels: "
        f"{_hoeffding_formula(stage)}",
        "Second stage: p = d̂ + 2D bounds E[(n_i − o_i)²]",
    ]
    if script.difference is None:
        return _pattern2_unsized(test, opening)
    share = stage.share(script.difference, stage.sample_size)
    examples = test.sample_size_for(share)
    per_commit = _labels_per_commit(share, test)
    return Estimate(
        estimator=Estimator.PATTERN2,
        applies=True,
        reason=(
            f"sized for the expected difference of {exact(script.difference)}; "
            "a commit that differs more needs more examples"
        ),
        examples=examples,
        labels=0,
        labels_per_commit=per_commit,
        unlabelled=stage.sample_size,
        tests=(test,),
        derivation=(
            *opening,
            f"At d̂ = {exact(script.difference)}: p = {exact(share)}",
            *_bennett_lines(test, share),
            f"Labels only where the models differ: p · N = {count(per_commit)} a commit",
        ),
    )


def pattern3(script: Script) -> Estimate:
    """``n > A ± B`` with a large A: n roughly to 2B, then precisely by Bennett on the errors."""
    beyond = beyond_published(script, Estimator.PATTERN3)
    if beyond is not None:
        return beyond
    clause = script.clauses[0]
    accuracy = _accuracy_above(script)
    if accuracy is None:
        return does_not_apply(Estimator.PATTERN3, "needs a single clause, of the form n > A")
    level = log_level(script.delta, script.adaptivity, script.steps) - LOG_TWO
    stage = FirstStage(
        rare=Rare.ERROR,
        tolerance=2 * accuracy.tolerance,
        log_level=level,
        ceiling=1 - accuracy.threshold,
    )
    test = BennettTest(clause, level, accuracy.scale, stage)
    share = stage.share(Fraction(0), stage.sample_size)
    examples = max(test.sample_size_for(share), stage.sample_size)
    baseline = hoeffding(script).examples
    assert baseline is not None
    if examples >= baseline:
        return does_not_apply(
            Estimator.PATTERN3,
            f"needs a larger A than {exact(accuracy.threshold)}: errors of up to {exact(share)} "
            f"vary too much, it would take {count(examples)} examples",
        )
    return Estimate(
        estimator=Estimator.PATTERN3,
        applies=True,
        reason=f"n > {exact(accuracy.threshold)} leaves few errors, so their share varies little",
        examples=examples,
        labels=examples,
        labels_per_commit=0,
        tests=(test,),
        derivation=(
            *_halved_level_lines(script, level),
            f"Coarse stage: n̂ to 2B = {exact(stage.tolerance)}: {_hoeffding_formula(stage)}",
            f"False if n̂ < A − 2B; otherwise errors are below p = 1 − A + 4B = {exact(share)}",
            *_bennett_lines(test, share),
            f"Both stages use the same labels: {count(examples)}",
        ),
    )


@dataclass(frozen=True)
class _AccuracyAbove:
    threshold: Fraction
    tolerance: Fraction
    scale: Fraction


def _accuracy_above(script: Script) -> _AccuracyAbove | None:
    clause = script.clauses[0]
    form = clause.greater
    only_new = form.score.new > 0 and form.score.old == 0 and form.score.difference == 0
    if len(script.clauses) > 1 or not only_new:
        return None
    scale = form.score.new
    return _AccuracyAbove(form.threshold / scale, clause.tolerance / scale, clause.score.new)


def _pattern2_unsized(test: BennettTest, opening: list[str]) -> Estimate:
    sizes = [
        f"d = {exact(difference)}: {count(test.sample_size_for(share))} examples, "
        f"{count(_labels_per_commit(share, test))} labels a commit"
        for difference in (Fraction(2, 100), Fraction(5, 100), Fraction(1, 10), Fraction(1, 5))
        for share in [min(Fraction(1), difference + test.first_stage.tolerance)]
    ]
    return Estimate(
        estimator=Estimator.PATTERN2,
        applies=True,
        reason=(
            "its size depends on d, which its first stage measures when it runs; give an expected "
            "difference to size it"
        ),
        unlabelled=test.first_stage.sample_size,
        tests=(test,),
        derivation=(*opening, "Its size for some values of d:", *(f"  {size}" for size in sizes)),
    )


def _pattern1(script: Script, estimator: Estimator) -> Estimate:
    beyond = beyond_published(script, estimator)
    if beyond is not None:
        return beyond
    found = _filter_and_test(script)
    if isinstance(found, str):
        return does_not_apply(estimator, found)
    filter_clause, test_clause, scale, ceiling = found
    level = log_level(script.delta, script.adaptivity, script.steps) - LOG_TWO
    filter_test = HoeffdingTest(filter_clause, level)
    stage = FirstStage(
        rare=Rare.DIFFERENCE,
        tolerance=filter_clause.tolerance / filter_clause.score.weight,
        log_level=level,
        ceiling=ceiling,
    )
    test = BennettTest(test_clause, level, scale, stage)
    share = stage.share(Fraction(0), stage.sample_size)
    examples = test.sample_size_for(share)
    active = estimator is Estimator.PATTERN1_ACTIVE
    per_commit = _labels_per_commit(share, test) if active else 0
    return Estimate(
        estimator=estimator,
        applies=True,
        reason=(
            f"'{filter_clause.text}' bounds the variance of n - o"
            + ("; only examples where the models differ need a label" if active else "")
        ),
        examples=examples,
        labels=0 if active else examples,
        labels_per_commit=per_commit,
        unlabelled=stage.sample_size,
        tests=tuple(filter_test if c is filter_clause else test for c in script.clauses),
        derivation=tuple(_pattern1_derivation(script, test, share, active)),
    )


def _filter_and_test(
    script: Script,
) -> tuple[NormalClause, NormalClause, Fraction, Fraction] | str:
    """The clause ``d < A``, the clause on n − o, its scale, and A; or why they are missing."""
    filters = [c for c in script.clauses if upper_bound_of_difference(c) is not None]
    tests = [c for c in script.clauses if difference_of_accuracies(c.score) is not None]
    if not filters:
        return "needs a clause d < A, which bounds how much the models differ"
    if not tests:
        return "needs a clause on n - o"
    if len(script.clauses) != 2:
        return "needs exactly two clauses: d < A and one on n - o"
    ceiling = upper_bound_of_difference(filters[0])
    scale = difference_of_accuracies(tests[0].score)
    assert ceiling is not None
    assert scale is not None
    return filters[0], tests[0], scale, ceiling


def _labels_per_commit(share: Fraction, test: BennettTest) -> int:
    """Labels of a commit: the share of the unrounded sample on which the models may differ."""
    bound = test.bound_for(share)
    return round_up(float(share) * bound.examples(float(test.clause.tolerance), test.log_level))


def _halved_level_lines(script: Script, level: float) -> list[str]:
    return [
        f"δ = 1 − {exact(script.reliability)} = {exact(script.delta)}, divided by "
        f"{histories(script)} ({why_histories(script)})",
        f"and by 2, one half for each stage: δ′ = {probability(level)}",
    ]


def _hoeffding_formula(stage: FirstStage) -> str:
    return (
        f"Hoeffding, one-sided: N′ = −ln δ′ / (2 ε′²) = {-stage.log_level:.4f} / "
        f"(2 · {exact(stage.tolerance)}²) = {count(stage.sample_size)} examples"
    )


def _bennett_lines(test: BennettTest, share: Fraction) -> list[str]:
    epsilon = test.clause.tolerance / abs(test.scale)
    bound = test.bound_for(share)
    exponent = bound.exponent(float(test.clause.tolerance))
    needed = LOG_TWO - test.log_level
    return [
        "Bennett, two-sided: N = ln(2/δ′) / (p · h(ε/p)), h(u) = (1+u) ln(1+u) − u",
        f"N = {needed:.4f} / ({exact(share)} · h({exact(epsilon)}/{exact(share)})) "
        f"= {needed:.4f} / {exponent:.6g} = {count(test.sample_size_for(share))} examples",
    ]


def _pattern1_derivation(
    script: Script, test: BennettTest, share: Fraction, active: bool
) -> list[str]:
    stage = test.first_stage
    ceiling = stage.ceiling
    assert ceiling is not None
    lines = [
        *_halved_level_lines(script, test.log_level),
        f"Filter: d̂ to ε′ = {exact(stage.tolerance)} without labels: {_hoeffding_formula(stage)}",
        f"False if d̂ > A + ε′; otherwise d < p = A + 2ε′ = {exact(share)}, and E[(n_i − o_i)²] ≤ p",
        *_bennett_lines(test, share),
    ]
    printed = test.sample_size_for(ceiling)
    if not active:
        return [
            *lines,
            f"(The paper prints p = A = {exact(ceiling)}: {count(printed)} examples.)",
        ]
    single = BennettTest(test.clause, log_fraction(script.delta) - LOG_TWO, test.scale, stage)
    ours, as_printed, undivided = (
        count(_labels_per_commit(p, t))
        for p, t in ((share, test), (ceiling, test), (ceiling, single))
    )
    return [
        *lines,
        f"Labels only where the models differ: p · N = {ours} a commit",
        f"(The paper prints p = A = {exact(ceiling)}: {as_printed} labels a commit; and with δ/2 "
        f"for every commit, no division by {histories(script)}: {undivided}.)",
    ]
