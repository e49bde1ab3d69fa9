"""Projects in a workplace: opened, given a testset, and run on a commit."""

from __future__ import annotations

from pathlib import Path

from easeci.service.commits.answer import RunAnswer
from easeci.service.commits.submit import RunOptions, run
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Offer, add_testset
from tests.repositories import Workplace

ON_SEALED = """import os
if len(open(os.environ["EASECI_EXAMPLES"] + "/examples.csv").readlines()) > 500:
    print("this is secret")
    raise SystemExit(3)
def predict(row):
    return "low" if float(row["x"]) < 0.52 else "high"
"""
"""A model that works on the public sample, and ends with an error on the sealed examples."""


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


def add(
    place: Workplace, *, labelled: bool = True, baseline: str | None = None, **keys: str
) -> None:
    """Add the examples as a testset; keys change the script first."""
    if keys:
        place.write_script(**keys)
        place.commit("script")
    script = place.repository / ".easeci.yml"
    labels = place.labels if labelled else None
    offer = Offer(place.examples, labels=labels, script=script, baseline=baseline)
    add_testset(opened(place), offer)


def sealed_ids(repository: Path) -> set[str]:
    """The ids of the first testset, without its public sample, whose labels count for nothing."""
    project = open_project(repository)
    return set(project.sealed(project.state.testsets[1]).examples.ids)


def run_on(place: Workplace, revision: str = "HEAD", *, test: bool = False) -> RunAnswer:
    """Test a commit."""
    return run(opened(place), revision, options=RunOptions(test=test))
