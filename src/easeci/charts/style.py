"""The type scale, the palette, which colour-blind readers can tell apart, and shapes of marks."""

from __future__ import annotations

from enum import Enum

PANEL, EDGE, INK, SOFT_INK, GRID = "#fafaf8", "#d0d0cc", "#282c34", "#5a5e64", "#e2e2de"
FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif"
SMALL, TEXT, HEADING = 11, 12, 13
MARGIN = 16
SLIM = 350  # the width of a whole picture on a phone, with its margins


class Colour(Enum):
    """Okabe and Ito's palette, without the yellow that vanishes on a light panel."""

    BLUE = "#0072b2"
    ORANGE = "#d98c00"
    GREEN = "#009e73"
    VERMILION = "#d55e00"
    PURPLE = "#b8608f"
    SKY = "#56b4e9"
    BLACK = "#282c34"
    GREY = "#8a8d91"


THEME_COLOURS = {
    "panel": PANEL,
    "edge": EDGE,
    "ink": INK,
    "soft ink": SOFT_INK,
    "grid": GRID,
    **{colour.name.lower(): colour.value for colour in Colour if colour is not Colour.BLACK},
}
"""Every colour of a chart by its role. No two roles share one, so that a page can replace each."""

CIRCLE = "M0.38,0A0.38,0.38,0,1,1,-0.38,0A0.38,0.38,0,1,1,0.38,0Z"
DIAMOND = "M0,-0.6L0.5,0L0,0.6L-0.5,0Z"
SQUARE = "M-0.32,-0.32H0.32V0.32H-0.32Z"
TRIANGLE = "M0,-0.44L0.42,0.34L-0.42,0.34Z"
TRIANGLE_DOWN = "M0,0.44L0.42,-0.34L-0.42,-0.34Z"
FILLED_CROSS = (
    "M-0.4,-0.28L-0.28,-0.4L0,-0.12L0.28,-0.4L0.4,-0.28L0.12,0"
    "L0.4,0.28L0.28,0.4L0,0.12L-0.28,0.4L-0.4,0.28L-0.12,0Z"
)
DRAWN_CROSS = "M-0.5,-0.5L0.5,0.5M0.5,-0.5L-0.5,0.5"
RING = "M0.42,0A0.42,0.42,0,1,1,-0.42,0A0.42,0.42,0,1,1,0.42,0Z"
DISC = "M0.5,0A0.5,0.5,0,1,1,-0.5,0A0.5,0.5,0,1,1,0.5,0Z"
STROKE = "M-1.2,0L1.2,0"
SYMBOL_SIZE = 280  # of dots and in the legend: large enough to show how a line is dashed
