"""Several labellers in one session: no example asked twice, no answer lost, the same verdict."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import pytest

from easeci.errors import UsageError
from easeci.evidence.cells import LabelState
from easeci.service.commits.submit import run
from easeci.service.custody.verify import verify
from easeci.service.labelling.questions import Given, Question
from easeci.service.labelling.session import LEASE_SECONDS, LabelSession
from easeci.service.testsets.add import Offer, add_testset
from easeci.service.testsets.retire import retire_testset
from tests.integration.service.labelling.labellers import (
    LABEL,
    SKIPPED,
    Clock,
    at,
    entries,
    recorded,
    rests_on,
    tickets,
    truth,
    verdicts,
)
from tests.projects import opened
from tests.repositories import Workplace, write_examples

LABELLERS = ("ann", "bob", "cid", "dee")


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
    assert done.answered
    assert done.problems == ()
    assert not at(session).awaiting_flush
    sealed = opened(place).sealed(opened(place).state.testsets[1])
    assert str(sealed.examples.ids_at([1499])[0]) in recorded(place), "kept: labels are dear"
    more = opened(place).state.testsets[1].undecided_step is not None
    assert bool(at(session).take("b", "bob", 1)) == more, "the next step"
    assert session.has_work is False, "recorded on the way"
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


def test_leases_that_have_ended_are_not_restored(place: Workplace) -> None:
    clock = Clock()
    session = LabelSession(opened(place), clock=clock, shared=True)
    gone = at(session).take("a", "ann", 1)
    clock.now += LEASE_SECONDS + 1
    session.close(opened(place))
    session = LabelSession(opened(place), clock=clock, shared=True)
    assert tickets(at(session).take("b", "bob", 1)) == tickets(gone)
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
    records = opened(place).store.records(recorder.name)
    texts = [json.loads(record.text) for record in records if record.kind == "Looked"]
    assert [text["by"] for text in texts if text["view"] == "labelling"] == ["ann", "bob"]
