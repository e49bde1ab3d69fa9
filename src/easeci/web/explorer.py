"""The plan explorer: what a condition costs, by every method, while it is being written."""

from __future__ import annotations

from markupsafe import Markup
from starlette.responses import Response

from easeci.charts import labels_chart
from easeci.plan.document import SECONDS_PER_LABEL
from easeci.service.exploring import FIELDS, Exploration, FieldError, explore
from easeci.service.scripts import DEFAULTS
from easeci.web.request import Asked
from easeci.web.templates import as_markup

EXAMPLE = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"
WIDTHS = {"wide": 640, "slim": 350}
"""The chart is drawn for a desk and for a phone, and the stylesheet shows one of them."""


def explore_plan(asked: Asked) -> Response:
    fields = {name: asked.request.query_params.get(name, "") for name in FIELDS}
    if not any(fields.values()):
        fields["condition"] = _condition(asked)
    found = asked.site.latest(asked.who, lambda: explore(fields))
    if found is None:  # whoever typed has typed on
        return Response(status_code=204)
    wrong = found if isinstance(found, FieldError) else None
    right = found if isinstance(found, Exploration) else None
    return asked.page(
        "plan.html",
        fields=fields,
        defaults=DEFAULTS,
        wrong=wrong,
        found=right,
        charts={} if right is None else _charts(asked, right),
        speeds=SECONDS_PER_LABEL,
    )


def _condition(asked: Asked) -> str:
    """To begin with: the project's own condition, or an example."""
    with asked.site.reading() as project:
        testset = project.state.latest_testset
        return EXAMPLE if testset is None else str(testset.script.condition)


def _charts(asked: Asked, found: Exploration) -> dict[str, Markup]:
    """By the class that shows it."""
    bars = found.bars
    if not bars:
        return {}
    drawn = asked.site.remembered(
        ("labels", bars), lambda: [labels_chart(bars, width) for width in WIDTHS.values()]
    )
    return {name: as_markup(chart) for name, chart in zip(WIDTHS, drawn, strict=True)}
