"""The owner's scorer: what is sealed as one, and what becomes of outputs that it fails on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from easeci.build.scoring import (
    LARGEST_SCORER,
    NO_SCORE,
    TOO_LONG,
    TOO_MANY,
    PartScores,
    load_scorer,
    place_scorer,
    score_in_parts,
)
from easeci.errors import InfrastructureError, ScriptError

SECONDS = 600


class FakeScorer:
    """A scorer that fails as a whole if one of the crashing outputs is in its part."""

    def __init__(self, crashing: Sequence[int] = (), leaves_out: Sequence[int] = ()) -> None:
        self.crashing, self.leaves_out = set(crashing), set(leaves_out)
        self.parts: list[tuple[int, int]] = []

    def __call__(self, part: Sequence[int], seconds: int) -> PartScores[float]:
        self.parts.append((len(part), seconds))
        if self.crashing & set(part):
            return PartScores({}, "the program ended with exit code 1")
        return PartScores({place: place / 1e6 for place in part if place not in self.leaves_out})


def test_a_scorer_that_works_is_run_once() -> None:
    scorer = FakeScorer()
    done = score_in_parts(10_000, scorer, SECONDS)
    assert scorer.parts == [(10_000, SECONDS)]
    assert len(done.found) == 10_000
    assert not done.failed


def test_one_hostile_output_among_ten_thousand_costs_few_runs_and_no_other_score() -> None:
    scorer = FakeScorer(crashing=[6_789])
    done = score_in_parts(10_000, scorer, SECONDS)
    assert done.failed == {6_789: "the program ended with exit code 1"}
    assert len(done.found) == 9_999
    assert done.runs == len(scorer.parts) <= 1 + 2 * math.ceil(math.log2(10_000))


def test_hostile_outputs_fail_alone_wherever_they_are() -> None:
    """Whichever outputs crash it or are left out, exactly these fail."""
    for crashing, left_out in (([0], []), ([9], [3]), ([2, 3, 4], [7]), (range(10), []), ([], [5])):
        done = score_in_parts(10, FakeScorer(list(crashing), left_out), SECONDS)
        assert set(done.failed) == {*crashing, *left_out}
        assert set(done.found) == set(range(10)) - set(done.failed)
    assert done.failed == {5: NO_SCORE}


def test_no_outputs_need_no_run() -> None:
    scorer = FakeScorer()
    assert score_in_parts(0, scorer, SECONDS).runs == 0
    assert scorer.parts == []


def test_parts_get_their_share_of_the_time() -> None:
    """A scorer that hangs on one output does not hang the whole time limit in every run."""
    scorer = FakeScorer(crashing=[0])
    score_in_parts(64, scorer, 6_400)
    assert all(seconds == max(100 * size, 60) for size, seconds in scorer.parts)
    short = FakeScorer(crashing=[0])
    score_in_parts(64, short, 5)
    assert {seconds for _, seconds in short.parts} == {5}


def test_the_number_of_runs_is_limited_and_all_outputs_are_accounted_for() -> None:
    """A scorer that fails on everything is not run for ever: what is left counts as failed."""
    scorer = FakeScorer(crashing=range(10_000))
    done = score_in_parts(10_000, scorer, SECONDS, most_runs=50)
    assert done.runs == len(scorer.parts) == 50
    assert len(done.failed) == 10_000
    assert set(done.failed.values()) == {TOO_MANY}


def test_the_time_of_all_runs_is_limited() -> None:
    times = iter(range(0, 10**9, 3_000))
    done = score_in_parts(1_000, FakeScorer(range(1_000)), 600, clock=lambda: float(next(times)))
    assert 1 <= done.runs < 5
    assert set(done.failed.values()) == {TOO_LONG}


def test_what_the_machine_is_to_blame_for_ends_the_scoring() -> None:
    """No output fails because the sandbox could not start."""

    def broken(part: Sequence[int], seconds: int) -> PartScores[float]:
        raise InfrastructureError("no sandbox works here")

    with pytest.raises(InfrastructureError):
        score_in_parts(5, broken, SECONDS)


def test_a_score_for_an_output_of_another_part_is_not_taken() -> None:
    def odd(part: Sequence[int], seconds: int) -> PartScores[float]:
        return PartScores({0: 1.0, 1: 1.0, 7: 1.0})

    assert set(score_in_parts(2, odd, SECONDS).found) == {0, 1}


# -- what is sealed


@pytest.mark.parametrize(
    ("name", "content", "mode", "words"),
    [
        ("missing.py", None, 0, "there is no file"),
        ("large.py", b"#" * (LARGEST_SCORER + 1), 0o755, "more than 1 MiB"),
        ("score.sh", b"#!/bin/sh\n", 0o644, "not marked as a program"),
        ("score", b"print(1)\n", 0o755, "does not say what runs it"),
        ("score.py", b"#!/usr/bin/python3\r\nprint(1)\r\n", 0o755, "ends as on Windows"),
    ],
)
def test_what_cannot_be_run_is_not_sealed(
    tmp_path: Path, name: str, content: bytes | None, mode: int, words: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
        path.chmod(mode)
    with pytest.raises(ScriptError, match=words):
        load_scorer(path)


def test_a_folder_is_not_sealed(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="is a folder"):
        load_scorer(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "mode", "placed"),
    [
        ("score.py", b"print(1)\n", 0o644, 0o644),
        ("score.py", b"#!/usr/bin/env python3\n", 0o755, 0o755),
        ("score.sh", b"#!/bin/sh\n", 0o755, 0o755),
        ("score", b"\x7fELF and more", 0o755, 0o755),
    ],
)
def test_a_scorer_is_placed_as_it_was(
    tmp_path: Path, name: str, content: bytes, mode: int, placed: int
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    path.chmod(mode)
    folder = tmp_path / "placed"
    folder.mkdir()
    place_scorer(name, load_scorer(path), folder)
    assert (folder / name).read_bytes() == content
    assert (folder / name).stat().st_mode & 0o777 == placed
