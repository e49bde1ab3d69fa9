"""Commits that wait for labels, and what labellers hold and have answered."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from easeci.evidence.cells import LabelState
from easeci.service.commits.submit import run
from easeci.service.labelling.questions import OpenQuestions, Question
from easeci.service.labelling.session import LabelSession
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.vault import sealing
from tests.projects import opened
from tests.repositories import Workplace

LABEL, SKIPPED, CANNOT_TELL = LabelState.LABEL, LabelState.SKIPPED, LabelState.CANNOT_TELL
CUTS = (0.7, 0.33, 0.47)


def two_waiting(folder: Path) -> Workplace:
    """A testset in a known order, a commit that waits for labels, and one more behind it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            sealing, "_secret_order", lambda size: np.random.default_rng(7).permutation(size)
        )
        return made(folder, cuts=CUTS, sample="0")


def made(folder: Path, cuts: tuple[float, ...], **keys: str) -> Workplace:
    """A commit for each cut. The first becomes the baseline, the others are tested."""
    place = Workplace.make(folder, **keys)
    for number, cut in enumerate(cuts):
        place.commit_cut(cut)
        if number == 0:
            project = open_project(place.repository, create=True)
            add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
        run(opened(place))
    return place


def at(session: LabelSession) -> OpenQuestions:
    """The open questions, for a test that has no other threads."""
    with session.open() as questions:
        return questions


class Clock:
    """A clock that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def truth(question: Question) -> str:
    """The right answer to a question."""
    return "low" if float(question.row["x"]) < 0.5 else "high"


def tickets(questions: list[Question]) -> list[str]:
    """The tickets of questions, in their order."""
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
    """What the ledger knows of labels, by id: the label, or its state."""
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
    """The verdict of every step, apart from how many labels were there when its turn came."""
    found = [step.verdict for step in opened(place).state.testsets[1].steps]
    return [None if verdict is None else replace(verdict, labels_at_hand=0) for verdict in found]
