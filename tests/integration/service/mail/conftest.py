"""A repository whose letters go to a file."""

from __future__ import annotations

import pytest

from tests.repositories import Workplace


@pytest.fixture
def place(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A repository with a first model, and a file that letters go to."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    return place
