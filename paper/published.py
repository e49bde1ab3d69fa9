"""What the paper prints, where it prints it, and which computed values agree with it.

C. Renggli, B. Karlaš, B. Ding, F. Liu, K. Schawinski, W. Wu, C. Zhang: Continuous Integration of
Machine Learning Models with ease.ml/ci, SysML 2019. A printed figure stands for a range: "46K" is
every size from 46,000 up to 47,000, because the paper cuts thousands off. Where it cuts a sample
size to a whole number, ours is one larger, because a fraction of an example needs a whole one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# --- the table of sample sizes -----------------------------------------------------------------

# reliability, ε, then F1 and F4: none, full; F2 and F3: none, full. 32 steps; ! is printed in red.
_TABLE = """
0.99    0.1    404     1340     1753     5496
0.99    0.05   1615    5358     7012     21984
0.99    0.025  6457    21429    28045    87933!
0.99    0.01   40355   133930!  175282!  549581!
0.999   0.1    519     1455     2214     5957
0.999   0.05   2075    5818     8854     23826
0.999   0.025  8299    23271    35414    95302!
0.999   0.01   51868   145443!  221333!  595633!
0.9999  0.1    634     1570     2674     6417
0.9999  0.05   2536    6279     10696    25668
0.9999  0.025  10141   25113    42782    102670!
0.9999  0.01   63381!  156956!  267385!  641684!
0.99999 0.1    749     1685     3135     6878
0.99999 0.05   2996    6739     12538    27510
0.99999 0.025  11983   26955    50150    110038!
0.99999 0.01   74894!  168469!  313437!  687736!
"""
COLUMNS = (
    ("n > 0.5", "none"),
    ("n > 0.5", "full"),
    ("n - o > 0.1", "none"),
    ("n - o > 0.1", "full"),
)
"""F1 and F4 have one variable, F2 and F3 have two; the constant does not matter."""


@dataclass(frozen=True)
class Cell:
    """One of the 64 sample sizes, as printed; ``red`` is the paper's mark for impractical."""

    reliability: str
    tolerance: str
    condition: str
    adaptivity: str
    size: int
    red: bool


TABLE = tuple(
    Cell(reliability, tolerance, condition, adaptivity, int(text.rstrip("!")), "!" in text)
    for reliability, tolerance, *texts in (line.split() for line in _TABLE.split("\n") if line)
    for (condition, adaptivity), text in zip(COLUMNS, texts, strict=True)
)

# --- numbers in the prose ----------------------------------------------------------------------


@dataclass(frozen=True)
class Printed:
    """A figure in the prose: where it is, how it is printed, what it measures, what agrees with it.

    ``why`` explains the difference between printed and computed, or is empty if there is none.
    """

    key: str
    where: str
    text: str
    of: str
    least: float
    below: float
    why: str = ""
    form: str = ",.0f"

    def agrees(self, computed: float) -> bool:
        return self.least <= computed < self.below


CUT = "The paper cuts the thousands off."
DOWN = "The paper rounds down; a fraction of an example takes a whole one."


def _as_printed(value: int) -> tuple[float, float]:
    return value, value + 1


def _rounded_down(value: int) -> tuple[float, float]:
    return value + 1, value + 2


def _thousands(value: int) -> tuple[float, float]:
    return 1_000 * value, 1_000 * (value + 1)


ABSTRACT, INTRODUCTION, UTILITIES = "Abstract", "1 Introduction", "2.3 System utilities"
BASELINE, OPTIMISATIONS = "3 Baseline implementation", "4 Optimizations"
EXPERIMENTS, RELATED, APPENDIX = "5 Experiments", "6 Related work", "A Syntax and semantics"

