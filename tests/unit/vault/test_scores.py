"""Files of scores: never rewritten, looked up by example, output, reference and name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from easeci.errors import InfrastructureError
from easeci.vault.scores import ScoreFiles, empty_scores, look_up, output_digests
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import sealed

Row = tuple[int, str, str, str, float | None, bool]


def rows(*found: Row) -> pl.DataFrame:
    columns = ["id", "output", "reference", "name", "score", "failed"]
    frame = pl.DataFrame(list(found), schema=columns, orient="row")
    return frame.with_columns(pl.col("score").cast(pl.Float64), reason=pl.lit(""))


def outputs(*found: tuple[int, str, str]) -> pl.DataFrame:
    return pl.DataFrame(list(found), schema=["id", "output", "reference"], orient="row")


@pytest.fixture
def files(tmp_path: Path) -> ScoreFiles:
    """The scores of a testset without digests, so that every file is believed."""
    _, _, testset = sealed(tmp_path)
    return testset.scores


def test_a_score_belongs_to_example_output_reference_and_name(files: ScoreFiles) -> None:
    kept = files.store(
        rows(
            (1, "a", "r", "score", 0.25, False),
            (1, "a", "s", "score", 0.5, False),
            (1, "a", "r", "faithful", 0.75, False),
            (2, "a", "r", "score", 1.0, False),
        ),
        0,
    )
    known = files.known([kept.file])
    asked = outputs((1, "a", "r"), (1, "a", "s"), (2, "a", "r"), (1, "b", "r"), (2, "a", "s"))
    found = look_up(known, asked, "score", (5, 1))
    np.testing.assert_array_equal(found.values.ravel(), [0.25, 0.5, 1.0, np.nan, np.nan])
    assert found.missing.ravel().tolist() == [False, False, False, True, True]
    named = look_up(known, asked, "faithful", (5, 1))
    assert named.missing.ravel().tolist() == [False, True, True, True, True]


def test_the_order_of_outputs_and_their_trials_is_kept(files: ScoreFiles) -> None:
    kept = files.store(
        rows((1, "a", "", "score", 0.1, False), (2, "b", "", "score", 0.2, False)), 0
    )
    asked = outputs((2, "b", ""), (2, "x", ""), (1, "a", ""), (1, "a", ""))
    found = look_up(files.known([kept.file]), asked, "score", (2, 2))
    np.testing.assert_array_equal(found.values, [[0.2, np.nan], [0.1, 0.1]])


def test_what_is_unsettled_is_settled_by_a_later_file(files: ScoreFiles) -> None:
    """With the files of an earlier time, it is unsettled still."""
    first = files.store(rows((1, "a", "", "score", None, False)), 0)
    second = files.store(rows((1, "a", "", "score", 0.5, False)), 1)
    assert (first.file, second.file) == ("scores/0001.parquet", "scores/0002.parquet")
    asked = outputs((1, "a", ""))
    then = look_up(files.known([first.file]), asked, "score", (1, 1))
    assert then.unsettled.all()
    assert not then.missing.any()
    now = look_up(files.known([first.file, second.file]), asked, "score", (1, 1))
    assert not now.unsettled.any()
    assert now.values[0, 0] == 0.5


def test_a_score_that_is_there_never_changes(files: ScoreFiles) -> None:
    """A run for another name of the same output may fail, or give another score: the first stays.

    Otherwise an output of a new model could change what the baseline's equal output scores.
    """
    first = files.store(rows((1, "a", "r", "score", 0.5, False)), 0)
    again = files.store(
        rows((1, "a", "r", "score", 0.0, True), (1, "a", "r", "faithful", 0.0, True)), 1
    )
    asked = outputs((1, "a", "r"))
    known = files.known([first.file, again.file])
    found = look_up(known, asked, "score", (1, 1))
    assert found.values[0, 0] == 0.5
    assert not found.failed.any()
    assert look_up(known, asked, "faithful", (1, 1)).failed.all()


def test_failed_scores_are_0_and_marked(files: ScoreFiles) -> None:
    kept = files.store(rows((1, "a", "", "score", 0.0, True)), 0)
    found = look_up(files.known([kept.file]), outputs((1, "a", ""), (1, "b", "")), "score", (2, 1))
    assert found.failed.ravel().tolist() == [True, False]
    assert found.values[0, 0] == 0.0


def test_a_file_that_was_never_recorded_is_replaced(files: ScoreFiles) -> None:
    """Its command was killed: nothing of it counts."""
    files.store(rows((1, "a", "", "score", 0.1, False)), 0)
    kept = files.store(rows((1, "a", "", "score", 0.9, False)), 0)
    assert files.known([kept.file])["score"].to_list() == [0.9]


def test_a_changed_file_is_not_read(tmp_path: Path) -> None:
    vault, _, testset = sealed(tmp_path)
    kept = testset.scores.store(rows((1, "a", "", "score", 0.1, False)), 0)
    checked = SealedTestset(vault, 1, {kept.file: kept.digest})
    assert len(checked.scores.known([kept.file])) == 1
    (testset.folder / kept.file).write_bytes(b"PAR1")
    with pytest.raises(InfrastructureError, match="was changed or damaged"):
        checked.scores.known([kept.file])


def test_without_files_every_score_is_missing() -> None:
    found = look_up(empty_scores(pl.String), outputs((1, "a", "")), "score", (1, 1))
    assert found.missing.all()


def test_digests_tell_outputs_apart_and_need_the_key(tmp_path: Path) -> None:
    """Equal texts have equal digests in one store, and others in another."""
    first, second = (sealed(tmp_path / name)[0].key for name in ("a", "b"))
    texts = pl.Series(["yes", "no", None, "yes", "", "y\0es"])
    digests = output_digests(first, texts)
    assert digests[0] == digests[3]
    assert digests[2] is None
    assert digests.drop_nulls().n_unique() == 4
    assert set(output_digests(second, texts).drop_nulls()).isdisjoint(digests.drop_nulls())
    assert output_digests(first, texts, "reference")[0] != digests[0]
