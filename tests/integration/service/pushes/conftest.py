"""A repository with a work tree, and a bare one that a group shares."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.service.pushes.repositories import git


@pytest.fixture
def working(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "model"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "main")
    return folder


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "shared.git"
    git(tmp_path, "init", "--quiet", "--bare", "--shared=group", str(folder))
    return folder
