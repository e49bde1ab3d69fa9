"""Decode JSON as tools of Python and JavaScript write it, and spell values in one canonical way.

Python writes bare ``NaN`` and ``Infinity``, and JavaScript writes halves of surrogate pairs. The
standard forbids both. Where they occur, the constants are read as the texts "NaN" and "Infinity".
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, TypeVar

import msgspec

from easeci.errors import DataError

T = TypeVar("T")
DIGEST_LENGTH = 32
_BEFORE_CONSTANT = re.compile(rb'"[\w.@%/-]+"\s{0,8}:\s{0,8}\Z')
"""The key before a constant. Inside a text every quote has a backslash before it, and between two
texts there is a comma or a colon; so the second quote closes a text, and a value follows."""
_LONGEST_KEY = 200


def decode(content: bytes, decoder: msgspec.json.Decoder[T], where: str) -> T:
    """Decode JSON into the fields that the decoder declares. DataError names ``where``."""
    try:
        return decoder.decode(content)
    except msgspec.ValidationError as error:
        raise _unexpected(error, where) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # perhaps only for a constant or half a surrogate pair
    try:
        return decoder.decode(_quoted_nan(content))
    except msgspec.ValidationError as error:
        raise _unexpected(error, where) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decode_mended(content, decoder, where)


def _decode_mended(content: bytes, decoder: msgspec.json.Decoder[T], where: str) -> T:
    """Decode by the standard library, which is slow, but takes what Python and JavaScript write."""
    try:
        value = json.loads(content, parse_constant=str)
        return decoder.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    except msgspec.ValidationError as error:
        raise _unexpected(error, where) from None
    except (ValueError, RecursionError, MemoryError):
        raise DataError(f"{where} is not valid JSON", hint="Is the file complete?") from None


def _unexpected(error: msgspec.ValidationError, where: str) -> DataError:
    """The message of msgspec names the field and the two types, and quotes no value."""
    return DataError(
        f"{where} is not as expected: {error}", hint="Is it a log of a version that easeci knows?"
    )


def _quoted_nan(content: bytes) -> bytes:
    """NaN as the text "NaN" where it is the value of a key. Scorers write it for many samples."""
    parts = content.split(b"NaN")
    for index in range(len(parts) - 1):
        if _BEFORE_CONSTANT.search(parts[index][-_LONGEST_KEY:]):
            parts[index] += b'"NaN"'
        else:
            parts[index] += b"NaN"
    return b"".join(parts)


def canonical(value: Any) -> str:
    """A value as JSON text, the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def text(value: Any) -> str:
    """An output or id as text: text is left alone, and whole numbers are spelt by their digits."""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return canonical(value)


def digest(value: Any) -> str:
    """A short digest of a value, the same for equal values."""
    encoded = msgspec.json.encode(value, order="sorted")
    return hashlib.sha256(encoded).hexdigest()[:DIGEST_LENGTH]
