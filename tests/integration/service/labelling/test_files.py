"""Labels brought in: what is used, what is said of the rest, and who gave them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from easeci.errors import DataError, UsageError
from easeci.ledger.events import LabelsAdded, LabelsExported, parse_event
from easeci.ledger.signals import Signal
from easeci.service.commits.advance import verdict_models
from easeci.service.commits.submit import run
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import export_wanted, import_labels
from easeci.service.labelling.outlook import A_DAY_OF_LABELS
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.tables.label_formats import LabelFormat
from easeci.vault.facts import load_facts
from easeci.verdict.decide import BATCH, decide
from tests.projects import add, opened, sealed_ids, with_model
from tests.repositories import SEALED, Workplace, copy_of

SECRET = "topsecretlabel"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A repository with a first model."""
    return copy_of(with_model, tmp_path)


@pytest.fixture
def unlabelled(tmp_path: Path) -> Workplace:
    """A testset without labels and with declared classes."""
    place = Workplace.make(tmp_path, classes="[low, high]", sample="0")
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
    return place


def file(place: Workplace, text: str, name: str = "some.csv") -> Path:
    path = place.folder / name
    path.write_text(text)
    return path


def test_what_is_good_is_used_and_the_rest_is_said(unlabelled: Workplace) -> None:
    """Unknown ids, unknown classes, a dispute: counted, and named by id.

    Of labels, only the spellings that the script does not declare are quoted.
    """
    rows = [
        "e1,low,ada", "e1,low,bob", "e2,low,ada", "e2,high,bob", "e3,high,ada",
        "e4,Low,ada", f"nobody,{SECRET},ada", "e5,low,ada", "e5,low,bob",
    ]  # fmt: skip
    path = file(unlabelled, "\n".join(["id,label,by", *rows, ""]))
    with pytest.raises(DataError, match="labellers dispute 1") as caught:
        import_labels(opened(unlabelled), path, strict=True)
    assert SECRET not in str(caught.value)
    assert opened(unlabelled).state.testsets[1].label_files == []
    done = import_labels(opened(unlabelled), path)
    assert (done.added, done.disputed, done.unsettled, done.skipped) == (3, 1, 1, 0)
    assert done.problems == (
        "1 ids are not in the testset: nobody",
        "1 labels are none of the script's classes: 'Low', at id e4",
    )
    assert done.labellers == ("ada", "bob")
    assert done.agreement is not None
    assert done.agreement.examples == 3
    assert done.agreement.share == pytest.approx(2 / 3)
    project = opened(unlabelled)
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


def test_unsettled_labels_are_settled_and_known_ones_never_unsettled(unlabelled: Workplace) -> None:
    import_labels(
        opened(unlabelled), file(unlabelled, "id,label,state\ne1,,skipped\ne2,low,\n"), by="ada"
    )
    again = import_labels(
        opened(unlabelled), file(unlabelled, "id,label,state\ne1,,skipped\ne2,,skipped\n")
    )
    assert (again.added, again.skipped, again.unsettled) == (0, 0, 1)
    done = import_labels(opened(unlabelled), file(unlabelled, "id,label\ne1,high\n"), by="bob")
    assert (done.added, done.corrected, done.unsettled) == (1, 0, 0)
    project = opened(unlabelled)
    labels = project.sealed(project.state.testsets[1]).labels.values(
        project.state.testsets[1].label_files
    )
    assert labels[1:3].to_list() == ["high", "low"]


def test_old_files_of_labels_are_still_read(unlabelled: Workplace) -> None:
    """An id and a label were all that they had."""
    project = opened(unlabelled)
    sealed = project.sealed(project.state.testsets[1])
    pl.DataFrame({"id": ["e1"], "label": ["low"]}).write_parquet(
        sealed.labels_folder / "old.parquet"
    )
    plain = type(sealed)(project.vault, 1)
    assert plain.labels.known(["labels/old.parquet"])[1].to_dicts() == [
        {"label": "low", "state": "label"}
    ]


