"""Charts: well-formed SVG that names what it shows and asks no other host for anything."""

from __future__ import annotations

import math
import re
import struct
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from xml.etree import ElementTree

import pytest

from easeci.charts import (
    FONT,
    THEME_COLOURS,
    Axis,
    Bar,
    Colour,
    Decisions,
    LabelsBar,
    Mark,
    Panel,
    Series,
    StepPoint,
    bar_chart,
    count_chart,
    decision_chart,
    evidence_chart,
    for_pages,
    history_chart,
    labels_chart,
    line_chart,
    png,
    warm_up,
)
from easeci.charts.evidence import FUTILITY, FUTILITY_BAR, PROOF, PROOF_BAR, power_of_ten
from easeci.errors import ExitCode, UsageError
from easeci.evidence.endings import Ending
from easeci.verdict.curves import ClauseCurves, Curve
from tests.cases import each_case

SVG = "{http://www.w3.org/2000/svg}"
ACROSS = Axis("true gain (percentage points)", -2, 8, (-2, 0, 2, 4))
UP = Axis("labels per commit", 10, 1e6, (10, 1e3, 1e5), logarithmic=True)
MEASURED = Series("measured", Colour.BLUE, Mark.MEASURED, ((-2.0, 20.0), (3.0, 900.0), (8.0, 30.0)))
LIMIT = Series("limit", Colour.BLACK, Mark.DIAMONDS, ((2.0, 500.0),))
BASELINE = Series(
    "baseline", Colour.PURPLE, Mark.DASHED, ((-2.0, 267_385.0), (8.0, 267_385.0)), note="267,385"
)
BAND = Series("grown", Colour.GREEN, Mark.LINE, ((0.0, 20.0), (4.0, 90.0)), ((10, 30), (50, 200)))


def lines() -> str:
    panels = [Panel(f"d = {d}", (MEASURED, LIMIT, BASELINE), (2, 4)) for d in (0.05, 0.1)]
    return line_chart(panels, ACROSS, UP, width=200, height=200)


def band() -> str:
    return line_chart([Panel("one", (BAND,))], ACROSS, UP, width=200, height=200)


def bars() -> str:
    drawn = [Bar("Hoeffding", 641_684, "published"), Bar("sequential", 2_880.4, "ours")]
    colours = {"published": Colour.ORANGE, "ours": Colour.BLUE}
    return bar_chart(drawn, colours, Axis("labels", 100, 1e6, (100, 1e6), True), width=300)


ANSWERS = Decisions("(I) fp-free", (False, True, False))


def decisions() -> str:
    return decision_chart([("one", [ANSWERS]), ("two", [ANSWERS])], "iteration", width=300)


LABELS = (
    LabelsBar("hoeffding", 655_547, ours=False),
    LabelsBar("pattern1-active", 80_822, ours=False),
    LabelsBar("sequential", 46_368, ours=True, recommended=True),
)


def labels() -> str:
    return labels_chart(LABELS, slim=True)


def points(count: int = 6) -> list[StepPoint]:
    """Steps of every outcome; those shown True passed, and the third became the baseline."""
    outcomes = ("False", "Unknown", "True")
    return [
        StepPoint(
            step=step,
            estimate=0.03,
            low=-1.0,
            high=0.05,
            outcome=outcomes[step % 3 - 1],
            passed=step % 3 == 0,
            baseline=step == 3,
        )
        for step in range(1, count + 1)
    ]


def history() -> str:
    return history_chart(points(), "n - o", 0.02, (0.02, 0.04))


def counts() -> str:
    return count_chart([(1, 90), (2, 1_200)], "labels")


def slim_history() -> str:
    return history_chart(points(), "n - o", 0.02, (0.02, 0.04), steps=8, slim=True)


def slim_counts() -> str:
    return count_chart([(step, 90 * step) for step in range(1, 313)], "labels", slim=True)


