"""Errors: where the caret stands, what is never quoted, and how commands end."""

from __future__ import annotations

from easeci import errors
from easeci.errors import EaseciError, Excerpt, ExitCode, ScriptError, unexpected
from easeci.script.keys import parse_steps

LONG = "".join(chr(0x4E00 + i) for i in range(300))
"""300 different characters."""


def test_the_caret_stands_below_its_character() -> None:
    """Wherever a long line is cut, the caret is below the character that it points at."""
    for caret in range(len(LONG)):
        drawn, pointer = Excerpt("x", 1, caret + 1, LONG, caret).drawing().split("\n")
        assert drawn[pointer.index("^")] == LONG[caret]
        assert len(drawn) < 150


def test_the_caret_never_reaches_beyond_its_line() -> None:
    """A span that ends in a later line is underlined up to the end of this line."""
    drawn, pointer = Excerpt("x", 1, 3, "abcde", 2, width=40).drawing().split("\n")
    assert (drawn, pointer) == ("  abcde", "    ^^^")


def test_characters_that_cannot_be_printed_move_no_caret() -> None:
    """A tab or an escape sequence is shown as one space."""
    drawn, _ = Excerpt("x", 1, 1, "a\tb\x1b[2Jc", 0).drawing().split("\n")
    assert drawn == "  a b [2Jc"


def test_an_error_says_what_then_where_then_what_to_do() -> None:
    excerpt = Excerpt("file.yml", 3, 2, "abc", 1)
    shown = str(ScriptError("wrong", hint="Mend it.", excerpt=excerpt)).split("\n")
    assert shown == ["wrong", "in file.yml, line 3, column 2:", "  abc", "   ^", "Mend it."]


def test_an_unforeseen_error_does_not_quote_its_message() -> None:
    """It names the last function of easeci that was running; the message may quote a label."""
    try:
        parse_steps(None)  # type: ignore[arg-type]
    except TypeError as error:
        shown = unexpected(error)
        assert str(error) not in shown
    assert shown.startswith("unexpected TypeError in parse_steps, line ")
    assert unexpected(ValueError("label")) == "unexpected ValueError in an unknown place"


def test_no_error_ends_a_command_like_a_verdict() -> None:
    """Only a verdict ends a command with the codes of a pass and a fail."""
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, EaseciError)]
    assert len(kinds) > 8
    assert {kind.exit_code for kind in kinds}.isdisjoint({ExitCode.PASS, ExitCode.FAIL})
