"""What a submission waits for."""

from __future__ import annotations

from itertools import product

from easeci.ledger.submission import Submission


def submission() -> Submission:
    return Submission(1, "1" * 40, "", "main", True, 1, "")


def test_what_an_older_version_built_waits_until_it_is_charged_answered_or_superseded() -> None:
    """All combinations: exactly one of them waits."""
    waiting = []
    options = ((False, True), (None, 1), (None, 1), (None, "pass"), (None, 2))
    for built, step, repeats, signal, other in product(*options):
        found = submission()
        found.built, found.step, found.repeats = built, step, repeats
        found.signal, found.superseded_by = signal, other
        if found.queued:
            waiting.append((built, step, repeats, signal, other))
    assert waiting == [(True, None, None, None, None)]


def test_a_run_has_ended_with_predictions_or_with_a_failure() -> None:
    found = submission()
    assert not found.ready
    found.built = True
    assert found.ready
    found.built, found.run_failure = False, "exit code 1"
    assert found.ready
