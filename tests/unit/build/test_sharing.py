"""Who may push to a repository is in the modes of its folder of objects."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.build.sharing import Sharing, find_sharing


@pytest.mark.parametrize(
    ("mode", "sharing"),
    [
        (0o755, Sharing.NOBODY),
        (0o700, Sharing.NOBODY),
        (0o2775, Sharing.GROUP),
        (0o770, Sharing.GROUP),
        (0o777, Sharing.ALL),
        (0o757, Sharing.ALL),
    ],
)
def test_who_may_push_is_who_may_write_objects(tmp_path: Path, mode: int, sharing: Sharing) -> None:
    (tmp_path / "objects").mkdir()
    (tmp_path / "objects").chmod(mode)
    assert find_sharing(tmp_path) is sharing
