"""Several labellers in one session: no example asked twice, no answer lost, the same verdict."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easeci.errors import UsageError
from easeci.evidence.cells import LabelState
from easeci.service.commits.submit import run
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import import_labels
from easeci.service.labelling.questions import Given, OpenQuestions, Question
from easeci.service.labelling.session import LEASE_SECONDS, LabelSession
from easeci.service.labelling.terminal import TerminalSession
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.service.testsets.retire import retire_testset
from easeci.vault import sealing
from tests.repositories import Workplace, write_examples

LABEL, SKIPPED, CANNOT_TELL = LabelState.LABEL, LabelState.SKIPPED, LabelState.CANNOT_TELL
CUTS = (0.7, 0.4, 0.45)
LABELLERS = ("ann", "bob", "cid", "dee")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workplace]:
    """A testset in a known order, a commit that waits for labels, and one more behind it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sealing, "_secret_order", lambda size: np.random.default_rng(7).permutation(size)
        )
        yield made(tmp_path_factory.mktemp("template"), cuts=CUTS)


def made(folder: Path, cuts: tuple[float, ...], **keys: str) -> Workplace:
    place = Workplace.make(folder, **keys)
    for number, cut in enumerate(cuts):
        place.commit_cut(cut)
        if number == 0:
            project = open_project(place.repository, create=True)
            add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
        run(opened(place))
    return place


def copied(template: Workplace, folder: Path) -> Workplace:
    shutil.copytree(template.folder, folder, symlinks=True)
    return Workplace(folder)


@pytest.fixture
def place(template: Workplace, tmp_path: Path) -> Workplace:
    return copied(template, tmp_path / "copy")


def opened(place: Workplace) -> Project:
    return open_project(place.repository)


def at(session: LabelSession) -> OpenQuestions:
    """The open questions, for a test that has no other threads."""
    with session.open() as questions:
        return questions


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def truth(question: Question) -> str:
    return "low" if float(question.row["x"]) < 0.5 else "high"


def tickets(questions: list[Question]) -> list[str]:
    return [question.ticket for question in questions]


def entries(place: Workplace, testset: int = 1) -> dict[str, dict[str, Any]]:
    """What the file of the journal says, by id; nothing may be there twice."""
    path = opened(place).sealed(opened(place).state.testsets[testset]).labels_folder / "open.jsonl"
    found: dict[str, dict[str, Any]] = {}
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if "undo" in entry:
            found = {key: e for key, e in found.items() if e["position"] != entry["position"]}
        else:
            assert entry["id"] not in found
            found[entry["id"]] = entry
    return found


def recorded(place: Workplace, testset: int = 1) -> dict[str, str]:
    project = opened(place)
    known, sealed = project.state.testsets[testset], project.sealed(project.state.testsets[testset])
    frame = sealed.labels.known(known.label_files)
    rows = zip(sealed.examples.ids, frame["state"], frame["label"], strict=True)
    return {str(name): label or state for name, state, label in rows if state is not None}


def rests_on(place: Workplace, found: list[Any]) -> set[str]:
    """The examples that two verdicts rest on: as many as they say, of those where models differ."""
    testset = opened(place).state.testsets[1]
    sealed = opened(place).sealed(testset)
    rows = sealed.examples.rows_at(range(testset.examples))
    ids: set[str] = set()
    for cut, verdict in zip(CUTS[1:], found, strict=True):
        differing = [row["id"] for row in rows if cut <= float(row["x"]) < CUTS[0]]
        ids |= set(differing[: verdict.labels])
    return ids


def verdicts(place: Workplace) -> list[Any]:
    return [step.verdict for step in opened(place).state.testsets[1].steps]


# -- many at once


