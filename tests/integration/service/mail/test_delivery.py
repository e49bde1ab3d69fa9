"""Letters are sent when there is something to say; no step is spent if none could be sent."""

from __future__ import annotations

import pytest

from easeci.errors import UsageError
from easeci.service.testsets.retire import retire_testset
from tests.integration.service.mail.letters import letters
from tests.projects import add, opened, run_on
from tests.repositories import Workplace


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
