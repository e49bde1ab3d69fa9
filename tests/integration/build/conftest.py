"""A repository with a short history."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.build.repository import Repository
from tests.sandbox.building import commit_files, new_repository


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = new_repository(tmp_path / "repository")
    commit_files(folder, "The first", model__py="first = 1\n")
    commit_files(folder, "The second", model__py="second = 2\n")
    return folder


@pytest.fixture
def repository(folder: Path) -> Repository:
    return Repository.find(folder)