@dataclass
class Crowd:
    """Labellers who do whatever comes to their minds, and what they were told."""

    place: Workplace
    dice: random.Random
    clock: Clock = field(default_factory=Clock)
    told: dict[str, list[Question]] = field(default_factory=dict)
    heard: dict[str, float] = field(default_factory=dict)
    acknowledged: dict[str, str] = field(default_factory=dict)
    """Labels by ticket."""
    posted: dict[str, tuple[str, str]] = field(default_factory=dict)
    overtaken: set[str] = field(default_factory=set)
    """Who was told something before another took back an answer: so far back, perhaps, that what
    they hold has to wait."""

    def __post_init__(self) -> None:
        self.recorder = opened(self.place)
        self.open()

    def open(self) -> None:
        self.session = LabelSession(opened(self.place), clock=self.clock, shared=True)

    def live(self) -> dict[str, list[Question]]:
        limit = self.clock.now - LEASE_SECONDS
        return {name: told for name, told in self.told.items() if self.heard[name] >= limit}

    def hear(self, name: str) -> None:
        if name not in self.live():
            self.told[name] = []
        self.heard[name] = self.clock.now

    def take(self, name: str) -> None:
        self.hear(name)
        got = at(self.session).take(name, name, 3)
        others = {t for other, told in self.live().items() if other != name for t in tickets(told)}
        assert not others & set(tickets(got)), "held by two"
        assert not set(self.acknowledged) & set(tickets(got)), "asked again"
        if not at(self.session).awaiting_flush:
            kept = tickets(self.told[name])
            if name in self.overtaken:
                wanted = {
                    at(self.session)._tickets.ticket(1, p) for p in at(self.session)._step.wanted
                }
                kept = [ticket for ticket in kept if ticket in wanted]
            assert tickets(got)[: len(kept)] == kept[:3], "taken away"
        self.overtaken.discard(name)
        self.told[name] = got

    def answer(self, name: str, *, wrong: bool = False) -> None:
        stale = name not in self.live()
        if not self.told.get(name):
            return
        question = self.told[name][0]
        label = truth(question) if not wrong else "wrong"
        given = at(self.session).answer(name, name, question.ticket, LABEL, label)
        if question.ticket in self.acknowledged:
            assert stale
            assert given in (Given.ALREADY_ANSWERED, Given.REPEATED)
        else:
            assert given is Given.STORED
            self.acknowledged[question.ticket] = label
            self.posted[name] = (question.ticket, label)
        left = [q for q in self.told[name] if q.ticket != question.ticket]
        for other, told in self.told.items():
            self.told[other] = [q for q in told if q.ticket != question.ticket]
        self.hear(name)
        self.told[name] = left if not stale else []

    def again(self, name: str) -> None:
        if name in self.posted:
            ticket, label = self.posted[name]
            self.hear(name)
            given = at(self.session).answer(name, name, ticket, LABEL, label)
            assert given is Given.REPEATED, "the response was lost, and the answer is posted again"

    def undo(self, name: str) -> None:
        self.hear(name)
        back = at(self.session).undo(name, name)
        if back is not None:
            self.acknowledged.pop(back.ticket)
            self.overtaken |= set(LABELLERS)
            self.told[name] = [back, *self.told[name]]
            if self.posted.get(name, ("",))[0] == back.ticket:
                del self.posted[name]

    def restart(self) -> None:
        """The server is killed: only what is on the disk is left, and pages with what they show."""
        at(self.session)._journal.close()
        self.told = self.live()
        self.heard = dict.fromkeys(self.told, self.clock.now)
        self.open()

    def check(self) -> None:
        held = [ticket for told in self.live().values() for ticket in tickets(told)]
        assert len(held) == len(set(held))
        assert not set(held) & set(self.acknowledged)
        ids = {e["id"] for e in entries(self.place).values()} | set(recorded(self.place))
        assert len(ids) == len(self.acknowledged), "lost or doubled"

    def act(self) -> None:
        name = self.dice.choice(LABELLERS)
        match self.dice.choices(range(9), [30, 50, 4, 4, 2, 2, 2, 1, 3])[0]:
            case 0:
                self.take(name)
            case 1:
                if not self.told.get(name):
                    self.take(name)
                self.answer(name)
            case 2:
                self.again(name)
            case 3:
                self.undo(name)
            case 4:
                self.session.leave(name, 1)
                self.told.pop(name, None)
            case 5:
                self.clock.now += self.dice.choice([20, 50, 61])
            case 6:
                if name in self.live():
                    self.take(name)
            case 7:
                self.restart()
            case 8:
                self.wrong(name)

    def wrong(self, name: str) -> None:
        """An answer by mistake, taken back at once."""
        self.take(name)
        if self.told[name]:
            self.answer(name, wrong=True)
            self.undo(name)

    def flush(self) -> None:
        if at(self.session).awaiting_flush:
            self.session.flush(self.recorder)
            assert not entries(self.place)
            self.posted.clear()
            self.told = {name: [] for name in self.told}

    def work(self) -> None:
        """Until nothing waits any more."""
        for turn in range(5000):
            self.act()
            if turn % 10 == 0:
                self.check()
            self.flush()
            if not at(self.session).more:
                return
        raise AssertionError("it never ends")


