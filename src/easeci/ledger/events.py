"""What can happen in a project. Events are never changed, and only ever added.

Each has a kind (its name) and a version. A field that is added later needs a default, so that old
records can still be read; a field that changes its meaning needs a new version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar

from easeci.errors import InfrastructureError


@dataclass(frozen=True)
class Event:
    """Something that happened. ``KIND`` is its name in the record; it never changes."""

    KIND: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1

    @classmethod
    def recorded_kind(cls) -> str:
        """The name that the record knows this event by: the class's, unless it says another."""
        return cls.KIND or cls.__name__

    @property
    def kind(self) -> str:
        """The name that the record knows this event by."""
        return self.recorded_kind()


@dataclass(frozen=True)
class ProjectOpened(Event):
    """``first_commit`` tells repositories apart, wherever they are kept."""

    first_commit: str


@dataclass(frozen=True)
class TestsetAdded(Event):
    """A sealed testset, and with it the script that holds until it is retired.

    ``files`` are digests by file name; ``shared`` says how many examples earlier testsets had too.
    ``needed`` is what the plan asks for; ``source`` is where the script lies in the repository.
    """

    __test__ = False  # not a test, whatever pytest thinks of its name

    testset: int
    name: str
    examples: int
    needed: int | None
    script: Mapping[str, list[str]]
    source: str | None
    estimator: str
    files: Mapping[str, str]
    shared: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelsAdded(Event):
    """A file of labels. Where it speaks of an example that had a label, it corrects it.

    ``by`` says who labelled; who labelled what, and when, is in the file.
    """

    testset: int
    file: str
    digest: str
    added: int
    corrected: int = 0
    by: str = ""


@dataclass(frozen=True)
class TestsetRetired(Event):
    __test__ = False

    testset: int
    reason: str


@dataclass(frozen=True)
class BaselineSet(Event):
    """``how``: "adopted" as the first commit, or "set" by the owner."""

    commit: str
    how: str


@dataclass(frozen=True)
class BaselineArchived(Event):
    """The files of the baseline's commit, kept so that no force-push can lose them."""

    testset: int
    commit: str
    file: str
    digest: str


@dataclass(frozen=True)
class Submitted(Event):
    """A commit was given to a testset. A ``candidate`` becomes the baseline if it passes."""

    submission: int
    commit: str
    subject: str
    branch: str | None
    candidate: bool
    testset: int


@dataclass(frozen=True)
class Built(Event):
    """The commit's program made its predictions: a file of the vault, with its digest.

    Two of the same ``fingerprint`` hold the same predictions. ``log`` is what the program printed;
    there is none if the commit had been built before.
    """

    submission: int
    file: str
    digest: str
    fingerprint: str
    log: str | None = None
    log_digest: str | None = None


@dataclass(frozen=True)
class BuildFailed(Event):
    submission: int
    reason: str
    log: str
    log_digest: str


@dataclass(frozen=True)
class BaselineBuilt(Event):
    """The baseline's predictions on a testset that it was not submitted to."""

    testset: int
    commit: str
    file: str
    digest: str
    fingerprint: str
    log: str
    log_digest: str


@dataclass(frozen=True)
class BaselineFailed(Event):
    """The baseline could not be built on a testset."""

    testset: int
    commit: str
    reason: str
    log: str
    log_digest: str


@dataclass(frozen=True)
class Promoted(Event):
    """A commit that was submitted on another branch has come to the one of baselines."""

    submission: int


@dataclass(frozen=True)
class Charged(Event):
    """A step is spent, before anything is tested. From here on it can only be decided."""

    submission: int
    step: int
    baseline: str | None


@dataclass(frozen=True)
class Decided(Event):
    """The owner's verdict of a step: the document of a ``RecordedVerdict``."""

    testset: int
    step: int
    passed: bool
    verdict: Mapping[str, Any]


@dataclass(frozen=True)
class Signalled(Event):
    """What the developer is told of a submission.

    ``repeats`` is the step that had been answered on the same predictions against the same baseline
    before.
    """

    KIND = "Answered"

    submission: int
    signal: str
    repeats: int | None = None


@dataclass(frozen=True)
class Superseded(Event):
    """A commit that waited for its turn, unspent, when a newer one of its branch came."""

    submission: int
    by: int


@dataclass(frozen=True)
class TestsetReleased(Event):
    """A retired testset was handed to the developers."""

    __test__ = False

    testset: int


@dataclass(frozen=True)
class MessageQueued(Event):
    """A letter to be sent: a "verdict" for the eyes of one address only, an "alarm" that a new
    testset is needed, or a "warning" ahead of time. Who may read it is said by its recipient."""

    message: int
    about: str
    recipient: str
    testset: int
    step: int | None
    reason: str


@dataclass(frozen=True)
class MessageTried(Event):
    """An attempt to send a letter. ``outcome``: "sent", "failed" (tried again later), or "refused"
    (tried again only by hand)."""

    message: int
    outcome: str
    reason: str


LABELLING = "labelling"
"""The view of examples that wait for a label."""


@dataclass(frozen=True)
class Looked(Event):
    """Somebody looked at more than the signals."""

    view: str


KINDS: dict[str, type[Event]] = {
    kind.recorded_kind(): kind
    for kind in (
        ProjectOpened,
        TestsetAdded,
        LabelsAdded,
        TestsetRetired,
        BaselineSet,
        BaselineArchived,
        Submitted,
        Built,
        BuildFailed,
        BaselineBuilt,
        BaselineFailed,
        Promoted,
        Charged,
        Decided,
        Signalled,
        Superseded,
        TestsetReleased,
        MessageQueued,
        MessageTried,
        Looked,
    )
}


def event_text(event: Event) -> str:
    """The fields of an event as canonical JSON: equal events have equal texts."""
    return json.dumps(asdict(event), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse_event(kind: str, version: int, text: str) -> Event:
    known = KINDS.get(kind)
    if known is None or version > known.VERSION:
        raise InfrastructureError(
            f"the store holds an event that this version of easeci does not know ({kind})",
            hint="It was written by a newer easeci: upgrade this one.",
        )
    try:
        return known(**json.loads(text))
    except (ValueError, TypeError):
        raise InfrastructureError(
            f"the store is damaged: an event ({kind}) cannot be read",
            hint="`easeci log --verify` says what else is wrong; restore the store from a copy.",
        ) from None