PROSE = (
    Printed(
        "labels-per-test", ABSTRACT, "2K labels per test",
        "active labelling, one commit, ε 0.01, p 0.1, reliability 0.999", 1_500, 2_500,
        "To the nearest thousand; at reliability 0.9999 it is the 2,188 below.",
    ),
    Printed(
        "two-orders", ABSTRACT, "up to two orders of magnitude",
        "baseline over active labelling a commit, 32 fully adaptive steps", 80, 125,
        "10× by Pattern 1 and 10× by active labelling, each of them almost.", ".1f",
    ),
    Printed("one-model", INTRODUCTION, "46K", "n to ε 0.01, one model", *_thousands(46), CUT),
    Printed("32-none", INTRODUCTION, "63K", "the same, 32 models, none", *_thousands(63), CUT),
    Printed("32-full", INTRODUCTION, "156K", "the same, 32 models, full", *_thousands(156), CUT),
    Printed(
        "two-engineers", UTILITIES, "30,000", "labels of 2 engineers in 8 h at 2 s a label",
        25_000, 35_000, "Rounded to ten thousands.",
    ),
    Printed(
        "four-engineers", UTILITIES, "60,000", "labels of 4 engineers in 8 h at 2 s a label",
        55_000, 65_000, "Rounded to ten thousands.",
    ),
    Printed(
        "cheap-mode", UTILITIES, "10x", "baseline at ε 0.01 over ε 0.03", 8.5, 10.5,
        "Sizes go with 1/ε²: two points more are (0.03 / 0.01)² = 9, one point more is 4.", ".1f",
    ),
    Printed("five-points", BASELINE, "6,279", "n to ε 0.05, 32 full", *_as_printed(6_279)),
    Printed(
        "one-point", BASELINE, "156,955", "n to ε 0.01, 32 full", *_rounded_down(156_955),
        DOWN + " Its own table has 156,956.",
    ),
    Printed(
        "fresh-testsets", BASELINE, "much smaller",
        "a fresh testset for each of 32 commits over one for all, n to ε 0.01, full", 2, math.inf,
        "The paper gives no figure.", ".1f",
    ),
    Printed(
        "hybrid", BASELINE, "the same bound", "firstChange over none, n to ε 0.01", 1, 1.000001,
        form=".0f",
    ),
    Printed(
        "practical-f1", BASELINE, "2.5 accuracy points",
        "the finest ε in the table that is practical at every reliability: F1 and F4, full",
        2.5, 2.51, form=".1f",
    ),
    Printed(
        "practical-f2-none", BASELINE, "2.5 accuracy points", "F2 and F3, none and firstChange",
        2.5, 2.51, form=".1f",
    ),
    Printed(
        "practical-f2-full", BASELINE, "5 accuracy points", "F2 and F3, full", 5, 5.01, form=".1f"
    ),
    Printed("pattern1-none", OPTIMISATIONS, "29K", "Pattern 1, p 0.1, 32 none", *_thousands(29),
            CUT),
    Printed(
        "pattern1-full", OPTIMISATIONS, "67K", "Pattern 1, p 0.1, 32 full", *_thousands(67),
        CUT + " To the nearest it would be 68K.",
    ),
    Printed(
        "ten-fewer-none", OPTIMISATIONS, "10× fewer", "baseline over Pattern 1, 32 none", 9, 10.5,
        "267,385 over 29,048; the paper rounds up.", ".1f",
    ),
    Printed(
        "ten-fewer-full", OPTIMISATIONS, "10× fewer", "baseline over Pattern 1, 32 full", 9, 10.5,
        "641,684 over 67,706; the paper rounds up.", ".1f",
    ),
    Printed(
        "active", OPTIMISATIONS, "2,188", "active labelling, labels for one commit, p 0.1",
        *_rounded_down(2_188),
        DOWN + " Its formula adds no errors up over commits: with that it is 2,905 for 32 none "
        "and 6,771 for 32 full.",
    ),
    Printed(
        "hours", OPTIMISATIONS, "3 hours a day", "these labels at 5 s each", 2.5, 3.5,
        "Rounded to hours.", ".2f",
    ),
    Printed(
        "first-testset", OPTIMISATIONS, "16×", "Pattern 2: n - o tested directly over its first "
        "testset", 15.99, 16.01, "Both sizes are rounded up.", ".3f",
    ),
    Printed(
        "higher-tolerance", OPTIMISATIONS, "4×", "of which for a tolerance of 2D", 3.99, 4.01,
        "Both sizes are rounded up.", ".3f",
    ),
    Printed(
        "smaller-range", OPTIMISATIONS, "4×", "of which for half the range", 3.99, 4.01,
        "Both sizes are rounded up.", ".3f",
    ),
    Printed(
        "impact-pattern1", EXPERIMENTS, "almost 10×", "baseline over Pattern 1 at p 0.1, 32 none",
        9, 10, "“Almost” is fair.", ".1f",
    ),
    Printed(
        "impact-active", EXPERIMENTS, "another 10×", "Pattern 1 over active labelling, p 0.1", 9.9,
        10.1, form=".1f",
    ),
    Printed(
        "semeval-none", EXPERIMENTS, "44,268", "SemEval: Hoeffding, ε 0.02, δ 0.002, 7 none",
        *_rounded_down(44_268), DOWN,
    ),
    Printed("semeval-full", EXPERIMENTS, "58K", "the same, 7 full", *_thousands(58),
            CUT + " To the nearest it would be 59K."),
    Printed(
        "semeval-enough", EXPERIMENTS, "5.5K are enough",
        "Bennett, p 0.1, ε 0.02, 7 none (conditions I and II)", 1, 5_510,
        "5,509 items are at hand.",
    ),
    Printed(
        "semeval-enough-full", EXPERIMENTS, "5.5K are enough",
        "Bennett, p 0.1, ε 0.022, 7 full (condition III)", 1, 5_510, "5,509 items are at hand.",
    ),
    Printed(
        "semeval-tolerance", EXPERIMENTS, "2.2 points",
        "the finest ε of 5,509 items, 7 full, in points", 2.1, 2.2000001,
        "Rounded up to a tenth of a point.", ".2f",
    ),
    Printed(
        "semeval-too-many", EXPERIMENTS, "more than 6K", "Bennett, p 0.1, ε 0.02, 7 full",
        *_thousands(6), "More than the 5,509 at hand.",
    ),
    Printed(
        "order", RELATED, "O(1/ε) labels at p = O(√ε)",
        "active labelling at ε 0.0001 over ε 0.01, p = √ε", 90, 110,
        "100 times finer takes about 100 times the labels, not 10,000 times.", ".1f",
    ),
    Printed(
        "surely-false", APPENDIX, "x̂ > 0.11", "x < 0.1 ± 0.01: the least x̂ that is False, in steps "
        "of 0.0001", 0.11, 0.11011, "The next step above 0.11.", ".4f",
    ),
    Printed(
        "surely-true", APPENDIX, "x̂ < 0.09", "x < 0.1 ± 0.01: the greatest x̂ that is True",
        0.08989, 0.09, "The next step below 0.09.", ".4f",
    ),
)  # fmt: skip

# --- the SemEval-2019 development trace --------------------------------------------------------


@dataclass(frozen=True)
class Iteration:
    """One of the eight submitted models, with its published accuracies to four digits."""

    number: int
    validation: str
    test: str


TRACE_ITEMS = 5_509
TRACE = (
    Iteration(1, "0.8889", "0.8811"),
    Iteration(2, "0.9110", "0.9079"),
    Iteration(3, "0.9027", "0.8961"),
    Iteration(4, "0.9168", "0.9090"),
    Iteration(5, "0.9219", "0.9114"),
    Iteration(6, "0.9136", "0.9101"),
    Iteration(7, "0.9303", "0.9219"),
    Iteration(8, "0.9361", "0.9201"),
)