def curves(ending: Ending, labels: int, proof: float, futility: float) -> ClauseCurves:
    """Curves that go straight from 1 to their ends."""
    after = tuple(range(labels + 1))
    ends = (proof, futility)
    courses = [tuple(end * x / max(labels, 1) if labels else end for x in after) for end in ends]
    return ClauseCurves("c", ending, after, Curve(courses[0], 14.0), Curve(courses[1], 9.0))


def evidence() -> str:
    return evidence_chart(curves(Ending.PROVEN, 60, 14.2, -40.0))


def slim_evidence() -> str:
    return evidence_chart(curves(Ending.EXHAUSTED, 5_000, 7.0, 7.0), slim=True)


SLIM = (labels, slim_history, slim_counts, slim_evidence)
CHARTS = pytest.mark.parametrize(
    "draw", [lines, band, bars, decisions, history, counts, evidence, *SLIM]
)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@CHARTS
def test_a_chart_is_well_formed_and_always_the_same(draw: Callable[[], str]) -> None:
    svg = draw()
    assert ElementTree.fromstring(svg).tag == f"{SVG}svg"
    assert svg == draw()


@CHARTS
def test_a_chart_names_no_other_host_and_no_font_to_load(draw: Callable[[], str]) -> None:
    svg = draw()
    assert re.findall(r"https?://[^\"' ]*", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"href|url\((?!#)|@import|@font-face", svg)
    fonts = {e.get("font-family") for e in ElementTree.fromstring(svg).iter(f"{SVG}text")}
    assert fonts == {FONT}


@CHARTS
def test_a_chart_has_a_panel_of_its_own(draw: Callable[[], str]) -> None:
    """So that it reads the same on a light and on a dark page."""
    panel = ElementTree.fromstring(draw())[0]
    assert panel.tag == f"{SVG}rect"
    assert panel.get("fill", "").startswith("#f")
    assert float(panel.get("rx", "0")) > 0


@each_case("most", [0, 1, 2, 3])
def test_few_labels_are_counted_in_whole_ones(most: int) -> None:
    """A tick at one half would be written as 1, below the one at 1."""
    shown = texts(count_chart([(1, most)], "labels"))
    counted = shown[shown.index("step") + 1 : shown.index("labels")]
    assert counted == ["0", "1", "2", "3", "4"]


def test_lines_have_axes_with_units_titles_notes_and_one_legend() -> None:
    shown = texts(lines())
    assert shown.count("true gain (percentage points)") == 2
    assert shown.count("labels per commit") == 1
    assert {"d = 0.05", "d = 0.1", "1,000", "100,000", "−2"} <= set(shown)
    assert shown.count("267,385") == 2
    assert [shown.count(name) for name in ("measured", "limit", "baseline")] == [1, 1, 1]


def test_a_band_leaves_the_legend_to_its_line() -> None:
    assert texts(band()).count("grown") == 1


def test_bars_have_their_values_beside_them_in_the_order_given() -> None:
    shown = texts(bars())
    assert {"labels", "641,684", "2,880", "published", "ours"} <= set(shown)
    assert shown.index("Hoeffding") < shown.index("sequential")


@each_case("draw", SLIM)
def test_a_slim_chart_fits_a_phone(draw: Callable[[], str]) -> None:
    """Its text as large as elsewhere: on a phone 358 are left between the edges of a card."""
    svg = draw()
    assert float(ElementTree.fromstring(svg).get("width", "0")) <= 358
    sizes = {e.get("font-size") for e in ElementTree.fromstring(svg).iter(f"{SVG}text")}
    assert sizes <= {"12px", "13px"}


def test_pages_get_a_chart_for_a_desk_and_one_for_a_phone() -> None:
    drawn = for_pages(partial(history_chart, points(), "n - o", 0.02, (0.02, 0.04), steps=8))
    assert drawn["slim"] == slim_history()
    assert sorted(texts(drawn["wide"])) == sorted(texts(drawn["slim"]))


