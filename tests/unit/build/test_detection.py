"""Which sandboxes a build may use, and what it says if there is none."""

from __future__ import annotations

import platform

import pytest

from easeci.build import detection
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.detection import allowed_sandboxes, no_sandbox, why_absent
from easeci.build.landlock import Landlock, Unsandboxed


def test_a_build_is_unprotected_only_if_somebody_asks_for_it() -> None:
    protecting = allowed_sandboxes()
    assert not any(isinstance(sandbox, Unsandboxed) for sandbox in protecting)
    assert isinstance(protecting[0], Bubblewrap), "the better one comes first"
    assert allowed_sandboxes(unsandboxed=True) == (Unsandboxed(),)


def test_what_a_sandbox_lacks_is_known_without_starting_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(detection, "missing_programs", lambda: ["bwrap", "setpriv"])
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert why_absent(Bubblewrap()) == "not installed: bwrap, setpriv"
    assert why_absent(Landlock()) == "not known on riscv64"
    assert why_absent(Unsandboxed()) is None


def test_the_error_gives_each_reason_and_a_way_out() -> None:
    error = no_sandbox(["bubblewrap: not installed: bwrap", "landlock: not known on riscv64"])
    assert "bubblewrap: not installed: bwrap" in error.message
    assert "landlock: not known on riscv64" in error.message
    assert "apt-get install bubblewrap" in str(error.hint)
    assert "--unsandboxed" in str(error.hint)
