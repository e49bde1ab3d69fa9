"""Pages from templates: those of the site, and the parts that the report shares with them."""

from __future__ import annotations

from typing import Any

from easeci.html import render
from easeci.ledger.signals import Signal
from easeci.plan.document import rough_hours

PACKAGES = ("easeci.web", "easeci.views")


def rendered(template: str, **values: Any) -> str:
    """A page of the site as HTML."""
    return render(template, PACKAGES, signals=Signal, rough_hours=rough_hours, **values)