def steps_shown(used: int, steps: int | None, *, slim: bool = False) -> list[list[int]]:
    """The ticks of each row of a history."""
    shown = texts(count_chart([(s, 9) for s in range(1, used + 1)], "n", steps=steps, slim=slim))
    rows = " ".join(shown).split(" n")  # each ends with the name of what is counted
    return [[int(tick) for tick in row.split(" step")[0].split()] for row in rows if row]


@each_case(
    ("used", "steps", "last"),
    [(1, 4, 4), (4, 4, 4), (3, 12, 12), (1, 100, 6), (9, 24, 9), (2, None, 6), (1, 1, 1)],
)
@each_case("slim", [False, True])
def test_steps_run_to_the_last_of_a_few_and_else_as_far_as_they_are_used(
    used: int, steps: int | None, last: int, slim: bool
) -> None:
    assert steps_shown(used, steps, slim=slim) == [list(range(1, last + 1))]


def test_rows_of_many_steps_are_equally_long_and_leave_little_space() -> None:
    rows = steps_shown(101, 400)
    assert [(row[0], row[-1]) for row in rows] == [(5, 60), (65, 120)]
    assert [row[-1] for row in steps_shown(301, 400)] == [80, 160, 240, 320]


def test_a_phone_shows_the_latest_of_many_steps() -> None:
    (row,) = steps_shown(312, 400, slim=True)
    assert (row[0], row[-1]) == (285, 310)
    assert "step (the latest 30 of 312)" in texts(slim_counts())
    svg = history_chart(points(312), "n - o", 0.02, (0.02, 0.04), steps=400, slim=True)
    assert "of 312): 283;" in svg
    assert "of 312): 282;" not in svg


def test_labels_of_methods_fit_a_phone_and_mark_what_is_recommended() -> None:
    shown = texts(labels())
    assert {"hoeffding", "sequential ★", "655,547", "46,368", "published", "ours"} <= set(shown)
    assert {"1k", "100k", "1M", "labels over the testset's life (★ recommended)"} <= set(shown)


def test_no_labels_at_all_are_shown_as_such() -> None:
    shown = texts(labels_chart([LabelsBar("exact", 0, ours=True)]))
    assert {"exact", "0"} <= set(shown)


def test_a_warm_start_needs_nothing_and_changes_nothing() -> None:
    before = labels()
    warm_up()
    assert labels() == before


def test_decisions_name_the_model_that_is_active_until_the_next_one_passes() -> None:
    assert ANSWERS.active == [(1, 3), (3, 5)]
    shown = texts(decisions())
    assert [shown.count(name) for name in ("model 1", "model 3", "model 2")] == [2, 2, 0]
    assert [shown.count(name) for name in ("passed", "failed", "iteration")] == [1, 1, 1]


def test_passed_and_failed_are_told_apart_by_shape() -> None:
    root = ElementTree.fromstring(decisions())
    groups = [g for g in root.iter(f"{SVG}g") if "mark-symbol role-mark" in g.get("class", "")]
    shapes = [[p.get("d") for p in group.iter(f"{SVG}path")] for group in groups]
    assert [len(set(drawn)) for drawn in shapes] == [2, 2]


def test_pixels_are_twice_as_many_and_all_there() -> None:
    """Packing keeps every chunk: each one's checksum is right, and so is the size."""
    svg = bars()
    width, height = (
        float(ElementTree.fromstring(svg).get(side, "0")) for side in ("width", "height")
    )
    image = png(svg)
    assert image == png(svg)
    assert struct.unpack(">II", image[16:24]) == (round(2 * width), round(2 * height))
    rest, kinds, pixels = image[8:], [], b""
    while rest:
        length = int.from_bytes(rest[:4], "big")
        body, checksum, rest = (
            rest[4 : 8 + length],
            rest[8 + length : 12 + length],
            rest[12 + length :],
        )
        assert zlib.crc32(body) == int.from_bytes(checksum, "big")
        kinds.append(body[:4])
        pixels += body[4:] if body[:4] == b"IDAT" else b""
    assert (kinds[0], kinds[-1], kinds.count(b"IDAT")) == (b"IHDR", b"IEND", 1)
    assert len(zlib.decompress(pixels)) == round(2 * height) * (1 + 4 * round(2 * width))


