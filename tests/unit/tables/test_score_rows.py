"""Files of scores: CSV, JSONL and Parquet, of owners and of scorers that nobody trusts."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from easeci.errors import DataError
from easeci.tables.score_rows import DIGEST, read_score_rows
from easeci.tables.untrusted_scores import load_untrusted_scores

KEYS = pl.DataFrame({"id": ["1", "2", "3"], "trial": ["0", "0", "0"]})
TRIALS = pl.DataFrame({"id": ["1", "1", "2"], "trial": ["0", "1", "0"]})


def scored(path: Path, text: str, keys: pl.DataFrame = KEYS) -> dict[tuple[int, str], float | None]:
    """What a scorer wrote, by place and name."""
    path.write_text(text)
    found = load_untrusted_scores(path, keys, ("score", "faithful"))
    return {(place, name): score for place, name, score in found.iter_rows()}


def test_scores_are_placed_by_id(tmp_path: Path) -> None:
    found = scored(tmp_path / "scores.csv", "score,id\n0.5,2\n1,1\n")
    assert found == {(1, "score"): 0.5, (0, "score"): 1.0}


@pytest.mark.parametrize("cell", ["nan", "NaN", "inf", "-0.01", "1.0001", "good", "", "1e999"])
def test_what_is_no_number_from_0_to_1_is_null(tmp_path: Path, cell: str) -> None:
    assert scored(tmp_path / "scores.csv", f"id,score\n1,{cell}\n2,1e0\n") == {
        (0, "score"): None,
        (1, "score"): 1.0,
    }


def test_names_are_rows_or_columns(tmp_path: Path) -> None:
    expected = {(0, "score"): 0.5, (0, "faithful"): 0.25}
    rows = "id,name,score\n1,,0.5\n1,faithful,0.25\n"
    assert scored(tmp_path / "scores.csv", rows) == expected
    assert scored(tmp_path / "scores.csv", "id,score,score.faithful\n1,0.5,0.25\n") == expected
    lines = '{"id": "1", "score": 0.5}\n{"id": "1", "score": 0.25, "name": "faithful"}\n'
    assert scored(tmp_path / "scores.jsonl", lines) == expected
    table = {"id": [1], "score": [0.5], "score.faithful": [0.25]}
    pl.DataFrame(table).write_parquet(tmp_path / "scores.parquet")
    found = load_untrusted_scores(tmp_path / "scores.parquet", KEYS, ("score", "faithful"))
    assert {(p, n): s for p, n, s in found.iter_rows()} == expected


def test_trials_tell_the_outputs_of_an_example_apart(tmp_path: Path) -> None:
    text = "id,trial,score\n1,1,0.5\n1,0,0.25\n2,0,1\n"
    found = scored(tmp_path / "scores.csv", text, TRIALS)
    assert found == {(1, "score"): 0.5, (0, "score"): 0.25, (2, "score"): 1.0}
    with pytest.raises(DataError, match="without a trial"):
        scored(tmp_path / "scores.csv", "id,score\n1,0.5\n", TRIALS)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("scores.csv", "id,score\n4,1\n", "not given: 1, first at id 4"),
        ("scores.csv", "id,score\n1,1\n1,0\n", "two scores for one output"),
        ("scores.csv", "id,score,name\n1,1,beauty\n", "does not declare: beauty"),
        ("scores.csv", "id,points\n1,1\n", "no column 'score'"),
        ("scores.csv", "score\n1\n", "no column 'id'"),
        ("scores.csv", "id,score\n,1\n", "no id"),
        ("scores.jsonl", '{"id": 1, "score": 1', "cannot be read"),
        ("scores.parquet", "PAR1 and nothing else", "cannot be read"),
    ],
)
def test_what_a_scorer_may_not_write(tmp_path: Path, name: str, text: str, words: str) -> None:
    """The error names the file without its folder, which is a temporary one."""
    with pytest.raises(DataError, match=words) as found:
        scored(tmp_path / name, text)
    assert str(tmp_path) not in found.value.message


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    with pytest.raises(DataError, match="100 MiB"):
        load_untrusted_scores(path, KEYS, ("score",))


def test_an_owners_file_is_read_by_digest(tmp_path: Path) -> None:
    """An empty cell is told from one that is no score."""
    path = tmp_path / "given.csv"
    path.write_text("id,digest,score\n1,aa,0.5\n2,bb,\n3,cc,good\n")
    rows = read_score_rows(path, DIGEST)
    assert rows["digest"].to_list() == ["aa", "bb", "cc"]
    assert rows["given"].to_list() == [True, False, True]
    assert rows["score"].to_list() == [0.5, None, None]
