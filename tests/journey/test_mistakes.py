"""Mistakes that people make with a project: a message that helps, the right code, nothing lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from easeci.service.custody.verify import verify
from easeci.service.project import open_project
from tests.accounts import bound_by_modes
from tests.commands import COMMAND, easeci, plain_environment
from tests.projects import ON_SEALED
from tests.repositories import PROGRAM, Workplace


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    return place


def said(done: subprocess.CompletedProcess[str], code: int, *words: str) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr + done.stdout, f"{word!r} not in {done.stdout}{done.stderr}"


def test_outside_a_repository(tmp_path: Path) -> None:
    said(easeci("run", folder=tmp_path), 2, "not in a git repository", "git init")


def test_run_and_status_before_a_testset(place: Workplace) -> None:
    for command in ("run", "status", "log"):
        said(place.easeci(command), 4, "no testset yet", "easeci testset add")


def test_a_commit_that_does_not_exist(place: Workplace) -> None:
    place.add_testset()
    said(place.easeci("run", "nonsense"), 2, "there is no commit 'nonsense'")


def test_changes_that_are_not_committed_are_not_tested(place: Workplace) -> None:
    place.add_testset()
    place.write("model.py", "raise SystemExit(1)\n")
    said(place.easeci("run"), 0, "not committed", "BASELINE")


def test_examples_that_are_not_there(place: Workplace) -> None:
    said(place.easeci("testset", "add", "nothing.csv"), 2, "nothing.csv")
    assert not open_project(place.repository, create=True).state.testsets


def test_examples_without_ids(place: Workplace) -> None:
    place.examples.write_text("x\n1\n2\n")
    said(place.easeci("testset", "add", str(place.examples)), 2, "no column 'id'")


def test_labels_twice(place: Workplace) -> None:
    done = place.easeci(
        "testset", "add", str(place.examples), "--labels", str(place.labels), "--label-column", "x"
    )
    said(done, 2, "--label-column")


def test_a_program_that_is_not_in_the_commit(place: Workplace) -> None:
    place.write_script(script="./other.py")
    place.commit("another program")
    place.add_testset()
    said(place.easeci("run"), 5, "no file './other.py'", "no step was spent")


def test_the_output_on_the_public_sample_is_shown(place: Workplace) -> None:
    """In full, and with the reason: the program has seen nothing that is sealed."""
    place.add_testset()
    place.write("model.py", "print('what the\\x1b[2J sample says')\nraise SystemExit(1)\n")
    place.commit("talks")
    done = place.easeci("run", code=5)
    said(done, 5, "BUILD ERROR", "the program ended with exit code 1; no step was spent")
    assert "sample says" in done.stdout
    assert "\x1b" not in done.stdout
    said(place.easeci("log", "--owner", "--build", "1"), 0, "what the�[2J sample says")
    wrong = PROGRAM.replace('["id", "prediction"]', '["id", "guess"]')
    place.write("test_model.py", wrong)
    place.commit_cut(0.6, "a wrong column")
    done = place.easeci("run", code=5)
    said(done, 5, "predictions.csv has no column 'prediction'; it has id, guess")
    assert "/predictions.csv" not in done.stdout
    assert open_project(place.repository).state.testsets[1].steps_used == 0


def test_the_output_on_sealed_examples_is_the_owners(place: Workplace) -> None:
    """Its developer reads FAIL, spends a step, and is told nothing more, then or later."""
    place.add_testset()
    place.write("model.py", ON_SEALED)
    place.commit("talks")
    seen = [place.easeci("run", code=1), place.easeci("run", code=1)]
    seen += [place.easeci("run", "--json", code=1)]
    seen += [place.easeci(*command.split()) for command in ("log", "status", "log --json")]
    shown = "".join(done.stdout + done.stderr for done in seen)
    assert "FAIL" in shown
    assert "1 of 4 steps used" in shown
    for word in ("secret", "exit code", "SystemExit", "error", "build"):
        assert word not in shown
    said(place.easeci("log", "--build", "1"), 2, "--owner")
    said(place.easeci("log", "--owner", "--build", "1"), 0, "this is secret")
    said(place.easeci("log", "--owner"), 0, "the program ended with exit code 3")
    said(place.easeci("log", "--owner", "--build", "7"), 2, "no commit number 7")


def test_a_label_never_appears_in_a_message(place: Workplace) -> None:
    """Labels with a word that occurs nowhere else, and every kind of trouble with them."""
    text = place.labels.read_text().replace("low", "SENTINEL-A").replace("high", "SENTINEL-B")
    place.labels.write_text(text)
    place.add_testset()
    seen = place.easeci("run").stdout
    broken = place.folder / "broken.csv"
    for content in (
        "id,label\ne1,SENTINEL-C\n",
        "id,label\ne1,SENTINEL-A\ne1,SENTINEL-B\n",
        "SENTINEL-A,SENTINEL-B\ne1,x\n",
        "id,label\nnobody,SENTINEL-A\n",
        'id,label\ne1,"SENTINEL-A\n',
    ):
        broken.write_text(content)
        done = place.easeci("labels", "import", str(broken))
        assert done.returncode in (0, 2)
        seen += done.stdout + done.stderr
    for command in (("status",), ("log",), ("status", "--owner"), ("log", "--owner")):
        done = place.easeci(*command)
        seen += done.stdout + done.stderr
    assert "SENTINEL" not in seen


@pytest.mark.long
def test_a_full_disk(place: Workplace) -> None:
    """Files can't grow: a clear error, and nothing that is half-written."""
    place.add_testset()
    place.easeci("run", code=0)
    place.commit_cut(0.52)
    for limit in (1_000, 40_000, 150_000):
        done = _limited(place.repository, limit)
        assert done.returncode in (0, 5, 6), done.stdout + done.stderr
        assert "Traceback" not in done.stderr
    assert verify(open_project(place.repository)) == []
    said(place.easeci("run"), 0, "PASS")
    assert open_project(place.repository).state.testsets[1].steps_used == 1


