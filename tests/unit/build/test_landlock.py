"""The second sandbox refuses builds that it could not keep apart."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from easeci.build.landlock import _refuse_hidden_inside, _require_ways
from easeci.errors import InfrastructureError


def test_what_must_be_hidden_may_not_lie_in_what_is_shown() -> None:
    """Landlock can't take a folder out of one that it has given."""
    _refuse_hidden_inside(["/usr", "/opt/models"], (Path("/opt/vault"), Path("/usr2")))
    with pytest.raises(InfrastructureError, match="/opt/models/vault lies in /opt/models"):
        _refuse_hidden_inside(["/usr", "/opt/models"], (Path("/opt/models/vault"),))


def test_a_mount_behind_a_closed_folder_is_refused(tmp_path: Path) -> None:
    """Another user could not get to it, and the program would fail for no reason of its own."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    mount = SimpleNamespace(source=Path("/usr/lib"), required=True)
    job: Any = SimpleNamespace(mounts=[mount], command=("make",))
    _require_ways(job)
    mount.source = closed / "data"
    with pytest.raises(InfrastructureError, match=f"{closed} is closed to other users"):
        _require_ways(job)
    mount.required = False
    _require_ways(job)
