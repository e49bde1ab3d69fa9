"""A plan to play with: texts from a form in, what they would cost out, in a second or two.

Everything is a text as somebody typed it, and a blank one asks for the default. What can't be
understood comes back as a :class:`FieldError` with the place in the text; nothing is raised.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from easeci.plan import Estimate, Plan
from easeci.script import Estimator, Script

FIELDS = (
    "condition",
    "reliability",
    "steps",
    "adaptivity",
    "mode",
    "sensitivity",
    "difference",
    "effect",
    "true_difference",
)
"""``effect``: by how much the new model really is on the good side of the threshold of each clause
that needs labels (below 0: on the bad side). ``true_difference``: the true d."""


@dataclass(frozen=True)
class FieldError:
    """What is wrong with the text of one field.

    ``text`` is the line of it that ``column`` and ``width`` speak of: the caret goes below the
    characters ``column`` (from 0) to ``column + width``. They are None if all of it is meant.
    """

    field: str
    message: str
    hint: str | None = None
    text: str | None = None
    column: int | None = None
    width: int = 1


@dataclass(frozen=True)
class Method:
    """What one estimator asks for. Numbers are None where it does not apply or can't say yet.

    ``hours`` are of labelling, by the seconds that a label takes.
    """

    estimate: Estimate
    ours: bool
    recommended: bool
    labels_in_all: int | None
    hours: Mapping[int, float] | None
    practical: bool | None

    @property
    def estimator(self) -> Estimator:
        return self.estimate.estimator


@dataclass(frozen=True)
class Reckoned:
    """Labels of the sequential estimator at one truth: for a commit, and over the testset's life.

    ``ends`` says how it is likely to end there: ``pass``, ``fail`` or ``either``.
    """

    effect: float
    difference: float
    labels: int
    labels_in_all: int
    ends: str


@dataclass(frozen=True)
class Exploration:
    """What the texts ask for. ``defaults`` are the fields that were blank, with what was taken."""

    script: Script
    defaults: Mapping[str, str]
    warnings: tuple[str, ...]
    plan: Plan
    methods: tuple[Method, ...]
    reckoned: Reckoned | None
    script_text: str


def explore(fields: Mapping[str, str]) -> Exploration | FieldError:
    """What a form asks for, by every method. Fields that are missing are blank."""
    raise NotImplementedError