def test_labels_for_several_commits_are_asked_for_once(unlabelled: Workplace) -> None:
    """They share the order; and each format brings the ids back."""
    run(opened(unlabelled))
    for cut in (0.52, 0.6):
        unlabelled.commit_cut(cut)
        run(opened(unlabelled))
    truth = dict(line.split(",") for line in unlabelled.labels.read_text().splitlines()[1:])
    asked: list[str] = []
    path = unlabelled.folder / "tasks.json"
    while (
        exported := export_wanted(opened(unlabelled), path, form=LabelFormat.LABEL_STUDIO)
    ).wanted:
        assert exported.config is not None
        assert '<Choice value="high"/>' in exported.config
        tasks: list[dict[str, Any]] = json.loads(path.read_text())
        for task in tasks:
            name = task["data"]["easeci_id"]
            asked.append(name)
            choice = {"value": {"choices": [truth[name]]}, "type": "choices"}
            task["annotations"] = [{"result": [choice], "completed_by": 1, "was_cancelled": False}]
        path.write_text(json.dumps(tasks))
        import_labels(opened(unlabelled), path)
    assert len(asked) == len(set(asked))
    state = opened(unlabelled).state
    assert all(submission.signal is not None for submission in state.submissions)
    assert state.testsets[1].labels == len(asked)


def test_labels_that_are_wanted_are_exported_and_imported_until_the_answer(
    place: Workplace,
) -> None:
    """Only as many as the evidence needs, and the answer is that of a testset labelled before."""
    add(place, labelled=False)
    run(opened(place))
    place.commit_cut(0.52)
    assert run(opened(place)).row.signal is Signal.PENDING
    truth = dict(line.split(",") for line in place.labels.read_text().splitlines()[1:])
    asked = place.folder / "ask.csv"
    given = 0
    while export_wanted(opened(place), asked, count=BATCH).wanted:
        header, *rows = asked.read_text().splitlines()
        assert header == "id,label,x"
        ids = [row.split(",")[0] for row in rows]
        answers = [f"{name},{truth[name]}" for name in ids]
        asked.write_text("\n".join(["id,label", *answers, ""]))
        done = import_labels(opened(place), asked)
        given += done.added
    assert 0 < given < 100
    assert run(opened(place)).row.signal is Signal.PASS
    step = opened(place).state.testsets[1].steps[0]
    assert step.verdict is not None
    import_labels(opened(place), place.labels)
    project = opened(place)
    testset = project.state.testsets[1]
    assert step.baseline_model is not None
    models = verdict_models(testset, step)
    facts = load_facts(project.sealed(testset), testset.script, models, testset.label_files)
    again = decide(replace(testset.script, estimator=testset.estimator), facts, "")
    assert again.labels == step.verdict.labels


def test_labels_never_change_silently(place: Workplace) -> None:
    add(place)
    run(opened(place))
    place.commit_cut(0.52)
    before = run(opened(place))
    wrong = place.folder / "wrong.csv"
    some = sorted(sealed_ids(place.repository))[:8]
    wrong.write_text("\n".join(["id,label", *(f"{name},low" for name in some), ""]))
    with pytest.raises(DataError, match="--correct"):
        import_labels(opened(place), wrong)
    done = import_labels(opened(place), wrong, correct=True)
    assert done.corrected > 0
    assert done.added == 0
    assert run(opened(place)).row == before.row
    project = opened(place)
    assert project.state.testsets[1].corrected == done.corrected
    assert verify(project) == []


def test_labels_in_another_spelling_are_taken_and_warned_of(place: Workplace) -> None:
    """No prediction has a say in which labels are taken."""
    add(place, labelled=False)
    run(opened(place))
    place.commit_cut(0.52)
    run(opened(place))
    other = place.folder / "other.csv"
    names = [line.split(",")[0] for line in place.labels.read_text().splitlines()[1:]]
    rows = [f"{name},{'cat' if i % 2 else 'dog'}" for i, name in enumerate(names)]
    other.write_text("\n".join(["id,label", *rows, ""]))
    done = import_labels(opened(place), other)
    assert done.added == SEALED
    assert "80 labels are for the public sample, which no verdict needs" in done.warnings
    assert any("spelt the same way" in warning for warning in done.warnings)


def test_a_column_that_shows_the_labels_is_refused_when_they_come(place: Workplace) -> None:
    """As it would have been when the testset was added."""
    truth = dict(line.split(",") for line in place.labels.read_text().splitlines()[1:])
    rows = [line.split(",") for line in place.examples.read_text().splitlines()[1:]]
    shown = [f"{name},{x},{truth[name]}" for name, x in rows]
    place.examples.write_text("\n".join(["id,x,answer", *shown, ""]))
    add(place, labelled=False)
    with pytest.raises(DataError, match="gives the labels away"):
        import_labels(opened(place), place.labels)
    assert opened(place).state.testsets[1].labels == 0


def test_labels_for_unknown_ids_are_refused(place: Workplace) -> None:
    add(place, labelled=False)
    stray = place.folder / "stray.csv"
    stray.write_text("id,label\nnobody,low\n")
    with pytest.raises(DataError, match="not in"):
        import_labels(opened(place), stray)


