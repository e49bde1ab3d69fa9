"""A plan as text: every estimator has a row, and what does not apply says why."""

from __future__ import annotations

import pytest

from easeci.cli.plan_text import _short, show_plan
from easeci.cli.script_options import Request
from easeci.cli.terminal import output
from easeci.plan import plan
from easeci.service.scripts import make_script


def shown(capsys: pytest.CaptureFixture[str], *, explain: bool, condition: str) -> str:
    """What is printed of a condition's plan."""
    output.cache_clear()  # the console of this test, not of another one
    script = make_script(condition, reliability=0.99, steps=4)
    show_plan(Request(script, "-c", {"mode": "fp-free"}), plan(script), explain=explain)
    output.cache_clear()
    return capsys.readouterr().out


def test_every_estimator_has_a_row_and_one_is_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, explain=False, condition="n - o > 0.02 +/- 0.05")
    script = make_script("n - o > 0.02 +/- 0.05", reliability=0.99, steps=4)
    found = plan(script)
    rows = {line[2:].split()[0]: line for line in text.splitlines() if len(line.split()) > 5}
    for estimate in found.estimates:
        assert str(estimate.estimator) in rows
    marked = [line for line in text.splitlines() if line.startswith("> ")]
    assert len(marked) == 1
    assert marked[0].split()[1] == str(found.chosen.estimator)
    assert "by default: mode fp-free" in text


def test_derivations_are_shown_only_if_they_are_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    short = shown(capsys, explain=False, condition="n > 0.8 +/- 0.05")
    long = shown(capsys, explain=True, condition="n > 0.8 +/- 0.05")
    assert "--explain derives these numbers" in short
    assert "--explain derives these numbers" not in long
    assert len(long.splitlines()) > len(short.splitlines()) + 5


def test_large_counts_fit_their_column() -> None:
    assert [_short(count) for count in (0, 999_999, 1_000_000, 12_345_678)] == [
        "0",
        "999,999",
        "1.0M",
        "12.3M",
    ]
