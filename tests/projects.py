"""Projects in a workplace: opened, given a testset, and run on a commit."""

from __future__ import annotations

from pathlib import Path

from easeci.service.commits.answer import RunAnswer
from easeci.service.commits.submit import run
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Offer, add_testset
from tests.repositories import Workplace


def with_model(folder: Path) -> Workplace:
    """A repository with a first model."""
    place = Workplace.make(folder)
    place.commit_cut(0.7)
    return place


def with_testset(folder: Path) -> Workplace:
    """The same with a testset, whose labels are all known."""
    place = with_model(folder)
    add(place)
    return place


def opened(place: Workplace) -> Project:
    """The project of the repository, as a command opens it."""
    return open_project(place.repository, create=True)


def add(place: Workplace, *, labelled: bool = True, **keys: str) -> None:
    """Add the examples as a testset; keys change the script first."""
    if keys:
        place.write_script(**keys)
        place.commit("script")
    script = place.repository / ".easeci.yml"
    labels = place.labels if labelled else None
    add_testset(opened(place), Offer(place.examples, labels=labels, script=script))


def run_on(place: Workplace, revision: str = "HEAD") -> RunAnswer:
    """Test a commit."""
    return run(opened(place), revision)