def test_an_export_is_recorded_before_anything_is_written(unlabelled: Workplace) -> None:
    """Also one that fails half way. If no label is wanted, no example is handed out."""
    run(opened(unlabelled))
    assert export_wanted(opened(unlabelled), unlabelled.folder / "ask.csv").wanted == 0
    unlabelled.commit_cut(0.52)
    run(opened(unlabelled))
    wanted = export_wanted(opened(unlabelled), unlabelled.folder / "ask.csv", by="ann").wanted
    with pytest.raises(UsageError, match="cannot be written"):
        export_wanted(opened(unlabelled), unlabelled.folder / "missing" / "ask.jsonl", by="eve")
    project = opened(unlabelled)
    events = [parse_event(r.kind, r.version, r.text) for r in project.store.records(project.name)]
    assert [event for event in events if isinstance(event, LabelsExported)] == [
        LabelsExported(1, wanted, "csv", "ann"),
        LabelsExported(1, wanted, "jsonl", "eve"),
    ]


@pytest.mark.parametrize("form", LabelFormat)
@pytest.mark.parametrize("unsettled", [False, True])
def test_without_a_wanted_label_the_file_is_written_without_examples(
    unlabelled: Workplace, form: LabelFormat, unsettled: bool
) -> None:
    """An older file of that name would be imported again. What is written can be imported."""
    name = "ask.csv" if form is LabelFormat.CSV else "ask.jsonl"
    stale = file(unlabelled, "id,label\ne1,low\n", name)
    done = export_wanted(opened(unlabelled), stale, form=form, unsettled=unsettled)
    assert (done.wanted, done.config) == (0, None)
    content = stale.read_text().strip()
    assert content == {"csv": "id,label", "label-studio": "[]"}.get(form, "")
    read = import_labels(opened(unlabelled), stale, form=form)
    assert (read.added, read.unchanged, read.problems, read.empty) == (0, 0, (), True)
    project = opened(unlabelled)
    kinds = [record.kind for record in project.store.records(project.name)]
    assert not {"LabelsExported", "LabelsAdded"} & set(kinds)


@pytest.mark.parametrize(
    ("name", "text"),
    [("some.csv", "id,label\n"), ("some.csv", "id,label,by,x\n"), ("some.jsonl", "")],
)
def test_a_file_without_rows_holds_a_part_of_the_labels(
    place: Workplace, name: str, text: str
) -> None:
    """The part is empty. It can come with the testset, or later."""
    path = file(place, text, name)
    project = open_project(place.repository, create=True)
    script = place.repository / ".easeci.yml"
    assert add_testset(project, Offer(place.examples, labels=path, script=script)).labels == 0
    assert import_labels(opened(place), path, strict=True).empty
    run(opened(place))
    place.commit_cut(0.52)
    assert run(opened(place)).row.signal is Signal.PENDING
    import_labels(opened(place), place.labels)
    assert run(opened(place)).row.signal is Signal.PASS


def test_the_commands_say_what_a_file_of_questions_holds(place: Workplace) -> None:
    """Size, hours, files to come, and that more than needed only cost; then that none is wanted."""
    add(place, labelled=False)
    run(opened(place))
    place.commit_cut(0.52)
    run(opened(place))
    asked = place.folder / "ask.csv"

    def said(*arguments: str) -> str:
        return " ".join(place.easeci("labels", *arguments, code=0).stdout.split())

    few = said("export", str(asked), "--count", "1")
    assert few.startswith(f"1 example to label is in {asked}. Labelling takes 1 min at 5 s each.")
    assert re.search(r"The commit takes about \d+ more labels \(\d+ such files\), at most", few)
    assert "At least" not in few
    many = said("export", str(asked))
    needed = r"at most \d+ \(1 such file\)\. At least \d+ labels? (is|are) needed\. Import"
    assert re.search(needed, many), many
    assert "are not used for it, and only cost time." in many
    shown = json.loads(place.easeci("labels", "export", str(asked), "--json", code=0).stdout)
    assert 0 < shown["needed"] <= shown["expected"] <= shown["most"] == shown["wanted"]
    import_labels(opened(place), place.labels)
    assert said("export", str(asked)) == (
        f"No labels are wanted. {asked} was written without examples, so that no older file is "
        "imported again."
    )
    assert said("import", str(asked)) == "Testset 1: 0 labels added. The file has no labels."
    assert f"{A_DAY_OF_LABELS:,}" in said("export", "--help")
    refused = place.easeci("labels", "export", str(asked), "--count", "0", code=2)
    assert "--count" in refused.stderr
