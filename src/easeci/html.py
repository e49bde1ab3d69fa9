"""The one way to make HTML: Jinja templates that escape everything but easeci's own markup.

A package keeps its templates in its folder ``templates``. Jinja is loaded when the first page is
made, so that commands without one start quickly.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from easeci.times import readable_time

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

BETWEEN_BACKTICKS = re.compile(r"`([^`\n]+)`")
CONTROL_CHARACTERS = {code: " " for code in (*range(32), 127) if chr(code) not in "\n\t"}


def render(template: str, packages: tuple[str, ...], **values: Any) -> str:
    """A page from a template; of two packages that have it, the first one gives it."""
    return _environment(packages).get_template(template).render(**values)


@cache
def _environment(packages: tuple[str, ...]) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_without_controls,
    )
    environment.filters.update(
        {"number": number, "decimal": decimal, "when": when, "in_code": in_code}
    )
    return environment


def _without_controls(value: Any) -> Any:
    """HTML has no control characters, and a terminal that shows the source may obey them."""
    from markupsafe import Markup

    if isinstance(value, str) and not isinstance(value, Markup):
        return value.translate(CONTROL_CHARACTERS)
    return value


def number(value: float | None) -> str:
    """A number with separators, such as 12,345; a dash for None."""
    return "–" if value is None else f"{value:,}"


def decimal(value: float | None) -> str:
    """A number with four digits; a dash for None."""
    return "–" if value is None else f"{value:.4g}".replace("-", "−")


def when(at: str) -> Markup:
    """A recorded time, to the minute."""
    from markupsafe import Markup

    return Markup('<time datetime="{}">{}</time>').format(at, readable_time(at))


def in_code(text: str) -> Markup:
    """A sentence as HTML: what is between backticks becomes code."""
    from markupsafe import Markup, escape

    escaped = str(escape(text.translate(CONTROL_CHARACTERS)))
    return Markup(BETWEEN_BACKTICKS.sub(r"<code>\1</code>", escaped))  # noqa: S704
