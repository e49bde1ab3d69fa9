"""Others may push to a shared repository, and change nothing else of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.build.repository import Repository
from easeci.build.sharing import Sharing, find_sharing
from easeci.errors import UsageError
from easeci.service.pushes.permissions import close_to_others, require_closed
from tests.integration.service.pushes.repositories import git, installed


def test_who_may_push_is_in_the_modes(bare: Path) -> None:
    assert find_sharing(bare) is Sharing.GROUP
    installed(bare)
    modes = {path.name: path.stat().st_mode & 0o7777 for path in (bare / "easeci").iterdir()}
    assert modes == {"drop": 0o1730, "results": 0o750, "sample": 0o750, "private": 0o700}
    (bare / "objects").chmod(0o2777)
    installed(bare)
    assert (bare / "easeci" / "drop").stat().st_mode & 0o7777 == 0o1733
    (bare / "objects").chmod(0o700)
    assert find_sharing(bare) is Sharing.NOBODY


@pytest.mark.parametrize("name", ["config", "hooks", "info", "HEAD", "easeci"])
def test_what_others_may_change_is_found(bare: Path, name: str) -> None:
    installed(bare)
    require_closed(bare)
    (bare / name).chmod(0o775)
    with pytest.raises(UsageError, match="others may change"):
        require_closed(bare)
    close_to_others(bare)
    require_closed(bare)


def test_a_link_in_place_of_settings_is_found(bare: Path) -> None:
    (bare / "config").rename(bare / "other")
    (bare / "config").symlink_to("other")
    with pytest.raises(UsageError, match="does not belong to this account"):
        close_to_others(bare)


@pytest.mark.parametrize("name", ["commondir", ".git"])
def test_files_of_others_do_not_lead_git_elsewhere(bare: Path, name: str) -> None:
    """Who may push can make files in the repository's folder; git would follow these."""
    evil = bare.parent / "evil.git"
    git(bare.parent, "init", "--quiet", "--bare", str(evil))
    (bare / name).write_text(f"{'gitdir: ' if name == '.git' else ''}{evil}")
    repository = Repository.find(bare)
    assert repository.git_dir == bare
    assert repository.top is None
