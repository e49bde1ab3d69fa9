"""JSON as Python and JavaScript write it, and one spelling for equal values."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import DataError
from easeci.tables.logs.json_text import decode, digest, text
from tests.cases import each_case

ANY = msgspec.json.Decoder(Any)
TEXTS = st.text(st.sampled_from('NaN": ,\\{}[]k-'), max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | TEXTS | st.just(float("nan")) | st.just(float("inf")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)


def named(value: Any) -> Any:
    """The same value with the names of constants instead of constants."""
    if isinstance(value, float):
        return "NaN" if value != value else "Infinity"
    if isinstance(value, list):
        return [named(item) for item in value]
    return {k: named(v) for k, v in value.items()} if isinstance(value, dict) else value


@given(VALUES)
def test_constants_are_read_as_their_names_and_texts_stay_as_they_are(value: Any) -> None:
    """Also texts that look like a key with a constant."""
    assert decode(json.dumps(value).encode(), ANY, "here") == named(value)


@each_case(
    "value",
    [
        ": NaN",
        '": NaN',
        'k": NaN',
        '"k": NaN, ',
        '\\": NaN',
        {"NaN": "NaN"},
        [": NaN", "k", ": NaN"],
    ],
)
def test_texts_that_look_like_constants_stay_as_they_are(value: Any) -> None:
    """Even in a file that has constants elsewhere."""
    for whole in ({"a": value, "b": float("nan")}, [float("inf"), {"k": value}]):
        content = json.dumps(whole).encode()
        assert decode(content, ANY, "here") == named(whole)


@each_case(
    "content",
    [b"", b"{", b"nan", b"[NaN", b'{"a": NaN', b"\xff", b'"\xff"', b"[" * 100_000],
)
def test_what_is_not_json_is_refused(content: bytes) -> None:
    with pytest.raises(DataError, match=r"^here is not valid JSON"):
        decode(content, ANY, "here")


def test_a_wrong_type_is_refused_by_its_place_and_not_quoted() -> None:
    decoder = msgspec.json.Decoder(dict[str, int])
    for content in (b'{"a": "secret"}', b'{"a": NaN}', b'{"a": Infinity}'):
        with pytest.raises(DataError, match="here is not as expected: Expected `int`") as caught:
            decode(content, decoder, "here")
        assert "secret" not in str(caught.value)


@each_case(
    "value, spelt",
    [("x", "x"), (7, "7"), (7.0, "7"), (7.5, "7.5"), (True, "true"), (2**70, str(2**70)),
     ({"b": 1, "a": "ü"}, '{"a": "ü", "b": 1}')],
)  # fmt: skip
def test_values_as_text(value: Any, spelt: str) -> None:
    assert text(value) == spelt


def test_digests_are_of_the_value_and_not_of_its_spelling() -> None:
    assert digest({"a": 1, "b": [2]}) == digest({"b": [2], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})
    assert digest("1") != digest(1)
