"""Bar charts: values beside the bars, in the order given."""

from __future__ import annotations

from easeci.charts import (
    LabelsBar,
    labels_chart,
)
from tests.unit.charts.samples import (
    bars,
    labels,
    texts,
)


def test_bars_have_their_values_beside_them_in_the_order_given() -> None:
    shown = texts(bars())
    assert {"labels", "641,684", "2,880", "published", "ours"} <= set(shown)
    assert shown.index("Hoeffding") < shown.index("sequential")


def test_labels_of_methods_fit_a_phone_and_mark_what_is_recommended() -> None:
    shown = texts(labels())
    assert {"hoeffding", "sequential ★", "655,547", "46,368", "published", "ours"} <= set(shown)
    assert {"1k", "100k", "1M", "labels over the testset's life (★ recommended)"} <= set(shown)


def test_no_labels_at_all_are_shown_as_such() -> None:
    shown = texts(labels_chart([LabelsBar("exact", 0, ours=True)]))
    assert {"exact", "0"} <= set(shown)
