"""What letters say, and to whom."""

from __future__ import annotations

from tests.integration.service.mail.letters import letters
from tests.projects import add, opened, run_on
from tests.repositories import Workplace


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
