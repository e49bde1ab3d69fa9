"""Keys of a terminal, and text that is safe on one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from easeci.cli import keyboard
from easeci.cli.keyboard import SMALLEST, USUAL, Keyboard, in_words, wrapped
from easeci.cli.terminal import safe
from easeci.errors import UsageError


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A keyboard, and a function that presses its keys."""
    reading, writing = os.pipe()
    terminal = SimpleNamespace(isatty=lambda: True, fileno=lambda: reading)
    monkeypatch.setattr(keyboard, "sys", SimpleNamespace(stdin=terminal, stdout=terminal))
    with os.fdopen(writing, "wb", buffering=0) as keys:

        def press(pressed: bytes) -> None:
            keys.write(pressed)
            keys.close()  # so that a key too many ends the test, and does not wait for ever

        yield Keyboard(), press
    os.close(reading)


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (b"a1", ["a", "1"]),
        (b"\x1b[5~\x1b[B ", ["page up", "page down", "page down"]),
        (b"\r\n\x7f\x04", ["enter", "enter", "backspace", "end"]),
        (b"\x1b[15~x", ["", "x"]),
        ("ä".encode(), ["", ""]),
    ],
)
def test_keys_have_names_and_unknown_ones_mean_nothing(
    typed: Any, keys: bytes, names: list[str]
) -> None:
    """A key that sends several bytes is one key: no part of it is an answer."""
    board, press = typed
    press(keys)
    assert [board.key() for _ in names] == names


def test_without_a_terminal_another_way_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    piped = SimpleNamespace(isatty=lambda: False)
    monkeypatch.setattr(keyboard, "sys", SimpleNamespace(stdin=piped, stdout=piped))
    with pytest.raises(UsageError, match="needs a terminal") as error:
        Keyboard()
    assert "labels export" in str(error.value.hint)


@pytest.mark.parametrize(
    ("told", "size"), [((120, 50), (120, 50)), ((5, 3), SMALLEST), ((0, 0), USUAL), (None, USUAL)]
)
def test_a_terminal_has_a_usable_size(
    typed: Any,
    monkeypatch: pytest.MonkeyPatch,
    told: tuple[int, int] | None,
    size: tuple[int, int],
) -> None:
    """Some terminals do not tell their size, or tell nothing of use."""

    def tell(_: int) -> tuple[int, int]:
        if told is None:
            raise OSError
        return told

    monkeypatch.setattr(os, "get_terminal_size", tell)
    assert typed[0].size() == size


@given(st.text())
def test_no_text_commands_the_terminal(text: str) -> None:
    assert all(letter.isprintable() or letter == "\n" for letter in safe(text))
    assert "\x1b" not in in_words({"value": text})


@given(st.text(alphabet="ab 模型\n", max_size=60), st.integers(4, 20))
def test_lines_fit_the_width_and_lose_no_letter(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert all(cell_len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
