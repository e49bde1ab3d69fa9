"""What goes on by itself: queues, ticks, letters and the end of a testset."""

from __future__ import annotations

import mailbox
from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.ledger.signals import Signal
from easeci.service import project
from easeci.service.commits import advance as progress
from easeci.service.commits.answer import RunAnswer
from easeci.service.commits.submit import run
from easeci.service.labelling.files import import_labels
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.service.testsets.release import release_testset
from easeci.service.testsets.retire import retire_testset
from tests.repositories import Workplace


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{tmp_path / 'letters'}")
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    return place


def opened(place: Workplace) -> Project:
    return open_project(place.repository, create=True)


def add(place: Workplace, *, labelled: bool = True, **keys: str) -> None:
    if keys:
        place.write_script(**keys)
        place.commit("script")
    script = place.repository / ".easeci.yml"
    labels = place.labels if labelled else None
    add_testset(opened(place), Offer(place.examples, labels=labels, script=script))


def run_on(place: Workplace, revision: str = "HEAD") -> RunAnswer:
    return run(opened(place), revision)


def letters(place: Workplace) -> list[mailbox.mboxMessage]:
    path = place.folder / "letters"
    if not path.exists():
        return []
    box = mailbox.mbox(path, create=False)
    try:
        return list(box)
    finally:
        box.close()


def test_a_newer_commit_takes_the_place_of_one_that_waits_for_its_turn(place: Workplace) -> None:
    """Unspent; the one that is being tested stays."""
    add(place, labelled=False)
    run_on(place)
    tested = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    second = place.commit_cut(0.55)
    assert run_on(place).row.signal is Signal.PENDING
    third = place.commit_cut(0.51)
    assert run_on(place).row.signal is Signal.PENDING
    assert run_on(place, second).row.signal is Signal.SUPERSEDED
    import_labels(opened(place), place.labels)
    assert run_on(place, tested).row.signal is Signal.PASS
    assert run_on(place, third).row.step == 2
    assert opened(place).state.testsets[1].steps_used == 2


def test_under_none_nothing_is_superseded(place: Workplace) -> None:
    """The number of steps would tell whether anything waits."""
    add(place, labelled=False, adaptivity="none -> third@example.org")
    run_on(place)
    for cut in (0.52, 0.55, 0.51):
        place.commit_cut(cut)
        assert run_on(place).row.signal is Signal.ACCEPTED
    import_labels(opened(place), place.labels)
    assert opened(place).state.testsets[1].steps_used == 3


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = "2026-11-16T00:00:00Z"
        for module in (project, progress):
            monkeypatch.setattr(module, "utc_now", lambda: self.now)


def test_signals_come_on_their_tick(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    add(place, disclose="24h")
    run_on(place)
    clock.now = "2026-11-16T05:00:00Z"
    better = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    place.commit_cut(0.75)
    assert run_on(place).row.signal is Signal.PENDING
    assert opened(place).state.testsets[1].steps_used == 1
    clock.now = "2026-11-16T23:59:59Z"
    assert run_on(place, better).row.signal is Signal.PENDING
    clock.now = "2026-11-17T00:00:00Z"
    assert run_on(place, better).row.signal is Signal.PASS
    assert run_on(place).row.signal is Signal.PENDING  # charged and decided now, shown a day later
    clock.now = "2026-11-18T00:00:00Z"
    assert run_on(place).row.signal is Signal.FAIL


def test_the_alarm_comes_when_the_budget_is_used(place: Workplace) -> None:
    add(place, email="owner@example.org", steps="1")
    run_on(place)
    assert letters(place) == []
    place.commit_cut(0.52)
    run_on(place)
    (alarm,) = letters(place)
    assert alarm["To"] == "owner@example.org"
    assert "new testset" in alarm["Subject"]
    run_on(place)
    assert len(letters(place)) == 1


def test_the_alarm_comes_on_first_change_and_by_hand(place: Workplace) -> None:
    add(place, email="owner@example.org", adaptivity="firstChange")
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    assert len(letters(place)) == 1
    from tests.repositories import write_examples

    write_examples(place.examples, place.labels, start=9000)
    add(place)
    retire_testset(opened(place), "by hand")
    assert len(letters(place)) == 2


def test_a_warning_comes_when_two_steps_are_left(place: Workplace) -> None:
    add(place, email="owner@example.org", steps="3")
    run_on(place)
    place.commit_cut(0.75)
    run_on(place)
    (warning,) = letters(place)
    assert "2 steps" in warning.as_string()


def test_under_none_the_verdict_goes_to_the_third_party_only(place: Workplace) -> None:
    add(place, adaptivity="none -> third@example.org", email="owner@example.org")
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    (verdict,) = letters(place)
    assert verdict["To"] == "third@example.org"
    assert "pass" in verdict["Subject"].lower()
    (message,) = opened(place).state.messages
    plain = verdict.as_string().replace("=\n", "").replace("\n", "")
    assert message.head.code in plain


def test_without_a_transport_no_step_is_spent(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(place, adaptivity="none -> third@example.org")
    run_on(place)
    place.commit_cut(0.52)
    monkeypatch.delenv("EASECI_SMTP_URL")
    with pytest.raises(UsageError, match="EASECI_SMTP_URL"):
        run_on(place)
    assert opened(place).state.testsets[1].steps_used == 0
    assert len(opened(place).state.submissions) == 1


def test_a_testset_in_use_is_not_released(place: Workplace, tmp_path: Path) -> None:
    add(place)
    with pytest.raises(UsageError, match="still in use"):
        release_testset(opened(place), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_retired_testset_is_released_with_the_labels_that_were_given(
    place: Workplace, tmp_path: Path
) -> None:
    add(place, labelled=False)
    some = tmp_path / "some.csv"
    some.write_text("".join(place.labels.read_text().splitlines(keepends=True)[:41]))
    import_labels(opened(place), some)
    retire_testset(opened(place), "by hand")
    done = release_testset(opened(place), tmp_path / "out")
    assert (done.examples, done.labels) == (1500, 40)
    out = tmp_path / "out"
    assert (out / "examples.csv").read_bytes() == place.examples.read_bytes()
    assert sorted((out / "labels.csv").read_text().split()) == sorted(some.read_text().split())
    with pytest.raises(UsageError, match="empty folder"):
        release_testset(opened(place), out)
    assert opened(place).state.testsets[1].released_at is not None