@pytest.fixture(scope="module")
def reference(template: Workplace, tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The verdicts with all labels from a file."""
    place = copied(template, tmp_path_factory.mktemp("reference") / "copy")
    write_examples(place.examples, place.labels)
    import_labels(opened(place), place.labels)
    found = verdicts(place)
    assert len(found) == 2
    assert None not in found
    return found


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.long) for n in (1, 2))])
def test_whatever_labellers_do_nobody_is_asked_the_same_and_nothing_is_lost(
    place: Workplace, reference: list[Any], seed: int
) -> None:
    """Labellers take, answer, send again, undo, leave and fall silent, and the server is killed:
    what is held is held by one, what is answered is on the disk once, and the verdicts are those
    of all labels from a file."""
    crowd = Crowd(place, random.Random(seed))
    crowd.work()
    crowd.check()
    assert verdicts(place) == reference
    found = recorded(place)
    assert set(found.values()) == {"low", "high"}
    needed = rests_on(place, reference)
    assert needed <= set(found)
    # At each of the two verdicts, a labeller may have answered what was not needed any more.
    assert len(found) <= len(needed) + 2 * 3 * len(LABELLERS)
    crowd.session.close(crowd.recorder)
    assert verify(opened(place)) == []


def test_a_column_that_is_kept_on_purpose_is_shown(tmp_path: Path) -> None:
    """It is called label, and is what is to be labelled: of a shop, say. Ids are nobody's."""
    place = Workplace.make(tmp_path)
    header, *rows = place.examples.read_text().splitlines()
    lines = [f"{header},label", *(f"{row},organic" for row in rows), ""]
    place.examples.write_text("\n".join(lines))
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    script = place.repository / ".easeci.yml"
    add_testset(project, Offer(place.examples, script=script, keep_label_column=True))
    run(opened(place))
    place.commit_cut(0.4)
    run(opened(place))
    (question,) = at(LabelSession(opened(place))).take("tab", "ann", 1)
    assert set(question.row) == {"x", "label"}


def test_one_labeller_alone_gives_exactly_the_labels_that_the_verdicts_rest_on(
    place: Workplace, reference: list[Any]
) -> None:
    asking = TerminalSession(opened(place), "ann")
    while asking.question is not None:
        asking.answer(LABEL, truth(asking.question))
    asking.close()
    assert verdicts(place) == reference
    assert len(asking.answered) == 2
    assert set(recorded(place)) == rests_on(place, reference)
    assert asking.given == len(recorded(place))


def test_threads_answer_at_once(place: Workplace, reference: list[Any]) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    errors: list[BaseException] = []
    done = threading.Event()

    def work(name: str) -> None:
        try:
            while not done.is_set():
                with session.open() as questions:
                    held, step = questions.take(name, name, 2), questions._step.number
                for question in held[:1]:
                    with session.open() as questions:
                        given = questions.answer(
                            name, name, question.ticket, LABEL, truth(question)
                        )
                        # The next step may hand out anew what the step before no longer wanted.
                        moved = questions._step.number != step
                    assert given in (Given.STORED, Given.SPARE) or moved
        except Exception as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in LABELLERS]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + 120
    more = 1
    while more and not errors and time.monotonic() < deadline:
        if session.has_work:
            session.flush(recorder)
        with session.open() as questions:
            more = questions.more
        time.sleep(0.001)
    done.set()
    for thread in threads:
        thread.join(60)
    session.close(recorder)
    assert not errors
    assert verdicts(place) == reference