def _limited(folder: Path, limit: int) -> subprocess.CompletedProcess[str]:
    program = (
        "import resource, signal, sys\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))\n"
        "from easeci.cli.main import run\n"
        "sys.exit(run(['run']))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True
    )


def test_a_store_of_a_newer_version(place: Workplace) -> None:
    import sqlite3

    place.add_testset()
    with sqlite3.connect(place.repository / ".easeci" / "ledger" / "ledger.db") as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    said(place.easeci("run"), 6, "newer easeci", "Upgrade")


def test_a_store_that_may_not_be_read(place: Workplace) -> None:
    """Such as another user's: it is closed, and the message says so."""
    place.add_testset()
    store = place.repository / ".easeci"
    store.chmod(0)
    done = subprocess.run(
        bound_by_modes(COMMAND, "run"),
        cwd=place.repository,
        env=plain_environment(),
        capture_output=True,
        text=True,
    )
    store.chmod(0o700)
    said(done, 6, "permission denied")


def test_a_store_elsewhere(place: Workplace, tmp_path: Path) -> None:
    """By option or by environment; several projects fit in."""
    store = str(tmp_path / "elsewhere")
    place.add_testset("--store", store)
    assert not (place.repository / ".easeci").exists()
    said(place.easeci("run"), 4, "no testset yet")
    said(place.easeci("run", EASECI_STORE=store), 0, "BASELINE")
    other = Workplace.make(tmp_path / "other")
    other.commit_cut(0.6, "another first commit")
    done = other.easeci("testset", "add", str(other.examples), "--store", store)
    said(done, 2, "belongs to another repository", "--project NAME")
    other.add_testset("--store", store, "--project", "second")
    said(other.easeci("status", "--store", store, "--project", "second"), 0, "second")


def test_git_does_not_see_the_store(place: Workplace) -> None:
    place.add_testset()
    assert place.git("status", "--porcelain") == ""


def test_try_shows_what_the_program_says(place: Workplace) -> None:
    said(place.easeci("try", "--examples", str(place.examples)), 0, "OK", "1,600 predictions")
    place.write("model.py", "print('look here')\nraise SystemExit(4)\n")
    place.commit("broken")
    done = place.easeci("try", "--examples", str(place.examples))
    said(done, 5, "look here", "exit code 4")
    assert not (place.repository / ".easeci").exists()
