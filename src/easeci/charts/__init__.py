"""Every chart that easeci draws: data in, SVG text out, and PNG for programs without SVG.

All charts share one type scale and one palette that colour-blind readers can tell apart. Each is
drawn on a light panel, so that it reads the same on a light and on a dark page. Pages get a chart
in two widths, for a desk and (``slim``) for a phone: the slim one is narrower, and its text is as
large. The SVG loads nothing from other hosts. Drawing needs the extra ``charts``, which is loaded
when the first chart is drawn.
"""

from easeci.charts.bars import Bar, LabelsBar, bar_chart, labels_chart
from easeci.charts.decisions import Decisions, decision_chart
from easeci.charts.drawing import Axis, for_pages, has_charts, png, require_charts, warm_up
from easeci.charts.evidence import evidence_chart, interval_chart
from easeci.charts.history import StepPoint, count_chart, history_chart
from easeci.charts.lines import Mark, Panel, Series, line_chart
from easeci.charts.plan_curves import pass_chart, tolerance_chart
from easeci.charts.scores import NEW_MODEL, OLD_MODEL, ScoreCounts, score_chart
from easeci.charts.style import FONT, THEME_COLOURS, Colour

__all__ = [
    "FONT",
    "NEW_MODEL",
    "OLD_MODEL",
    "THEME_COLOURS",
    "Axis",
    "Bar",
    "Colour",
    "Decisions",
    "LabelsBar",
    "Mark",
    "Panel",
    "ScoreCounts",
    "Series",
    "StepPoint",
    "bar_chart",
    "count_chart",
    "decision_chart",
    "evidence_chart",
    "for_pages",
    "has_charts",
    "history_chart",
    "interval_chart",
    "labels_chart",
    "line_chart",
    "pass_chart",
    "png",
    "require_charts",
    "score_chart",
    "tolerance_chart",
    "warm_up",
]
