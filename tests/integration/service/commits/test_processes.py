"""A command starts few processes, checks a commit out once and starts two sandboxes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from easeci.build.archive import restore_archive
from easeci.service.project import open_project
from tests.repositories import PROGRAM, Workplace

STARTS = ("subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.system", "os.spawn")
_counted: list[list[str]] | None = None


def _note(event: str, arguments: Sequence[object]) -> None:
    """Python tells of every process that it starts, by whatever means."""
    if _counted is not None and event in STARTS:
        words = arguments[1] if event == "subprocess.Popen" else [event]
        assert isinstance(words, (list, tuple))
        _counted.append([str(word) for word in words])


sys.addaudithook(_note)


@contextmanager
def counted() -> Iterator[list[list[str]]]:
    """The command lines of all processes that are started meanwhile."""
    global _counted  # noqa: PLW0603 - an audit hook stays for ever
    started: list[list[str]] = []
    _counted = started
    try:
        yield started
    finally:
        _counted = None


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A repository with a labelled testset and a baseline."""
    place = Workplace.make(tmp_path / "place")
    place.commit_cut(0.7)
    place.add_testset()
    place.easeci("run", code=0)
    return place


@pytest.mark.usefixtures("real_sandbox")
def test_a_passing_run_starts_few_processes(place: Workplace) -> None:
    place.commit_cut(0.52)
    with counted() as started:
        done = place.easeci("run", code=0)
    assert done.stdout.startswith("PASS")
    assert len(started) <= 18, started
    # One for the public sample and one for the sealed examples, which share nothing.
    assert sum(any(word.endswith("stage.py") for word in words) for words in started) == 2
    assert sum("read-tree" in words for words in started) == 1
    with counted() as started:
        place.easeci("run", code=0)
    assert len(started) <= 7, started


@pytest.mark.parametrize("command", ["status", "log"])
def test_commands_that_read_start_fewer(place: Workplace, command: str) -> None:
    with counted() as started:
        place.easeci(command, code=0)
    assert len(started) <= 2, started


@pytest.mark.usefixtures("real_sandbox")
def test_the_archive_is_of_the_commit_and_not_of_what_its_program_left(place: Workplace) -> None:
    """A program may write to its checkout, but not to the tree that is kept."""
    vandal = "\nfor name in ('model.py', 'left'):\n    open(name, 'a').write('# changed')\n"
    place.write("test_model.py", PROGRAM + vandal)
    commit = place.commit_cut(0.52)
    assert place.easeci("run", code=0).stdout.startswith("PASS")
    project = open_project(place.repository)
    kept = project.state.archive
    assert kept is not None
    assert kept.commit == commit
    builds = project.sealed(project.state.testsets[kept.testset]).builds
    restore_archive(builds.archive_path(kept.file), place.folder / "restored")
    for name in ("model.py", "test_model.py"):
        restored = (place.folder / "restored" / name).read_text()
        assert restored.strip() == place.git("show", f"{commit}:{name}")
    assert not (place.folder / "restored" / "left").exists()
