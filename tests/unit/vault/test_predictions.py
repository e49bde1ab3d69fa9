"""Predictions for a testset: complete, and known by the fingerprint of their values."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.errors import InfrastructureError
from easeci.script import parse_script
from easeci.tables.column import RankKind
from easeci.vault.predictions import PredictionForm
from easeci.vault.testset import SealedTestset
from tests.predictions import read_directly
from tests.repositories import SCRIPT
from tests.unit.vault.making import refused, sealed, write, written

RANKED = PredictionForm(ranked=True)


@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("0,a\n1,a\n2,a\n3,a\n", ["lacks ids of the testset: 1, first 4"]),
        ("0,a\n1,a\n2,a\n3,a\n4,a\n5,a\n", ["has more ids than the testset: 1, first 5"]),
        ("0,a\n1,a\n2,a\n3,a\n3,b\n", ["more than once", "at id 3"]),
        ("0,a\n1,a\n2,a\n3,a\n4,\n", ["missing"]),
        ("", ["no rows"]),
    ],
)
def test_predictions_cover_the_testset_exactly(
    tmp_path: Path, text: str, fragments: list[str]
) -> None:
    _, _, testset = sealed(tmp_path)
    path = write(tmp_path / "p.csv", f"id,prediction\n{text}")
    refused(lambda: testset.predictions.store(path), *fragments)
    assert list((testset.folder / "predictions").iterdir()) == []


VALUES = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=5, max_size=5),
    st.lists(
        # Text tells -0.0 from 0.0, numbers do not.
        st.floats(allow_nan=False, allow_infinity=False).map(lambda value: value + 0.0),
        min_size=5,
        max_size=5,
    ),
    st.lists(
        st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1).filter(
            lambda text: text.lower() != "nan"
        ),
        min_size=5,
        max_size=5,
    ),
)


@pytest.fixture(scope="class")
def shared_testset(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SealedTestset]:
    """One for many tries, which are read in this process."""
    _, _, testset = sealed(tmp_path_factory.mktemp("shared"))
    with read_directly():
        yield testset


@settings(max_examples=40)
@given(values=VALUES, order=st.permutations(range(5)), changed=st.integers(0, 4))
def test_a_fingerprint_stands_for_the_values(
    shared_testset: SealedTestset, values: list[object], order: list[int], changed: int
) -> None:
    """It is the same in any order and format, and different if any value is."""
    folder = shared_testset.folder.parent
    frame = pl.DataFrame({"id": range(5), "prediction": values})
    texts = frame.with_columns(pl.col("prediction").cast(pl.String))
    whole = shared_testset.predictions.store(written(folder / "p.parquet", frame.to_dict()))
    same = [
        written(folder / "q.parquet", frame[order].to_dict()),
        written(folder / "q.csv", texts[order].to_dict()),
        written(folder / "q.jsonl", texts[order].to_dict()),
    ]
    for path in same:
        stored = shared_testset.predictions.store(path)
        assert stored == whole
    other = texts["prediction"].to_list()
    other[changed] += "0"
    different = written(folder / "r.csv", {"id": range(5), "prediction": other})
    assert shared_testset.predictions.store(different).fingerprint != whole.fingerprint


def scored(path: Path, kind: str, scores: list[float], made: str = "ababa") -> Path:
    return written(path, {"id": range(5), "prediction": list(made), kind: scores})


def test_scores_are_stored_and_are_part_of_the_fingerprint(tmp_path: Path) -> None:
    """Equal predictions with other scores, or with scores of another kind, are another model."""
    _, _, testset = sealed(tmp_path)
    scores, files = [0.5, 0.0, 1.0, 0.25, 0.75], testset.predictions
    with read_directly():
        first = files.store(scored(tmp_path / "p.csv", "confidence", scores), RANKED)
        again = files.store(scored(tmp_path / "p.parquet", "confidence", scores), RANKED)
        others = [
            files.store(scored(tmp_path / "q.csv", "probability", scores), RANKED),
            files.store(scored(tmp_path / "q.csv", "confidence", scores[::-1]), RANKED),
            files.store(scored(tmp_path / "q.csv", "confidence", scores, "aaaab"), RANKED),
            files.store(scored(tmp_path / "q.csv", "confidence", scores)),
        ]
    assert again == first
    assert len({first.fingerprint, *(other.fingerprint for other in others)}) == 5
    assert files.load(first.name).to_list() == list("ababa")
    found = files.load_ranks(first.name)
    assert (found.kind, found.values.to_list()) == (RankKind.CONFIDENCE, scores)


def test_without_a_need_for_scores_nothing_changes(tmp_path: Path) -> None:
    """A file with scores is stored like one without: the same name and the same bytes."""
    _, _, testset = sealed(tmp_path)
    files = testset.predictions
    with read_directly():
        plain = files.store(
            written(tmp_path / "p.csv", {"id": range(5), "prediction": list("ababa")})
        )
        content = (testset.folder / plain.name).read_bytes()
        assert files.store(scored(tmp_path / "q.csv", "confidence", [7.0] * 5)) == plain
    assert (testset.folder / plain.name).read_bytes() == content
    assert pl.read_parquet(testset.folder / plain.name).columns == ["prediction"]
    with pytest.raises(InfrastructureError, match="was changed or damaged"):
        files.load_ranks(plain.name)


def test_predictions_without_their_scores_are_refused(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    files = testset.predictions
    with read_directly():
        plain = written(tmp_path / "p.csv", {"id": range(5), "prediction": list("ababa")})
        refused(lambda: files.store(plain, RANKED), "p.csv has no probabilities", "'confidence'")
        bad = scored(tmp_path / "q.csv", "confidence", [0.5, 0.5, 0.5, 1.5, 0.5])
        refused(lambda: files.store(bad, RANKED), "outside 0 to 1: 1, at id 3")
    assert list((testset.folder / "predictions").iterdir()) == []


def test_neighbouring_values_do_not_run_together(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    fingerprints = {
        testset.predictions.store(
            written(tmp_path / "p.csv", {"id": range(5), "prediction": values})
        ).fingerprint
        for values in (["ab", "c", "x", "x", "x"], ["a", "bc", "x", "x", "x"])
    }
    assert len(fingerprints) == 2


def test_predictions_that_were_tampered_with_are_not_taken_for_known(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    paths = [
        written(tmp_path / f"{value}.csv", {"id": range(5), "prediction": [value] * 5})
        for value in "ab"
    ]
    first, second = (testset.predictions.store(path) for path in paths)
    (testset.folder / second.name).replace(testset.folder / first.name)
    with pytest.raises(InfrastructureError, match="was changed or damaged"):
        testset.predictions.store(paths[0])


# -- outputs


def outputs(path: Path, values: list[str], trials: int) -> Path:
    """Outputs of five examples, those of the last trial first."""
    rows = [
        {"id": place, "trial": trial, "output": values[place * trials + trial]}
        for trial in reversed(range(trials))
        for place in range(5)
    ]
    return written(path, pl.DataFrame(rows).to_dict())


def test_outputs_are_stored_with_all_trials(tmp_path: Path) -> None:
    """Row i * trials + t is trial t of example i, in one column, whatever the file's order was."""
    _, _, testset = sealed(tmp_path)
    files, form = testset.predictions, PredictionForm(trials=3)
    values = [f"{place}.{trial}\n\x1b" for place in range(5) for trial in range(3)]
    stored = files.store(outputs(tmp_path / "p.jsonl", values, 3), form)
    assert pl.read_parquet(testset.folder / stored.name).to_dict(as_series=False) == {
        "prediction": values
    }
    assert files.load(stored.name, 3).to_list() == values
    assert files.store(outputs(tmp_path / "q.parquet", values, 3), form) == stored
    for trials in (1, 5):
        with pytest.raises(InfrastructureError, match="was changed or damaged"):
            files.load(stored.name, trials)


