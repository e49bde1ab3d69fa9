"""A project: a repository, its place in a store, and the state that its events add up to.

A command that acts takes the project for itself (:meth:`Project.exclusive`). Every change is an
event first (:meth:`Project.append`), and effects follow from the state. So the next command can go
on from wherever a killed one ended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from easeci.build.repository import Repository
from easeci.errors import InfrastructureError, NoTestsetError, UsageError
from easeci.files import explained
from easeci.ledger.chain import Head, Record, chained, find_damage, start
from easeci.ledger.disclosure import disclosed_reason
from easeci.ledger.events import ClockSetBack, Event, ProjectOpened, TokenRemoved, parse_event
from easeci.ledger.fold import apply, apply_record, fold
from easeci.ledger.state import State, Testset
from easeci.store.access import Access, forget_removals
from easeci.store.head_note import ChangedNoteError, HeadNote
from easeci.store.placing import database_path, is_of_earlier_version
from easeci.store.store import AlsoWrite, Store
from easeci.times import parse_time, time_text
from easeci.vault.file_times import forget_all_times
from easeci.vault.key import KEY_FILE, load_key
from easeci.vault.paths import Vault, open_vault

if TYPE_CHECKING:
    from easeci.build.fetch import FetchedCommit, FetchedCommits
    from easeci.vault.testset import SealedTestset

STORE_VARIABLE = "EASECI_STORE"
STORE_FOLDER = ".easeci"


def utc_now() -> str:
    """The time now, as it is recorded."""
    return time_text(datetime.now(UTC))


@dataclass
class Project:
    """An opened project. ``state`` is as of the last look at the store.

    ``caught_up`` is the head at which :func:`easeci.service.commits.advance.catch_up` last had
    nothing more to do. With ``unsandboxed``, the owner's scorer runs without a sandbox, because the
    caller asked for that.
    """

    name: str
    repository: Repository
    store: Store
    vault: Vault
    state: State
    head: Head
    caught_up: Head | None = None
    unsandboxed: bool = False
    scoring_problem: str | None = None
    """Why the scorer could not run when it was last tried; None if it could. For the owner only."""
    scoring_left: bool = False
    """Whether outputs were left to be scored, because their time was over."""
    scoring_tried: float = 0.0
    """When that was, by the monotonic clock."""

    def append(self, *events: Event, also: AlsoWrite | None = None) -> None:
        """Record events, all or none, and only if no other command has recorded any since.

        Times never run backwards without a note: it is recorded before the events. ``also`` writes
        to other tables of the store in the same transaction.
        """
        now = utc_now()
        if now < self.state.last_at:
            back = parse_time(self.state.last_at) - parse_time(now)
            events = (ClockSetBack(int(back.total_seconds())), *events)
        records = chained(chain_key(self.vault), self.head, now, events)
        self.store.append(self.name, self.head, records, also)
        for event, record in zip(events, records, strict=True):
            apply(self.state, event, record)
        self.head = Head(records[-1].number, records[-1].code)

    @contextmanager
    def exclusive(self, waiting: Callable[[], None] | None = None) -> Iterator[None]:
        """Act alone on the project, on its newest state; other commands wait for the end."""
        with self.store.exclusive(self.name, waiting):
            self._catch_up()
            before = self.head
            try:
                self._record_removals()
                yield
            finally:
                if self.head != before:
                    self.head_note.write(self.head)

    def _record_removals(self) -> None:
        """Record the tokens that were removed while another command acted on the project."""
        removals = Access(self.store, self.name).removals()
        if removals:
            events = (TokenRemoved(removal.name, removal.by) for removal in removals)
            self.append(*events, also=partial(forget_removals, removals=removals))

    @property
    def head_note(self) -> HeadNote:
        """Where this clone notes the highest head that it has seen."""
        return _head_note(self.repository, self.vault, self.name)

    def refresh(self) -> None:
        """Read what other commands have recorded since; cheap if they have recorded nothing."""
        if self.store.head(self.name) != self.head:
            self._catch_up()

    def _catch_up(self) -> None:
        """Read the new records only: the earlier ones were verified when they were read."""
        key = chain_key(self.vault)
        records, head = self.store.ledger(self.name, after=self.head.number)
        lacks = head is None or head.number < self.head.number
        if lacks or find_damage(key, self.name, records, head, after=self.head) is not None:
            # Not the store that it was: all of it must be sound, and no older than was seen here.
            self.state, self.head = _load(self.store, self.name, key, self.head_note)
            return
        for record in records:
            apply_record(self.state, record)
        self.head = head or self.head

    @property
    def commits(self) -> FetchedCommits:
        """The commits that were fetched and are still needed."""
        from easeci.build.fetch import FetchedCommits  # not above: many commands fetch nothing

        return FetchedCommits(self.vault.commits)

    def fetch(self, commit: str) -> FetchedCommit:
        """A commit as it is tested: held already, or fetched from the repository."""
        return self.commits.fetch(self.repository, commit)

    def sealed(self, testset: Testset) -> SealedTestset:
        """The testset in the vault; every file is checked against its recorded digest."""
        from easeci.vault.testset import SealedTestset  # not above: many commands open none

        return SealedTestset(self.vault, testset.number, testset.files)

    def require_active(self) -> Testset:
        """The testset that commits are tested on now, or an error that says how to get one."""
        testset = self.state.latest_testset
        if testset is None:
            raise no_testset()
        reason = disclosed_reason(self.state, testset)
        if reason is not None:
            raise NoTestsetError(
                f"a new testset is needed: testset {testset.number} is retired ({reason})",
                hint="The owner adds one with `easeci testset add EXAMPLES`.",
            )
        return testset


def require_number(testset: Testset, number: int | None) -> None:
    """Refuse a request that was meant for another testset, such as one from an old page."""
    if number not in (None, testset.number):
        raise UsageError(
            f"this was meant for testset {number}, but the testset is {testset.number} now",
            hint="Nothing was done. Load the page of testsets again.",
        )


def no_testset() -> NoTestsetError:
    """The error of a project that has no testset, with what to do."""
    return NoTestsetError(
        "this project has no testset yet",
        hint="The owner adds one with `easeci testset add EXAMPLES`. Is the store elsewhere? Then "
        "name it: --store FOLDER, or EASECI_STORE.",
    )


def store_folder(repository: Repository, store: Path | None) -> Path:
    """The folder of the store: as given, from the environment, or ``.easeci`` of the repository."""
    if store is not None:
        return store
    if told := os.environ.get(STORE_VARIABLE):
        return Path(told)
    return (repository.top or repository.git_dir) / STORE_FOLDER


def open_project(
    folder: Path = Path(),
    *,
    store: Path | None = None,
    name: str | None = None,
    create: bool = False,
    refuse_older: bool = True,
) -> Project:
    """The project of the repository that ``folder`` is in.

    Only the owner's first action creates it (``create``). For every other command, a missing
    project is one that has no testset yet. A store that is older than this clone has seen is
    refused, unless the caller looks into that (``refuse_older``).
    """
    repository = Repository.find(folder)
    where = store_folder(repository, store).absolute()
    if not _is_begun(where) and not create:
        raise no_testset()
    if is_of_earlier_version(where):
        forget_all_times(where)
    opened = Store.open(where, create=create)
    first_commit = "" if name else _identity(repository)
    chosen = name or _project_of(opened, first_commit) or _default_name(repository)
    vault = open_vault(where, chosen)
    key, note = chain_key(vault), _head_note(repository, vault, chosen)
    state, head = _load(opened, chosen, key, note, refuse_older=refuse_older)
    project = Project(chosen, repository, opened, vault, state, head)
    if state.first_commit not in (None, "", first_commit):
        _require_same_repository(project, told=name is not None)
    if head.number == 0:
        if not create:
            raise no_testset()
        with opened.exclusive(chosen):
            project.state, project.head = _load(opened, chosen, key, note)
            if project.head.number == 0:
                project.append(ProjectOpened(_identity(repository)))
    return project


def _is_begun(where: Path) -> bool:
    """Whether a store is there. One that has lost its key is an error, and not a missing store."""
    with explained(f"the store {where} cannot be opened"):
        has_key = (where / KEY_FILE).exists()
        if not has_key and database_path(where).exists():
            load_key(where)
    return has_key


def _project_of(store: Store, first_commit: str) -> str | None:
    """The name of this repository's project in the store; the folder may have been renamed."""
    if not first_commit:
        return None
    for name in store.projects():
        for first in store.records(name, until=1):
            opened = parse_event(first.kind, first.version, first.text)
            if isinstance(opened, ProjectOpened) and opened.first_commit == first_commit:
                return name
    return None


