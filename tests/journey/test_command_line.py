"""The command line as a user meets it."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from rich.cells import cell_len

from easeci.script import parse_script
from tests.commands import easeci, easeci_here
from tests.repositories import Workplace

LABELS = ["cat", "dog", "bird"] * 400


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Predictions in three formats: the new model is right, the old one always says cat."""
    ids = list(range(len(LABELS)))
    pl.DataFrame({"id": ids, "prediction": LABELS}).write_csv(tmp_path / "new.csv")
    pl.DataFrame({"id": ids[::-1], "prediction": ["cat"] * len(ids)}).write_parquet(
        tmp_path / "old.parquet"
    )
    pl.DataFrame({"id": ids, "label": LABELS}).write_ndjson(tmp_path / "labels.jsonl")
    return tmp_path


FILES = ("--new", "new.csv", "--old", "old.parquet", "--labels", "labels.jsonl")


def test_from_nothing_to_a_verdict(folder: Path) -> None:
    """init, plan, check: the shortest way."""
    assert easeci("init", folder=folder).returncode == 0
    script = folder / ".easeci.yml"
    parse_script(script.read_text())
    script.write_text(script.read_text().replace("0.02 +/- 0.01", "0.2 +/- 0.15"))
    planned = easeci("plan", folder=folder)
    assert planned.returncode == 0
    assert "Decides  sequential; exact if all labels come with the testset." in planned.stdout
    checked = easeci("check", *FILES, folder=folder)
    assert checked.returncode == 0, checked.stderr
    assert "PASS: shown to be better by more than 20 points, after" in checked.stdout
    assert "The condition is True (by sequential, on" in checked.stdout
    words = " ".join(checked.stdout.split())
    assert "--estimator exact is apt, and more decisive, for a user who had all labels" in words
    assert "one of 32" in " ".join(checked.stdout.split())


def test_a_travis_file_works_too(folder: Path) -> None:
    easeci_here("init", ".travis.yml", folder=folder)
    assert easeci_here("plan", folder=folder).returncode == 0


def test_init_never_overwrites(folder: Path) -> None:
    (folder / ".easeci.yml").write_text("mine")
    refused = easeci_here("init", folder=folder)
    assert (refused.returncode, (folder / ".easeci.yml").read_text()) == (2, "mine")
    assert "exists already" in refused.stderr
    assert easeci_here("init", "--force", folder=folder).returncode == 0


def test_plan_without_a_file() -> None:
    done = easeci_here(
        "plan", "-c", "n - o > 0.02 +/- 0.01", "-r", "0.9999", "--steps", "32",
        "--adaptivity", "full", "--mode", "fp-free", "--all",
    )  # fmt: skip
    assert done.returncode == 0
    assert "641,684" in done.stdout
    assert "by default" not in done.stdout
    assert "Cheap mode, as published: 1 more point" in done.stdout
    assert "pattern1 and pattern1-active: needs a clause d < A" in done.stdout


def test_defaults_are_said() -> None:
    done = easeci_here("plan", "-c", "n > 0.8 +/- 0.05")
    assert "by default: reliability 0.9999, fp-free, adaptivity full, 32 steps" in done.stdout


def test_explain_has_the_formula_with_the_numbers_in_it() -> None:
    done = easeci_here(
        "plan", "-c", "n > 0.8 +/- 0.01", "--steps", "32", "--adaptivity", "none", "--explain"
    )
    assert "δ′ = 0.0001 / 32 = 3.125e-6" in done.stdout
    assert "N = 1² · 12.6761 / (2 · 0.01²) = 63,381 examples" in done.stdout