@settings(max_examples=20)
@given(
    values=st.lists(st.text(st.characters(codec="utf-8")), min_size=10, max_size=10),
    changed=st.integers(0, 9),
)
def test_a_fingerprint_stands_for_all_trials(
    shared_testset: SealedTestset, values: list[str], changed: int
) -> None:
    """It is the same in any format, and different if any trial of any example is."""
    folder, form = shared_testset.folder.parent, PredictionForm(trials=2)
    files = shared_testset.predictions
    first = files.store(outputs(folder / "o.parquet", values, 2), form)
    assert files.store(outputs(folder / "o.jsonl", values, 2), form) == first
    other = [value + "!" * (place == changed) for place, value in enumerate(values)]
    assert files.store(outputs(folder / "o.jsonl", other, 2), form).fingerprint != first.fingerprint


def test_outputs_of_a_testset_need_all_trials_and_no_class(tmp_path: Path) -> None:
    _, _, testset = sealed(tmp_path)
    path = outputs(tmp_path / "p.csv", ["x"] * 10, 2)
    with read_directly():
        refused(
            lambda: testset.predictions.store(path, PredictionForm(trials=3)),
            "every example needs 3 outputs, which 0 of 5 have: 5 with 2, at id 0, 1, 2 and 2 more",
        )
    assert list((testset.folder / "predictions").iterdir()) == []


@pytest.mark.parametrize(
    ("keys", "form"),
    [
        ({}, PredictionForm()),
        ({"classes": "[a, b]"}, PredictionForm(("a", "b"))),
        ({"scorer": "exact"}, PredictionForm(trials=1)),
        ({"scorer": "./score.py", "trials": "5"}, PredictionForm(trials=5)),
    ],
)
def test_what_a_script_expects_of_predictions(keys: dict[str, str], form: PredictionForm) -> None:
    lines = [f"  - {key}: {value}" for key, value in (SCRIPT | keys).items()]
    assert PredictionForm.of(parse_script("\n".join(["ml:", *lines, ""]))) == form
