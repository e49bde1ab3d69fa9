"""Sample size estimators against the empirical error: table and chart."""

from __future__ import annotations

import math
from collections.abc import Callable

from bench.page import table

from easeci.bounds import Bennett, Hoeffding, binomial
from easeci.charts import Axis, Colour, Mark, Panel, Series, line_chart
from paper.digits import DELTA, SIZES, Digits

LOG_DELTA = math.log(DELTA)
EMPIRICAL = "empirical error"
EXACT = "exact, at the observed accuracy"
LOOKS = {
    "baseline (Hoeffding)": (Colour.PURPLE, Mark.LINE),
    "exact, whatever the accuracy (Langford)": (Colour.GREEN, Mark.TRIANGLES),
    "Bennett, p = 0.1": (Colour.ORANGE, Mark.DASHED),
    "Bennett, p = 0.05": (Colour.VERMILION, Mark.DOT_DASHED),
    "Bennett, p = 0.025": (Colour.GREY, Mark.DOTTED),
    EXACT: (Colour.BLUE, Mark.SQUARES),
    EMPIRICAL: (Colour.BLACK, Mark.MEASURED),
}
OPENING = """\
## Sample size estimators against the empirical error

The paper runs GoogLeNet on infinite MNIST; neither fits here, so this is a smaller model on smaller
digits: nearest neighbours on half of scikit-learn's digits, tested on the other half under random
affine distortions, of which there is no end. On {examples:,} such digits its accuracy is
{accuracy:.2%}, which is taken for the truth. They are cut into testsets of each size; the empirical
error is half the gap between the δ and 1 − δ quantiles of the accuracies observed on these, δ =
{delta}, so that it compares with an ε that counts to both sides.

![Estimated and empirical error over the size of the testset](estimators.svg)

Estimators are told δ and the size, Bennett also an upper bound p on the share of errors, and the
last one the accuracy that was observed (its ε is half the distance between the exact limits). In
percentage points:
"""
FINDINGS = """
Every estimator lies above the empirical error at every size: none claims more than is true. The
baseline asks for {baseline:.0f} times the labels that the empirical error would need, Bennett with
p = 0.025 for {bennett:.1f} times, and the exact limits, which assume no p at all, for {exact:.2f}
times (at 10,000 examples; sizes go with 1/ε²).

The paper's footnote speaks of the gap itself, twice what is drawn here. Against that, too, the
baseline, Langford's bound and Bennett with p = 0.1 and 0.05 lie above. Bennett with p = 0.025 and
the exact limits lie below, as they should: a gap counts both sides and an ε one.
"""


def estimated(name: str, size: int, accuracy: float) -> float:
    """The ε that an estimator gives for a testset of this size."""
    of_size: dict[str, Callable[[], float]] = {
        "baseline (Hoeffding)": lambda: Hoeffding().tolerance(size, LOG_DELTA),
        "exact, whatever the accuracy (Langford)": lambda: binomial.deviation_tolerance(
            size, LOG_DELTA
        ),
        EXACT: lambda: _exact(size, accuracy),
    }
    if name in of_size:
        return of_size[name]()
    share = float(name.rpartition(" ")[2])
    return Bennett(share).tolerance(size, LOG_DELTA)


def _exact(size: int, accuracy: float) -> float:
    right = round(accuracy * size)
    lower, upper = (
        limit(right, size, LOG_DELTA) for limit in (binomial.lower_limit, binomial.upper_limit)
    )
    return (upper - lower) / 2.0


def errors(found: Digits) -> dict[str, list[float]]:
    """For every estimator and for the testsets themselves, the error at each size."""
    made = {
        name: [estimated(name, size, found.accuracy) for size in SIZES]
        for name in LOOKS
        if name != EMPIRICAL
    }
    return made | {EMPIRICAL: [spread.gap / 2.0 for spread in found.spreads]}


def chart(found: Digits) -> str:
    series = tuple(
        Series(
            name,
            *LOOKS[name],
            tuple((float(size), 100.0 * y) for size, y in zip(SIZES, ys, strict=True)),
        )
        for name, ys in errors(found).items()
    )
    return line_chart(
        [Panel(f"Error at δ = {DELTA}, true accuracy {found.accuracy:.1%}", series)],
        Axis("examples in the testset", 90, 11_000, (100, 1_000, 10_000), True),
        Axis("error (percentage points)", 0.25, 20, (0.5, 1, 2, 5, 10, 20), True),
        width=640,
        height=380,
    )


def section(found: Digits) -> str:
    made = errors(found)
    rows = ([name, *(f"{100.0 * y:.2f}" for y in ys)] for name, ys in made.items())
    shown = table(["error at size", *(f"{size:,}" for size in SIZES)], rows)
    testsets = ["testsets", *(f"{spread.testsets:,}" for spread in found.spreads)]
    empirical = made[EMPIRICAL][-1]
    findings = FINDINGS.format(
        baseline=(made["baseline (Hoeffding)"][-1] / empirical) ** 2,
        bennett=(made["Bennett, p = 0.025"][-1] / empirical) ** 2,
        exact=(made[EXACT][-1] / empirical) ** 2,
    )
    opening = OPENING.format(examples=found.examples, accuracy=found.accuracy, delta=DELTA)
    return f"{opening}\n{shown}| {' | '.join(testsets)} |\n{findings}"
