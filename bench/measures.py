"""Labels for measures of a class, for a shared prefix and for AUC, against reference figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from scipy.stats import norm

from bench.page import Figure, Section, broken_promises, table
from bench.progress import as_done, tell
from easeci.evidence.cells import Code
from easeci.evidence.codes import Flags
from easeci.evidence.facts import ClassColumns, Facts, RankColumns
from easeci.evidence.levels import StepLevels, step_levels
from easeci.evidence.shared_prefix import Prefix
from easeci.plan.prefix import PREFIX_SHARE
from easeci.script import Adaptivity, Mode, NormalClause, compile_condition, parse_condition
from easeci.verdict.result import Verdict
from easeci.verdict.sequential import Prefixes, decide_sequentially

WALKS = 200
SLACK = 1.1
"""A figure may be this much larger than its reference."""
CLASSES = ("other", "k")
RELIABILITY, FAILURES, STEPS = Fraction(999, 1000), 8, 32

OPENING = f"""\
## Labels for other measures

Levels are those at reliability {float(RELIABILITY):g} after {FAILURES} failed commits, fully
adaptive. The truth lies at the upper edge of the zone, c + 2ε. Mean labels of at least {WALKS}
commits, each on a testset of its own without labels, ± the standard error. The references are
from an independent simulation; a figure may be up to {SLACK - 1:.0%} larger."""
CLOSING = """\
Precision needs labels only where the class is predicted. Recall needs all, but only those of the
class count, a tenth. At these levels, no test takes fewer than {least:,.0f} labels that count on
average (Wald), so the reference for precision is below what is possible. For the differences of
recalls, the class has {rare:.0%} of {examples:,} examples. Only one of the two models finds
{differ:.0%} of these, and only one predicts the class for {alarms:.1%} of all others. The prefix is
{prefix:,} labels once, for all commits."""


@dataclass(frozen=True)
class Setting:
    """What is measured: a clause, how a testset is drawn, and the reference figure."""

    name: str
    condition: str
    draw: str
    reference: int
    prefix: int = 0
    expected: str = "1/2"
    walks: int = WALKS


@dataclass(frozen=True)
class MeasureFigure:
    """Mean labels of many walks, and how many of them passed."""

    setting: Setting
    labels: float
    error: float
    passed: int

    @property
    def ratio(self) -> Figure:
        """The labels in units of the reference."""
        name = f"labels for {self.setting.name}, by its reference"
        return Figure(name, self.labels / self.setting.reference, SLACK)


# -- testsets

PREVALENCE, FOUND, RARE = 0.1, 0.84, 0.02
DIFFER, ALARMS, GAIN = 0.05, 0.005, 0.01
"""How often only one model finds the rare class, and how often only one predicts it wrongly."""
LONG, LONGER, BLOCKS = 150_000, 400_000, 40_000


def predicted(new: Flags, old: Flags, label: Flags) -> Facts:
    """A testset with all labels, of two classes; the columns say where the class is k."""
    right = new == label
    cells = np.where(
        new == old,
        np.where(right, Code.AGREE_RIGHT, Code.AGREE_WRONG),
        np.where(right, Code.NEW_RIGHT, Code.OLD_RIGHT),
    ).astype(np.uint8)
    places = (np.where(column, 0, 1).astype(np.uint16) for column in (new, old, label))
    return Facts(cells, ClassColumns(("k",), *places))


def detections(random: np.random.Generator) -> Facts:
    """A model whose precision and recall are .84, for a class with a share of .1."""
    label = random.random(LONG) < PREVALENCE
    alarms = PREVALENCE * FOUND * (1.0 / FOUND - 1.0) / (1.0 - PREVALENCE)
    new = random.random(LONG) < np.where(label, FOUND, alarms)
    return predicted(new, new, label)


def rare(random: np.random.Generator) -> Facts:
    """Two models whose recalls of a rare class differ by .01."""
    label, chance = random.random(LONGER) < RARE, random.random(LONGER)
    only_new = chance < np.where(label, (DIFFER + GAIN) / 2.0, ALARMS / 2.0)
    differ = chance < np.where(label, DIFFER, ALARMS)
    both = (random.random(LONGER) < np.where(label, 0.7, 0.005)) & ~differ
    return predicted(both | only_new, both | (differ & ~only_new), label)


def scored(random: np.random.Generator, share: float) -> Facts:
    """A model whose scores are normal in both classes, with equal variances and an AUC of .94."""
    label = random.random(BLOCKS) < share
    ranks = random.normal(size=BLOCKS) + label * math.sqrt(2.0) * norm.ppf(0.94)
    facts = predicted(label, label, label)
    return Facts(facts.cells, facts.classes, ranks={"k": RankColumns(ranks)})


DRAWS: dict[str, Callable[[np.random.Generator], Facts]] = {
    "detections": detections,
    "rare": rare,
    "balanced": lambda random: scored(random, 0.5),
    "tenth": lambda random: scored(random, 0.1),
}

RECALL_DIFFERENCE = "n.recall(k) - o.recall(k) > -0.01 +/- 0.01"
SETTINGS = (
    Setting("precision", "precision(k) > 0.8 +/- 0.02", "detections", 1_930, walks=2000),
    Setting("F1", "f1(k) > 0.8 +/- 0.02", "detections", 12_900),
    Setting("recall", "recall(k) > 0.8 +/- 0.02", "detections", 22_000),
    Setting("difference of recalls, all labels", RECALL_DIFFERENCE, "rare", 158_029),
    Setting("difference of recalls, after a prefix", RECALL_DIFFERENCE, "rare", 1_255, 20_000),
    Setting("AUC, half positive", "auc(k) > 0.9 +/- 0.02", "balanced", 1_940, walks=400),
    Setting(
        "AUC, a tenth positive", "auc(k) > 0.9 +/- 0.02", "tenth", 4_650, expected="1/10", walks=400
    ),
)


# -- walks


def levels_of(prefix: int) -> StepLevels:
    left = (1 - RELIABILITY) * (1 - PREFIX_SHARE if prefix else 1)
    return step_levels(
        delta=left,
        beta=left,
        mode=Mode.FP_FREE,
        adaptivity=Adaptivity.FULL,
        steps=STEPS,
        history="F" * FAILURES,
    )


def clause_of(setting: Setting) -> NormalClause:
    expected = (("k", Fraction(setting.expected)),)
    (clause,) = compile_condition(parse_condition(setting.condition), CLASSES, expected)
    return clause


def walk(setting: Setting, seed: int) -> Verdict:
    """One commit on a testset of its own; labels of the prefix are part of the verdict's."""
    clause = clause_of(setting)
    level = math.log((1 - RELIABILITY) * PREFIX_SHARE / 2)
    prefixes: Prefixes = {}
    if setting.prefix:
        prefixes = {clause: Prefix(setting.prefix, level, RARE)}
    facts = DRAWS[setting.draw](np.random.default_rng((SETTINGS.index(setting), seed)))
    levels = levels_of(setting.prefix)
    return decide_sequentially([clause], Mode.FP_FREE, levels, facts, prefixes=prefixes)


