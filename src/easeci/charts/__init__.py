"""Every chart that easeci draws: data in, SVG text out, and PNG of that for who can't show it.

One type scale and one palette that is safe for the colour-blind, on a light panel of its own, so
that a chart reads the same on a light and on a dark page. What pages show is drawn for a desk and,
``slim``, for a phone: narrower instead of smaller, so that its text can be read. The text
asks no other host for anything. Drawing needs the extra ``charts``; nothing else does, so
it is loaded when a chart is drawn.
"""

from easeci.charts.bars import Bar, LabelsBar, bar_chart, labels_chart
from easeci.charts.decisions import Decisions, decision_chart
from easeci.charts.drawing import Axis, for_pages, png, require_charts, warm_up
from easeci.charts.evidence import evidence_chart
from easeci.charts.history import StepPoint, count_chart, history_chart
from easeci.charts.lines import Mark, Panel, Series, line_chart
from easeci.charts.style import FONT, THEME_COLOURS, Colour

__all__ = [
    "FONT",
    "THEME_COLOURS",
    "Axis",
    "Bar",
    "Colour",
    "Decisions",
    "LabelsBar",
    "Mark",
    "Panel",
    "Series",
    "StepPoint",
    "bar_chart",
    "count_chart",
    "decision_chart",
    "evidence_chart",
    "for_pages",
    "history_chart",
    "labels_chart",
    "line_chart",
    "png",
    "require_charts",
    "warm_up",
]
