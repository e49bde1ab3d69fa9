"""A retired testset is given to the developers: examples and labels, written to a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from easeci.errors import UsageError
from easeci.ledger.events import TestsetReleased
from easeci.ledger.state import Testset
from easeci.service.commits.advance import acting
from easeci.service.project import Project, no_testset
from easeci.vault.release import write_release


@dataclass(frozen=True)
class Released:
    """What was written, and where."""

    testset: int
    folder: str
    examples: int
    labels: int


def release_testset(
    project: Project,
    folder: Path,
    *,
    number: int | None = None,
    by: str = "",
    waiting: Callable[[], None] | None = None,
) -> Released:
    """Write examples, files and the labels that were given to a folder that is new or empty.

    Only a retired testset can be released: with the labels of one in use, developers would need no
    signals at all. Every release is recorded before anything is written.
    """
    with acting(project, waiting):
        testset = _testset(project, number)
        if testset.retired is None:
            raise UsageError(
                f"testset {testset.number} is still in use: its labels are not for developers",
                hint="It can be released once it is retired (`easeci testset retire`).",
            )
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(
                f"{folder} is not an empty folder", hint="Name one that is new or empty."
            )
        project.append(TestsetReleased(testset.number, by))
        sealed = project.sealed(testset)
        write_release(sealed.examples, sealed.labels.values(testset.label_files), folder)
        return Released(testset.number, str(folder), testset.examples, testset.labels)


def _testset(project: Project, number: int | None) -> Testset:
    """The one asked for, or the last that is retired."""
    testsets = project.state.testsets
    if not testsets:
        raise no_testset()
    if number is None:
        retired = [t for t in testsets.values() if t.retired is not None]
        return retired[-1] if retired else testsets[max(testsets)]
    if number not in testsets:
        raise UsageError(f"there is no testset {number}", hint=f"There are 1 to {max(testsets)}.")
    return testsets[number]
