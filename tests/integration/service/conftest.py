"""Repositories with a model, without and with a testset."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.projects import with_model, with_testset
from tests.repositories import Workplace, copy_of


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A repository with a first model."""
    return copy_of(with_model, tmp_path)


@pytest.fixture
def sealed(tmp_path: Path) -> Workplace:
    """The same with a testset, whose labels are all known."""
    return copy_of(with_testset, tmp_path)
