"""The palette."""

from __future__ import annotations

from easeci.charts import Colour


def test_no_two_colours_are_alike() -> None:
    assert len({colour.value for colour in Colour}) == len(Colour)