KILLED = """
import sys, threading
from pathlib import Path
from easeci.service.labelling.session import LabelSession
from easeci.service.project import open_project
from easeci.evidence.cells import LabelState

session, output = LabelSession(open_project(Path(sys.argv[1]))), threading.Lock()

def work(name):
    while True:
        with session.open() as questions:
            held = questions.take(name, name, 2)
        for question in held[:1]:
            # Unsettled labels prove nothing: no verdict is near, and there is always more to answer.
            with session.open() as questions:
                questions.answer(name, name, question.ticket, LabelState.SKIPPED)
            with output:
                print(question.ticket, name, flush=True)

for name in ("ann", "bob", "cid", "dee"):
    threading.Thread(target=work, args=(name,)).start()
"""


def test_a_server_that_is_killed_has_lost_no_answer_that_it_acknowledged(place: Workplace) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(place.repository)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(25)]
    os.kill(process.pid, signal.SIGKILL)
    lines += process.stdout.read().splitlines(keepends=True)
    process.wait()
    process.stdout.close()
    acknowledged = dict(line.split() for line in lines if line.endswith("\n"))
    assert len(acknowledged) >= 25
    found = entries(place)
    session = LabelSession(opened(place))
    held = tickets(at(session).take("eve", "eve", 50))
    assert not set(held) & set(acknowledged)
    for ticket, name in acknowledged.items():
        assert at(session).answer("any", name, ticket, SKIPPED) is Given.REPEATED
        assert at(session).answer("any", "eve", ticket, LABEL, "low") is Given.ALREADY_ANSWERED
    assert len(acknowledged) <= len(found) <= len(acknowledged) + len(LABELLERS)
    session.close(opened(place))
    assert set(recorded(place)) == set(found)


# -- single rules


def test_a_silent_holder_loses_its_questions_and_its_late_answer_counts_once(
    place: Workplace,
) -> None:
    clock = Clock()
    session = LabelSession(opened(place), clock=clock)
    (first, second) = at(session).take("a", "ann", 2)
    clock.now += LEASE_SECONDS
    assert tickets(at(session).take("a", "ann", 2)) == [first.ticket, second.ticket]
    clock.now += LEASE_SECONDS + 1
    others = at(session).take("b", "bob", 2)
    assert tickets(others) == [first.ticket, second.ticket]
    # The late answer is the first one: it is kept, and the other labeller's is not needed.
    assert at(session).answer("a", "ann", first.ticket, LABEL, truth(first)) is Given.STORED
    assert at(session).answer("b", "bob", first.ticket, LABEL, "other") is Given.ALREADY_ANSWERED
    assert at(session).answer("b", "bob", second.ticket, LABEL, truth(second)) is Given.STORED
    assert [e["by"] for e in entries(place).values()] == ["ann", "bob"]
    held = at(session).take("b", "bob", 1)
    session.leave("b", 1)
    assert tickets(at(session).take("c", "cid", 1)) == tickets(held)
    session.close(opened(place))
    assert tickets(at(session).take("c", "cid", 1)) == tickets(held), "it opens again"
    session.close(opened(place))


def test_only_own_answers_are_taken_back_and_asked_again_first(place: Workplace) -> None:
    session = LabelSession(opened(place))
    (one,), (other,) = at(session).take("a", "ann", 1), at(session).take("b", "bob", 1)
    at(session).answer("a", "ann", one.ticket, LABEL, "low")
    at(session).answer("b", "bob", other.ticket, LABEL, "low")
    assert at(session).undoable("ann") == one.ticket
    assert at(session).undoable("eve") is None
    assert at(session).undo("e", "eve") is None
    following = at(session).take("a", "ann", 2)
    back = at(session).undo("a", "ann")
    assert back == one
    assert tickets(at(session).take("a", "ann", 2)) == [one.ticket, following[0].ticket]
    assert at(session).undo("a", "ann") is None
    assert [e["by"] for e in entries(place).values()] == ["bob"]
    assert one.ticket not in tickets(at(session).take("b", "bob", 5))
    session.close(opened(place))
    assert session.has_work is False
    assert len(recorded(place)) == 1