def chain_key(vault: Vault) -> bytes:
    """The key of the chain of events."""
    return vault.key.derived("chain")


def _default_name(repository: Repository) -> str:
    folder = repository.top or repository.git_dir
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", folder.name.removesuffix(".git"))
    return plain.strip(".-")[:100] or "project"


def _identity(repository: Repository) -> str:
    """The first commit, which identifies a repository; empty if there is none yet."""
    return repository.first_commit() or ""


def _require_same_repository(project: Project, *, told: bool) -> None:
    """Two repositories whose folders have the same name must not share a project."""
    known = project.state.first_commit
    if known is None or project.repository.has(known):
        return
    raise UsageError(
        f"the store's project '{project.name}' belongs to another repository",
        hint="Its first commit is not here. Is this the right folder, or a shallow clone of it "
        "(git fetch --unshallow)?"
        + ("" if told else " Another repository needs another name: --project NAME."),
    )


def _head_note(repository: Repository, vault: Vault, name: str) -> HeadNote:
    """By the store's identity, because a repository may have projects in several stores."""
    file = f"{vault.key.identity}-{vault.key.digest(name.encode(), 'head note')[:16]}"
    return HeadNote(repository.git_dir, file, vault.key.derived("head note"))


def _load(
    store: Store, name: str, key: bytes, note: HeadNote, *, refuse_older: bool = True
) -> tuple[State, Head]:
    ledger = load_ledger(store, name, note)
    _require_sound(find_damage(key, name, ledger.records, ledger.head))
    if refuse_older:
        if ledger.older is not None:
            raise InfrastructureError(
                ledger.older,
                hint="Nothing was done. `easeci restore FILE` puts a newer backup back. If there "
                "is none: `easeci restore --accept-older`.",
            )
        if ledger.head is not None:
            note.raise_to(ledger.head)  # another clone may have recorded the last events
    return fold(ledger.records), ledger.head or start(key, name)


