"""Programs that write outputs: any JSON values with three trials, in a repository of their own."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from easeci.build.repository import Repository
from easeci.errors import DataError, UsageError
from easeci.evidence.cells import LabelState
from easeci.ledger.signals import Signal
from easeci.service.commits.trial import Trial, TrialPlace, try_program
from easeci.service.labelling.files import import_labels
from easeci.service.labelling.open_step import OpenStep
from easeci.service.testsets.add import Added, Offer, add_testset
from tests.projects import opened, run_on
from tests.repositories import EXAMPLES, SAMPLE, SEALED, Workplace

PROGRAM = """\
import json, os

with open(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl")) as file:
    rows = [json.loads(line) for line in file]
folder = os.path.dirname(os.environ["EASECI_PREDICTIONS"])
with open(os.path.join(folder, "predictions.jsonl"), "w") as file:
    for trial in {trials}:
        for row in rows:
            x = float(row["x"])
            print(json.dumps({{"id": row["id"], "trial": trial, "output": {output}}}), file=file)
"""
SCORER = "exact(ignore-case, ignore-space)"
LOW = '" LOW " if x < 0.7 else "High"'
"""Right by the scorer in all but a fifth of the examples."""


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = Workplace.make(tmp_path, scorer=SCORER, trials="3", unchanged="skip")
    commit(place, LOW)
    return place


def commit(place: Workplace, output: str, trials: str = "(3, 1, 2)") -> str:
    place.write("test_model.py", PROGRAM.format(output=output, trials=trials))
    return place.commit(f"{output} {trials}")


def add(place: Workplace) -> Added:
    script = place.repository / ".easeci.yml"
    return add_testset(opened(place), Offer(place.examples, labels=place.labels, script=script))


def tried(place: Workplace) -> Trial:
    return try_program(Repository.find(place.repository), "HEAD", TrialPlace())


def test_outputs_of_a_program_are_stored_with_their_trials(place: Workplace) -> None:
    """On the sample and on the sealed examples; they are not compared with labels as classes."""
    commit(place, '{"x": [trial, row["id"]], "a": None} if trial > 1 else trial')
    added = add(place)
    assert (added.examples, added.labels, added.classes_line) == (SEALED, SEALED, None)
    project = opened(place)
    testset = project.require_active()
    sealed = project.sealed(testset)
    assert sealed.sample is not None
    (on_sample,) = testset.sample_predictions.values()
    (on_sealed,) = testset.predictions.values()
    for files, ids, file in (
        (sealed.sample.predictions, sealed.sample.ids, on_sample.file),
        (sealed.predictions, sealed.examples.ids, on_sealed.file),
    ):
        expected = [
            text
            for name in ids
            for text in ("1", *(f'{{"a": null, "x": [{t}, "{name}"]}}' for t in (2, 3)))
        ]
        assert files.load(file, 3).to_list() == expected


def test_equal_outputs_on_the_sample_are_unchanged(place: Workplace) -> None:
    """Whatever order they are written in; wrong trials there are told in full, and free."""
    add(place)
    commit(place, LOW, "(1, 2, 3)")
    assert run_on(place).row.signal is Signal.UNCHANGED
    commit(place, LOW, "(1, 2)")
    answer = run_on(place)
    assert (answer.row.signal, answer.steps_used) == (Signal.BUILD_ERROR, 0)
    assert "every example needs 3 outputs" in (answer.failure or "")
    assert f"{SAMPLE} with 2, at id" in (answer.failure or "")


def test_try_shows_outputs_and_the_mean_score(place: Workplace) -> None:
    """Short and printable; d counts examples of which any trial differs."""
    add(place)
    same = tried(place)
    assert same.failure is None
    assert (same.classes, same.difference, same.gain) == ({}, 0.0, 0.0)
    assert set(same.outputs) <= {" LOW ", "High"}
    sample = xs(place)
    right = sum((x < 0.7) == (x < 0.5) for x in sample)
    assert same.accuracy == pytest.approx(right / SAMPLE)
    commit(place, 'chr(27) + "[31m" * 99 if trial == 2 and x < 0.5 else ' + LOW)
    other = tried(place)
    low = sum(x < 0.5 for x in sample)
    assert other.difference == pytest.approx(low / SAMPLE)
    assert other.gain == pytest.approx(-low / 3 / SAMPLE)
    assert all(text.isprintable() and len(text) <= 100 for text in other.outputs)
    printed = place.easeci("try", code=0).stdout
    assert "mean score: 0." in printed
    assert "\x1b" not in printed
    assert f"{SAMPLE} examples with outputs" in printed


def xs(place: Workplace) -> list[float]:
    """The numbers of the sample's examples."""
    project = opened(place)
    sample = project.sealed(project.require_active()).sample
    assert sample is not None
    rows = pl.read_csv(place.examples).rows_by_key("id", unique=True)
    return [rows[name][0] for name in sample.ids]


def test_a_scorer_of_the_owners_gives_no_mean_score_here(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path, scorer="external", trials="3")
    commit(place, LOW)
    rows = pl.read_csv(place.examples).head(5).with_columns(label=pl.lit("x" * 50_000))
    rows.write_csv(tmp_path / "mine.csv")
    trial = try_program(
        Repository.find(place.repository), "HEAD", TrialPlace(examples=tmp_path / "mine.csv")
    )
    assert (trial.failure, trial.labelled, trial.accuracy) == (None, 5, None)
    assert len(trial.outputs) == 3


def test_references_that_the_scorer_cannot_use(tmp_path: Path) -> None:
    """With the testset they are refused; later they are left out, and none is quoted."""
    place = Workplace.make(tmp_path, scorer="numeric(0.1)", trials="3")
    commit(place, "x")
    with pytest.raises(DataError) as caught:
        add(place)
    assert f"that are not numbers: {EXAMPLES:,}, at data row 1, 2, 3" in str(caught.value)
    assert "low" not in str(caught.value)
    script = place.repository / ".easeci.yml"
    project = opened(place)
    add_testset(project, Offer(place.examples, script=script))
    ids = project.sealed(project.require_active()).examples.ids_at(range(4))
    labels = tmp_path / "some.csv"
    # Both spellings of a number are fine: they are not classes.
    labels.write_text(f"id,label\n{ids[0]},3\n{ids[1]},3.0\n{ids[2]},secret\n")
    done = import_labels(project, labels)
    assert (done.added, done.warnings) == (2, ())
    assert done.problems == (f"1 references are not numbers, at id {ids[2]}",)
    step = OpenStep(project, project.require_active(), [])
    assert step.classes == [], "labellers see no references of others"
    step.require_answer(LabelState.LABEL, "3.50")
    for useless in ("secret", "", "1" * 200_000):
        with pytest.raises(UsageError):
            step.require_answer(LabelState.LABEL, useless)
