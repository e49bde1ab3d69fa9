"""Verifying a store finds an answer that does not follow from its verdict."""

from __future__ import annotations

from easeci.service.custody.verify import verify
from tests.projects import opened, run_on
from tests.repositories import Workplace


def test_an_answer_that_is_not_that_of_its_verdict_is_found(sealed: Workplace) -> None:
    """As if somebody had written the whole chain anew, and left the verdict as it was."""
    sealed.commit_cut(0.52)
    run_on(sealed)
    project = opened(sealed)
    assert verify(project) == []
    assert sealed.easeci("log", "--verify", code=0).stdout.splitlines() == [
        "Every event, label, example and order is as it was recorded.",
        "Every verdict was decided again, with the same result.",
    ]
    (step,) = project.state.testsets[1].steps
    assert step.passed is True
    step.passed = False
    found = verify(project)
    assert "step 1 of testset 1: its answer is not that of its verdict" in found
