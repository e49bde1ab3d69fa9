"""The numbers in the paper's prose, each computed by the code that plans and decides."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, partial

from bench.page import table
from bench.published import CONDITION, Published, published

from easeci.bounds import Bennett, Hoeffding, binomial
from easeci.bounds.bound import round_up
from easeci.evidence.levels import log_level
from easeci.plan.baseline import hoeffding
from easeci.plan.patterns import pattern2
from easeci.script import Adaptivity, Comparison
from easeci.service.scripts import make_script
from easeci.verdict.logic import Interval, Result
from paper.published import PROSE, TRACE_ITEMS, Printed
from paper.table import computed_table

NONE, FULL = Adaptivity.NONE, Adaptivity.FULL
DELTA = Fraction(1, 10_000)
SHARE = 0.1
ONE_POINT = "n > 0.8 +/- 0.01"
WORKING_DAY = 8 * 3_600
OPENING = """\
## Numbers in the prose

“Computed” is what the code plans today; sizes are rounded up.
"""
LEFT_OUT = """
Not computed, because they are observations and not results: that ImageNet winners differ on up to
25% of the images (15% in their top five), and the rank 29 of 165 in the competition.
"""
TIGHT = """
### Tight numerical bounds

The paper names Langford's exact bound for one variable and prints no number for it. For n, ε 0.01
and reliability 0.9999, the smallest size from which on no accuracy, whatever it is, is missed by
more than ε with a larger probability:
"""


def baseline(condition: str, steps: int, adaptivity: Adaptivity) -> int:
    examples = hoeffding(make_script(condition, steps=steps, adaptivity=adaptivity)).examples
    assert examples is not None
    return examples


@cache
def patterns(adaptivity: Adaptivity) -> Published:
    """Pattern 1 and its active labelling at p = 0.1, ε 0.01, for 32 steps."""
    return published(SHARE, adaptivity)


def active_labels(tolerance: float, share: float, delta: float) -> float:
    """The paper's formula for one commit: half of δ, without adding up errors over commits."""
    return share * Bennett(share).examples(tolerance, math.log(delta / 2.0))


def semeval_level(adaptivity: Adaptivity) -> float:
    return log_level(Fraction(2, 1_000), adaptivity, 7)


def _labelled(engineers: int, seconds: int) -> float:
    return engineers * WORKING_DAY / seconds


def _finest_practical(condition: str, adaptivity: str) -> float:
    """In points: the finest ε of the table at which no reliability is impractical."""
    cells = [
        cell
        for cell in computed_table()
        if (cell.printed.condition, cell.printed.adaptivity) == (condition, adaptivity)
    ]
    bad = {cell.printed.tolerance for cell in cells if cell.impractical}
    return min(100.0 * float(c.printed.tolerance) for c in cells if c.printed.tolerance not in bad)


def _fresh_testsets() -> float:
    return 32 * baseline(ONE_POINT, 32, NONE) / baseline(ONE_POINT, 32, FULL)


def _fewer(adaptivity: Adaptivity) -> float:
    found = patterns(adaptivity)
    return found.hoeffding / found.pattern1


def _pattern2_stages() -> tuple[int, int]:
    """n - o tested directly by the baseline, and the first testset of Pattern 2."""
    first = pattern2(make_script(CONDITION)).unlabelled
    assert first is not None
    return baseline(CONDITION, 32, FULL), first


def _first_testset() -> float:
    direct, first = _pattern2_stages()
    return direct / first


def _higher_tolerance() -> float:
    return baseline(ONE_POINT, 32, FULL) / baseline("n > 0.8 +/- 0.02", 32, FULL)


def _smaller_range() -> float:
    level = log_level(DELTA, FULL, 32)
    return Hoeffding(2.0).sample_size(0.01, level) / Hoeffding(1.0).sample_size(0.01, level)


def _order() -> float:
    labels = [active_labels(eps, math.sqrt(eps), float(DELTA)) for eps in (0.0001, 0.01)]
    return labels[0] / labels[1]


def _estimates(result: Result) -> list[float]:
    """All x̂ in steps of 0.0001 at which ``x < 0.1 +/- 0.01`` has this outcome."""
    threshold, tolerance = Fraction(1, 10), Fraction(1, 100)
    shares = [Fraction(step, 10_000) for step in range(10_001)]
    return [
        float(x)
        for x in shares
        if Interval.around(x, tolerance).compare(Comparison.LESS, threshold) is result
    ]


