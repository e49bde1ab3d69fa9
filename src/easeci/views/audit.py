"""The audit: what people did with a project beyond its commits, and who signed in and out.

It reads the records themselves and not the folded state: only this view needs them, and every
command folds. It is for the owner alone, because it tells when labels came and how many.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from easeci.ledger.events import (
    SENT,
    BackupBegun,
    BaselineBuilt,
    BaselineSet,
    Built,
    ClockSetBack,
    Event,
    LabelsAdded,
    LabelsExported,
    Looked,
    OlderStoreAccepted,
    Scored,
    ScoresExported,
    TestsetAdded,
    TestsetReleased,
    TestsetRetired,
    TokenMade,
    TokenRemoved,
    parse_event,
)
from easeci.ledger.wording import retirement_words
from easeci.service.project import Project
from easeci.store.sign_ins import SignInKind, SignInRow, load_sign_ins


class AuditKind(StrEnum):
    """What was done."""

    LOOKED = "looked"
    EXPORTED = "exported"
    RELEASED = "released"
    TOKEN_MADE = "token made"  # noqa: S105 - not a password
    TOKEN_REMOVED = "token removed"  # noqa: S105
    TESTSET_ADDED = "testset added"
    TESTSET_RETIRED = "testset retired"
    LABELS_ADDED = "labels added"
    SCORES_ADDED = "scores added"
    BASELINE_SET = "baseline set"
    PREDICTIONS_SENT = "predictions sent"
    BACKUP_BEGUN = "backup begun"
    OLDER_STORE_ACCEPTED = "older store accepted"
    CLOCK_SET_BACK = "clock set back"
    SIGNED_IN = "signed in"
    SIGNED_OUT = "signed out"
    SESSION_ENDED = "session ended"
    REFUSED = "sign-in refused"


@dataclass(frozen=True)
class AuditEntry:
    """One act: when, by whom, and what it was about.

    ``who`` is empty if nobody knows. ``event`` is the number of the record in the chain, or None if
    it is a sign-in, which is not part of the chain. ``address`` is known of sign-ins only.
    """

    at: str
    who: str
    what: AuditKind
    about: str
    event: int | None = None
    address: str = ""


def audit(project: Project) -> list[AuditEntry]:
    """Every act, the oldest first."""
    acts = [(entry.event or 0, entry) for entry in _acts(project)]
    rows = load_sign_ins(project.store, project.name)
    sign_ins = [(row.after, _sign_in(row)) for row in rows]
    ordered = sorted([*acts, *sign_ins], key=lambda pair: pair[0])  # acts first where equal
    return [entry for _, entry in ordered]


def _acts(project: Project) -> list[AuditEntry]:
    found = []
    for record in project.store.records(project.name, until=project.head.number):
        if record.kind not in _KINDS:
            continue
        event = parse_event(record.kind, record.version, record.text)
        described = _ABOUT[type(event)](event)
        if described is not None:
            found.append(AuditEntry(record.at, *described, event=record.number))
    return found


Described = tuple[str, AuditKind, str] | None


def _baseline_set(event: BaselineSet) -> Described:
    if event.how != "set":  # the first commit is adopted by itself
        return None
    return "", AuditKind.BASELINE_SET, f"commit {event.commit[:10]}"


def _sent(event: Built | BaselineBuilt) -> Described:
    if event.origin != SENT:
        return None
    if isinstance(event, Built):
        what = f"commit number {event.submission:,}"
    else:
        what = f"the baseline {event.commit[:10]}"
    return event.sent_by, AuditKind.PREDICTIONS_SENT, f"{what}, SHA-256 {event.sent_digest[:16]}"


def _labels_added(event: LabelsAdded) -> Described:
    corrected = f", {event.corrected:,} corrected" if event.corrected else ""
    about = f"{event.added:,} to testset {event.testset}{corrected}"
    return event.by, AuditKind.LABELS_ADDED, about


def _labels_exported(event: LabelsExported) -> Described:
    about = f"{event.examples:,} examples of testset {event.testset}, {event.format}"
    return event.by, AuditKind.EXPORTED, about


def _scores_exported(event: ScoresExported) -> Described:
    about = f"{event.outputs:,} outputs of testset {event.testset}, {event.format}"
    return event.by, AuditKind.EXPORTED, about


def _scored(event: Scored) -> Described:
    unsettled = f", {event.unsettled:,} unsettled" if event.unsettled else ""
    failed = f", {event.failed:,} could not be scored" if event.failed else ""
    about = f"{event.scored:,} outputs of testset {event.testset}{unsettled}{failed}"
    return event.by, AuditKind.SCORES_ADDED, about


def _retired(event: TestsetRetired) -> Described:
    about = f"{event.testset}: {retirement_words(event.reason)}"
    return "", AuditKind.TESTSET_RETIRED, about


def _backed_up(event: BackupBegun) -> Described:
    return event.by, AuditKind.BACKUP_BEGUN, "with the key" if event.with_key else "without the key"


def _older_accepted(event: OlderStoreAccepted) -> Described:
    about = f"event {event.seen:,} was seen, {event.found:,} was the last"
    return event.by, AuditKind.OLDER_STORE_ACCEPTED, about


_ABOUT: dict[type[Event], Callable[[Any], Described]] = {
    Looked: lambda event: (event.by, AuditKind.LOOKED, event.view),
    LabelsExported: _labels_exported,
    TestsetReleased: lambda event: (event.by, AuditKind.RELEASED, f"testset {event.testset}"),
    TokenMade: lambda event: (event.by, AuditKind.TOKEN_MADE, f"{event.name}, {event.role}"),
    TokenRemoved: lambda event: (event.by, AuditKind.TOKEN_REMOVED, event.name),
    TestsetAdded: lambda event: ("", AuditKind.TESTSET_ADDED, f"{event.testset}: {event.name}"),
    TestsetRetired: _retired,
    LabelsAdded: _labels_added,
    ScoresExported: _scores_exported,
    Scored: _scored,
    BaselineSet: _baseline_set,
    Built: _sent,
    BaselineBuilt: _sent,
    BackupBegun: _backed_up,
    OlderStoreAccepted: _older_accepted,
    ClockSetBack: lambda event: ("", AuditKind.CLOCK_SET_BACK, f"by {event.seconds:,} s"),
}
_KINDS = {kind.recorded_kind() for kind in _ABOUT}
_SIGN_INS = {
    SignInKind.IN: AuditKind.SIGNED_IN,
    SignInKind.OUT: AuditKind.SIGNED_OUT,
    SignInKind.ENDED: AuditKind.SESSION_ENDED,
    SignInKind.REFUSED: AuditKind.REFUSED,
}


def _sign_in(row: SignInRow) -> AuditEntry:
    about = row.role or "wrong token"
    return AuditEntry(row.at, row.name, _SIGN_INS[row.what], about, address=row.address)
