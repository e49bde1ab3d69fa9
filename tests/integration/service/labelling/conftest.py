"""Commits that wait for labels, and the verdicts that they get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from easeci.service.labelling.files import import_labels
from tests.integration.service.labelling.labellers import (
    two_waiting,
    verdicts,
)
from tests.projects import opened
from tests.repositories import Workplace, copy_of, write_examples


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A commit that waits for labels, and one more behind it."""
    return copy_of(two_waiting, tmp_path / "copy")


@pytest.fixture(scope="package")
def reference(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The verdicts with all labels from a file."""
    place = copy_of(two_waiting, tmp_path_factory.mktemp("reference") / "copy")
    write_examples(place.examples, place.labels)
    import_labels(opened(place), place.labels)
    found = verdicts(place)
    assert len(found) == 2
    assert None not in found
    return found
