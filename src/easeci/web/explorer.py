"""The plan explorer: what a condition costs, by every method, while it is being written."""

from __future__ import annotations

from markupsafe import Markup
from starlette.responses import Response

from easeci.charts import LabelsBar, labels_chart
from easeci.plan.document import SECONDS_PER_LABEL
from easeci.service.exploring import FIELDS, Exploration, FieldError, explore
from easeci.service.scripts import DEFAULTS
from easeci.web.request import Asked
from easeci.web.templates import as_markup

EXAMPLE = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"
CHART_WIDTH = 640


def explore_plan(asked: Asked) -> Response:
    fields = {name: asked.request.query_params.get(name, "") for name in FIELDS}
    if not any(fields.values()):
        fields["condition"] = _condition(asked)
    found = explore(fields)
    wrong = found if isinstance(found, FieldError) else None
    right = found if isinstance(found, Exploration) else None
    return asked.page(
        "plan.html",
        fields=fields,
        defaults=DEFAULTS,
        wrong=wrong,
        found=right,
        chart=None if right is None else _chart(asked, right),
        speeds=SECONDS_PER_LABEL,
    )


def _condition(asked: Asked) -> str:
    """To begin with: the project's own condition, or an example."""
    with asked.site.reading() as project:
        testset = project.state.latest_testset
        return EXAMPLE if testset is None else str(testset.script.condition)


def _chart(asked: Asked, found: Exploration) -> Markup | None:
    bars = tuple(
        LabelsBar(str(method.estimator), method.labels_in_all, method.ours, method.recommended)
        for method in found.methods
        if method.labels_in_all is not None
    )
    if not bars:
        return None
    drawn = asked.site.remembered(("labels", bars), lambda: labels_chart(bars, CHART_WIDTH))
    return as_markup(drawn)