def measure(setting: Setting) -> MeasureFigure:
    """The mean labels of many walks, without those of the prefix."""
    verdicts = [walk(setting, seed) for seed in range(setting.walks)]
    assert all(verdict.passed is not None for verdict in verdicts)
    labels = np.array([verdict.labels - setting.prefix for verdict in verdicts])
    error = float(labels.std(ddof=1)) / math.sqrt(len(labels))
    passed = sum(verdict.passed is True for verdict in verdicts)
    return MeasureFigure(setting, float(labels.mean()), error, passed)


def least_labels(threshold: float = 0.8, truth: float = FOUND) -> float:
    """Wald's lower bound on the mean labels of a share at the edge of the zone."""
    levels = levels_of(0)
    miss = math.exp(levels.sensitivity)
    gained = -(1.0 - miss) * levels.safety + miss * levels.sensitivity
    rate = truth * math.log(truth / threshold) + (1.0 - truth) * math.log(
        (1.0 - truth) / (1.0 - threshold)
    )
    return gained / rate


def section() -> Section:
    found = []
    for figure in as_done(measure, SETTINGS):
        setting = figure.setting
        tell(
            f"  {setting.name}: {figure.labels:,.0f} ± {figure.error:,.0f} labels, "
            f"{figure.ratio.value:.2f} of {setting.reference:,}; {figure.passed} passed"
        )
        found.append(figure)
    rows = [
        [
            figure.setting.name,
            f"`{figure.setting.condition}`",
            f"{figure.labels:,.0f} ± {figure.error:,.0f}",
            f"{figure.setting.reference:,}",
            figure.ratio.shown(".2f"),
            figure.ratio.promise,
        ]
        for figure in found
    ]
    headings = ["measure", "condition", "labels", "reference", "ratio", "at most"]
    closing = CLOSING.format(
        least=least_labels(),
        rare=RARE,
        examples=LONGER,
        differ=DIFFER,
        alarms=ALARMS,
        prefix=SETTINGS[4].prefix,
    )
    text = "\n\n".join([OPENING, table(headings, rows, left=2).strip(), closing])
    return Section(text, broken=broken_promises(figure.ratio for figure in found))
