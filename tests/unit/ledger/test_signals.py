"""The vocabulary of signals."""

from __future__ import annotations

from easeci.errors import ExitCode
from easeci.ledger.signals import APPEARANCES, Signal


def test_every_signal_can_be_shown() -> None:
    assert set(APPEARANCES) == set(Signal)


def test_no_two_signals_look_alike_without_colour() -> None:
    assert len({signal.symbol for signal in Signal}) == len(Signal)
    assert len({signal.word for signal in Signal}) == len(Signal)
    assert len({signal.css_class for signal in Signal}) == len(Signal)


def test_only_the_signal_fail_ends_a_command_with_the_code_of_a_fail() -> None:
    assert [s for s in Signal if s.exit_code is ExitCode.FAIL] == [Signal.FAIL]
