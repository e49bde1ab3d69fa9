"""The drawing of an interval, and errors on stderr."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.cli import terminal
from easeci.cli.terminal import Ruler, print_hanging, program_output, ruler_around, show_error
from easeci.errors import UsageError

VALUES = st.floats(-2, 2)


@pytest.mark.parametrize(("plain", "drawn"), [(True, "[--o---]|.."), (False, "├──●───┤│··")])
def test_an_interval_is_drawn_to_scale(
    monkeypatch: pytest.MonkeyPatch, plain: bool, drawn: str
) -> None:
    """In ASCII too, where the terminal can show nothing else."""
    monkeypatch.setattr(terminal, "plain_characters", lambda: plain)
    drawing, scale = Ruler(0.0, 1.0, 11).draw((0.0, 0.7), 0.3, 0.8, "green")
    assert drawing.plain == drawn
    assert "0.8" in scale.plain.split()


@given(st.lists(VALUES, min_size=1, max_size=5), st.integers(10, 80))
def test_every_value_has_room_within_its_ruler(values: list[float], width: int) -> None:
    ruler = ruler_around(values, width)
    assert ruler.low < min(values) <= max(values) < ruler.high
    columns = [ruler.column(value) for value in sorted(values)]
    assert columns == sorted(columns)
    assert 0 <= columns[0] <= columns[-1] < width


def test_values_beyond_an_end_are_drawn_at_that_end() -> None:
    ruler = Ruler(-1.0, 1.0, 21)
    assert [ruler.column(value) for value in (-9.0, 0.0, 9.0)] == [0, 10, 20]


def test_the_threshold_is_always_on_the_scale() -> None:
    """Also where it stands so near to an end that both numbers do not fit."""
    for threshold in (0.0, 0.02, 0.5, 0.98, 1.0):
        _, scale = Ruler(0.0, 1.0, 20).draw((0.2, 0.4), None, threshold, "green")
        assert f"{threshold:.4g}" in scale.plain.split()


def test_nothing_that_users_wrote_is_read_as_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(UsageError("there is no file [red]x[/red].csv", hint="Name [bold]another[/]."))
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "error: there is no file [red]x[/red].csv\nName [bold]another[/].\n"


def test_further_lines_hang_below_the_words(capsys: pytest.CaptureFixture[str]) -> None:
    """They fit the terminal, have no blanks at their ends, and are never read as markup."""
    print_hanging("  next  ", "[red]" + 30 * "four ")
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("  next  [red]four four")
    assert others
    for line in (first, *others):
        assert len(line) <= terminal.output().width
        assert line == line.rstrip()
    assert all(line.startswith("        four") for line in others)


@given(st.text())
def test_what_a_program_printed_cannot_command_the_terminal(log: str) -> None:
    assert all(c.isprintable() for line in program_output(log).split("\n") for c in line)


def test_colours_and_progress_bars_of_a_program_stay_readable() -> None:
    log = "\n\x1b[31mred\x1b[0m\r\n 10%\r100%\x1b[K\n\tnext\x1b[2J\x07\n"
    assert program_output(log) == "red\n 10%\n100%\n    next�[2J�"
