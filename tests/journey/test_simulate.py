"""``easeci simulate`` as a user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.commands import easeci, easeci_here

SMALL = (
    "simulate", "-c", "n - o > 0.1 +/- 0.1", "--testsets", "8", "--commits", "2", "--workers", "1",
)  # fmt: skip


def test_a_simulation_in_words() -> None:
    """Both rounds, rates against promises, labels drawn; nothing on stderr without a terminal."""
    done = easeci(*SMALL)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    words = " ".join(done.stdout.split())
    assert "At δ = 0.0001 no error is expected in 5 testsets." in words
    assert "The same engine at δ = β = 0.1" in words
    assert "the first 2 of 32 commits" in words
    assert "wrong passes 0 of 5" in words
    for name in ("edge", "middle", "clear", "adaptive", "mixed"):
        assert f"{name}:" in done.stdout
    assert "█" in done.stdout
    assert max(cell_len(line) for line in done.stdout.splitlines()) <= 80


def test_a_terminal_without_blocks() -> None:
    done = easeci(*SMALL, "-r", "0.9", PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert "@" in done.stdout


@pytest.mark.long
def test_the_document() -> None:
    """Names and types that other programs rely on; the same for a seed on one or two processes."""
    done = easeci(*SMALL, "-r", "0.9", "--seed", "3", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert set(document) == {"seed", "broken", "rounds"}
    assert (document["seed"], document["broken"]) == (3, False)
    (only,) = document["rounds"]
    assert set(only) == {
        "condition", "mode", "adaptivity", "steps", "delta", "beta", "estimator", "examples",
        "examples_planned", "commits", "developers",
    }  # fmt: skip
    assert (only["delta"], only["estimator"], only["commits"]) == (0.1, "sequential", 2)
    assert [row["developer"] for row in only["developers"]] == [
        "edge", "middle", "clear", "adaptive", "mixed",
    ]  # fmt: skip
    for row in only["developers"]:
        assert set(row) == {
            "developer", "wrong", "testsets", "broken", "rate", "interval", "promised", "finding",
            "labels", "life",
        }  # fmt: skip
        assert (row["life"] is None) == (row["developer"] != "mixed")
        low, high = row["interval"]
        assert 0 <= low <= row["rate"] <= high <= 1
        assert row["finding"] in ("kept", "unseen", "not promised")
        assert {"mean", "median", "nine_tenths", "most", "commits"} <= set(row["labels"])
        assert sum(row["labels"]["histogram"]) == row["labels"]["commits"]
    again = easeci(*SMALL, "-r", "0.9", "--seed", "3", "--workers", "2", "--json")
    assert again.stdout == done.stdout


def test_the_labels_of_a_life() -> None:
    """One developer alone: whole lives, labels in a life and a commit with standard errors."""
    asked = ("simulate", "-c", "n - o > 0.02 +/- 0.05", "--steps", "5", "--developer", "mixed")
    done = easeci(*asked, "--testsets", "6", "--workers", "1")
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    life = re.search(
        r"labels in a life of up to 5 commits \(mixed\): ([\d,]+) ± [\d,]+, "
        r"a commit ([\d,.]+) ± [\d,.]+",
        words,
    )
    assert life is not None, words
    assert int(life[1]) == pytest.approx(5 * float(life[2]), abs=1.0)
    assert "edge" not in words
    assert max(cell_len(line) for line in done.stdout.splitlines()) <= 80


def test_caps_are_said() -> None:
    done = easeci(*SMALL, "-r", "0.9", "--examples", "30")
    assert "Capped: the plan asks for" in done.stdout
    assert "no promise here" in done.stdout


@pytest.mark.parametrize(
    ("options", "fragment"),
    [
        (("--testsets", "0"), "testsets must be at least 1"),
        (("--commits", "-1"), "commits must be at least 1"),
        (("--examples", "0"), "examples must be at least 1"),
        (("--workers", "0"), "workers must be at least 1"),
        (("--life", "0"), "life must be at least 1"),
        (("--developer", "mix"), "Use edge, middle, clear, adaptive, mixed."),
        (("--seed", "-4"), "the seed must not be negative"),
        (("--seed", "x"), "--seed"),
        (("--mode", "fp"), "Did you mean 'fp-free'?"),
        (("--script", "x.yml"), "not both"),
    ],
)
def test_mistakes(tmp_path: Path, options: tuple[str, ...], fragment: str) -> None:
    """Exit 2, a message on stderr, nothing on stdout."""
    done = easeci_here(*SMALL, *options, folder=tmp_path)
    assert done.returncode == 2
    assert fragment in done.stderr
    assert done.stdout == ""