COMPUTED: dict[str, Callable[[], float]] = {
    "labels-per-test": lambda: round_up(active_labels(0.01, SHARE, 0.001)),
    "two-orders": lambda: patterns(FULL).hoeffding / patterns(FULL).pattern1_active,
    "one-model": partial(baseline, ONE_POINT, 1, NONE),
    "32-none": partial(baseline, ONE_POINT, 32, NONE),
    "32-full": partial(baseline, ONE_POINT, 32, FULL),
    "two-engineers": partial(_labelled, 2, 2),
    "four-engineers": partial(_labelled, 4, 2),
    "cheap-mode": lambda: baseline(ONE_POINT, 32, FULL) / baseline("n > 0.8 +/- 0.03", 32, FULL),
    "five-points": partial(baseline, "n > 0.8 +/- 0.05", 32, FULL),
    "one-point": partial(baseline, ONE_POINT, 32, FULL),
    "fresh-testsets": _fresh_testsets,
    "hybrid": lambda: (
        baseline(ONE_POINT, 32, Adaptivity.FIRST_CHANGE) / baseline(ONE_POINT, 32, NONE)
    ),
    "practical-f1": partial(_finest_practical, "n > 0.5", "full"),
    "practical-f2-none": partial(_finest_practical, "n - o > 0.1", "none"),
    "practical-f2-full": partial(_finest_practical, "n - o > 0.1", "full"),
    "pattern1-none": lambda: patterns(NONE).pattern1,
    "pattern1-full": lambda: patterns(FULL).pattern1,
    "ten-fewer-none": partial(_fewer, NONE),
    "ten-fewer-full": partial(_fewer, FULL),
    "active": lambda: round_up(active_labels(0.01, SHARE, float(DELTA))),
    "hours": lambda: round_up(active_labels(0.01, SHARE, float(DELTA))) * 5 / 3_600,
    "first-testset": _first_testset,
    "higher-tolerance": _higher_tolerance,
    "smaller-range": _smaller_range,
    "impact-pattern1": partial(_fewer, NONE),
    "impact-active": lambda: patterns(NONE).pattern1 / patterns(NONE).pattern1_active,
    "semeval-none": lambda: Hoeffding(2.0, 2).sample_size(0.02, semeval_level(NONE)),
    "semeval-full": lambda: Hoeffding(2.0, 2).sample_size(0.02, semeval_level(FULL)),
    "semeval-enough": lambda: Bennett(SHARE).sample_size(0.02, semeval_level(NONE)),
    "semeval-enough-full": lambda: Bennett(SHARE).sample_size(0.022, semeval_level(FULL)),
    "semeval-tolerance": lambda: 100.0 * Bennett(SHARE).tolerance(TRACE_ITEMS, semeval_level(FULL)),
    "semeval-too-many": lambda: Bennett(SHARE).sample_size(0.02, semeval_level(FULL)),
    "order": _order,
    "surely-false": lambda: min(_estimates(Result.FALSE)),
    "surely-true": lambda: max(_estimates(Result.TRUE)),
}


def _row(printed: Printed) -> list[str]:
    computed = COMPUTED[printed.key]()
    shown = format(computed, printed.form)
    if not printed.agrees(computed):
        shown = f"**{shown}, which does not agree**"
    return [printed.where, printed.of, printed.text, shown, printed.why]


def tight_sizes() -> list[tuple[str, int, int]]:
    """What is tested, then Hoeffding's size and the exact one."""
    cases = [("one model", NONE, 1), ("32 models, none", NONE, 32), ("32 models, full", FULL, 32)]
    levels = [(name, log_level(DELTA, adaptivity, steps)) for name, adaptivity, steps in cases]
    return [
        (
            name,
            Hoeffding().sample_size(0.01, level),
            binomial.deviation_sample_size(0.01, level),
        )
        for name, level in levels
    ]


def section() -> str:
    headings = ["where", "what", "printed", "computed", "why they differ"]
    rows = table(headings, (_row(printed) for printed in PROSE), left=5)
    tight = table(
        ["n to one accuracy point", "Hoeffding", "exact"],
        ([name, f"{hoeffding:,}", f"{exact:,}"] for name, hoeffding, exact in tight_sizes()),
    )
    return OPENING + "\n" + rows + LEFT_OUT + TIGHT + "\n" + tight
