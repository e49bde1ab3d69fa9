"""Several people label on a server that is killed in the middle: nobody is asked what another was,
and no answer that was confirmed is lost."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from easeci.service.project import open_project
from tests.repositories import Workplace, write_examples
from tests.sites import Running, Visit, start_server, visitor
from tests.waiting import PATIENCE

LABELLERS = 4
BETWEEN = 15
"""So many answers are confirmed between two kills."""


@dataclass
class Team:
    """What everybody was shown, and which answers were confirmed, by example."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    shown: dict[str, set[int]] = field(default_factory=dict)
    confirmed: dict[str, tuple[str, str]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    finished: bool = False

    def see(self, number: int, questions: list[dict[str, Any]]) -> None:
        with self.lock:
            for question in questions:
                self.shown.setdefault(question["fields"][0]["text"], set()).add(number)


def patient(visit: Visit, path: str, tab: str, **fields: str) -> dict[str, Any]:
    """As the page does: the same request again until the server is back."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return visit.label(path, tab, **fields)
        except httpx.TransportError:
            assert time.monotonic() < until, "the server did not come back"
            time.sleep(0.05)


def label(visit: Visit, number: int, team: Team) -> None:
    tab = f"{number:016d}"
    try:
        document = patient(visit, "take", tab)
        while not team.finished:
            team.see(number, document["questions"])
            if not document["questions"]:
                if document["more"] == "no more" and not document["recording"]:
                    team.finished = True
                    return
                time.sleep(0.05)
                document = patient(visit, "take", tab)
                continue
            question = document["questions"][0]
            value = question["fields"][0]["text"]
            right = "low" if float(value) < 0.5 else "high"
            document = patient(
                visit, "answer", tab, ticket=question["ticket"], state="label", label=right
            )
            with team.lock:
                if document["given"] == "already answered":
                    team.problems.append(f"{value} was answered by somebody else too")
                team.confirmed[value] = (right, f"labeller {number}")
    except BaseException as error:
        team.problems.append(repr(error))
        team.finished = True
        raise


def restarted(place: Workplace, running: Running, *, killed: bool) -> Running:
    """Killed as if the power went, or ended as it should, and started again where it was."""
    port = str(httpx.URL(running.address).port)
    if killed:
        running.kill()
    else:
        assert running.stop() == ""
    return start_server(place.repository, "--port", port)


@pytest.mark.parametrize(
    ("examples", "ends"),
    [
        pytest.param(60, ["killed"], id="once"),
        pytest.param(120, ["killed", "killed", "stopped"], id="often", marks=pytest.mark.long),
    ],
)
def test_killed_in_the_middle(tmp_path: Path, examples: int, ends: list[str]) -> None:
    # In the middle of the zone, and so few examples that no order of them can show anything: all
    # of them are labelled.
    place = Workplace.make(
        tmp_path,
        condition="n > 0.94 +/- 0.01",
        classes="[low, high]",
        reliability="0.9999",
        sensitivity="0.9999",
        sample="0",
    )
    write_examples(place.examples, place.labels, size=examples)
    place.commit_cut(0.55)
    place.add_testset("--allow-smaller", labelled=False)
    place.easeci("run", code=3)
    running, team = start_server(place.repository), Team()
    visits = [
        visitor(running, place.repository, "labeller", f"labeller {n}") for n in range(LABELLERS)
    ]
    threads = [
        threading.Thread(target=label, args=(visit, n, team)) for n, visit in enumerate(visits)
    ]
    for thread in threads:
        thread.start()
    try:
        for number, end in enumerate(ends, start=1):
            while len(team.confirmed) < number * BETWEEN and not team.finished:
                time.sleep(0.005)
            assert not team.finished, team.problems
            running = restarted(place, running, killed=end == "killed")
        for thread in threads:
            thread.join(PATIENCE)
    finally:
        team.finished = True
        running.kill()
    assert not team.problems
    assert not any(thread.is_alive() for thread in threads)
    asked_twice = {value: who for value, who in team.shown.items() if len(who) > 1}
    assert not asked_twice

    project = open_project(place.repository)
    testset = project.state.testsets[1]
    assert testset.next_signal is None
    known = project.sealed(testset).labels.known(testset.label_files)
    rows_of_examples = [line.split(",") for line in place.examples.read_text().splitlines()[1:]]
    ids = {value: identity for identity, value in rows_of_examples}
    rows = dict(zip(project.sealed(testset).examples.ids, known["label"], strict=True))
    by = {
        row["id"]: row["by"]
        for name in testset.label_files
        for row in project.sealed(testset).files.load_table(name).iter_rows(named=True)
    }
    for value, (right, who) in team.confirmed.items():
        assert (rows[ids[value]], by[ids[value]]) == (right, who)
    verdict = testset.steps[0].verdict
    assert verdict is not None
    assert verdict.labels == len(team.confirmed) == testset.labels == examples
