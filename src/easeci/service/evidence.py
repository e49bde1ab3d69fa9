"""The evidence on one commit: its signal for everybody, and for the owner what it rests on.

Nothing here records a look. Whoever shows an owner's view to somebody does that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easeci.ledger.disclosure import DisclosedRow
from easeci.script import LinearClause
from easeci.service.project import Project
from easeci.verdict.curves import ClauseCurves


@dataclass(frozen=True)
class ClauseFinding:
    """What the verdict says of one clause; ``estimate`` is None if no mean can be told."""

    clause: LinearClause
    zone: tuple[float, float]
    estimate: float | None
    interval: tuple[float, float]
    outcome: str


@dataclass(frozen=True)
class CommitEvidence:
    """What the owner sees of a commit beyond its signal.

    ``step`` is the step that it was tested as, or that of the commit whose answer it repeats.
    ``outcome``, ``passed`` and ``labels`` are None while it is not decided. ``waiting`` says that
    its step is charged and wants labels. ``verdict`` is the verdict's document as recorded.
    ``became_baseline`` says whether the baseline changed to it by this answer.
    """

    step: int | None
    repeats: bool
    baseline: str | None
    waiting: bool
    failure: str | None
    outcome: str | None
    passed: bool | None
    labels: int | None
    estimator: str | None
    clauses: tuple[ClauseFinding, ...]
    verdict: Mapping[str, Any] | None
    became_baseline: bool
    has_log: bool


@dataclass(frozen=True)
class CommitView:
    """One submission; ``owner`` is None in a developer's view."""

    shown: DisclosedRow
    owner: CommitEvidence | None


def commit_view(project: Project, number: int, *, owner: bool = False) -> CommitView:
    """One submission. Raises :class:`UsageError` if there is none of this number."""
    raise NotImplementedError


def commit_evidence(project: Project, number: int) -> CommitEvidence:
    """What the owner sees of it, from the record alone: fast."""
    raise NotImplementedError


def commit_curves(project: Project, number: int) -> tuple[ClauseCurves, ...]:
    """How the evidence of each clause grew, recomputed from the vault with the labels of that time.

    It reads the whole testset: keep what it gives, by :func:`curves_key`. Empty if the commit has
    no step, its estimator is not sequential, or what is recomputed is not what was recorded.
    """
    raise NotImplementedError


def curves_key(project: Project, number: int) -> tuple[object, ...]:
    """Two calls of :func:`commit_curves` with equal keys give the same."""
    raise NotImplementedError
