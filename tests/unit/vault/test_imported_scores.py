"""What a file of imported scores adds to those that are known."""

from __future__ import annotations

import polars as pl
import pytest

from easeci.vault.imported_scores import ScoresReceived, receive_scores
from easeci.vault.scores import COLUMNS, empty_scores

OUTPUTS = pl.DataFrame({"id": [1, 1, 2], "output": ["aa", "bb", "aa"]})
Given = tuple[str, str, str, bool, float | None]


def received(*given: Given, known: pl.DataFrame | None = None) -> ScoresReceived:
    frame = pl.DataFrame(
        list(given),
        schema={
            "id": pl.String,
            "digest": pl.String,
            "name": pl.String,
            "given": pl.Boolean,
            "score": pl.Float64,
        },
        orient="row",
    )
    known = empty_scores(pl.Int64) if known is None else known
    return receive_scores(frame, OUTPUTS, known, ("score", "faithful"))


def test_new_scores_are_stored_with_the_ids_of_the_testset() -> None:
    done = received(("1", "aa", "score", True, 0.5), ("2", "aa", "faithful", True, 1.0))
    assert done.rows.columns == list(COLUMNS)
    assert done.rows["id"].to_list() == [1, 2]
    assert done.rows["reference"].to_list() == ["", ""]
    assert (done.added, done.outputs, done.unsettled, done.problems) == (2, 2, 0, ())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("2", "bb", "score", True, 0.5), "not of an output of their example, at id 2"),
        (("7", "aa", "score", True, 0.5), "not of an output of their example, at id 7"),
        (("1", "aa", "other", True, 0.5), "name that the script does not declare, at id 1"),
        (("1", "aa", "score", True, None), "not numbers from 0 to 1, at id 1"),
    ],
)
def test_what_cannot_be_used_is_named_and_left_out(given: Given, words: str) -> None:
    """The rest of the file is stored."""
    done = received(given, ("1", "bb", "score", True, 0.25))
    assert words in done.problems[0]
    assert done.rows["output"].to_list() == ["bb"]


def test_two_scores_for_one_output_must_be_equal() -> None:
    twice = ("1", "aa", "score", True, 0.5)
    assert received(twice, twice).added == 1
    done = received(twice, ("1", "aa", "score", True, 0.6))
    assert done.rows.is_empty()
    assert "given twice" in done.problems[0]


def test_known_scores_stay_and_unsettled_ones_are_settled() -> None:
    before = received(("1", "aa", "score", True, 0.5), ("1", "bb", "score", False, None)).rows
    assert before["score"].to_list() == [0.5, None]
    done = received(("1", "aa", "score", True, 0.5), ("1", "bb", "score", True, 0.75), known=before)
    assert (done.added, done.settled, done.unchanged) == (1, 1, 1)
    assert done.rows["output"].to_list() == ["bb"]
    done = received(("1", "aa", "score", True, 0.6), known=before)
    assert done.rows.is_empty()
    assert "never change, at id 1" in done.problems[0]
    done = received(
        ("1", "aa", "score", False, None), ("1", "bb", "score", False, None), known=before
    )
    assert (len(done.rows), done.unchanged, done.problems) == (0, 2, ())