@CHARTS
def test_every_colour_has_a_role_that_a_page_can_give_another_colour(
    draw: Callable[[], str],
) -> None:
    """By attributes fill and stroke, in the very spelling of the constants."""
    svg = draw()
    assert "style=" not in svg
    used = set(re.findall(r'(?:fill|stroke|stop-color|color)="([^"]*)"', svg))
    assert used <= {*THEME_COLOURS.values(), "none", "transparent"}
    assert len(set(THEME_COLOURS.values())) == len(THEME_COLOURS)


def test_a_history_says_who_passed_and_who_became_the_baseline() -> None:
    shown = texts(history())
    for name in ("shown True", "Unknown", "passed", "failed", "passed, the new baseline"):
        assert shown.count(name) == 1
    assert history().count(f'stroke="{Colour.PURPLE.value}"') == 3  # line, mark and legend


def test_a_history_without_answers_has_no_lane_for_them() -> None:
    bare = [replace(point, passed=None, baseline=False) for point in points()]
    svg = history_chart(bare, "n - o", 0.02, (0.02, 0.04))
    assert {"passed", "failed"}.isdisjoint(texts(svg))
    assert Colour.PURPLE.value not in svg


def test_marks_of_a_history_are_told_apart_by_shape() -> None:
    root = ElementTree.fromstring(history())
    marks = [g for g in root.iter(f"{SVG}g") if "mark-symbol role-mark" in g.get("class", "")]
    lanes = [{path.get("d") for path in g.iter(f"{SVG}path")} for g in marks]
    assert len(lanes[-2]) == len(lanes[-1]) == 3
    assert lanes[-2].isdisjoint(lanes[-1])


def test_evidence_names_its_curves_their_bars_and_how_it_ended() -> None:
    shown = texts(evidence())
    for name in (PROOF, PROOF_BAR, FUTILITY, FUTILITY_BAR, "labels consulted", "evidence"):
        assert shown.count(name) == 1
    assert {"proven after 60 labels", "0", "50", "1", "100", "10⁴", "10⁶", "0.01"} <= set(shown)
    dashes = re.findall(r'stroke-dasharray="([^"]*)"', evidence())
    assert len(set(dashes)) == 4


@each_case(
    ("drawn", "title"),
    [
        (curves(Ending.FUTILE, 2_000, -900.0, 9.1), "given up after 2,000 labels"),
        (curves(Ending.OPEN, 120, 2.0, 1.0), "120 labels so far"),
        (curves(Ending.OPEN, 0, 0.0, 0.0), "0 labels so far"),
        (curves(Ending.EXHAUSTED, 5_000, 7.0, 7.0), "neither after all 5,000 labels"),
        (curves(Ending.PROVEN, 0, math.inf, -math.inf), "proven after 0 labels"),
    ],
)
def test_evidence_stays_on_its_axes(drawn: ClauseCurves, title: str) -> None:
    """However small or infinite: no number of the picture is none."""
    svg = evidence_chart(drawn)
    assert title in texts(svg)
    assert not re.search(r"NaN|Infinity|undefined|null", svg)
    height = float(ElementTree.fromstring(svg).get("height", "0"))
    assert height < 420


def test_powers_of_ten_are_written_as_one_reads_them() -> None:
    shown = [power_of_ten(power) for power in (-12, -4, -2, 0, 3, 4, 120)]
    assert shown == ["10⁻¹²", "10⁻⁴", "0.01", "1", "1,000", "10⁴", "10¹²⁰"]


def test_no_two_colours_are_alike() -> None:
    assert len({colour.value for colour in Colour}) == len(Colour)


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_extra_the_error_says_how_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError, match=r"pip install 'easeci\[charts\]'") as caught:
        bars()
    assert caught.value.exit_code is ExitCode.USAGE
