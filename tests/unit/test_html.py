"""The one way to make HTML: what is escaped, and what it costs commands that make none."""

from __future__ import annotations

import subprocess
import sys

import pytest

from easeci.html import in_code, render
from easeci.ledger.signals import Signal


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("`easeci log` shows it", "<code>easeci log</code> shows it"),
        ("`<b>` & `x`", "<code>&lt;b&gt;</code> &amp; <code>x</code>"),
        ("one ` alone", "one ` alone"),
        ("a \x1b[31m colour", "a  [31m colour"),
    ],
)
def test_what_stands_between_backticks_is_code_and_escaped(text: str, html: str) -> None:
    assert in_code(text) == html


def test_values_are_escaped_and_lose_control_characters_but_keep_their_lines() -> None:
    values = {"project": "p", "visitor": None, "path": "/", "signals": Signal, "number": 1}
    packages = ("easeci.web", "easeci.views")
    page = render("log.html", packages, text="<script>\n\t\x1b[31m\x00\x7f", **values)
    assert "&lt;script&gt;\n\t [31m  </pre>" in page


def test_nothing_that_makes_no_page_loads_jinja() -> None:
    modules = "easeci.html, easeci.notify.letters, easeci.views.status, easeci.views.history"
    program = f"import sys, {modules}; sys.exit('jinja2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