def test_nobody_gets_far_ahead_of_somebody_slow(place: Workplace) -> None:
    session = LabelSession(opened(place))
    at(session).take("slow", "ann", 1)
    together = at(session)._step.wanted
    given = 0
    while questions := at(session).take("fast", "bob", 3):
        at(session).answer("fast", "bob", questions[0].ticket, SKIPPED)
        given += 1
    assert given == len(together) - 1
    at(session).take("slow", "ann", 1)
    assert at(session).take("fast", "bob", 1) == []
    assert not at(session).awaiting_flush


def test_what_is_no_answer_is_refused(place: Workplace) -> None:
    session = LabelSession(opened(place))
    (question,) = at(session).take("a", "ann", 1)
    assert set(question.row) == {"x"}
    wrong: list[tuple[LabelState, str | None]] = [
        (LABEL, None), (LABEL, ""), (LABEL, " "), (LABEL, " x"), (SKIPPED, "low"),
        (LabelState.DISPUTED, None), (LABEL, "x" * 20_000),
    ]  # fmt: skip
    for state, label in wrong:
        with pytest.raises(UsageError):
            at(session).answer("a", "ann", question.ticket, state, label)
    for ticket in (
        "",
        "zz",
        "0" * 16,
        at(session)._tickets.ticket(1, 1500),
        at(session)._tickets.ticket(2, 0),
    ):
        with pytest.raises(UsageError, match="invalid or expired question"):
            at(session).answer("a", "ann", ticket, LABEL, "low")
    assert entries(place) == {}
    assert not at(session).declared
    at(session).answer("a", "ann", question.ticket, LABEL, "3")
    assert at(session).classes == ["3"]
    (question,) = at(session).take("a", "ann", 1)
    with pytest.raises(UsageError, match=r"3 and 3\.0"):
        at(session).answer("a", "ann", question.ticket, LABEL, "3.0")
    session.close(opened(place))


def test_flushing_waits_for_another_command_and_labellers_do_not(place: Workplace) -> None:
    session = LabelSession(opened(place))
    (held,) = at(session).take("slow", "ann", 1)
    session.leave("slow", 1)  # its page is still open
    while not at(session).awaiting_flush:
        for question in at(session).take("b", "bob", 1):
            at(session).answer("b", "bob", question.ticket, LABEL, truth(question))
    recorder, waits, results = opened(place), threading.Event(), []
    with opened(place).exclusive():
        thread = threading.Thread(target=lambda: results.append(session.flush(recorder, waits.set)))
        thread.start()
        assert waits.wait(30)
        spare = at(session)._tickets.ticket(1, 1499)
        said: list[Any] = []

        def label() -> None:
            with session.open() as questions:
                said.append(questions.take("b", "bob", 3))
                said.append(questions.answer("slow", "ann", held.ticket, LABEL, "x"))
                said.append(questions.answer("slow", "ann", spare, LABEL, "low"))
                said.append(
                    (
                        questions.undo("b", "bob"),
                        questions.undoable("bob"),
                        questions.awaiting_flush,
                    )
                )

        labeller = threading.Thread(target=label)
        labeller.start()
        labeller.join(20)
        assert not labeller.is_alive(), "held up by somebody who waits for the project"
        assert said == [[], Given.ALREADY_ANSWERED, Given.SPARE, (None, None, True)]
        assert thread.is_alive()
    thread.join(60)
    (done,) = results
    assert len(done.answered) == 1
    assert done.problems == ()
    assert not at(session).awaiting_flush
    sealed = opened(place).sealed(opened(place).state.testsets[1])
    assert str(sealed.examples.ids_at([1499])[0]) in recorded(place), "kept: labels are dear"
    assert at(session).take("b", "bob", 1), "the next step"
    assert session.has_work is False, "recorded on the way"
    session.close(opened(place))


