"""Scores of a judge outside: exported without telling models apart, imported, and never changed."""

from __future__ import annotations

import csv
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from easeci.errors import DataError, UsageError
from easeci.ledger.signals import Signal
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import export_wanted
from easeci.service.labelling.terminal import TerminalSession
from easeci.service.scores.files import ScoresImported, export_unscored, import_scores
from easeci.views.status import status
from tests.projects import opened, run_on
from tests.repositories import Workplace, copy_of
from tests.scored_projects import add_scored, commit_share, only_step, only_testset, scored_place


def waiting_for_scores(folder: Path) -> Workplace:
    """A commit waits for scores of a judge outside."""
    made = scored_place(folder)
    add_scored(made, labelled=False, scorer="external")
    commit_share(made, 0.9)
    assert run_on(made).row.signal is Signal.PENDING
    return made


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """The same, made once."""
    return copy_of(waiting_for_scores, tmp_path)


def exported(place: Workplace, **options: Any) -> list[dict[str, Any]]:
    path = place.folder / "outputs.jsonl"
    export_unscored(opened(place), path, **options)
    return [json.loads(line) for line in path.read_text().splitlines()]


def judged(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """The scores of a judge who knows what is right."""
    return [(r["id"], r["digest"], str(float(r["output"] == f"yes {r['id']}"))) for r in rows]


def imported(place: Workplace, rows: list[tuple[str, str, str]], **options: Any) -> ScoresImported:
    path = place.folder / "scores.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "digest", "score"])
        writer.writerows(rows)
    return import_scores(opened(place), path, **options)


def test_a_commit_is_decided_with_imported_scores(place: Workplace) -> None:
    """What needs a score is counted and exported; its scores decide, and are recomputed."""
    standing = status(opened(place), owner=True)
    assert standing.owner is not None
    assert standing.owner.scores_wanted > 0
    assert standing.owner.labels_wanted == 0
    assert any("wait for a score" in alarm.message for alarm in standing.alarms)
    done = imported(place, judged(exported(place, count=60)), by="judge")
    assert done.answered == (1,)
    assert done.wanted == 0
    project = opened(place)
    step = only_step(project)
    assert step.passed
    assert step.verdict is not None
    assert step.verdict.labels_at_hand == 0
    assert exported(place) == []
    assert verify(project) == []


def test_scores_that_are_there_when_the_turn_comes_are_at_hand(place: Workplace) -> None:
    imported(place, judged(exported(place, everything=True)))
    commit_share(place, 0.4)  # all its outputs were those of the first model
    assert run_on(place).row.signal is Signal.FAIL
    verdict = only_testset(opened(place)).steps[1].verdict
    assert verdict is not None
    assert verdict.labels == verdict.labels_at_hand > 0


def test_nothing_tells_which_model_wrote_an_output(place: Workplace) -> None:
    """Each output of an example comes once, and the order follows neither models nor examples."""
    rows = exported(place, everything=True)
    assert len({(row["id"], row["digest"]) for row in rows}) == len(rows)
    assert {key for row in rows for key in row} == {"id", "digest", "names", "output", "example"}
    right = [row["output"] != "no" for row in rows]
    changes = sum(a != b for a, b in pairwise(right))
    assert changes > len(rows) / 5  # not one model after the other
    ids = [row["id"] for row in rows]
    assert ids != sorted(ids, key=lambda name: int(name[1:]))


def test_a_known_score_never_changes(place: Workplace) -> None:
    """Equal ones are fine. Different ones are refused by name, and the rest is stored."""
    rows = judged(exported(place, count=5))
    imported(place, rows[:4])
    again = imported(place, rows[:4])
    assert (again.added, again.unchanged) == (0, 4)
    name, digest, score = rows[0]
    changed = (name, digest, str(1 - float(score)))
    with pytest.raises(DataError, match=f"differ from those known.*{name}"):
        imported(place, [changed])
    done = imported(place, [changed, rows[4]])
    assert done.added == 1
    assert name in done.problems[0]
    with pytest.raises(DataError, match="Nothing was stored"):
        imported(place, [changed, rows[5]], strict=True)
    project = opened(place)
    known = project.sealed(only_testset(project)).scores.known(only_testset(project).score_files)
    mine = known.filter((pl.col("id") == name) & (pl.col("output") == digest))
    assert mine["score"].to_list() == [float(score)]


def test_an_empty_score_is_unsettled_until_a_later_file_has_it(place: Workplace) -> None:
    rows = judged(exported(place, count=3))
    name, digest, score = rows[0]
    done = imported(place, [(name, digest, "")])
    assert (done.added, done.unsettled, done.pending) == (0, 1, 1)
    assert digest not in {r["digest"] for r in exported(place, everything=True) if r["id"] == name}
    unsettled = exported(place, unsettled=True)
    assert (name, digest) in {(row["id"], row["digest"]) for row in unsettled}
    done = imported(place, [(name, digest, score)])
    assert (done.added, done.settled, done.pending) == (1, 1, 0)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (("e1", "0" * 32, "1"), "digest that is not of an output of their example, at id e1"),
        (("nobody", "0" * 32, "1"), "at id nobody"),
    ],
)
def test_unknown_outputs_are_named(place: Workplace, row: tuple[str, str, str], words: str) -> None:
    with pytest.raises(DataError, match=words):
        imported(place, [row])


@pytest.mark.parametrize("score", ["1.5", "-0.1", "nan", "good", "inf"])
def test_what_is_no_score_is_refused(place: Workplace, score: str) -> None:
    name, digest, _ = judged(exported(place, count=1))[0]
    with pytest.raises(DataError, match=f"not numbers from 0 to 1, at id {name}"):
        imported(place, [(name, digest, score)])


def test_an_exported_file_is_not_taken_for_scores(place: Workplace) -> None:
    """It has no column of scores: without one, nothing could become unsettled by mistake."""
    path = place.folder / "outputs.csv"
    export_unscored(opened(place), path)
    with pytest.raises(DataError, match="no column 'score'"):
        import_scores(opened(place), path)


def test_no_labels_are_asked_for(place: Workplace) -> None:
    with pytest.raises(UsageError, match="needs scores, not labels") as found:
        TerminalSession(opened(place), "ada")
    assert "easeci scores export" in str(found.value.hint)
    with pytest.raises(UsageError, match="needs scores, not labels"):
        export_wanted(opened(place), place.folder / "wanted.csv")


def test_other_testsets_take_no_files_of_scores(tmp_path: Path) -> None:
    place = scored_place(tmp_path)
    add_scored(place, scorer="exact")
    with pytest.raises(UsageError, match="is scored by exact"):
        export_unscored(opened(place), tmp_path / "outputs.csv")


def test_named_scores(tmp_path: Path) -> None:
    """A condition about a named score asks for it by name."""
    place = scored_place(tmp_path)
    keys = {"scores": "[faithful]", "condition": "n.faithful - o.faithful > 0.05 +/- 0.1"}
    add_scored(place, labelled=False, scorer="external", **keys)
    commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PENDING
    rows = exported(place, count=60)
    assert rows[0]["names"] == ["faithful"]
    path = tmp_path / "named.csv"
    lines = [f"{name},{digest},{score}" for name, digest, score in judged(rows)]
    path.write_text("\n".join(["id,digest,score.faithful", *lines, ""]))
    assert import_scores(opened(place), path).answered == (1,)
    assert verify(opened(place)) == []
