"""The report as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.views.report.writing import replaced


@pytest.mark.parametrize("name", ["", "/dev/null", "missing/report.html"])
def test_a_place_that_cannot_be_written_is_said(tmp_path: Path, name: str) -> None:
    with (
        pytest.raises(UsageError, match="cannot be written"),
        replaced(tmp_path / name, 0o644),
    ):
        pass
