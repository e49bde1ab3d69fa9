"""The plan explorer: how many labels a condition costs by every method, while it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from starlette.responses import Response

from easeci.charts import for_pages, labels_chart, pass_chart, tolerance_chart
from easeci.errors import EaseciError
from easeci.ledger.sealed_script import sealed
from easeci.plan.commit_mix import MIXED, MIXES
from easeci.plan.document import SECONDS_PER_LABEL, labelling_time
from easeci.plan.explanation import explanation
from easeci.plan.summary import label_words
from easeci.script import Estimator, Script
from easeci.script.measures import MEASURES
from easeci.service.planning.explore import (
    CLASSES,
    COMMITS,
    ESTIMATOR,
    EXPECTED,
    FIELDS,
    Exploration,
    FieldError,
    explore,
)
from easeci.service.scripts import DEFAULTS, find_script, load_entries
from easeci.web.request import RequestContext

OTHER_DEFAULTS = {
    COMMITS: MIXED.name,
    ESTIMATOR: str(Script.estimator),
    "sample": str(Script.sample),
}
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
        defaults={**DEFAULTS, **OTHER_DEFAULTS},
        wrong=wrong,
        found=right,
        measures=MEASURES,
        exact_fits=right is not None and right.plan.exact_fits,
        mixes=MIXES,
        estimators=tuple(Estimator),
        label_words=None if right is None else label_words(right.plan),
        charts={} if right is None else _charts(context, right),
        explanation=() if right is None else tuple(explanation(right.plan)),
        speeds=SECONDS_PER_LABEL,
        labelling_time=labelling_time,
    )


def _explored(
    context: RequestContext, fields: Mapping[str, str]
) -> Exploration | FieldError | None:
    if not fields["condition"].strip():
        return FieldError("condition", "it is empty", hint=f"Write one, such as   {EXAMPLE}")
    return context.site.newest_only.run(context.who.session, lambda: _explore(fields))


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
    fields = {
        name: (", " if name in (CLASSES, EXPECTED) else " ").join(texts.get(name, []))
        for name in FIELDS
    }
    return fields | {"adaptivity": fields["adaptivity"].partition("->")[0].strip()}


def _charts(context: RequestContext, found: Exploration) -> Mapping[str, Mapping[str, str] | None]:
    """The page's charts by name; None if there is nothing to draw."""

    def drawn(name: str, draw: Callable[..., str], data: object) -> Mapping[str, str] | None:
        if not data:
            return None
        return context.site.cache.get((name, data), lambda: for_pages(partial(draw, data)))

    return {
        "labels": drawn("labels", labels_chart, found.bars),
        "tolerance": drawn("tolerance", tolerance_chart, found.tolerance_curve),
        "pass": drawn("pass", pass_chart, found.pass_curve),
    }


def _explore(fields: Mapping[str, str]) -> Exploration | FieldError:
    """The plan with its curves, which are calculated here, where only one is at a time."""
    found = explore(fields)
    if isinstance(found, Exploration):
        if not (fields["effect"].strip() or fields["true_difference"].strip()):
            found = replace(found, reckoned=None)  # the visitor has not supposed anything
        _ = found.tolerance_curve, found.pass_curve, found.plan.cheaper
    return found
