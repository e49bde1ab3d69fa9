"""Impact of ε, δ and p on the label complexity: the paper's estimators, and ours beside them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bench.page import table
from bench.published import planned, published

from easeci.bounds import trinomial
from easeci.charts import Axis, Colour, Mark, Panel, Series, line_chart
from easeci.evidence.levels import log_level
from easeci.plan.sequential import labels_alone
from easeci.script import Adaptivity, Estimator
from paper.prose import DELTA, SHARE

THRESHOLD = 0.02
TOLERANCES = ("0.01", "0.02", "0.05")
RELIABILITIES = ("0.99", "0.999", "0.9999", "0.99999")
SHARES = (0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5)
CHARTED_SHARES = (0.05, 0.1, 0.2)
LOOKS = {
    "baseline (Hoeffding)": (Colour.PURPLE, Mark.LINE),
    "Pattern 1": (Colour.VERMILION, Mark.DOT_DASHED),
    "Pattern 1, active labelling, a commit": (Colour.ORANGE, Mark.DASHED),
    "exact, labelled beforehand": (Colour.GREEN, Mark.SQUARES),
    "sequential, a commit, worst truth": (Colour.BLUE, Mark.MEASURED),
    "sequential, a commit, no gain": (Colour.BLACK, Mark.DOTTED),
}
OPENING = """\
## Impact of ε, δ and p on the label complexity

`n - o > 0.02 +/- ε`, fp-free, 32 fully adaptive steps. The paper's estimators know p, an upper
bound on d. Ours are told nothing: p is only the d that their testset is planned for, and safety
holds whatever it is.

![Labels over p, for three tolerances](impact-p.svg)

Reliability 0.9999. Baseline, Pattern 1 and exact label their whole testset before the first commit;
the others label commit by commit, and keep what they have. What sequential evidence takes depends
on the truth: most where it lies in the middle between pass and fail, few where a commit
changes nothing. Below p = 0.02 + 2ε no model can be as good as is promised to pass, so ours start
there.

![Labels over δ, for three p](impact-delta.svg)

ε 0.01. All grow with the logarithm of 1/δ only. At ε 0.01 and reliability 0.9999, in numbers:
"""
NON_ADAPTIVE = """
For 32 **non-adaptive** steps, at p = 0.1: the baseline takes {hoeffding:,}, Pattern 1
{pattern1:,}, active labelling {active:,} a commit, and ours what they take above: exact {exact:,},
sequential {sequential:,}. There Pattern 1 needs a smaller testset than our exact plan.
The reason is the level. As published, each of 32 hidden answers gets δ/32, which overlooks that the
old model is the last one that passed, so that what is compared depends on hidden answers too; our
levels pay for that, and for not being told p. At the published level, with p known, the exact test
takes {same_level:,}.
"""


@dataclass(frozen=True)
class Point:
    """Labels at one ε, δ and p, by method; ours are None where nothing can be promised."""

    tolerance: str
    reliability: str
    share: float
    labels: tuple[int | None, ...]

    @property
    def by_name(self) -> dict[str, int | None]:
        return dict(zip(LOOKS, self.labels, strict=True))


@cache
def point(
    tolerance: str, reliability: str, share: float, adaptivity: Adaptivity = Adaptivity.FULL
) -> Point:
    condition = f"n - o > {THRESHOLD} +/- {tolerance}"
    paper = published(share, adaptivity, condition, reliability)
    theirs = (paper.hoeffding, paper.pattern1, paper.pattern1_active)
    if share <= THRESHOLD + 2.0 * float(tolerance):
        return Point(tolerance, reliability, share, (*theirs, None, None, None))
    made = planned(share, adaptivity, condition, reliability)
    alone = labels_alone(made.script)
    ours = (made.estimate(Estimator.EXACT).labels, alone.worst, alone.unchanged)
    return Point(tolerance, reliability, share, (*theirs, *ours))


def _lines(points: list[tuple[float, Point]]) -> tuple[Series, ...]:
    series = []
    for name, look in LOOKS.items():
        found = [(x, labels) for x, at in points if (labels := at.by_name[name]) is not None]
        series.append(Series(name, *look, tuple((x, float(labels)) for x, labels in found)))
    return tuple(series)


LABELS = Axis("labels", 10, 2e6, (10, 100, 1_000, 10_000, 100_000, 1_000_000), logarithmic=True)


def over_share() -> str:
    """One panel for each ε."""
    panels = [
        Panel(
            f"ε = {tolerance}",
            _lines([(share, point(tolerance, "0.9999", share)) for share in SHARES]),
        )
        for tolerance in TOLERANCES
    ]
    across = Axis("p, share of predictions that differ", 0.028, 0.58, (0.05, 0.1, 0.2, 0.5), True)
    return line_chart(panels, across, LABELS, width=235, height=340)


def over_delta() -> str:
    """One panel for each p."""
    deltas = {reliability: 10.0 ** -len(reliability[2:]) for reliability in RELIABILITIES}
    panels = [
        Panel(
            f"p = {share}",
            _lines([(deltas[r], point("0.01", r, share)) for r in reversed(RELIABILITIES)]),
        )
        for share in CHARTED_SHARES
    ]
    across = Axis("δ, one minus reliability", 7e-6, 1.6e-2, (1e-4, 1e-3, 1e-2), True)
    return line_chart(panels, across, LABELS, width=235, height=340)


def same_level() -> int:
    """The exact test with p known at the level of Pattern 1's own test: δ/32, half for a filter."""
    level = log_level(DELTA / 2, Adaptivity.NONE, 32)
    return trinomial.contract_sample_size(THRESHOLD, 0.01, SHARE, level, level)


def section() -> str:
    shares = [share for share in SHARES if share >= CHARTED_SHARES[0]]
    points = [point("0.01", "0.9999", share) for share in shares]
    rows = ([name, *(f"{at.by_name[name] or 0:,}" for at in points)] for name in LOOKS)
    shown = table(["labels", *(f"p = {share}" for share in shares)], rows)
    hidden = point("0.01", "0.9999", SHARE, Adaptivity.NONE).labels
    words = NON_ADAPTIVE.format(
        hoeffding=hidden[0], pattern1=hidden[1], active=hidden[2], exact=hidden[3],
        sequential=hidden[4], same_level=same_level(),
    )  # fmt: skip
    return OPENING + "\n" + shown + words


def pictures() -> dict[str, str]:
    return {"impact-p.svg": over_share(), "impact-delta.svg": over_delta()}
