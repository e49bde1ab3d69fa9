"""The page of benchmarks: its tables, its sections and its promises."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.__main__ import PARTS, chosen
from bench.forecast import Compared, forecast_table, script_of
from bench.month import Month
from bench.month_page import Months, month_table
from bench.page import Figure, Section, broken_promises, table, write_page
from bench.published import published
from bench.ratio import Ratio, ratio_section
from bench.zone import ZonePoint
from bench.zone_page import answers, edge_table, zone_table

from easeci.plan.forecast import forecast
from easeci.script import Adaptivity
from easeci.simulation.report import LifeLabels, MeanLabels

KEPT, BROKEN = Figure("kept", 2.996, 3.0), Figure("broken", 3.004, 3.0)
POINTS = [
    ZonePoint(0.05, 0.02, 116.4, 11.6, 400, 1, 100.0),
    ZonePoint(0.1, 0.04, 1_350.2, 20.0, 400, 397, 1_000.0),
]


def test_a_table_has_words_on_the_left_and_numbers_on_the_right() -> None:
    assert table(["what", "ratio"], [["plan", "0.44"]]) == (
        "| what | ratio |\n|---|---:|\n| plan | 0.44 |\n"
    )


def test_a_promise_is_broken_by_what_was_measured_and_not_by_its_rounding() -> None:
    assert (KEPT.shown(".2f"), BROKEN.shown(".2f")) == ("3.00", "**3.00**")
    assert broken_promises([KEPT, Figure("free", 99.0, None)]) == ()
    (said,) = broken_promises([KEPT, BROKEN])
    assert said.startswith("broken: ")
    assert said.endswith("at most 3")


def test_ratios_show_their_promise_or_none() -> None:
    found = ratio_section("## Here", [Ratio("a", 0.444, 1.0, "b"), Ratio("c", 5.0, None, "d")])
    assert "| a | b | 0.44 | 1 |\n| c | d | 5.00 |  |\n" in found.text
    assert found.broken == ()


def test_parts_that_are_not_run_keep_their_section() -> None:
    first = write_page("", ["a", "b"], {"a": Section("old a"), "b": Section("old b")})
    second = write_page(first, ["a", "b"], {"b": Section("new b")})
    assert second == first.replace("old b", "new b")
    assert "Not measured yet: `python -m bench c`" in write_page(first, ["a", "b", "c"], {})


def test_parts_are_chosen_by_name_or_group() -> None:
    assert chosen([]) == list(PARTS)
    assert chosen(["labels"]) == ["zone", "measures", "scores", "month", "forecast", "speed"]
    assert chosen(["check", "start"]) == ["start", "check"]
    with pytest.raises(SystemExit, match="no such part: nothing"):
        chosen(["nothing"])


def test_the_zone_has_a_row_for_each_gain_and_ratios_at_its_edges() -> None:
    assert "| 0.020 |  | 116 ± 12 |  |  |" in zone_table(POINTS)
    assert "| 0.04 | 1,350 ± 20 | 1,000 | **1.35** | 1.35 |" in edge_table(POINTS)
    assert "1 of 400 commits at or below 0.02 passed, 3 of 400 at 0.04" in answers(POINTS)


def test_a_month_shows_its_mean_its_promise_and_what_went_wrong() -> None:
    months = Months(
        "0.9999",
        (
            Month(3_000, (1_000, 2_000), "FP", 1, 2, 1, 9),
            Month(4_000, (0, 4_000), "FF", 0, 1, 0, 9),
        ),
    )
    assert "| 0.9999 | **3,500** ± 500 | 3,400 | 1,750 | 4,000 | **1** | 1 of 3 |" in month_table(
        [months]
    )


def test_a_forecast_shows_how_far_it_is_off() -> None:
    """In bold where that is more than promised."""
    life = LifeLabels(32, MeanLabels(3000.0, 100.0), MeanLabels(93.75, 3.1))
    script = script_of("n - o > 0.02 +/- 0.01", {"reliability": "0.9999"})
    found = replace(forecast(script, examples=20_000), labels=3300.0)
    row = "3,000 ± 100 | 94 | 3,300 | 10% |"
    near, far = Compared(script, life, found), Compared(script, life, replace(found, labels=2400.0))
    shown = forecast_table([near, far])
    assert f"0.9999, sensitivity 0.9999, fp-free, full, 32 steps | {row}" in shown
    assert "| 2,400 | **20%** |" in shown
    assert broken_promises([near.off, far.off]) == broken_promises([far.off])


def test_published_estimators_take_what_the_paper_prints() -> None:
    """29K and 67K examples at d < 0.1, of which active labelling takes a tenth a commit."""
    assert published(0.1, Adaptivity.NONE).pattern1 == 29_048
    assert published(0.1, Adaptivity.NONE).pattern1_active == 2_905
    assert published(0.1, Adaptivity.FULL).pattern1 == 67_706
    assert published(0.1, Adaptivity.FULL).hoeffding == 641_684
