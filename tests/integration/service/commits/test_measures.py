"""Conditions over classes, slices, rankings and earlier models, on the real service."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from easeci.errors import DataError
from easeci.ledger.signals import Signal
from easeci.service.commits.advance import verdict_models
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import import_labels
from easeci.service.labelling.open_step import OpenStep
from tests.projects import add, opened, run_on, sealed_ids
from tests.repositories import Workplace

PROGRAM = """\
import csv, json, os
from model import predict

with open(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl")) as file:
    rows = [json.loads(line) for line in file]
with open(os.environ["EASECI_PREDICTIONS"], "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction", "probability"])
    writer.writerows([row["id"], predict(row), 1 - float(row["x"])] for row in rows)
"""
CONDITION = (
    "recall(low) > 0.6 +/- 0.1 & n.precision(high) - o.precision(high) > -0.4 +/- 0.15 & "
    "n[half=*] > 0.6 +/- 0.1 & auc(low) > 0.7 +/- 0.1 & n - top(2) > -0.3 +/- 0.1"
)


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A repository whose program writes scores, and examples with a column for slices."""
    made = Workplace.make(tmp_path)
    made.write("test_model.py", PROGRAM)
    with made.examples.open() as file:
        rows = list(csv.DictReader(file))
    with made.examples.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "half"])
        writer.writeheader()
        writer.writerows(row | {"half": "ab"[number % 2]} for number, row in enumerate(rows))
    made.commit_cut(0.6)
    return made


def labels_of(place: Workplace) -> Path:
    """All labels of the sealed examples, as a file."""
    inside = sealed_ids(place.repository)
    with place.labels.open() as file:
        rows = [row for row in csv.DictReader(file) if row["id"] in inside]
    path = place.folder / "all.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["id", "label"])
        writer.writeheader()
        writer.writerows({"id": row["id"], "label": row["label"]} for row in rows)
    return path


def test_every_measure_in_one_condition(place: Workplace) -> None:
    """Good commits pass, bad ones fail, and each verdict is decided again as it was recorded."""
    add(place, condition=CONDITION, classes="[low, high]", baseline="HEAD")
    place.commit_cut(0.55)
    assert run_on(place).row.signal is Signal.PASS
    place.commit_cut(0.9)
    assert run_on(place).row.signal is Signal.FAIL
    project = opened(place)
    testset = project.state.testsets[1]
    assert verify(project) == []
    first = testset.steps[0].verdict
    assert first is not None
    texts = [clause.text for clause in first.clauses]
    assert "n[half=a] > 0.6 +/- 0.1" in texts
    assert "n[half=b] > 0.6 +/- 0.1" in texts
    rivals = [len(verdict_models(testset, step).rivals) for step in testset.steps]
    assert rivals == [1, 2]


@pytest.mark.long
def test_labels_that_come_later_lead_to_the_same_answer(place: Workplace) -> None:
    """Without labels the step waits, and it asks only where some clause needs a label."""
    keys = {"condition": CONDITION, "classes": "[low, high]"}
    add(place, labelled=False, baseline="HEAD", **keys)
    place.commit_cut(0.55)
    assert run_on(place).row.signal is Signal.PENDING
    import_labels(opened(place), labels_of(place))
    project = opened(place)
    (step,) = project.state.testsets[1].steps
    assert step.passed is True
    assert step.verdict is not None
    assert 0 < step.verdict.labels < project.state.testsets[1].examples
    assert verify(project) == []


def test_slices_that_are_too_small_are_named(place: Workplace) -> None:
    """Sealing is refused, and says which slices need how many examples."""
    with pytest.raises(DataError, match=r"'n\[half=a\] > 0.9 \+/- 0.03': 760 of [\d,]+") as found:
        add(place, condition="n[half=*] > 0.9 +/- 0.03", reliability="0.99", baseline="HEAD")
    assert "n[half=b]" in found.value.message


@pytest.mark.long
def test_a_label_that_auc_waits_for_is_not_asked_for_twice_at_once(place: Workplace) -> None:
    """The walk stops at a skipped label. It is asked for again when the skip is recorded."""
    add(place, labelled=False, condition="auc(low) > 0.7 +/- 0.1")
    place.commit_cut(0.55)
    run_on(place)
    project = opened(place)
    step = OpenStep(project, project.state.testsets[1], ())
    first, second = step.wanted[:2]
    step.add({"position": first, "state": "skipped", "label": None})
    assert first not in step.wanted
    step.add({"position": second, "state": "label", "label": "low"})
    step.remove(first)
    assert step.wanted[0] == first
