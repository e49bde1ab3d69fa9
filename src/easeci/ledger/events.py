"""What can happen in a project. Events are only ever added; a recorded event never changes.

Each event has a kind (its name) and a version. A field that is added later needs a default, so that
old records can still be read. If the recorded form of a field changes, the event needs a new
version, and its ``parse`` must still read the older ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Self

from easeci.errors import InfrastructureError
from easeci.ledger.reasons import (
    Retirement,
    Topic,
    parse_retirement,
    parse_topic,
    reason_document,
)
from easeci.ledger.version_1 import parse_retirement_sentence, parse_topic_sentence


@dataclass(frozen=True)
class Event:
    """Something that happened. ``KIND`` is its name in the record, which never changes."""

    KIND: ClassVar[str] = ""
    VERSION: ClassVar[int] = 1

    @classmethod
    def recorded_kind(cls) -> str:
        """The event's name in the record: ``KIND``, or the name of the class."""
        return cls.KIND or cls.__name__

    @property
    def kind(self) -> str:
        """The event's name in the record."""
        return self.recorded_kind()

    def document(self) -> dict[str, Any]:
        """The event's fields as they are recorded."""
        return asdict(self)

    @classmethod
    def parse(cls, version: int, document: dict[str, Any]) -> Self:  # noqa: ARG003
        """Read what :meth:`document` of a version wrote; ValueError or TypeError if it did not."""
        return cls(**document)


@dataclass(frozen=True)
class ProjectOpened(Event):
    """A project was created. ``first_commit`` tells repositories apart, wherever they are kept."""

    first_commit: str


@dataclass(frozen=True)
class TestsetAdded(Event):
    """A sealed testset, and with it the script that holds until it is retired.

    ``files`` are digests by file name. ``shared`` counts examples that earlier testsets had too;
    ``left_out`` says that they are not among ``examples``; in older records they are. ``sample`` is
    the size of the public sample, which is not part of ``examples``. ``needed`` is what the plan
    asks for; ``source`` is where the script lies in the repository. ``prefixes`` are how many
    examples are labelled first, by the text of the clause that needs it.
    """

    __test__ = False  # pytest would take it for a test by its name

    testset: int
    name: str
    examples: int
    needed: int | None
    script: Mapping[str, list[str]]
    source: str | None
    estimator: str
    files: Mapping[str, str]
    shared: Mapping[str, int] = field(default_factory=dict)
    sample: int = 0
    left_out: bool = False
    prefixes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelsAdded(Event):
    """A file of labels was added. A label for an example that had one corrects it.

    ``by`` is the labeller. The file says which labeller gave each label, and when.
    """

    testset: int
    file: str
    digest: str
    added: int
    corrected: int = 0
    by: str = ""


@dataclass(frozen=True)
class Scored(Event):
    """Outputs got their scores: a file of the vault. A score never changes.

    ``scorer`` is the digest of the scorer, ``outputs`` that of the outputs that were scored.
    ``scored`` counts the outputs, ``failed`` those that the scorer could not score: they score 0.
    ``unsettled`` counts scores that were imported empty, and ``settled`` those that had been and
    are known now. ``log`` is what the owner's program printed when it failed. ``by`` is
    empty unless the scores were imported.
    """

    testset: int
    file: str
    digest: str
    scorer: str
    outputs: str
    scored: int
    failed: int = 0
    unsettled: int = 0
    settled: int = 0
    log: str | None = None
    log_digest: str | None = None
    by: str = ""


@dataclass(frozen=True)
class TestsetRetired(Event):
    """The end of a testset: no more commits are tested on it.

    Version 1 recorded the reason as a sentence.
    """

    VERSION = 2
    __test__ = False

    testset: int
    reason: Retirement

    def document(self) -> dict[str, Any]:
        """The event's fields as they are recorded."""
        return {"testset": self.testset, "reason": reason_document(self.reason)}

    @classmethod
    def parse(cls, version: int, document: dict[str, Any]) -> Self:
        """Read a recorded event of any version."""
        reason = document.pop("reason")
        parse = parse_retirement_sentence if version == 1 else parse_retirement
        return cls(**document, reason=parse(reason))


@dataclass(frozen=True)
class BaselineSet(Event):
    """The baseline was chosen without a test: ``how``.

    It was "adopted" as the first commit, "set" by the owner, is the "same" model as the baseline
    before it, or had "passed" on a testset before the one that is sealed now.
    """

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
    """A commit was given to a testset. A ``candidate`` becomes the baseline if it passes.

    Commits with the same ``model`` have the same files, but for ignored ones, and the same mounted
    files. It is empty in older records.
    """

    submission: int
    commit: str
    subject: str
    branch: str | None
    candidate: bool
    testset: int
    model: str = ""

    @property
    def number(self) -> int:
        """The number of the submission."""
        return self.submission

    @property
    def tested_model(self) -> str:
        """Its model. A commit that an older version submitted has its own."""
        return self.model or self.commit


