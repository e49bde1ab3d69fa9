"""A new store of each kind that there is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from easeci.store.store import Store


@pytest.fixture(params=["sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = Store.open(tmp_path / "store", create=True)
    yield opened
    opened.engine.dispose()
