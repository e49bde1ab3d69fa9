"""The script: what the owner asks for, checked, with exact numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction

from easeci.script.lattice import ScoreTerm
from easeci.script.normal import NormalClause, expand_slices
from easeci.script.reach import ReachWarning, failing, passing
from easeci.script.scorer import LabelKind, Scorer, ScorerKind
from easeci.script.syntax import Condition, Slice


class Mode(StrEnum):
    """Which error must not happen, and so whether Unknown passes (fn-free) or fails (fp-free)."""

    FP_FREE = "fp-free"
    FN_FREE = "fn-free"


class Adaptivity(StrEnum):
    """What developers learn after each commit."""

    NONE = "none"
    FULL = "full"
    FIRST_CHANGE = "firstChange"


class Estimator(StrEnum):
    """A method to size a testset and to decide a commit."""

    AUTO = "auto"
    HOEFFDING = "hoeffding"
    PATTERN1 = "pattern1"
    PATTERN1_ACTIVE = "pattern1-active"
    PATTERN2 = "pattern2"
    PATTERN3 = "pattern3"
    EXACT = "exact"
    SEQUENTIAL = "sequential"


class Unchanged(StrEnum):
    """What happens to a commit that predicts on the public sample what the baseline predicts."""

    SKIP = "skip"
    """It is not tested, and spends no step."""
    TEST = "test"


USUAL_TIMEOUT = 30 * 60
"""How many seconds a program may run, unless the script says."""
USUAL_SAMPLE = 100
"""How many examples a testset sets aside for its public sample, unless the script says."""


@dataclass(frozen=True)
class Script:
    """The ``ml:`` section. Numbers are exact, as written."""

    condition: Condition
    clauses: tuple[NormalClause, ...]
    reliability: Fraction
    mode: Mode
    adaptivity: Adaptivity
    steps: int
    sensitivity: Fraction
    third_party: str | None = None
    program: str | None = None
    estimator: Estimator = Estimator.AUTO
    difference: Fraction | None = None
    email: str | None = None
    branch: str | None = None
    branches: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    expected: tuple[tuple[str, Fraction], ...] = ()
    """Shares of classes that the owner expects: they size the testset, never touch safety."""
    disclose_seconds: int | None = None
    timeout_seconds: int | None = None
    memory_bytes: int | None = None
    mounts: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    sample: int = USUAL_SAMPLE
    unchanged: Unchanged = Unchanged.SKIP
    scorer: Scorer | None = None
    """What gives outputs their scores; None if a prediction is right or wrong."""
    scores: tuple[str, ...] = ()
    """The names of the scores that there are beside the main one."""
    labels: LabelKind = LabelKind.CLASS
    trials: int = 1
    """How many outputs a model gives for each example."""

    @property
    def delta(self) -> Fraction:
        """δ = 1 − reliability: how probable a wrong answer in the testset's life may be."""
        return 1 - self.reliability

    @property
    def beta(self) -> Fraction:
        """β = 1 − sensitivity: how probable it may be that a clearly good commit fails."""
        return 1 - self.sensitivity

    @property
    def longest_seconds(self) -> int:
        """How many seconds the program may run."""
        return self.timeout_seconds or USUAL_TIMEOUT

    @property
    def needs_old_model(self) -> bool:
        """Whether any clause depends on the predictions of the old model."""
        return any(clause.score.needs_old_model for clause in self.clauses)

    @property
    def needs_labels(self) -> bool:
        """Whether any clause needs labels."""
        return any(clause.score.needs_labels for clause in self.clauses)

    @property
    def is_scored(self) -> bool:
        """Whether quality is a score, and not whether a prediction is right."""
        return self.scorer is not None or bool(self.scores)

    @property
    def needs_references(self) -> bool:
        """Whether the scorer compares outputs with references."""
        external = self.scorer is not None and self.scorer.kind is ScorerKind.EXTERNAL
        return self.scorer is not None and not external and self.labels is LabelKind.CLASS

    @property
    def score_terms(self) -> tuple[ScoreTerm, ...]:
        """The scores that clauses are about, each once."""
        lattices = (clause.score.lattice for clause in self.clauses)
        terms = (term for lattice in lattices if lattice for term, _ in lattice.terms)
        return tuple(dict.fromkeys(terms))

    @property
    def needs_ranks(self) -> bool:
        """Whether any clause needs the models' scores (auc)."""
        return any(clause.score.blocks is not None for clause in self.clauses)

    @property
    def named_classes(self) -> tuple[str, ...]:
        """The classes that clauses name, in the order in which they first appear."""
        return tuple(dict.fromkeys(name for c in self.clauses for name in c.score.classes))

    @property
    def slices(self) -> tuple[Slice, ...]:
        """The slices that clauses name, each once."""
        slices = (clause.score.slice for clause in self.clauses)
        return tuple(dict.fromkeys(where for where in slices if where is not None))

    def expected_share(self, name: str) -> Fraction | None:
        """The share of a class that the owner expects, if the script says or implies it."""
        from easeci.script.measures import expected_share  # most commands need no measure

        return expected_share(name, self.classes, self.expected)

    def expanded(self, values: Mapping[str, Sequence[str]]) -> Script:
        """The script with a clause for each value of a column in place of ``[column=*]``.

        ``values`` are the values of each column of the examples.
        """
        return replace(self, clauses=expand_slices(self.clauses, values))

    @property
    def published_estimator(self) -> bool:
        """Whether the script names one of the paper's estimators."""
        return self.estimator not in (Estimator.AUTO, Estimator.EXACT, Estimator.SEQUENTIAL)

    @property
    def reach_warnings(self) -> tuple[ReachWarning, ...]:
        """What makes the script useless, or weaker than it looks."""
        find = passing if self.mode is Mode.FP_FREE else failing
        return find(self.clauses, str(self.estimator) if self.published_estimator else None)

    def warnings(self) -> tuple[str, ...]:
        """Warnings about clauses that are allowed but probably a mistake."""
        return tuple(warning.sentence for warning in self.reach_warnings)
