"""Which sandboxes a build may use, and what it says if there is none."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from easeci.build import detection
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.detection import allowed_sandboxes, no_sandbox, why_absent, why_not
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.repository import Repository


@pytest.fixture
def bare(tmp_path: Path) -> Repository:
    """A bare repository that only its owner may write to."""
    (tmp_path / "objects").mkdir(mode=0o755)
    return Repository(tmp_path, None)


def test_a_build_is_unprotected_only_if_somebody_asks_for_it(bare: Repository) -> None:
    assert allowed_sandboxes(bare) == (Bubblewrap(), Landlock()), "the better one comes first"
    assert allowed_sandboxes(bare, unsandboxed=True) == (Unsandboxed(),)


@pytest.mark.parametrize("mode", [0o775, 0o2775, 0o757, 0o1777])
def test_the_weaker_sandbox_is_not_for_shared_repositories(bare: Repository, mode: int) -> None:
    """Other accounts that push could read what a program leaves on the machine."""
    (bare.git_dir / "objects").chmod(mode)
    best, second = allowed_sandboxes(bare)
    assert best == Bubblewrap()
    assert "other accounts of this machine may push" in str(why_absent(second))
    assert "other accounts of this machine may push" in str(why_not(second))
    with_tree = Repository(bare.git_dir, bare.git_dir.parent)
    assert allowed_sandboxes(with_tree) == (Bubblewrap(), Landlock())


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