@dataclass(frozen=True)
class SampleBuilt(Event):
    """A commit's predictions on the public sample. Equal fingerprints mean equal predictions.

    ``log`` is what its program printed, ``seconds`` how long it ran.
    """

    testset: int
    commit: str
    file: str
    digest: str
    fingerprint: str
    log: str
    log_digest: str
    seconds: float
    model: str


@dataclass(frozen=True)
class SealedRunBegun(Event):
    """The commit's program is about to be given the sealed examples, on a step that is charged."""

    submission: int


@dataclass(frozen=True)
class SealedRunInterrupted(Event):
    """The run on the sealed examples ended for a reason around it. Only the owner reads it."""

    submission: int
    reason: str


@dataclass(frozen=True)
class SealedRunFailed(Event):
    """The program failed on the sealed examples. Its step fails in its turn."""

    submission: int
    reason: str
    log: str | None = None
    log_digest: str | None = None


SENT = "file"
"""The origin of predictions that somebody sent as a file."""


@dataclass(frozen=True)
class Built(Event):
    """The commit's predictions are there: a file of the vault, with its digest.

    Equal fingerprints mean equal predictions. ``log`` is what the program printed. It is None if
    no program ran: the same model had its predictions before, or they were sent as a file. Only in
    the second case is ``origin`` "file", ``sent_by`` the sender, and ``sent_digest`` the SHA-256 of
    the file as it was sent.
    """

    submission: int
    file: str
    digest: str
    fingerprint: str
    log: str | None = None
    log_digest: str | None = None
    origin: str = ""
    sent_by: str = ""
    sent_digest: str = ""


@dataclass(frozen=True)
class BuildFailed(Event):
    """The commit could not be built, or failed on the public sample; no step is spent.

    ``public``: neither reason nor log depends on sealed examples. Older records are not public:
    there the program had run on sealed examples.
    """

    submission: int
    reason: str
    log: str
    log_digest: str
    public: bool = False


@dataclass(frozen=True)
class BaselineBuilt(Event):
    """The baseline's predictions on a testset that it was not submitted to.

    ``log`` is None if no program ran, as in :class:`Built`; so are the last three fields.
    """

    testset: int
    commit: str
    file: str
    digest: str
    fingerprint: str
    log: str | None
    log_digest: str | None
    model: str = ""
    origin: str = ""
    sent_by: str = ""
    sent_digest: str = ""


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
    """A commit that was submitted on another branch came to the branch of baselines.

    Only older versions recorded it. Now such a commit is submitted again: :class:`StepShared`.
    """

    submission: int


@dataclass(frozen=True)
class Charged(Event):
    """A step is spent, before the commit's program is given a sealed example.

    Version 1 came after the build, when the turn of the step had come, and recorded its baseline.
    ``with_file``: a file of predictions was sent with the commit, and was read.
    """

    VERSION = 2

    submission: int
    step: int
    baseline: str | None = None
    with_file: bool = False


@dataclass(frozen=True)
class TurnCame(Event):
    """The step before is decided, and this one is next.

    ``baseline`` is the commit that it is compared with, ``model`` which model of it, and
    ``label_files`` and ``score_files`` how many files of labels and scores are at hand.
    """

    testset: int
    step: int
    baseline: str | None
    label_files: int
    model: str | None = None
    score_files: int = 0


@dataclass(frozen=True)
class Decided(Event):
    """The owner's verdict of a step: the document of a ``RecordedVerdict``.

    It has none if nothing was tested: the program failed on the sealed examples, or had not ended
    when its signal was due, or its commit was adopted as the first baseline. ``at_tick``: its
    signal was due before its program had ended or the labels were there. ``failed_scores`` counts
    outputs of the two models that score 0 because the scorer could not score them.
    """

    testset: int
    step: int
    passed: bool
    verdict: Mapping[str, Any] | None
    at_tick: bool = False
    failed_scores: int = 0


@dataclass(frozen=True)
class Signalled(Event):
    """What the developer is told of a submission.

    ``repeats`` is a step that had been answered on the same predictions against the same baseline;
    only older versions recorded it. Now such a commit shares that step: :class:`StepShared`.
    """

    KIND = "Answered"

    submission: int
    signal: str
    repeats: int | None = None


@dataclass(frozen=True)
class StepShared(Event):
    """A commit has the model of one that was charged before, and so the same signal."""

    submission: int
    step: int


@dataclass(frozen=True)
class Superseded(Event):
    """A commit that waited for its turn, unspent, when a newer one of its branch came.

    Only older versions recorded it: now every commit is charged before it could wait.
    """

    submission: int
    by: int


@dataclass(frozen=True)
class TestsetReleased(Event):
    """A retired testset was handed to the developers; each time is recorded."""

    __test__ = False

    testset: int
    by: str = ""


