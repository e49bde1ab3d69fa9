"""ease.ml/ci in action: the eight models of the SemEval-2019 trace, tested one after the other.

The predictions of the eight models are not part of the paper. What it prints are their accuracies,
that the testset has 5,509 items of four classes, and that no two submissions differ on more than
10% of them. ``reconstruct`` draws predictions that have exactly these accuracies and differ about
as much as that allows, which is the case that needs the most labels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache, partial
from itertools import combinations

import numpy as np
import numpy.typing as npt

from easeci.bounds import Bennett
from easeci.evidence.cells import STATES, LabelState, codes_of, differs
from easeci.evidence.codes import Codes, Counts
from easeci.evidence.levels import FAIL, PASS, log_level
from easeci.plan import Observation
from easeci.script import Adaptivity, Estimator, Mode, NormalClause, Script
from easeci.service.scripts import make_script
from easeci.simulation.mixed import used_labels
from easeci.verdict.decide import decide
from easeci.verdict.logic import passes
from easeci.verdict.published import measure
from paper.published import TRACE, TRACE_ITEMS

LARGEST_DIFFERENCE = Fraction(1, 10)
CONTESTED = 750
"""On how many items the eight models do not all agree: few enough for the largest difference."""
RIGHT_EVERYWHERE = 4_560
"""How many of the others all of them get right."""
STEPS, RELIABILITY = len(TRACE) - 1, "0.998"
CLASSES = 4

Predictions = npt.NDArray[np.int64]


# --- the models --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Trace:
    """Labels, and the predictions of each model in the order of the iterations."""

    labels: Predictions
    models: tuple[Predictions, ...]

    def accuracy(self, number: int) -> str:
        """To four digits, cut off: so the paper prints it, as rounding can't give all eight."""
        right = int(np.count_nonzero(self.models[number - 1] == self.labels))
        return f"0.{right * 10_000 // TRACE_ITEMS}"

    def differences(self) -> list[float]:
        """Of every pair of models, the share of items that they predict differently."""
        return [float(np.mean(a != b)) for a, b in combinations(self.models, 2)]


@cache
def reconstruct(seed: int = 0) -> Trace:
    """The same predictions in every run: exact accuracies, everything else drawn."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, CLASSES, TRACE_ITEMS)
    shuffled = draw.permutation(TRACE_ITEMS)
    contested, others = shuffled[:CONTESTED], shuffled[CONTESTED:]
    shared = labels.copy()
    wrong = others[RIGHT_EVERYWHERE:]
    shared[wrong] = another_class(labels[wrong], draw)
    models = []
    for iteration in TRACE:
        right = round(float(iteration.test) * TRACE_ITEMS) - RIGHT_EVERYWHERE
        model = shared.copy()
        missed = draw.permutation(contested)[right:]
        model[missed] = another_class(labels[missed], draw)
        models.append(model)
    return Trace(labels, tuple(models))


def another_class(truth: Predictions, draw: np.random.Generator) -> Predictions:
    """A random class other than the label."""
    return (truth + draw.integers(1, CLASSES, len(truth))) % CLASSES


def cells(model: Predictions, baseline: Predictions, truth: Predictions) -> Codes:
    """The codes of two models' predictions, with every label known."""
    return codes_of(
        np.full(len(truth), STATES.index(LabelState.LABEL), np.uint8),
        differ=model != baseline,
        new_right=model == truth,
        old_right=baseline == truth,
    )


# --- the scripts -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Query:
    """One of the paper's conditions.

    ``by_hand`` are the iterations that pass by its rule on the printed accuracies: in fp-free those
    that beat the last one that passed by more than c + ε, in fn-free by no less than c − ε.
    """

    name: str
    condition: str
    mode: Mode
    adaptivity: Adaptivity
    by_hand: tuple[int, ...]

    def script(self, estimator: Estimator = Estimator.AUTO) -> Script:
        return make_script(
            self.condition,
            reliability=RELIABILITY,
            mode=self.mode,
            adaptivity=self.adaptivity,
            steps=STEPS,
            estimator=estimator,
            difference=float(LARGEST_DIFFERENCE),
        )

    @property
    def title(self) -> str:
        return f"({self.name}) {self.mode}"


