"""A submission waits exactly from its build until anything becomes of it."""

from __future__ import annotations

from itertools import product

from easeci.ledger.submission import Submission


def test_what_is_built_waits_until_it_is_charged_answered_or_superseded() -> None:
    """All sixteen combinations: exactly one of them waits."""
    waiting = []
    for built, step, signal, other in product((False, True), (None, 1), (None, "pass"), (None, 2)):
        submission = Submission(1, "1" * 40, "", "main", True, 1, "", built)
        submission.step, submission.signal, submission.superseded_by = step, signal, other
        if submission.queued:
            waiting.append((built, step, signal, other))
    assert waiting == [(True, None, None, None)]
