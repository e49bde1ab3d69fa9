"""Pages of the site from templates."""

from __future__ import annotations

from typing import Any

import pytest
from jinja2 import UndefinedError

from easeci.web.rendering import rendered

VALUES: dict[str, Any] = {"project": "<b>model</b>", "visitor": None, "path": "/"}


def test_whatever_a_page_is_given_is_shown_and_never_run() -> None:
    page = rendered("error.html", message="<script>alert(1)</script>", hint="Use `a & b`", **VALUES)
    assert "<script>alert" not in page
    assert "<b>model" not in page
    assert "&lt;b&gt;model&lt;/b&gt;" in page
    assert "<code>a &amp; b</code>" in page


def test_a_value_that_is_missing_is_an_error_and_not_a_blank() -> None:
    with pytest.raises(UndefinedError, match="hint"):
        rendered("error.html", message="it failed", **VALUES)
