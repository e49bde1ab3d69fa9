"""Each test of a sandbox runs in every kind that protects; in the weaker one it is a long test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeci.build.sandbox import Sandbox
from tests.sandbox.building import MOSTLY_THE_BEST, Site, usable


@pytest.fixture(params=MOSTLY_THE_BEST, ids=lambda kind: kind.name)
def sandbox(request: pytest.FixtureRequest) -> Sandbox:
    kind: Sandbox = request.param
    return usable(kind)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A repository and a vault, and a folder for workspaces that every user can pass through."""
    with tempfile.TemporaryDirectory(prefix="easeci-test-") as folder:
        Path(folder).chmod(0o711)
        monkeypatch.setenv("TMPDIR", folder)
        yield Site.make(tmp_path)