def test_what_a_verdict_is_known_with_is_not_taken_back(place: Workplace) -> None:
    """Also while it waits to be recorded: nobody may change the answers that decided it."""
    session, recorder = LabelSession(opened(place)), opened(place)
    while not at(session).awaiting_flush:
        for question in at(session).take("b", "bob", 1):
            at(session).answer("b", "bob", question.ticket, LABEL, truth(question))
    assert at(session).undo("b", "bob") is None
    assert at(session).undoable("bob") is None
    assert at(session).awaiting_flush
    assert len(session.flush(recorder).answered) == 1
    assert at(session).undo("b", "bob") is None
    session.close(opened(place))


def test_an_undo_that_is_sent_twice_takes_back_one_answer(place: Workplace) -> None:
    session = LabelSession(opened(place))
    first, second = at(session).take("b", "bob", 2)
    for question in (first, second):
        at(session).answer("b", "bob", question.ticket, LABEL, truth(question))
    back = at(session).undo("b", "bob", second.ticket)
    assert back is not None
    assert back.ticket == second.ticket
    assert at(session).undo("b", "bob", second.ticket) == back, "its response was lost"
    assert len(entries(place)) == 1
    session.close(opened(place))


def test_each_tab_takes_back_its_own(place: Workplace) -> None:
    """With two tabs, undo means the answer that was given in the same tab."""
    session = LabelSession(opened(place))
    (one,), (other,) = at(session).take("1", "bob", 1), at(session).take("2", "bob", 1)
    at(session).answer("1", "bob", one.ticket, LABEL, truth(one))
    at(session).answer("2", "bob", other.ticket, LABEL, truth(other))
    assert at(session).undo("1", "bob", one.ticket) == one
    assert at(session).undo("2", "bob", one.ticket) is None, "that is at the other tab"
    assert tickets(at(session).take("1", "bob", 1)) == [one.ticket]
    assert len(entries(place)) == 1
    session.close(opened(place))


def test_leases_of_skipped_examples_survive_a_kill(place: Workplace) -> None:
    session = LabelSession(opened(place), shared=True)
    (question,) = at(session).take("a", "ann", 1)
    at(session).answer("a", "ann", question.ticket, LabelState.SKIPPED)
    session.record(opened(place))
    assert tickets(at(session).take("b", "bob", 1, unsettled=True)) == [question.ticket]
    at(session)._journal.close()
    session = LabelSession(opened(place), shared=True)
    assert at(session).take("c", "cid", 1, unsettled=True) == []
    assert tickets(at(session).take("b", "bob", 1, unsettled=True)) == [question.ticket]
    session.close(opened(place))


def test_what_was_taken_back_is_asked_again_wanted_or_not(place: Workplace) -> None:
    """Such as what had been skipped, and the page is back at what is wanted."""
    session = LabelSession(opened(place))
    (question,) = at(session).take("a", "ann", 1)
    at(session).answer("a", "ann", question.ticket, LabelState.SKIPPED)
    session.record(opened(place))
    (again,) = at(session).take("a", "ann", 1, unsettled=True)
    at(session).answer("a", "ann", again.ticket, LabelState.CANNOT_TELL)
    assert at(session).undo("a", "ann", again.ticket) == again
    assert tickets(at(session).take("a", "ann", 2))[0] == again.ticket
    at(session).answer("a", "ann", again.ticket, LABEL, truth(again))
    assert again.ticket not in tickets(at(session).take("a", "ann", 2))
    session.close(opened(place))


def test_leases_that_have_ended_are_not_restored(place: Workplace) -> None:
    clock = Clock()
    session = LabelSession(opened(place), clock=clock, shared=True)
    gone = at(session).take("a", "ann", 1)
    clock.now += LEASE_SECONDS + 1
    session.close(opened(place))
    session = LabelSession(opened(place), clock=clock, shared=True)
    assert tickets(at(session).take("b", "bob", 1)) == tickets(gone)
    session.close(opened(place))


