"""JSON values as texts, exactly: equal values are spelt the same, and no digit is lost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from json.encoder import encode_basestring
from typing import Any

LONGEST_DOUBLE = 40
"""A decimal number of more characters keeps its spelling: it has more digits than a double."""
LONGEST_WHOLE = 1000


class JsonNumber(str):
    """A number as it is written in JSON."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The usual spelling of the double that it is, or its own if it is not exactly one."""
        if len(self) > LONGEST_DOUBLE:
            return str(self)
        value = float(self) + 0.0  # -0.0 equals 0.0 and is spelt the same
        return repr(value) if Decimal(self) == Decimal(repr(value)) else str(self)


def _whole(text: str) -> int | JsonNumber:
    # Turning very long texts into numbers takes long, and Python refuses it.
    return JsonNumber(text) if len(text) > LONGEST_WHOLE else int(text)


def _no_constant(constant: str) -> None:
    raise ValueError(constant)


EXACT_DECODER = json.JSONDecoder(
    parse_float=JsonNumber, parse_int=_whole, parse_constant=_no_constant
)
"""Decodes decimal numbers as :class:`JsonNumber`; NaN and Infinity are errors."""


def json_text(value: Any) -> str:
    """A JSON value as one text: a text as it is, all else as JSON with sorted keys.

    ValueError or TypeError if JSON cannot hold it, RecursionError if it is nested too deeply.
    """
    if isinstance(value, str) and not isinstance(value, JsonNumber):
        return value
    return _spelt(value)


def _spelt(value: Any) -> str:
    if isinstance(value, JsonNumber):
        return value.text
    if isinstance(value, str):
        return str(encode_basestring(value))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _finite(float(value))
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key that is not text")
        pairs = (f"{encode_basestring(key)}: {_spelt(value[key])}" for key in sorted(value))
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return "[" + ", ".join(map(_spelt, value)) + "]"
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return _spelt(value.item())  # a number of numpy
    if hasattr(value, "tolist"):
        return _spelt(value.tolist())
    raise TypeError("not a JSON value")


def _finite(value: float) -> str:
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("JSON has no such number")
    return repr(value + 0.0)
