"""From a script's words to a command, and from what a program left to its predictions."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from easeci.build.program import PREDICTIONS, _command, _ending, _take
from easeci.build.sandbox import Limits
from easeci.errors import BuildError, UsageError
from tests.cases import each_case

PYTHON = Path("/usr/bin/python3")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text("print(1)\n")
    (tmp_path / "own.py").write_text("#!/usr/bin/env python3\n")
    (tmp_path / "own.py").chmod(0o755)
    (tmp_path / "plain.sh").write_text("#!/bin/sh\n")
    (tmp_path / "windows").write_bytes(b"#!/bin/sh\r\n")
    (tmp_path / "windows").chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("./model.py --fast 'a b'", (str(PYTHON), "./model.py", "--fast", "a b")),
        ("model.py", (str(PYTHON), "./model.py")),
        ("./own.py", ("./own.py",)),
        ("make predictions", ("make", "predictions")),
        ("/opt/tool $HOME; ls", ("/opt/tool", "$HOME;", "ls")),
    ],
)
def test_a_command_is_split_as_in_a_shell_and_run_without_one(
    checkout: Path, text: str, command: tuple[str, ...]
) -> None:
    """A Python file without a first line of its own runs with the Python that runs us."""
    assert _command(text, checkout, PYTHON) == command


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("./nothing.py", "the commit has no file './nothing.py'"),
        ("./plain.sh", "is not marked as a program"),
        ("./windows", "ends as on Windows"),
    ],
)
def test_what_is_wrong_with_a_file_is_the_commits_fault(
    checkout: Path, text: str, words: str
) -> None:
    with pytest.raises(BuildError, match=words):
        _command(text, checkout, PYTHON)


@each_case("text", ["", "  ", "'open"])
def test_a_script_without_words_is_the_owners_mistake(text: str) -> None:
    with pytest.raises(UsageError, match="is not a command"):
        _command(text, Path(), PYTHON)


@each_case(
    "code, words",
    [
        (1, "exit code 1"),
        (127, "exit code 127 (it or its interpreter was not found)"),
        (137, "exit code 137 (SIGKILL)"),
        (-11, "exit code -11 (SIGSEGV)"),
    ],
)
def test_an_exit_code_is_told_with_the_signal_behind_it(code: int, words: str) -> None:
    assert _ending(code) == words


def test_only_one_regular_file_is_taken_as_predictions(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A link could lead to the labels, and a pipe would never end."""
    output, into, limits = tmp_path / "output", tmp_path / "into", Limits(20, output_bytes=20)
    output.mkdir()
    into.mkdir()
    opened = os.open(output, os.O_RDONLY)
    request.addfinalizer(lambda: os.close(opened))
    found = output / "predictions.csv"
    with pytest.raises(BuildError, match="wrote no predictions"):
        _take(opened, into, limits, PREDICTIONS)
    (tmp_path / "secret").write_text("id,label\n")
    found.symlink_to(tmp_path / "secret")
    with pytest.raises(BuildError, match="not as a regular file"):
        _take(opened, into, limits, PREDICTIONS)
    found.unlink()
    os.mkfifo(found)
    with pytest.raises(BuildError, match="not as a regular file"):
        _take(opened, into, limits, PREDICTIONS)
    found.unlink()
    found.write_text("x" * 21)
    with pytest.raises(BuildError, match="larger than 20 bytes"):
        _take(opened, into, limits, PREDICTIONS)
    found.write_text("id,prediction\n")
    assert _take(opened, into, limits, PREDICTIONS).read_text() == "id,prediction\n"
    (output / "predictions.jsonl").touch()
    with pytest.raises(BuildError, match=r"predictions\.csv and predictions\.jsonl"):
        _take(opened, into, limits, PREDICTIONS)
