"""Predictions that are made elsewhere, as a user of the command line meets them."""

from __future__ import annotations

import getpass
import json
from pathlib import Path

import polars as pl
import pytest

from tests.projects import sealed_ids
from tests.repositories import SCRIPT, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A project whose script names no program, with a testset."""
    place = Workplace.make(tmp_path)
    lines = [f"  - {key}: {value}" for key, value in SCRIPT.items() if key != "script"]
    place.write(".easeci.yml", "\n".join(["ml:", *lines, ""]))
    (place.repository / "test_model.py").unlink()
    place.commit("the model is elsewhere")
    added = place.easeci(
        "testset", "add", str(place.examples), "--labels", str(place.labels), code=0
    )
    assert "The baseline" not in added.stdout
    return place


def made(place: Workplace, cut: float, name: str) -> str:
    """Predictions of a cut on the sealed examples, in the format that the name asks for."""
    examples = pl.read_csv(place.examples)
    examples = examples.filter(pl.col("id").is_in(list(sealed_ids(place.repository))))
    word = pl.when(pl.col("x") < cut).then(pl.lit("low")).otherwise(pl.lit("high"))
    frame = examples.select("id", word.alias("prediction"))
    path = place.folder / name
    match path.suffix:
        case ".csv":
            frame.write_csv(path)
        case ".jsonl":
            frame.write_ndjson(path)
        case _:
            frame.write_parquet(path)
    return str(path)


def test_a_life_of_predictions_that_are_sent(place: Workplace) -> None:
    """Exit codes, words, JSON and what each reader is told; all three formats."""
    refused = place.easeci("run", code=2)
    assert "the script names no program" in refused.stderr
    assert "--predictions FILE" in " ".join(refused.stderr.split())
    assert "names no program" in place.easeci("try", code=2).stderr
    store = str(place.repository / ".easeci")
    hooked = place.easeci("hook", "run", "post-commit", "--store", store, code=0)
    assert "names no program" in hooked.stdout + hooked.stderr

    place.write("weights.txt", "0")
    first = place.commit("weights 0")
    set_ = place.easeci(
        "baseline", "set", "HEAD", "--predictions", made(place, 0.7, "0.csv"), "--json", code=0
    )
    assert json.loads(set_.stdout) == {"baseline": first, "file_read": True}

    place.write("weights.txt", "1")
    place.commit("weights 1")
    failed = place.easeci("run", "--predictions", made(place, 0.75, "1.jsonl"), code=1)
    assert "Step 1." in failed.stdout
    again = place.easeci("run", "--predictions", made(place, 0.5, "other.csv"), code=1)
    assert "other.csv was not read" in again.stderr
    assert "no step was spent" in again.stdout

    place.write("weights.txt", "2")
    place.commit("weights 2")
    passed = place.easeci("run", "--predictions", made(place, 0.52, "2.parquet"), "--json", code=0)
    answer = json.loads(passed.stdout)
    assert (answer["signal"], answer["step"], answer["file_read"]) == ("pass", 2, True)
    assert json.loads(place.easeci("run", "--json", code=0).stdout)["file_read"] is None

    words = " ".join(place.easeci("status", code=0).stdout.split())
    assert "Predictions were sent as a file for 2 of its 2 steps and a baseline" in words
    assert json.loads(place.easeci("status", "--json").stdout)["shown"]["sent_steps"] == 2
    log = place.easeci("log", code=0).stdout
    assert "sent" not in log
    me = getpass.getuser()
    owners = " ".join(place.easeci("log", "--owner", code=0).stdout.split())
    assert f"sent as a file by {me}" in owners
    rows = json.loads(place.easeci("log", "--owner", "--json").stdout)
    assert [row["sent"]["by"] for row in rows] == [me, me]
    assert f"sent as a file by {me}" in place.easeci("status", "--owner", code=0).stdout
    assert "predictions sent" in place.easeci("log", "--audit", code=0).stdout
    assert "same result" in place.easeci("log", "--verify", code=0).stdout
    report = place.folder / "report.html"
    place.easeci("report", "--owner", "-o", str(report), code=0)
    assert f"predictions sent as a file by {me}" in report.read_text()


def test_a_wrong_file_ends_with_exit_code_2_and_costs_nothing(place: Workplace) -> None:
    path = Path(made(place, 0.7, "made.csv"))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:-1], ""]))
    refused = place.easeci("run", "--predictions", str(path), code=2)
    assert "made.csv lacks ids of the testset: 1" in refused.stderr
    assert lines[-1].split(",")[0] not in refused.stderr.split()
    assert json.loads(place.easeci("log", "--json", code=0).stdout) == []
    path.write_text("\n".join([*lines, ""]))
    adopted = place.easeci("run", "--predictions", "../made.csv", code=0)
    assert "BASELINE" in adopted.stdout
    assert "Step 1." in adopted.stdout
