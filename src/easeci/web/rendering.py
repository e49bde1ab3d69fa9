"""From values to HTML. Whatever is not markup of ours is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from easeci.ledger.signals import Signal
from easeci.plan.document import rough_hours
from easeci.times import readable_time
from easeci.views.report.page import symbol, symbols

BETWEEN_BACKTICKS = re.compile(r"`([^`\n]+)`")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("easeci.web", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(FILTERS)
    environment.globals.update(symbols=as_markup(symbols()))
    return environment


def rendered(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def number(value: float | None) -> str:
    """With separators: 12,345; a dash where there is none."""
    return "–" if value is None else f"{value:,}"


def decimal(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}".replace("-", "−")


def in_code(text: str) -> Markup:
    """Commands and names that a message has between backticks, as code."""
    return as_markup(BETWEEN_BACKTICKS.sub(r"<code>\1</code>", str(escape(text))))


def when(at: str) -> Markup:
    """A time of the record, as people read it."""
    return Markup('<time datetime="{}">{}</time>').format(at, readable_time(at))


def signal_mark(signal: Signal) -> Markup:
    return as_markup(symbol(signal))


def as_markup(html: str) -> Markup:
    """HTML or SVG that easeci itself has made, and escaped where it holds anything else."""
    return Markup(html)  # noqa: S704


FILTERS: dict[str, Callable[..., Any]] = {
    "number": number,
    "decimal": decimal,
    "when": when,
    "in_code": in_code,
    "hours": rough_hours,
    "signal_mark": signal_mark,
}