TWO_POINTS = "n - o > 0.02 +/- 0.02"
QUERIES = (
    Query("I", TWO_POINTS, Mode.FP_FREE, Adaptivity.NONE, (7,)),
    Query("II", TWO_POINTS, Mode.FN_FREE, Adaptivity.NONE, (2, 4, 5, 7)),
    Query("III", "n - o > 0.018 +/- 0.022", Mode.FP_FREE, Adaptivity.FULL, (7,)),
    Query("III", "n - o > 0.022 +/- 0.022", Mode.FN_FREE, Adaptivity.FULL, (2, 4, 5, 7)),
)


# --- the engines -------------------------------------------------------------------------------


@dataclass(frozen=True)
class KnownDifference:
    """The paper's test of this experiment: Bennett, two-sided, d ≤ 0.1 known, no first stage."""

    clause: NormalClause
    log_level: float

    @staticmethod
    def of(script: Script) -> KnownDifference:
        level = log_level(script.delta, script.adaptivity, script.steps)
        return KnownDifference(script.clauses[0], level)

    @property
    def bound(self) -> Bennett:
        return Bennett(float(LARGEST_DIFFERENCE))

    @property
    def sample_size(self) -> int:
        return self.bound.sample_size(float(self.clause.tolerance), self.log_level)

    def needed(self, observation: Observation) -> int:  # noqa: ARG002 - known beforehand
        return self.sample_size

    def tolerance(self, observation: Observation) -> Fraction:
        if observation.sample >= self.sample_size:
            return self.clause.tolerance
        return Fraction(self.bound.tolerance(observation.sample, self.log_level))


@dataclass(frozen=True)
class Answer:
    """Whether a commit passed, and the labels that the answer rests on, by position."""

    passed: bool
    labels: frozenset[int]


def by_bennett(script: Script, codes: Codes, history: str) -> Answer:  # noqa: ARG001
    """As published: every label of the planned sample, before the first commit."""
    test = KnownDifference.of(script)
    result = measure(test, Counts.of(codes), codes)
    return Answer(passes(result.result, script.mode), frozenset(range(test.sample_size)))


def by_easeci(script: Script, codes: Codes, history: str, *, exactly: bool) -> Answer:
    """By the real engine at the levels of the history; labels only where the models differ."""
    verdict = decide(script, codes, history)
    assert verdict.passed is not None
    asked = differs(codes) if exactly else used_labels(verdict, codes)
    return Answer(verdict.passed, frozenset(np.flatnonzero(asked).tolist()))


class Engine(Enum):
    """What gives the answers: its title, and the estimator for the script."""

    BENNETT = ("Bennett, as published", Estimator.AUTO)
    EXACT = ("easeci, exact: all labels at hand", Estimator.EXACT)
    SEQUENTIAL = ("easeci, sequential: labels bought as needed", Estimator.SEQUENTIAL)

    @property
    def title(self) -> str:
        return self.value[0]

    @property
    def answer(self) -> Callable[[Script, Codes, str], Answer]:
        if self is Engine.BENNETT:
            return by_bennett
        return partial(by_easeci, exactly=self is Engine.EXACT)


# --- the run -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """What one engine answered to iterations 2 to 8, and how many labels it took in all."""

    query: Query
    engine: Engine
    history: str
    labels: int

    @property
    def passed_at(self) -> tuple[int, ...]:
        return tuple(number for number, bit in enumerate(self.history, start=2) if bit == PASS)

    @property
    def active(self) -> int:
        """The number of the model that is active in the end."""
        return max(self.passed_at, default=1)


def run(query: Query, engine: Engine, seed: int = 0) -> Run:
    """Test iterations 2 to 8; iteration 1 is the first old model, and each pass the next one."""
    trace, script = reconstruct(seed), query.script(engine.value[1])
    old, history, labelled = trace.models[0], "", frozenset[int]()
    for model in trace.models[1:]:
        answer = engine.answer(script, cells(model, old, trace.labels), history)
        labelled |= answer.labels
        history += PASS if answer.passed else FAIL
        old = model if answer.passed else old
    return Run(query, engine, history, len(labelled))


@cache
def runs() -> tuple[Run, ...]:
    return tuple(run(query, engine) for engine in Engine for query in QUERIES)


@dataclass(frozen=True)
class Again:
    """The sequential runs of one query on several reconstructions: labels, active models."""

    labels: tuple[int, ...]
    active: tuple[int, ...]


def again(seeds: int) -> Iterator[Again]:
    """Repeat the sequential runs, because the result of one depends on the random order."""
    for query in QUERIES:
        found = [run(query, Engine.SEQUENTIAL, seed) for seed in range(seeds)]
        yield Again(tuple(r.labels for r in found), tuple(r.active for r in found))