def test_labels_from_elsewhere_are_noticed(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    mine, theirs = at(session).take("a", "ann", 2)
    at(session).answer("a", "ann", mine.ticket, LABEL, "low")
    ids = [
        str(at(session)._step.sealed.examples.ids_at([at(session)._tickets.read(q.ticket)[1]])[0])
        for q in (mine, theirs)
    ]
    path = place.folder / "some.csv"
    path.write_text(f"id,label,state\n{ids[0]},,cannot tell\n{ids[1]},high,\n")
    import_labels(opened(place), path)
    assert at(session).answer("a", "ann", theirs.ticket, LABEL, "low") is Given.ALREADY_ANSWERED
    assert theirs.ticket not in tickets(at(session).take("a", "ann", 2))
    assert at(session).answer("a", "ann", mine.ticket, LABEL, "low") is Given.REPEATED
    assert "high" in at(session).classes
    # All that was answered here is known from elsewhere meanwhile: that stands.
    done = session.close(recorder)
    assert len(done.problems) == 1
    assert recorded(place) == {ids[0]: "cannot tell", ids[1]: "high"}


def test_what_is_wanted_is_as_others_left_it(place: Workplace) -> None:
    """The owner reads it before any labeller comes again."""
    session = LabelSession(opened(place))
    assert session.wanted is None, "nobody labels"
    assert at(session).wanted > 0
    assert session.wanted == at(session).wanted
    import_labels(opened(place), place.labels)
    assert session.wanted == 0
    session.close(opened(place))


def test_a_testset_that_is_retired_and_one_that_takes_its_place(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    one, two, three = at(session).take("a", "ann", 3)
    at(session).answer("a", "ann", one.ticket, LABEL, truth(one))
    retire_testset(opened(place), "enough")
    assert at(session).take("a", "ann", 2) == []
    assert (at(session).more, at(session).awaiting_flush) == (0, False)
    assert at(session).answer("a", "ann", two.ticket, LABEL, truth(two)) is Given.SPARE
    write_examples(place.examples, start=5000)
    project = opened(place)
    add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
    assert at(session).take("a", "ann", 2) == []
    assert at(session).awaiting_flush, "answers to the testset before are not recorded yet"
    session.flush(recorder)
    assert not at(session).awaiting_flush
    assert len(recorded(place, 1)) == 2
    assert at(session).answer("a", "ann", three.ticket, LABEL, "low") is Given.GONE
    with pytest.raises(UsageError, match="already"):
        at(LabelSession(opened(place)))
    place.commit_cut(0.51)
    run(opened(place))
    (question,) = at(session).take("a", "ann", 1)
    assert at(session).answer("a", "ann", question.ticket, LABEL, truth(question)) is Given.STORED
    session.close(recorder)
    assert len(recorded(place, 2)) == 1


def test_looks_are_recorded_once_for_each_holder(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    assert not session.has_work
    for _ in range(3):
        at(session).take("a", "ann", 1)
        session.flush(recorder)
    assert [view for _, view in opened(place).state.looks].count("labelling") == 1
    at(session).take("b", "bob", 1)
    assert session.has_work
    session.close(recorder)
    assert [view for _, view in opened(place).state.looks].count("labelling") == 2


def test_unsettled_examples_are_asked_again_but_not_twice_of_one(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    for question in at(session).take("a", "ann", 3):
        at(session).answer("a", "ann", question.ticket, SKIPPED)
    session.close(recorder)
    session = LabelSession(opened(place))
    assert at(session).more_unsettled("ann") == 3
    first, second, _ = at(session).take("a", "ann", 5, unsettled=True)
    assert tickets(at(session).take("b", "bob", 5, unsettled=True)) == []
    assert at(session).answer("a", "ann", first.ticket, SKIPPED) is Given.STORED
    assert at(session).answer("a", "ann", second.ticket, LABEL, truth(second)) is Given.STORED
    assert at(session).more_unsettled("ann") == at(session).more_unsettled("bob") == 1
    session.close(recorder)
    session = LabelSession(opened(place))
    assert at(session).more_unsettled("bob") == 2
    assert sorted(recorded(place).values()) == sorted([truth(second), "skipped", "skipped"])
    # What somebody skips once more stays as it is, and is not put before them for ever.
    for question in at(session).take("a", "ann", 5, unsettled=True):
        assert at(session).answer("a", "ann", question.ticket, SKIPPED) is Given.STORED
        assert at(session).answer("a", "ann", question.ticket, SKIPPED) is Given.REPEATED
    assert at(session).take("a", "ann", 5, unsettled=True) == []
    assert session.close(recorder).problems == ()
    assert sorted(recorded(place).values()) == sorted([truth(second), "skipped", "skipped"])


def test_a_session_asks_again_what_was_skipped_in_the_same_one(place: Workplace) -> None:
    session, recorder = LabelSession(opened(place)), opened(place)
    (skipped,) = at(session).take("a", "ann", 1)
    at(session).answer("a", "ann", skipped.ticket, SKIPPED)
    while not at(session).awaiting_flush:
        for question in at(session).take("a", "ann", 1):
            at(session).answer("a", "ann", question.ticket, LABEL, truth(question))
    session.flush(recorder)
    assert tickets(at(session).take("b", "ann", 5, unsettled=True)) == [skipped.ticket]
    assert at(session).answer("b", "ann", skipped.ticket, SKIPPED) is Given.REPEATED
    assert at(session).take("b", "ann", 5, unsettled=True) == []
    assert tickets(at(session).take("c", "bob", 5, unsettled=True)) == [skipped.ticket]
    assert at(session).answer("c", "bob", skipped.ticket, LABEL, truth(skipped)) is Given.STORED
    session.close(recorder)
    assert "skipped" not in recorded(place).values()


def test_a_session_ends_where_a_verdict_waits_for_its_tick(tmp_path: Path) -> None:
    """A step that is decided and not disclosed yet wants no labels, and nobody waits in a loop."""
    place = made(tmp_path / "tick", (0.7, 0.52), disclose="24h", classes="[low, high]")
    asking = TerminalSession(opened(place), "ann")
    while asking.question is not None:
        asking.answer(LABEL, truth(asking.question))
    asking.close()
    assert verdicts(place)[0] is not None
    asking = TerminalSession(opened(place), "ann")
    assert asking.question is None
    with pytest.raises(UsageError, match="already"):
        at(LabelSession(opened(place)))
    asking.close()


def test_files_of_held_questions_only(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path, classes="[low, high]")
    rows = list(csv.reader(place.examples.read_text().splitlines()))[1:]
    (place.folder / "pictures").mkdir()
    for name, x in rows:
        (place.folder / "pictures" / f"{name}.txt").write_text(x)
    lines = ["id,x,picture", *(f"{name},{x},{name}.txt" for name, x in rows)]
    place.examples.write_text("\n".join([*lines, ""]))
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    script = place.repository / ".easeci.yml"
    add_testset(project, Offer(place.examples, script=script, files=place.folder / "pictures"))
    run(opened(place))
    place.commit_cut(0.52)
    run(opened(place))
    session = LabelSession(opened(place))
    (one,), (other,) = at(session).take("a", "ann", 1), at(session).take("b", "bob", 1)
    assert one.files == ("picture",)
    path = session.file("a", one.ticket, "picture")
    assert path is not None
    assert path.read_text() == one.row["x"]
    assert session.file("a", other.ticket, "picture") is None
    assert session.file("nobody", one.ticket, "picture") is None
    assert session.file("a", one.ticket, "x") is None
    assert at(session).declared
    with pytest.raises(UsageError, match="no such class"):
        at(session).answer("a", "ann", one.ticket, LABEL, "medium")
    at(session).answer("a", "ann", one.ticket, LABEL, "low")
    assert session.file("a", one.ticket, "picture") == path, "the page still shows it"
    session.close(opened(place))