@dataclass(frozen=True)
class LoadedLedger:
    """The records and the head of a project at one moment.

    ``older`` says that they lack an event which this clone has seen; None if they do not.
    """

    records: Sequence[Record]
    head: Head | None
    older: str | None


def load_ledger(store: Store, name: str, note: HeadNote) -> LoadedLedger:
    """Read a project's records, and compare them with what this clone has seen."""
    # The note comes first: between the two, another command may record an event and note it.
    try:
        seen, changed = note.read(), False
    except ChangedNoteError:
        seen, changed = None, True
    records, head = store.ledger(name)
    older = None
    if changed:
        older = f"the note of the last event that was seen here was changed ({note.path})"
    elif seen is not None and len(records) < seen.number:
        older = (
            f"the store is older than this clone has seen: it ends with event {len(records):,}, "
            f"and event {seen.number:,} was seen"
        )
    elif seen is not None and records[seen.number - 1].code != seen.code:
        older = f"the store is not the one that was seen here: event {seen.number:,} is another"
    return LoadedLedger(records, head, older)


def _require_sound(damage: str | None) -> None:
    if damage is not None:
        raise InfrastructureError(
            f"the ledger is damaged: {damage}",
            hint="Nothing was done. `easeci log --verify` checks the rest; restore from a copy.",
        )
