"""Labels brought in: what is used, what is said of the rest, and who gave them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from easeci.errors import DataError
from easeci.ledger.events import LabelsAdded, parse_event
from easeci.service.commits.submit import run
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import export_wanted, import_labels
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.tables.label_formats import LabelFormat
from tests.repositories import Workplace

SECRET = "topsecretlabel"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A testset without labels and with declared classes."""
    place = Workplace.make(tmp_path, classes="[low, high]")
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
    return place


def opened(place: Workplace) -> Project:
    return open_project(place.repository)


def file(place: Workplace, text: str, name: str = "some.csv") -> Path:
    path = place.folder / name
    path.write_text(text)
    return path


def test_what_is_good_is_used_and_the_rest_is_said(place: Workplace) -> None:
    """Unknown ids, unknown classes, a dispute: counted, named by id, never by label."""
    rows = [
        "e1,low,ada", "e1,low,bob", "e2,low,ada", "e2,high,bob", "e3,high,ada",
        f"e4,{SECRET},ada", f"nobody,{SECRET},ada", "e5,low,ada", "e5,low,bob",
    ]  # fmt: skip
    path = file(place, "\n".join(["id,label,by", *rows, ""]))
    with pytest.raises(DataError, match="labellers dispute 1") as caught:
        import_labels(opened(place), path, strict=True)
    assert SECRET not in str(caught.value)
    assert opened(place).state.testsets[1].label_files == []
    done = import_labels(opened(place), path)
    assert (done.added, done.disputed, done.unsettled, done.skipped) == (3, 1, 1, 0)
    assert done.problems == (
        "1 ids are not in the testset: nobody",
        "1 labels are none of the script's classes, at id e4",
    )
    assert done.labellers == ("ada", "bob")
    assert done.agreement is not None
    assert done.agreement.examples == 3
    assert done.agreement.share == pytest.approx(2 / 3)
    project = opened(place)
    testset = project.state.testsets[1]
    stored = pl.read_parquet(project.sealed(testset).folder / testset.label_files[0])
    assert stored.columns == ["id", "label", "state", "by", "at", "answers"]
    disputed = stored.filter(pl.col("state") == "disputed")
    assert [one["label"] for one in json.loads(disputed["answers"][0])] == ["low", "high"]
    records = [r for r in project.store.records("model") if r.kind == "LabelsAdded"]
    event = parse_event(records[-1].kind, records[-1].version, records[-1].text)
    assert isinstance(event, LabelsAdded)
    assert (event.by, event.added) == ("ada, bob", 3)
    assert verify(project) == []


def test_unsettled_labels_are_settled_and_known_ones_never_unsettled(place: Workplace) -> None:
    import_labels(opened(place), file(place, "id,label,state\ne1,,skipped\ne2,low,\n"), by="ada")
    again = import_labels(opened(place), file(place, "id,label,state\ne1,,skipped\ne2,,skipped\n"))
    assert (again.added, again.skipped, again.unsettled) == (0, 0, 1)
    done = import_labels(opened(place), file(place, "id,label\ne1,high\n"), by="bob")
    assert (done.added, done.corrected, done.unsettled) == (1, 0, 0)
    project = opened(place)
    labels = project.sealed(project.state.testsets[1]).labels.values(
        project.state.testsets[1].label_files
    )
    assert labels[1:3].to_list() == ["high", "low"]


def test_old_files_of_labels_are_still_read(place: Workplace) -> None:
    """An id and a label were all that they had."""
    project = opened(place)
    sealed = project.sealed(project.state.testsets[1])
    pl.DataFrame({"id": ["e1"], "label": ["low"]}).write_parquet(
        sealed.labels_folder / "old.parquet"
    )
    plain = type(sealed)(project.vault, 1)
    assert plain.labels.known(["labels/old.parquet"])[1].to_dicts() == [
        {"label": "low", "state": "label"}
    ]


def test_labels_for_several_commits_are_asked_for_once(place: Workplace) -> None:
    """They share the order; and each format brings the ids back."""
    run(opened(place))
    for cut in (0.52, 0.6):
        place.commit_cut(cut)
        run(opened(place))
    truth = dict(line.split(",") for line in place.labels.read_text().splitlines()[1:])
    asked: list[str] = []
    path = place.folder / "tasks.json"
    while (exported := export_wanted(opened(place), path, form=LabelFormat.LABEL_STUDIO)).wanted:
        assert exported.config is not None
        assert '<Choice value="high"/>' in exported.config
        tasks: list[dict[str, Any]] = json.loads(path.read_text())
        for task in tasks:
            name = task["data"]["easeci_id"]
            asked.append(name)
            choice = {"value": {"choices": [truth[name]]}, "type": "choices"}
            task["annotations"] = [{"result": [choice], "completed_by": 1, "was_cancelled": False}]
        path.write_text(json.dumps(tasks))
        import_labels(opened(place), path)
    assert len(asked) == len(set(asked))
    state = opened(place).state
    assert all(submission.signal is not None for submission in state.submissions)
    assert state.testsets[1].labels == len(asked)
