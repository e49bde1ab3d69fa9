"""A project with a baseline, and a commit that waits for labels."""

from __future__ import annotations

import pytest

from easeci.service.commits.submit import run
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from tests.projects import opened
from tests.repositories import Workplace


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A baseline, and a commit that waits for labels."""
    place = Workplace.make(tmp_path_factory.mktemp("evidence"))
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
    run(opened(place), "HEAD")
    place.commit_cut(0.52)
    run(opened(place), "HEAD")
    return place
