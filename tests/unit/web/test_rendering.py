"""From values to HTML."""

from __future__ import annotations

import pytest

from easeci.web.rendering import in_code


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`easeci log` shows it", "<code>easeci log</code> shows it"),
        ("`<b>` & `x`", "<code>&lt;b&gt;</code> &amp; <code>x</code>"),
        ("one ` alone", "one ` alone"),
    ],
)
def test_what_stands_between_backticks_is_code_and_escaped(text: str, html: str) -> None:
    assert in_code(text) == html
