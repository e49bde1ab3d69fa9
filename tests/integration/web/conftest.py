"""Servers, and the projects that they serve, for each file of tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from easeci.web import app, server
from tests.integration.web.busy import MOST, Busy
from tests.integration.web.uploads import LIMIT, Uploading
from tests.repositories import Workplace
from tests.sites import (
    Here,
    Running,
    serving,
    serving_here,
    visitor,
    waiting_project,
)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Busy]:
    place = waiting_project(tmp_path_factory.mktemp("busy"), classes="[low, high]")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(server, "MOST_AT_ONCE", MOST)
        with serving_here(place.repository) as here:
            yield Busy(place, here, visitor(here, place.repository, "owner"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = Workplace.make(tmp_path_factory.mktemp("sign-in"))
    place.commit_cut(0.6)
    return place


@pytest.fixture
def running(place: Workplace) -> Iterator[Running]:
    with serving(place.repository) as running:
        yield running


@pytest.fixture
def here(place: Workplace) -> Iterator[Here]:
    with serving_here(place.repository) as here:
        yield here


@pytest.fixture(scope="module")
def unlabelled(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return waiting_project(tmp_path_factory.mktemp("waiting"), classes="[low, high]")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, unlabelled: Workplace) -> Iterator[Path]:
    """Small limits, and a folder for temporary files that only the server uses from here on."""
    assert unlabelled.repository.exists()  # making it needs temporary files too
    scratch = tmp_path_factory.mktemp("scratch")
    routes = tuple(
        replace(route, most_bytes=LIMIT) if route.most_bytes == app.MOST_UPLOADED else route
        for route in app.ROUTES
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "ROUTES", routes)
        patch.setattr(tempfile, "tempdir", str(scratch))
        yield scratch


@pytest.fixture(scope="module")
def waiting(unlabelled: Workplace, small: Path) -> Iterator[Uploading]:
    place = unlabelled
    with serving_here(place.repository) as here:
        yield Uploading(place, here, visitor(here, place.repository, "owner", "olga"), small)
