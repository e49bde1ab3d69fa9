"""The owner's scorer: what is sealed as one, and what becomes of outputs that it fails on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from easeci.build.scoring import (
    LARGEST_SCORER,
    NO_SCORE,
    PartScores,
    RunPart,
    ScoringBudget,
    SettledOutputs,
    load_scorer,
    place_scorer,
    score_in_parts,
)
from easeci.errors import InfrastructureError, ScriptError

SECONDS = 600


def scored(
    count: int, run: RunPart[float], budget: ScoringBudget | None = None
) -> SettledOutputs[float]:
    """All outputs, with nothing kept on the way."""
    return score_in_parts(count, run, budget or ScoringBudget(SECONDS), lambda _: None)


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
    done = scored(10_000, scorer)
    assert scorer.parts == [(10_000, SECONDS)]
    assert len(done.found) == 10_000
    assert not done.failed


def test_one_hostile_output_among_ten_thousand_costs_few_runs_and_no_other_score() -> None:
    scorer = FakeScorer(crashing=[6_789])
    done = scored(10_000, scorer)
    assert done.failed == {6_789: "the program ended with exit code 1"}
    assert len(done.found) == 9_999
    assert done.runs == len(scorer.parts) <= 1 + 2 * math.ceil(math.log2(10_000))


def test_hostile_outputs_fail_alone_wherever_they_are() -> None:
    """Whichever outputs crash it or are left out, exactly these fail."""
    for crashing, left_out in (([0], []), ([9], [3]), ([2, 3, 4], [7]), (range(10), []), ([], [5])):
        done = scored(10, FakeScorer(list(crashing), left_out))
        assert set(done.failed) == {*crashing, *left_out}
        assert set(done.found) == set(range(10)) - set(done.failed)
    assert done.failed == {5: NO_SCORE}


def test_no_outputs_need_no_run() -> None:
    scorer = FakeScorer()
    assert scored(0, scorer).runs == 0
    assert scorer.parts == []


def test_parts_get_their_share_of_the_time() -> None:
    """A scorer that hangs on one output does not hang the whole time limit in every run."""
    scorer = FakeScorer(crashing=[0])
    scored(64, scorer, ScoringBudget(6_400))
    assert all(seconds == max(100 * size, 60) for size, seconds in scorer.parts)
    short = FakeScorer(crashing=[0])
    scored(64, short, ScoringBudget(5))
    assert {seconds for _, seconds in short.parts} == {5}


def test_no_output_fails_because_of_others() -> None:
    """However many outputs crash the scorer, all others are scored in the end, step by step."""
    crashing = set(range(0, 2_000, 5))
    left, failed, found, commands = list(range(2_000)), set(), set(), 0
    while left:
        places = list(left)
        scorer = FakeScorer([i for i, place in enumerate(places) if place in crashing])
        done = scored(len(places), scorer)
        assert done.runs <= 200
        settled = {*done.failed, *done.found}
        assert len(settled) >= 12, "every command gets on"
        assert settled | set(done.left) == set(range(len(places)))
        failed |= {places[i] for i in done.failed}
        found |= {places[i] for i in done.found}
        left = [places[i] for i in done.left]
        commands += 1
    assert failed == crashing
    assert found == set(range(2_000)) - crashing
    assert commands < 20


def test_the_time_of_a_command_is_limited() -> None:
    """What is left is neither scored nor failed, and a run that was cut short fails nothing."""
    now = [0.0]

    def slow(part: Sequence[int], seconds: int) -> PartScores[float]:
        now[0] += seconds
        return PartScores({}, "it took too long")

    def at_clock(budget: ScoringBudget) -> SettledOutputs[float]:
        now[0] = 0.0
        return score_in_parts(64, slow, budget, lambda _: None, clock=lambda: now[0])

    done = at_clock(ScoringBudget(600))
    assert now[0] <= 2_100
    assert 1 <= len(done.failed) < 64, "it gets on, and ends"
    assert {*done.failed, *done.left} == set(range(64))
    short = at_clock(ScoringBudget(3))
    assert short.failed, "also if the time limit is short"
    soon = at_clock(ScoringBudget(600, until=45.0))
    assert now[0] <= 45.0
    assert (soon.found, soon.failed, len(soon.left)) == ({}, {}, 64)


def test_what_is_settled_is_kept_on_the_way() -> None:
    """A killed command loses the last half minute at most."""
    now = [0.0]
    kept: list[SettledOutputs[float]] = []
    scorer = FakeScorer(crashing=[3, 40])

    def timed(part: Sequence[int], seconds: int) -> PartScores[float]:
        now[0] += 20.0
        return scorer(part, seconds)

    done = score_in_parts(64, timed, ScoringBudget(SECONDS), kept.append, clock=lambda: now[0])
    assert len(kept) > 3
    places = [place for part in kept for place in (*part.found, *part.failed)]
    assert sorted(places) == list(range(64))
    assert set(done.failed) == {3, 40}


def test_what_the_machine_is_to_blame_for_ends_the_scoring() -> None:
    """No output fails because the sandbox could not start."""

    def broken(part: Sequence[int], seconds: int) -> PartScores[float]:
        raise InfrastructureError("no sandbox works here")

    with pytest.raises(InfrastructureError):
        scored(5, broken)


def test_a_score_for_an_output_of_another_part_is_not_taken() -> None:
    def odd(part: Sequence[int], seconds: int) -> PartScores[float]:
        return PartScores({0: 1.0, 1: 1.0, 7: 1.0})

    assert set(scored(2, odd).found) == {0, 1}


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
