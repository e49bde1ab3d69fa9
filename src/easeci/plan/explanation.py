"""How the numbers of a plan are derived, section by section."""

from __future__ import annotations

from collections.abc import Iterator

from easeci.plan.planner import Plan
from easeci.plan.wording import count, exact_share

Section = tuple[str, tuple[str, ...]]


def explanation(plan: Plan) -> Iterator[Section]:
    """A heading and its lines: the examples to bring, the labels, then every estimator's size."""
    if not plan.useless:
        if plan.bring is not None:
            yield "Examples", tuple(_examples(plan))
        if plan.by_need:
            yield "Labels", tuple(_labels(plan))
    for estimate in plan.estimates:
        if estimate.applies:
            yield f"{estimate.estimator}: {estimate.reason}", estimate.derivation


def _examples(plan: Plan) -> Iterator[str]:
    bring = plan.bring
    assert bring is not None
    yield f"{plan.decides_by} needs {count(bring.sealed)}, as derived below"
    if bring.sample:
        yield (
            f"The public sample is set aside from what you bring: {count(bring.sample)} "
            f"(`sample: {plan.script.sample}`, at most 5%)"
        )
    if bring.each_slice is not None:
        yield (
            f"Every slice needs {count(bring.each_slice)} of them; how many examples that takes in "
            "all depends on the shares of the slices, which are known when a testset is sealed"
        )
    yield f"In all: {'' if bring.each_slice is None else 'at least '}{count(bring.examples)}"


def _labels(plan: Plan) -> Iterator[str]:
    life, labels = plan.life, plan.labels
    yield f"Commits as in `--commits {plan.mix.name}`: {plan.assumption}"
    yield (
        f"The first model has an accuracy of {exact_share(life.mix.accuracy)}; a commit changes "
        f"{exact_share(life.mix.usual_difference)} of the predictions"
    )
    proof = "pass" if plan.script.mode == "fp-free" else "fail"
    yield (
        f"{count(round(life.commits))} commits are tested, and about {life.proofs:.1f} of them "
        f"{proof}; each answer changes the levels of the later ones"
    )
    yield (
        "All commits walk the examples in the same order, so a label serves every commit. An "
        "example gets a label if some commit needs it before its answer is known:"
    )
    yield f"  {count(labels.in_all)} over the life, {count(labels.per_commit)} a commit"
    if plan.prefix:
        yield f"  {count(plan.prefix)} of them once, before the first answer: see sequential below"
    if any(not clause.score.is_linear for clause in plan.script.clauses):
        yield (
            "Measures of a class are taken to follow the accuracy: if a model gets better by a "
            "point, so do its precision, recall, F1 and AUC"
        )
    yield (
        f"Worst commit: {count(labels.worst_commit)}, for one whose answer is hardest to "
        "tell, on a testset without labels, at the levels of the last step"
    )
