"""What goes on by itself: queues and ticks."""

from __future__ import annotations

import pytest

from easeci.ledger.signals import Signal
from easeci.service import project
from easeci.service.commits import advance as progress
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import import_labels
from tests.projects import ON_SEALED, add, opened, run_on
from tests.repositories import Workplace


@pytest.fixture
def place(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A repository with a first model, and a file that letters go to."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    return place


def test_a_commit_is_charged_while_others_wait(place: Workplace) -> None:
    """It sees sealed examples at once, so it can neither be dropped nor be free any more."""
    add(place, labelled=False)
    waiting = []
    for cut in (0.52, 0.55, 0.51):
        waiting.append(place.commit_cut(cut))
        assert run_on(place).row.signal is Signal.PENDING
    assert opened(place).state.testsets[1].steps_used == 3
    import_labels(opened(place), place.labels)
    answers = [run_on(place, commit) for commit in waiting]
    assert [answer.row.signal for answer in answers] == [Signal.PASS, Signal.FAIL, Signal.FAIL]
    steps = opened(place).state.testsets[1].steps
    assert [step.baseline for step in steps[1:]] == [waiting[0]] * 2


def test_a_failed_run_fails_in_its_turn(place: Workplace) -> None:
    """While a commit before it waits, it looks like any other that waits."""
    add(place, labelled=False)
    place.commit_cut(0.52)
    run_on(place)
    place.write("model.py", ON_SEALED)
    failing = place.commit("fails on sealed examples")
    assert run_on(place).row.signal is Signal.PENDING
    import_labels(opened(place), place.labels)
    answer = run_on(place, failing)
    assert (answer.row.signal, answer.row.step, answer.failure) == (Signal.FAIL, 2, None)


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = "2026-11-16T00:00:00Z"
        for module in (project, progress):
            monkeypatch.setattr(module, "utc_now", lambda: self.now)


def test_signals_come_on_their_tick(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first that is at least the time limit (half an hour) after the charge."""
    clock = Clock(monkeypatch)
    add(place, disclose="24h")
    clock.now = "2026-11-16T05:00:00Z"
    better = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    worse = place.commit_cut(0.75)
    assert run_on(place).row.signal is Signal.PENDING
    clock.now = "2026-11-16T23:30:01Z"
    last = place.commit_cut(0.8)
    assert run_on(place).row.signal is Signal.PENDING
    testset = opened(place).state.testsets[1]
    assert testset.history == "PFF"  # decided at once, one after the other
    clock.now = "2026-11-16T23:59:59Z"
    assert run_on(place, better).row.signal is Signal.PENDING
    clock.now = "2026-11-17T00:00:00Z"
    assert run_on(place, better).row.signal is Signal.PASS
    assert run_on(place, worse).row.signal is Signal.FAIL
    assert run_on(place, last).row.signal is Signal.PENDING
    clock.now = "2026-11-18T00:00:00Z"
    assert run_on(place, last).row.signal is Signal.FAIL


@pytest.mark.parametrize(("mode", "signal"), [("fp-free", Signal.FAIL), ("fn-free", Signal.PASS)])
def test_a_step_without_labels_at_its_tick_is_answered_as_unknown(
    place: Workplace, monkeypatch: pytest.MonkeyPatch, mode: str, signal: Signal
) -> None:
    clock = Clock(monkeypatch)
    add(place, labelled=False, disclose="24h", mode=mode)
    commit = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    clock.now = "2026-11-17T00:00:00Z"
    assert run_on(place, commit).row.signal is signal
    step = opened(place).state.testsets[1].steps[0]
    assert step.at_tick
    assert verify(opened(place)) == []


def test_before_its_tick_nothing_shows_of_what_was_decided(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repeated model is compared with the baseline that developers know of."""
    clock = Clock(monkeypatch)
    add(place, disclose="24h", unchanged="skip")
    first = place.git("rev-parse", "HEAD")
    place.commit_cut(0.52)
    run_on(place)
    assert opened(place).state.baseline != first
    again = place.git("commit-tree", f"{first}^{{tree}}", "-p", "HEAD", "-m", "back again")
    place.git("update-ref", "refs/heads/main", again)
    assert run_on(place, again).row.signal is Signal.BASELINE
    assert opened(place).state.baseline not in (first, again)
    clock.now = "2026-11-17T00:00:00Z"
    more = place.git("commit-tree", f"{first}^{{tree}}", "-p", "HEAD", "-m", "once more")
    place.git("update-ref", "refs/heads/main", more)
    assert run_on(place, more).row.signal is Signal.PENDING  # charged: the baseline is another now
