"""The JSON of plan and check: names and types that other programs rely on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import easeci, easeci_here

FORMS = [
    "n - o > 0.02 +/- 0.01",
    r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01",
    "n > 0.9 +/- 0.01",
    "d < 0.1 +/- 0.01",
]


def plan_of(condition: str, *options: str) -> dict[str, Any]:
    done = easeci_here("plan", "-c", condition, *options, "--json", folder=Path())
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


@pytest.mark.parametrize("condition", FORMS)
def test_plan(condition: str) -> None:
    document = plan_of(condition, "--steps", "32", "--adaptivity", "none")
    names = [row["estimator"] for row in document["estimates"]]
    assert names == [
        "hoeffding",
        "pattern1",
        "pattern1-active",
        "pattern2",
        "pattern3",
        "exact",
        "sequential",
    ]
    assert document["recommended"] in names
    for row in document["estimates"]:
        assert isinstance(row["applies"], bool)
        assert isinstance(row["reason"], str)
        for key in ("examples", "labels", "labels_per_commit"):
            assert row[key] is None or isinstance(row[key], int)
        if not row["applies"]:
            assert row["examples"] is None


def test_the_example_of_the_documentation() -> None:
    rows = plan_of("n > 0.5 +/- 0.01", "--steps", "32", "--adaptivity", "none")["estimates"]
    assert (
        rows[0] | {"estimator": "hoeffding", "applies": True, "examples": 63_381, "labels": 63_381}
        == rows[0]
    )


def test_d_alone_needs_no_labels() -> None:
    assert plan_of("d < 0.1 +/- 0.01")["estimates"][0]["labels"] == 0


def test_the_forecast_says_what_a_life_is_expected_to_take() -> None:
    document = plan_of("n - o > 0.02 +/- 0.01", "--commits", "bold")
    life = document["forecast"]
    assert set(life) == {
        "labels", "labels_per_commit", "worst_commit", "hours", "commits", "assumes",
    }  # fmt: skip
    assert life["commits"] == "bold"
    assert life["hours"]["5s"] == round(life["labels"] * 5 / 3600, 2)
    row = document["estimates"][-1]
    assert (row["labels"], row["labels_in_all"]) == (0, life["labels"])
    assert row["labels_per_commit"] == life["labels_per_commit"]
    assert set(document["bring"]) == {"examples", "sealed", "sample"}
    assert document["bring"]["examples"] == row["examples"] + 100
    assert set(document["cheaper"]) == {"write", "labels", "gives_up"}
    assert document["decides_by"] == document["recommended"] == "sequential"


def test_nothing_is_recommended_if_no_commit_can_pass() -> None:
    document = plan_of(r"d < 0.1 +/- 0.01 /\ n - o > 0.2 +/- 0.01")
    assert document["meaning"] == "no commit can pass"
    for key in ("bring", "forecast", "cheaper", "recommended"):
        assert document[key] is None
    assert document["warnings"][0].startswith("no commit can pass: ")
    assert document["why"] == document["warnings"][0].rstrip(".")


def test_pattern2_has_no_size_unless_the_difference_is_known() -> None:
    unknown = plan_of("n - o > 0.02 +/- 0.01")["estimates"][3]
    assert (unknown["applies"], unknown["examples"]) == (True, None)
    known = plan_of("n - o > 0.02 +/- 0.01", "--difference", "0.1")["estimates"][3]
    assert isinstance(known["examples"], int)


def write_rows(path: Path, column: str, values: list[str]) -> str:
    path.write_text(f"id,{column}\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values)))
    return str(path)


def test_check(tmp_path: Path) -> None:
    labels = ["a", "b"] * 500
    new = write_rows(tmp_path / "new.csv", "prediction", labels)
    old = write_rows(tmp_path / "old.csv", "prediction", ["a"] * 1000)
    truth = write_rows(tmp_path / "labels.csv", "label", labels)
    arguments = ["check", "--new", new, "--old", old, "--labels", truth, "-r", "0.9", "--json"]
    arguments += ["--estimator", "pattern1"]
    done = easeci(*arguments, "-c", r"n - o > 0.2 +/- 0.1 /\ d < 0.9 +/- 0.2")
    document = json.loads(done.stdout)
    assert done.returncode == 0
    assert document["outcome"] == "True"
    assert document["pass"] is True
    assert document["examples"] == 1000
    assert document["labels"] == 500  # n - o needs them only where the models differ
    first, second = document["clauses"]
    assert first["clause"] == "n - o > 0.2 +/- 0.1"
    assert first["estimate"] == 0.5
    assert first["interval"] == pytest.approx([0.4, 0.6])
    assert first["outcome"] == "True"
    assert second["clause"] == "d < 0.9 +/- 0.2"
    failed = easeci(*arguments[:-2], "-c", "n - o > 0.7 +/- 0.1")
    assert failed.returncode == 1
    by_default = json.loads(failed.stdout)
    assert (by_default["pass"], by_default["estimator"]) == (False, "sequential")


def test_check_waits(tmp_path: Path) -> None:
    new = write_rows(tmp_path / "new.csv", "prediction", ["a"] * 300)
    done = easeci("check", "--new", new, "-c", "n > 0.5 +/- 0.1", "-r", "0.9", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 3
    assert (document["pass"], document["outcome"]) == (None, "Unknown")
    assert document["estimator"] == "sequential"
    assert 1 <= document["labels_wanted"] <= 20
    assert document["clauses"][0]["estimate"] is None
