"""However labels come, the verdict is the same at the same label: by the page, alone or together, by
the terminal, and by a file."""

from __future__ import annotations

import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from easeci.evidence.cells import LabelState
from easeci.service.labelling.files import import_labels
from easeci.service.labelling.terminal import TerminalSession
from easeci.service.project import open_project
from tests.repositories import Workplace
from tests.sites import Visit, serving_here, visitor, waiting_project

CONDITIONS = {
    "improvement": "n - o > 0.02 +/- 0.05",
    "accuracy": "n > 0.9 +/- 0.05",
    "both": r"n - o > 0.02 +/- 0.05 /\ n > 0.85 +/- 0.05",
}


def truth(x: str) -> str:
    return "low" if float(x) < 0.5 else "high"


def waiting(folder: Path, condition: str) -> Workplace:
    if "o" in condition:
        return waiting_project(folder, condition=condition, classes="[low, high]")
    place = Workplace.make(folder, condition=condition, classes="[low, high]")
    place.commit_cut(0.52)
    place.add_testset("--allow-smaller", labelled=False)
    place.easeci("run", code=3)
    return place


def verdict(place: Workplace) -> dict[str, Any]:
    (step,) = open_project(place.repository).state.testsets[1].steps
    assert step.verdict is not None
    return step.verdict.document()


def label_by_page(place: Workplace, labellers: int) -> int:
    """Everybody answers what their page shows first, in no particular turn; how many answers."""
    dice, given = random.Random(labellers), 0
    with serving_here(place.repository) as here:
        pages = [
            (visitor(here, place.repository, "labeller", f"labeller {n}"), f"{n:016d}")
            for n in range(labellers)
        ]
        shown = {tab: visit.label("take", tab) for visit, tab in pages}
        while not all(is_over(document) for document in shown.values()):
            visit, tab = dice.choice(pages)
            shown[tab] = go_on(visit, tab, shown[tab])
            given += shown[tab]["given"] is not None
    return given


def is_over(document: dict[str, Any]) -> bool:
    return not document["questions"] and document["more"] == "no more" and not document["recording"]


def go_on(visit: Visit, tab: str, document: dict[str, Any]) -> dict[str, Any]:
    if not document["questions"]:
        time.sleep(0.01)  # others have the rest, or it is being recorded
        return visit.label("take", tab)
    question = document["questions"][0]
    right = truth(question["fields"][0]["text"])
    return visit.label("answer", tab, ticket=question["ticket"], state="label", label=right)


def label_by_terminal(place: Workplace) -> int:
    asking = TerminalSession(open_project(place.repository), "ada")
    while asking.question is not None:
        asking.answer(LabelState.LABEL, truth(asking.question.row["x"]))
    asking.close()
    return asking.given


@pytest.mark.parametrize(
    "condition",
    [
        pytest.param(CONDITIONS["improvement"], marks=pytest.mark.long, id="improvement"),
        pytest.param(CONDITIONS["accuracy"], marks=pytest.mark.long, id="accuracy"),
        pytest.param(CONDITIONS["both"], id="both"),
    ],
)
def test_the_verdict_is_the_same_at_the_same_label(tmp_path: Path, condition: str) -> None:
    """Documents are equal, the number of labels consulted among them; and one alone at the page is
    asked for no more labels than one at the terminal."""
    template = waiting(tmp_path / "template", condition)
    alone, together, terminal, file = (
        Workplace(Path(shutil.copytree(template.folder, tmp_path / name, symlinks=True)))
        for name in ("alone", "together", "terminal", "file")
    )
    given = label_by_page(alone, 1)
    assert label_by_page(together, 3) >= given
    assert label_by_terminal(terminal) == given
    import_labels(open_project(file.repository), file.labels)
    assert verdict(file)["labels"] > 0
    assert verdict(alone) == verdict(together) == verdict(terminal) == verdict(file)
