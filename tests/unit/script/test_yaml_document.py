"""The script as YAML: all forms that are allowed, and texts that are not scripts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import ScriptError
from easeci.script import Script, parse_script
from tests.cases import each_case
from tests.unit.script.list_form import LIST_FORM


def test_list_and_mapping_say_the_same() -> None:
    mapping = "\n".join(line.replace("  - ", "  ") for line in reversed(LIST_FORM.splitlines()[1:]))
    assert parse_script("ml:\n" + mapping) == parse_script(LIST_FORM)


def test_the_keys_may_stand_at_the_top() -> None:
    top = "\n".join(line.replace("  - ", "") for line in LIST_FORM.splitlines()[1:])
    assert parse_script(top) == parse_script(LIST_FORM)


def test_a_travis_file_may_hold_anything_else() -> None:
    travis = "language: python\nmatrix: {include: [{python: !odd 3.8}]}\n" + LIST_FORM
    assert parse_script(travis) == parse_script(LIST_FORM)


@each_case("change", [lambda t: "\ufeff" + t, lambda t: t.replace("\n", "\r\n")])
def test_a_byte_order_mark_and_crlf_change_nothing(change: object) -> None:
    assert callable(change)
    assert parse_script(change(LIST_FORM)) == parse_script(LIST_FORM)


_PIECES = (
    "ml:/\n/  - /steps: 32/condition: n > 0.5 +- 0.1/{/}/[/]/&a/*a/? /: /|/>/'/!!int/---/.../"
    '"/%YAML 1.2/\t/#/- /~/mode'
)
pieces = st.sampled_from(_PIECES.split("/"))


@given(st.one_of(st.text(), st.lists(pieces, max_size=30).map("".join)))
def test_any_text_is_a_script_or_a_script_error(text: str) -> None:
    """No text of any kind raises anything but a ScriptError."""
    try:
        assert isinstance(parse_script(text), Script)
    except ScriptError as error:
        assert str(error)
