"""Most tests here are about what follows a build."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.predictions import built_for_real, written_directly


@pytest.fixture(scope="package", autouse=True)
def _predictions_are_written_directly() -> Iterator[None]:
    with written_directly():
        yield


@pytest.fixture
def real_sandbox() -> Iterator[None]:
    """For tests that are about the build as well."""
    with built_for_real():
        yield