@dataclass(frozen=True)
class MessageQueued(Event):
    """A letter that has to be sent. Only its recipient may read it.

    ``step`` is the last step that was answered when it was queued, or None for an alarm. Version 1
    recorded the topic as a word and a sentence.
    """

    VERSION = 2

    message: int
    topic: Topic
    recipient: str
    testset: int
    step: int | None

    def document(self) -> dict[str, Any]:
        """The event's fields as they are recorded."""
        fields = {field: getattr(self, field) for field in ("message", "recipient", "testset")}
        return {**fields, "step": self.step, "topic": reason_document(self.topic)}

    @classmethod
    def parse(cls, version: int, document: dict[str, Any]) -> Self:
        """Read a recorded event of any version."""
        if version == 1:
            topic = parse_topic_sentence(document.pop("about"), document.pop("reason"))
        else:
            topic = parse_topic(document.pop("topic"))
        return cls(**document, topic=topic)


class Delivery(StrEnum):
    """What came of an attempt to send a letter."""

    SENT = "sent"
    FAILED = "failed"
    """It will be tried again later."""
    REFUSED = "refused"
    """It is tried again only if the owner asks for that."""


@dataclass(frozen=True)
class MessageTried(Event):
    """An attempt to send a letter. ``reason`` is what the mail server said, if it was not sent."""

    message: int
    outcome: Delivery
    reason: str

    @classmethod
    def parse(cls, version: int, document: dict[str, Any]) -> Self:  # noqa: ARG003
        """Read a recorded event."""
        return cls(document["message"], Delivery(document["outcome"]), document["reason"])


LABELLING = "labelling"
"""The view of examples that wait for a label."""


@dataclass(frozen=True)
class Looked(Event):
    """Somebody looked at more than the signals.

    ``by``, here and below: the visitor's name, or the login of a command. Empty if it is unknown.
    """

    view: str
    by: str = ""


@dataclass(frozen=True)
class LabelsExported(Event):
    """So many examples that wait for a label were written to a file, in some format."""

    testset: int
    examples: int
    format: str
    by: str = ""


@dataclass(frozen=True)
class ScoringInterrupted(Event):
    """Scoring ended for a reason around the scorer, and goes on later. Only the owner reads it."""

    testset: int
    reason: str


@dataclass(frozen=True)
class ScoresExported(Event):
    """So many outputs that wait for a score were written to a file, in some format."""

    testset: int
    outputs: int
    format: str
    by: str = ""


@dataclass(frozen=True)
class TokenMade(Event):
    """A token was made. Neither it nor its digest is recorded here."""

    name: str
    role: str
    by: str = ""


@dataclass(frozen=True)
class TokenRemoved(Event):
    """A token was removed, and all sessions that it had opened were ended."""

    name: str
    by: str = ""


@dataclass(frozen=True)
class ClockSetBack(Event):
    """The clock showed an earlier time than at the event before, by so many seconds."""

    seconds: int


@dataclass(frozen=True)
class BackupBegun(Event):
    """A backup of the store was begun. Without its key it shows labels, but proves nothing."""

    with_key: bool
    by: str = ""


@dataclass(frozen=True)
class OlderStoreAccepted(Event):
    """The owner goes on with an older copy of the store.

    ``seen`` is the number of the last event that this clone had seen, ``found`` that of the copy.
    """

    seen: int
    found: int
    by: str = ""


KINDS: dict[str, type[Event]] = {
    kind.recorded_kind(): kind
    for kind in (
        ProjectOpened,
        TestsetAdded,
        LabelsAdded,
        Scored,
        TestsetRetired,
        BaselineSet,
        BaselineArchived,
        Submitted,
        SampleBuilt,
        SealedRunBegun,
        SealedRunInterrupted,
        SealedRunFailed,
        Built,
        BuildFailed,
        BaselineBuilt,
        BaselineFailed,
        Promoted,
        Charged,
        TurnCame,
        Decided,
        Signalled,
        StepShared,
        Superseded,
        TestsetReleased,
        MessageQueued,
        MessageTried,
        Looked,
        ClockSetBack,
        BackupBegun,
        OlderStoreAccepted,
        LabelsExported,
        ScoresExported,
        ScoringInterrupted,
        TokenMade,
        TokenRemoved,
    )
}


def event_text(event: Event) -> str:
    """The fields of an event as canonical JSON: equal events have equal texts."""
    return json.dumps(event.document(), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def parse_event(kind: str, version: int, text: str) -> Event:
    """Read a recorded event of this version or an older one."""
    known = KINDS.get(kind)
    if known is None or version > known.VERSION:
        raise InfrastructureError(
            f"the store holds an event that this version of easeci does not know ({kind})",
            hint="It was written by a newer easeci: upgrade this one.",
        )
    try:
        return known.parse(version, json.loads(text))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InfrastructureError(
            f"the store is damaged: an event ({kind}) cannot be read",
            hint="`easeci log --verify` says what else is wrong; restore the store from a copy.",
        ) from None
