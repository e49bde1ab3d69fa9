"""How the numbers of a plan are derived, section by section."""

from __future__ import annotations

from collections.abc import Iterator

from easeci.plan.planner import Plan
from easeci.plan.wording import count

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
    yield f"In all: {count(bring.examples)}"


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
    yield (
        f"Worst commit: {count(labels.worst_commit)}, for one whose answer is hardest to "
        "tell, on a testset without labels, at the levels of the last step"
    )


def exact_share(value: float) -> str:
    """A share in percent, as short as possible: 8%, 0.5%."""
    return f"{100 * value:.4g}%"
