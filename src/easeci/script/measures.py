"""The measures of a condition: what each means, and what one example counts for it.

This is the only place that knows the measures. The parser's messages, the normal form and
docs/script.md all use this table. A measure of a class is two numbers for each example: what it
counts in the numerator and in the denominator. A new one is one more row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from easeci.script.outcomes import ExampleAlphabet, Outcome

MODELS = {"n": "new", "o": "old"}
"""The names of the two models in a condition."""


@dataclass(frozen=True)
class ClassIndicators:
    """What one example shows of one model and one class; each is 0 or 1."""

    predicted: int
    """Whether the model predicts the class."""
    labelled: int
    """Whether the label is the class."""


class Form(Enum):
    """How a measure is written, and so how a clause is compiled."""

    PLAIN = "a mean over all examples, without a class"
    CLASS = "a ratio of two counts for a class"
    BLOCKS = "a mean over blocks of examples, for a class"
    RANK = "the model of some rank among those that were tested"
    TRIALS = "the share of examples that pass in one of some trials"


Count = Callable[[ClassIndicators], int]


@dataclass(frozen=True)
class MeasureDefinition:
    """One row of the table. ``numerator`` and ``denominator`` belong to measures of a class."""

    name: str
    written: str
    meaning: str
    labels: str
    """Which examples need labels."""
    example: str
    form: Form = Form.PLAIN
    numerator: Count | None = None
    denominator: Count | None = None


MEASURES: tuple[MeasureDefinition, ...] = (
    MeasureDefinition(
        "n",
        "n",
        "accuracy of the new model, also written `accuracy` or `n.accuracy`; with a scorer, its "
        "mean score",
        "all; in `n - o` those on which the models differ",
        "n - o > 0.02 +/- 0.01",
    ),
    MeasureDefinition(
        "o",
        "o",
        "accuracy of the old model, also written `o.accuracy`; with a scorer, its mean score",
        "all, also in `n / o`",
        "n / o > 1.1 +/- 0.05",
    ),
    MeasureDefinition(
        "d",
        "d",
        "share of the examples on which the two models predict differently",
        "none",
        "d < 0.1 +/- 0.01",
    ),
    MeasureDefinition(
        "precision",
        "precision(k)",
        "of the examples for which the model predicts class k: the share that has it",
        "those for which k is predicted",
        "precision(spam) > 0.9 +/- 0.02",
        Form.CLASS,
        lambda seen: seen.predicted * seen.labelled,
        lambda seen: seen.predicted,
    ),
    MeasureDefinition(
        "recall",
        "recall(k)",
        "of the examples whose label is class k: the share that the model finds",
        "all; in `n.recall(k) - o.recall(k)` those where only one model predicts k, and a first "
        "part that all commits share",
        "n.recall(fraud) - o.recall(fraud) > -0.01 +/- 0.01",
        Form.CLASS,
        lambda seen: seen.predicted * seen.labelled,
        lambda seen: seen.labelled,
    ),
    MeasureDefinition(
        "f1",
        "f1(k)",
        "the harmonic mean of precision(k) and recall(k)",
        "all",
        "f1(spam) > 0.8 +/- 0.02",
        Form.CLASS,
        lambda seen: 2 * seen.predicted * seen.labelled,
        lambda seen: seen.predicted + seen.labelled,
    ),
    MeasureDefinition(
        "auc",
        "auc(k)",
        "probability that the model gives an example of class k a higher score than an example "
        "of another class; `auc` alone, with two declared classes, is that of the last one",
        "all that are used, in order",
        "auc(fraud) > 0.9 +/- 0.02",
        Form.BLOCKS,
    ),
    MeasureDefinition(
        "top",
        "top(K)",
        "accuracy of the model of rank K among those that were tested on this testset; only in "
        "`n - top(K)`, which is above c if the new model is better by c than all but at most K - 1 "
        "of them",
        "those on which the new model and one of the others differ",
        "n - top(5) > 0 +/- 0.01",
        Form.RANK,
    ),
    MeasureDefinition(
        "pass",
        "pass@k",
        "probability that at least one of k trials, chosen among those of an example, has the "
        "score 1; only with a scorer, and k is at most `trials`",
        "all; in `n.pass@3 - o.pass@3` those on which the outputs differ",
        "pass@3 > 0.8 +/- 0.02",
        Form.TRIALS,
    ),
)
BY_NAME = {measure.name: measure for measure in MEASURES}
ACCURACY = "accuracy"
"""The long name of n and o: ``n.accuracy``."""
CLASS_MEASURES = tuple(m.name for m in MEASURES if m.form in (Form.CLASS, Form.BLOCKS))
MOST_RANKS = 1000

_FLOOR = "Put a floor under every class instead, such as {}(*) > 0.8 +/- 0.02."
_NOT_A_SHARE = "Write n for the share of right predictions."
_AVERAGE = "an average over classes is not a mean over examples"
_OTHER = (
    "there is no '{}'",
    "With two classes, specificity is the recall of the other class: write recall(legit). With "
    "more, put a floor under every class: recall(*) > 0.8 +/- 0.02.",
)
REFUSED: dict[str, tuple[str, str]] = {
    **{
        f"{kind}_{name}": (f"'{{}}': {_AVERAGE}", _FLOOR.format(name))
        for kind in ("macro", "weighted")
        for name in ("f1", "precision", "recall")
    },
    "balanced_accuracy": (f"'{{}}': {_AVERAGE}", _FLOOR.format("recall")),
    "macro": (f"'{{}}': {_AVERAGE}", _FLOOR.format("f1")),
    **{f"micro_{name}": ("'{}' is the accuracy", _NOT_A_SHARE) for name in ("f1", "recall")},
    "mcc": ("'{}' is not a mean over examples", _FLOOR.format("f1")),
    "kappa": ("'{}' is not a mean over examples", _FLOOR.format("recall")),
    "specificity": _OTHER,
    "tnr": _OTHER,
    "fpr": (_OTHER[0], f"It is 1 - specificity. {_OTHER[1]}"),
    "bleu": ("'{}' is not a mean over examples", _NOT_A_SHARE),
    "ece": ("'{}' is not a mean over examples", _NOT_A_SHARE),
    "log_loss": ("'{}' is not a mean of right and wrong predictions", _NOT_A_SHARE),
    "rmse": ("'{}' is not a mean of right and wrong predictions", _NOT_A_SHARE),
    "mse": ("'{}' is not a mean of right and wrong predictions", _NOT_A_SHARE),
    "mae": ("'{}' is not a mean of right and wrong predictions", _NOT_A_SHARE),
}
"""Measures that users ask for and that no clause can have: why, and what to write instead."""


def best_of(name: str) -> int | None:
    """k if the name of a measure is pass@k, otherwise None."""
    base, at, number = name.partition("@")
    return int(number) if at and base == "pass" else None


def table_of(
    count: Count, alphabet: ExampleAlphabet, model: str, name: str
) -> tuple[Fraction, ...]:
    """What each outcome counts, for the model n or o and the class of this name."""
    place = alphabet.classes.index(name)
    return tuple(Fraction(count(_indicators(one, model, place))) for one in alphabet.shown)


def _indicators(outcome: Outcome, model: str, place: int) -> ClassIndicators:
    predicted = outcome.new if model == "n" else outcome.old
    return ClassIndicators(int(predicted == place), int(outcome.label == place))


# -- shares of classes, and blocks

EVEN = Fraction(1, 2)
_LEAST_EVEN, _MOST_EVEN, _LONGEST_BLOCK = Fraction(35, 100), Fraction(65, 100), 40


def expected_share(
    name: str, classes: Sequence[str], expected: Sequence[tuple[str, Fraction]]
) -> Fraction | None:
    """The expected share of a class: as given, or what the other declared classes leave."""
    given = dict(expected)
    if name in given:
        return given[name]
    left = 1 - sum(given.values(), Fraction(0))
    if (
        given
        and left > 0
        and name in classes
        and all(one in given for one in classes if one != name)
    ):
        return left
    return None


def block_shape(share: Fraction) -> tuple[int, int]:
    """How many examples of the class and of others a block for AUC has, by the class's share.

    Two of each if the share is between .35 and .65; otherwise one of the rarer kind, and of the
    other as many as come with it on average, at most 40. Never change this: recorded verdicts are
    recomputed with it.
    """
    if share < _LEAST_EVEN:
        return 1, min(_LONGEST_BLOCK, round((1 - share) / share))
    if share > _MOST_EVEN:
        positives, negatives = block_shape(1 - share)
        return negatives, positives
    return 2, 2
