"""The plan explorer: how many labels a condition costs by every method, while it is written."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from starlette.responses import Response

from easeci.charts import for_pages, labels_chart
from easeci.errors import EaseciError
from easeci.ledger.sealed_script import sealed
from easeci.plan.document import SECONDS_PER_LABEL
from easeci.service.planning.explore import FIELDS, Exploration, FieldError, explore
from easeci.service.scripts import DEFAULTS, find_script, load_entries
from easeci.web.request import RequestContext

EXAMPLE = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"


def explore_plan(context: RequestContext) -> Response:
    """The page of the plan explorer, for the fields in the address."""
    typed = context.request.query_params
    fields = {name: typed.get(name, "") for name in FIELDS} if typed else _own(context)
    found = _explored(context, fields)
    if found is None:  # the visitor has typed something newer
        return Response(status_code=204)
    wrong = found if isinstance(found, FieldError) else None
    right = found if isinstance(found, Exploration) else None
    return context.page(
        "plan.html",
        fields=fields,
        defaults=DEFAULTS,
        wrong=wrong,
        found=right,
        chart=None if right is None else _chart(context, right),
        speeds=SECONDS_PER_LABEL,
    )


def _explored(
    context: RequestContext, fields: Mapping[str, str]
) -> Exploration | FieldError | None:
    if not fields["condition"].strip():
        return FieldError("condition", "it is empty", hint=f"Write one, such as   {EXAMPLE}")
    found = context.site.newest_only.run(context.who.session, lambda: explore(fields))
    supposed = fields["effect"].strip() or fields["true_difference"].strip()
    if isinstance(found, Exploration) and not supposed:
        return replace(found, reckoned=None)  # the visitor has not supposed anything
    return found


def _own(context: RequestContext) -> dict[str, str]:
    """The first values: the script of the testset, of the repository, or an example."""
    with context.site.reading() as project:
        testset, top = project.state.latest_testset, project.repository.top
    texts: Mapping[str, list[str]] = {"condition": [EXAMPLE]}
    if testset is not None:
        texts = testset.sealed
    else:
        with suppress(EaseciError):  # the script is missing or broken
            texts = sealed(load_entries(find_script(top or Path())))
    fields = {name: " ".join(texts.get(name, [])) for name in FIELDS}
    return fields | {"adaptivity": fields["adaptivity"].partition("->")[0].strip()}


def _chart(context: RequestContext, found: Exploration) -> Mapping[str, str] | None:
    bars = found.bars
    if not bars:
        return None
    return context.site.cache.get(("labels", bars), lambda: for_pages(partial(labels_chart, bars)))
