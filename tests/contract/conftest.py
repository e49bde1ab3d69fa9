"""What is promised here begins where a build has ended."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.predictions import written_directly


@pytest.fixture(scope="package", autouse=True)
def _predictions_are_written_directly() -> Iterator[None]:
    with written_directly():
        yield
