"""Whatever is killed, whenever: what was acknowledged stays, and nothing is spent twice."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from pathlib import Path

import httpx
import pytest

from easeci.service.commits.advance import catch_up
from easeci.service.custody.restore import restore_backup
from easeci.service.custody.verify import verify
from easeci.service.project import Project, open_project
from tests.durability import chaos as at_work
from tests.durability.chaos import Chaos
from tests.sites import start_server, visitor
from tests.waiting import PATIENCE

SECONDS = 120


@pytest.mark.long
def test_killed_at_random_for_two_minutes(tmp_path: Path) -> None:
    """run, watch, the labelling page, import and backup, each killed again and again."""
    chaos = Chaos.make(tmp_path, seed=13)
    running = start_server(chaos.bare)
    visits = [visitor(running, chaos.bare, "labeller", f"labeller {n}") for n in range(2)]
    port = httpx.URL(running.address).port
    running.stop()
    assert port is not None
    commits = chaos.commits()
    actors = [
        lambda: at_work.run_commits(chaos, commits[::2]),
        lambda: at_work.watch(chaos),
        lambda: at_work.drop_pushes(chaos, commits[1::2]),
        lambda: at_work.serve(chaos, port),
        lambda: at_work.import_labels(chaos),
        lambda: at_work.back_up(chaos),
        *(
            lambda n=n, visit=visit: at_work.label(chaos, visit, n)
            for n, visit in enumerate(visits)
        ),
    ]
    pauses, end = random.Random(7), time.monotonic() + SECONDS
    with chaos.everybody(*actors):
        # On a busy machine it takes longer until enough is acknowledged to be worth a look.
        while not chaos.problems and (time.monotonic() < end or not chaos.did_enough()):
            time.sleep(pauses.uniform(0.2, 3.0))
            chaos.kill_one()
            assert time.monotonic() < end + 5 * PATIENCE, "hardly anything was acknowledged"
    assert chaos.problems == []

    project = open_project(chaos.bare)
    with project.exclusive():
        catch_up(project)
    assert verify(project) == []
    assert_nothing_is_spent_twice(project)
    assert_signals_stay(project, chaos)
    assert_labels_stay(project, chaos)
    for number, file in enumerate(chaos.backups[-3:]):
        restore_backup(file, tmp_path / f"restored-{number}")


def assert_nothing_is_spent_twice(project: Project) -> None:
    """A step, a verdict and a signal at most once each, and one step at most for a commit."""
    records, _ = project.store.ledger(project.name)
    events = [(record.kind, json.loads(record.text)) for record in records]
    commit = {e["submission"]: e["commit"] for kind, e in events if kind == "Submitted"}
    charged = [e for kind, e in events if kind == "Charged"]
    assert [e["step"] for e in charged] == list(range(1, len(charged) + 1))
    for spent in (
        Counter(commit[e["submission"]] for e in charged),
        Counter(e["step"] for kind, e in events if kind == "Decided"),
        Counter(e["submission"] for kind, e in events if kind == "Answered"),
    ):
        assert set(spent.values()) <= {1}, spent.most_common(3)


def assert_signals_stay(project: Project, chaos: Chaos) -> None:
    """A signal that was printed is the one that is recorded."""
    recorded = {s.commit: s.signal for s in project.state.submissions}
    for commit, signal in chaos.signals.items():
        assert commit in recorded
        if signal in ("pass", "fail"):
            assert recorded[commit] == signal


def assert_labels_stay(project: Project, chaos: Chaos) -> None:
    """A label that was acknowledged is recorded, or waits in the journal."""
    testset = project.state.testsets[1]
    sealed = project.sealed(testset)
    known = sealed.labels.values(testset.label_files)
    labels = dict(zip(sealed.examples.ids, known, strict=True))
    journal = sealed.labels_folder / "open.jsonl"
    for line in journal.read_text().splitlines() if journal.exists() else ():
        entry = json.loads(line)
        labels[entry["id"]] = entry["label"]
    lines = chaos.place.examples.read_text().splitlines()[1:]
    ids = {x: name for name, x in (line.split(",") for line in lines)}
    for acknowledged in (chaos.imported, chaos.confirmed):
        assert {x: labels[ids[x]] for x in acknowledged} == acknowledged