def test_lines_fit_80_columns(folder: Path) -> None:
    outputs = [
        easeci_here("plan", "-c", r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01", "--explain").stdout,
        easeci_here(
            "check", *FILES, "-c", r"n - o > 0.2 +/- 0.15 /\ d < 0.9 +/- 0.05", folder=folder
        ).stdout,
        easeci_here("check", "--help").stdout,
    ]
    for output in outputs:
        assert output
        assert max(cell_len(line) for line in output.splitlines()) <= 80


def test_the_interval_is_drawn_against_its_threshold(folder: Path) -> None:
    asked = ("check", *FILES, "-c", "n - o > 0.2 +/- 0.15", "-r", "0.99")
    done = easeci(*asked, "--estimator", "exact", folder=folder)
    drawing = next(line for line in done.stdout.splitlines() if "●" in line)
    assert drawing.index("│") < drawing.index("├") < drawing.index("●") < drawing.index("┤")
    plain = easeci(
        "check", *FILES, "-c", "n - o > 0.2 +/- 0.15", folder=folder, PYTHONIOENCODING="ascii"
    )
    assert plain.returncode == 0, plain.stderr
    assert "[" in plain.stdout
    assert plain.stdout.isascii()
    explained = easeci("plan", "-c", "n > 0.9 +/- 0.01", "--explain", PYTHONIOENCODING="ascii")
    assert explained.returncode == 0, explained.stderr


def test_exact_is_named_only_where_auto_had_every_label(folder: Path) -> None:
    asked = ("check", *FILES, "-c", "n - o > 0.2 +/- 0.15", "-r", "0.9", "--estimator")
    for estimator in ("exact", "sequential"):
        done = easeci_here(*asked, estimator, folder=folder)
        assert done.returncode == 0
        assert f"(by {estimator}, on" in done.stdout
        assert "Every label was there" not in done.stdout


def test_the_interval_is_in_points_and_said_to_hold_at_every_label(folder: Path) -> None:
    done = easeci_here("check", *FILES, "-c", "n - o > 0.44 +/- 0.15", "-r", "0.9", folder=folder)
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    assert re.search(r"n - o = \+\d+\.\d points, interval \+\d+\.\d to \+\d+\.\d points", words)
    assert "may contain the threshold of a commit that passed" in words
    assert re.search(r"^  -?[\d.]+ +44 +[\d.]+ points$", done.stdout, re.MULTILINE)
    share = easeci_here("check", *FILES, "-c", "n > 0.44 +/- 0.15", "-r", "0.9", folder=folder)
    assert re.search(r"^  -?[\d.]+ +44 +[\d.]+ percent$", share.stdout, re.MULTILINE)


def test_a_testset_that_is_too_small_is_said(folder: Path) -> None:
    done = easeci_here(
        "check", *FILES, "-c", "n - o > 0.2 +/- 0.01", "--estimator", "hoeffding", folder=folder
    )
    assert done.returncode == 0
    assert "Wider than the script's ±0.01" in done.stdout


def test_unknown_is_answered_by_the_mode(folder: Path) -> None:
    condition = ("-c", "n - o > 0.65 +/- 0.1", "-r", "0.99")
    for mode, code, word in (("fp-free", 1, "fail"), ("fn-free", 0, "pass")):
        done = easeci_here("check", *FILES, *condition, "--mode", mode, folder=folder)
        assert done.returncode == code
        assert f"Unknown, which {mode} answers with {word}" in " ".join(done.stdout.split())


def test_waiting_for_labels_and_going_on(folder: Path) -> None:
    """Exit 3 with how many labels, their ids in a file; label them and go on until the verdict."""
    asked = ("check", *FILES[:4], "-c", "n - o > 0.2 +/- 0.15", "-r", "0.9", "--ask", "next.csv")
    given: dict[int, str] = {}
    done = easeci_here(*asked, folder=folder)
    while done.returncode == 3:
        ids = pl.read_csv(folder / "next.csv")["id"].to_list()
        assert f"WAITING for {len(ids):,} labels" in done.stdout
        assert not set(ids) & set(given)
        given |= {i: LABELS[i] for i in ids}
        labels = pl.DataFrame({"id": list(given), "label": list(given.values())})
        labels.write_csv(folder / "some.csv")
        done = easeci_here(*asked, "--labels", "some.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    assert len(given) <= 60
    assert "PASS: shown to be better by more than 20 points, after" in done.stdout
    assert "--estimator exact" not in done.stdout


MISTAKES: dict[str, tuple[list[str], list[str]]] = {
    "no script": (["plan"], ["there is no script here", "easeci init"]),
    "no such script": (["plan", "--script", "x.yml"], ["there is no file x.yml"]),
    "a folder as script": (["plan", "--script", "."], ["is a folder"]),
    "a bad condition": (["plan", "-c", "n >> 0.8"], ["column 4", "^"]),
    "a bad reliability": (
        ["plan", "-c", "n > 0.8 +/- 0.1", "-r", "99.99"],
        ["--reliability", "99.99%"],
    ),
    "bad steps": (["plan", "-c", "n > 0.8 +/- 0.1", "--steps", "-3"], ["--steps", "whole number"]),
    "a bad mode": (["plan", "-c", "n > 0.8 +/- 0.1", "--mode", "fp"], ["Did you mean 'fp-free'?"]),
    "an estimator that does not fit": (
        ["plan", "-c", "n > 0.8 +/- 0.1", "--estimator", "pattern1"],
        ["pattern1 does not fit this condition", "needs a clause d < A"],
    ),
    "a bad history": (
        ["check", "--new", "new.csv", "-c", "n > 0.8 +/- 0.1", "--steps", "4", "--history", "PX"],
        ["letters P and F"],
    ),
    "a history that is too long": (
        ["check", "--new", "new.csv", "-c", "n > 0.8 +/- 0.1", "--steps", "2", "--history", "FF"],
        ["steps of this testset are used up"],
    ),
    "both": (["plan", "-c", "n > 0.8 +/- 0.1", "--script", "x"], ["not both"]),
    "no such command": (["chek"], ["No such command", "check"]),
    "no such option": (["plan", "--stepz", "3"], ["No such option"]),
    "no predictions": (["check", "-c", "n > 0.8 +/- 0.1"], ["Missing option '--new'"]),
    "no old model": (["check", "--new", "new.csv", "-c", "d < 0.1 +/- 0.1"], ["--old"]),
    "a missing file": (
        ["check", "--new", "nope.csv", "-c", "n > 0.8 +/- 0.1"],
        ["no file nope.csv"],
    ),
    "a folder": (["check", "--new", ".", "-c", "n > 0.8 +/- 0.1"], ["is a folder"]),
    "a device": (["check", "--new", "/dev/null", "-c", "n > 0.8 +/- 0.1"], ["/dev/null"]),
    "labels that are predictions": (
        ["check", "--new", "new.csv", "--labels", "new.csv", "-c", "n > 0.8 +/- 0.1"],
        ["no column 'label'", "first row id,label"],
    ),
    "slices without examples": (
        ["check", "--new", "new.csv", "-c", "n[lang=de] > 0.8 +/- 0.1"],
        ["slices by columns of the examples (lang)", "--examples"],
    ),
    "a slice by a column that is not there": (
        ["check", "--new", "new.csv", "--examples", "new.csv", "-c", "n[lnag=*] > 0.8 +/- 0.1"],
        ["new.csv has no column 'lnag'", "Its columns: prediction."],
    ),
    "no scores": (
        ["check", "--new", "new.csv", "-c", "auc(a) > 0.8 +/- 0.1"],
        ["new.csv has no probabilities", "probability"],
    ),
    "a place that cannot be written": (
        ["check", "--new", "new.csv", "-c", "n > 0.8 +/- 0.1", "--ask", "no/where.csv"],
        ["cannot be written"],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(folder: Path, name: str) -> None:
    """Exit 2, a message that helps on stderr, nothing on stdout, no traceback."""
    arguments, fragments = MISTAKES[name]
    done = easeci_here(*arguments, folder=folder)
    assert done.returncode == 2, done.stderr
    for fragment in fragments:
        assert fragment in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_warnings_go_to_stderr() -> None:
    done = easeci_here("plan", "-c", "n > 0.9 +/- 0.1", "--json")
    assert done.returncode == 0
    assert "no commit is certain to pass" in done.stderr
    assert done.stdout.startswith("{")


def test_help_and_version() -> None:
    assert easeci("--version").stdout.startswith("easeci 0.")
    for arguments in ((), ("--help",), ("-h",)):
        done = easeci_here(*arguments)
        assert done.returncode == 0
        assert "Exit codes: 0 pass" in done.stdout


def test_first_change_says_that_it_ended_the_testset(tmp_path: Path) -> None:
    """The commit that passes, the status and the report; none of them shows steps left."""
    place = Workplace.make(tmp_path, adaptivity="firstChange")
    place.commit_cut(0.7)
    place.add_testset()
    place.easeci("run", code=0)
    place.commit_cut(0.52)
    why = "its first pass, and firstChange ends there"
    for _ in range(2):
        passed = place.easeci("run", code=0).stdout
        assert f"Testset 1 has ended: {why}." in passed
        assert "A new one is needed before another commit is tested." in passed
        assert "left" not in passed
    status = place.easeci("status", code=0).stdout
    assert f"retired: {why}" in " ".join(status.split())
    assert "budget     1 of 4 steps used\n" in status
    assert "left" not in status
    place.easeci("report", code=0)
    report = (place.repository / "easeci-report.html").read_text("utf-8")
    assert "1 of 4 steps used" in report
    assert "3 left" not in report
