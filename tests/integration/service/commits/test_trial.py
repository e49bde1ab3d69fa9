"""`try` runs a program on public examples: it shows everything, and no label to the program."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from easeci.build.repository import Repository
from easeci.service.commits.trial import Trial, TrialPlace, try_program
from easeci.service.project import open_project
from easeci.service.public_sample import find_sample
from easeci.service.testsets.add import Offer, add_testset
from tests.repositories import SAMPLE, Workplace

SHOWING = """\
import json, os

folder = os.environ["EASECI_EXAMPLES"]
print("files:", sorted(os.listdir(folder)))
with open(os.path.join(folder, "examples.jsonl")) as file:
    rows = [json.loads(line) for line in file]
print("columns:", sorted(rows[0]))
with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
    file.write("id,{column}\\n" + "".join(f"{{row['id']}},{said}\\n" for row in rows))
"""


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    return place


def tried(place: Workplace, **where: object) -> Trial:
    return try_program(Repository.find(place.repository), "HEAD", TrialPlace(**where))  # type: ignore[arg-type]


def commit_program(place: Workplace, column: str = "prediction", said: str = "low") -> None:
    place.write("test_model.py", SHOWING.format(column=column, said=said))
    place.commit("another program")


def add(place: Workplace, *, labelled: bool = True) -> None:
    project = open_project(place.repository, create=True)
    labels = place.labels if labelled else None
    offer = Offer(place.examples, labels=labels, script=place.repository / ".easeci.yml")
    add_testset(project, offer)


def test_the_sample_is_the_default(place: Workplace) -> None:
    """Its labels give the accuracy: a cut at 0.7 is right on about 80% of the examples.

    Of 80 examples; outside of 50% to 99.9% with a probability below 1e-6.
    """
    add(place)
    trial = tried(place)
    assert (trial.testset, trial.examples, trial.failure) == (1, SAMPLE, None)
    assert trial.labelled == SAMPLE
    assert trial.accuracy is not None
    assert 0.5 < trial.accuracy < 0.999
    state = open_project(place.repository).state
    assert not state.submissions


def test_without_labels_there_is_no_accuracy(place: Workplace) -> None:
    """What came with the sample is all that is known."""
    add(place, labelled=False)
    trial = tried(place)
    assert (trial.failure, trial.labelled, trial.accuracy) == (None, 0, None)
    assert sum(trial.classes.values()) == SAMPLE


@pytest.mark.parametrize("name", ["label", "Labels"])
def test_a_column_of_labels_is_never_shown(place: Workplace, name: str) -> None:
    """It is split off, and gives the accuracy."""
    rows = ["id,x," + name, *(f"{i},0.{i},{'low' if i < 3 else 'high'}" for i in range(4))]
    (place.folder / "mine.csv").write_text("\n".join([*rows, ""]))
    commit_program(place)
    trial = tried(place, examples=place.folder / "mine.csv")
    assert "columns: ['id', 'x']" in trial.log
    assert (trial.labelled, trial.accuracy) == (4, 0.75)
    named = tried(place, examples=place.folder / "mine.csv", label_column=name)
    assert (named.log, named.accuracy) == (trial.log, 0.75)


def test_all_that_is_wrong_is_told(place: Workplace) -> None:
    """The column that is missing and those that are there; the wrong spelling and the declared."""
    commit_program(place, column="pred")
    trial = tried(place, examples=place.examples)
    assert trial.failure == "predictions.csv has no column 'prediction'; it has id, pred"
    assert "files: ['examples.csv', 'examples.jsonl']" in trial.log
    place.write_script(classes="[low, high]")
    commit_program(place, said="Low")
    trial = tried(place, examples=place.examples)
    assert trial.failure is not None
    assert "predictions are none of the declared classes: 'Low'" in trial.failure
    assert trial.hint == "classes: of the script declares 'low', 'high'."


def test_ignored_paths_are_not_there(place: Workplace) -> None:
    """As in every build."""
    place.write_script(ignore="['notes.txt']")
    place.write("notes.txt", "x")
    place.write("test_model.py", "import os; print(sorted(os.listdir('.')))\n")
    place.commit("notes")
    log = tried(place, examples=place.examples).log
    assert "test_model.py" in log
    assert "notes.txt" not in log


def test_the_difference_to_the_baseline(place: Workplace) -> None:
    """d, and n - o where labels are known, counted by hand on the rows of the sample."""
    baseline = place.git("rev-parse", "HEAD")
    add(place)
    same = tried(place)
    assert (same.baseline, same.difference, same.gain) == (baseline, 0.0, 0.0)
    place.commit_cut(0.52)
    better = tried(place)
    with find_sample(place.repository) as sample:
        xs = [float(row[1]) for row in pl.read_csv(sample.folder / "examples.csv").iter_rows()]
    changed = sum(0.52 <= x < 0.7 for x in xs)
    assert better.baseline == baseline
    assert better.difference == pytest.approx(changed / SAMPLE)
    assert better.gain == pytest.approx(changed / SAMPLE)


def test_the_difference_without_labels(place: Workplace) -> None:
    """d needs none, n - o needs them."""
    add(place, labelled=False)
    trial = tried(place)
    assert (trial.difference, trial.gain) == (0.0, None)


def test_a_hidden_baseline_is_not_compared_with(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under `none` the baseline depends on verdicts that nobody is told."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder}/letters")
    place.write_script(adaptivity="none -> owner@example.org")
    place.commit("script")
    add(place)
    trial = tried(place)
    assert trial.accuracy is not None
    assert (trial.baseline, trial.difference, trial.gain) == (None, None, None)


def test_what_the_command_prints(place: Workplace) -> None:
    """Everything of the program, then the numbers; a failure with its hint and exit code 5."""
    add(place)
    done = place.easeci("try", code=0)
    assert f"OK  commit {place.git('rev-parse', 'HEAD')[:10]}: 80 predictions" in done.stdout
    assert "on the 80 examples with known labels" in done.stdout
    assert "d = 0.0%; n - o = +0.0 points" in done.stdout
    commit_program(place, column="pred")
    failed = place.easeci("try", code=5)
    assert "columns: ['id', 'x']" in failed.stdout
    assert "has no column 'prediction'; it has id, pred" in " ".join(failed.stdout.split())
    assert "Its first row must be id,prediction." in failed.stdout
    document = json.loads(place.easeci("try", "HEAD~1", "--json", code=0).stdout)
    assert document["labelled"] == SAMPLE
    assert document["difference"] == 0.0
