"""Charts: well-formed SVG that names what it shows and asks no other host for anything."""

from __future__ import annotations

import re
import struct
import sys
import zlib
from collections.abc import Callable
from functools import partial
from xml.etree import ElementTree

import pytest

from easeci.charts import (
    FONT,
    THEME_COLOURS,
    for_pages,
    history_chart,
    png,
    warm_up,
)
from easeci.errors import ExitCode, UsageError
from tests.cases import each_case
from tests.unit.charts.samples import (
    SVG,
    band,
    bars,
    counts,
    decisions,
    evidence,
    history,
    interval,
    labels,
    lines,
    points,
    slim_counts,
    slim_evidence,
    slim_history,
    slim_interval,
    texts,
)

SLIM = (labels, slim_history, slim_counts, slim_evidence, slim_interval)
CHARTS = pytest.mark.parametrize(
    "draw", [lines, band, bars, decisions, history, counts, evidence, interval, *SLIM]
)


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


def test_a_warm_start_needs_nothing_and_changes_nothing() -> None:
    before = labels()
    warm_up()
    assert labels() == before


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


@pytest.mark.parametrize("missing", ["altair", "vl_convert"])
def test_without_the_extra_the_error_says_how_to_get_it(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    with pytest.raises(UsageError, match=r"pip install 'easeci\[charts\]'") as caught:
        bars()
    assert caught.value.exit_code is ExitCode.USAGE
