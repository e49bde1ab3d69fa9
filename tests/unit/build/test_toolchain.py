"""What of the invoking environment a program sees, and what is refused."""

from __future__ import annotations

import os
import sys
import tempfile
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from easeci.build.toolchain import find_toolchain
from easeci.errors import UsageError


def programs(folder: Path, name: str = "tool") -> Path:
    folder.mkdir(parents=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment inside a repository, as many keep it."""
    prefix = tmp_path / "repository" / ".venv"
    venv.create(prefix, with_pip=False, symlinks=True)
    return prefix


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Act as an account without root's rights, also if root runs the tests."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(64_998)
    try:
        yield
    finally:
        os.seteuid(0)


def test_folders_on_the_path_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each that exists, once, where it is; the system's own need no mount."""
    one = programs(tmp_path / "one")
    monkeypatch.setenv("PATH", f"{one}:/usr/bin:{tmp_path / 'absent'}:{one}:relative:")
    toolchain = find_toolchain((), ())
    assert toolchain.search_path == (one, Path("/usr/bin"))
    targets = [mount.target for mount in toolchain.mounts]
    assert one in targets
    assert not any(target.is_relative_to("/usr") for target in targets)


@pytest.mark.parametrize("closed", ["", "root", "root/venv", "root/venv/bin"])
def test_folders_that_the_account_cannot_enter_are_passed_over(
    closed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After ``su`` the PATH still names folders of root; so may VIRTUAL_ENV."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        prefix = top / "root" / "venv"
        open_to_all = programs(top / "open", "python3")
        programs(prefix / "bin", "python")
        (prefix / "pyvenv.cfg").write_text("")
        # The Python of an environment that is open leads to the closed one.
        leads = programs(top / "leads" / "bin")
        (top / "leads" / "pyvenv.cfg").write_text("")
        (leads / "python").symlink_to(prefix / "bin" / "python")
        for folder in (top, top / "root", prefix, prefix / "bin"):
            folder.chmod(0o755)
        monkeypatch.setenv("VIRTUAL_ENV", str(prefix))
        monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
        monkeypatch.setattr(sys, "base_prefix", "/usr")
        monkeypatch.setenv("PATH", f"{prefix / 'bin'}:{leads}:{open_to_all}")
        (top / closed).chmod(0 if closed else 0o755)
        with ordinary_user():
            toolchain = find_toolchain((), ())
        (top / closed).chmod(0o755)
        expected = [leads, open_to_all] if closed else [prefix / "bin", leads, open_to_all]
        assert toolchain.search_path == tuple(expected)
        seen = any(mount.source.is_relative_to(prefix) for mount in toolchain.mounts)
        assert seen == (not closed)
        assert toolchain.python == (
            Path("/usr/bin/python3") if closed else prefix / "bin" / "python"
        )


def test_shims_are_seen_with_what_they_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pyenv and its like keep small scripts that start programs from beside them."""
    shims = programs(tmp_path / "pyenv" / "shims")
    monkeypatch.setenv("PATH", str(shims))
    assert tmp_path / "pyenv" in [mount.target for mount in find_toolchain((), ()).mounts]


def test_programs_of_the_work_tree_are_not_seen(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the repository only a virtual environment is there, never the rest of its files."""
    top = tmp_path / "repository"
    scripts = programs(top / "scripts")
    monkeypatch.setenv("PATH", f"{scripts}:{environment / 'bin'}:/usr/bin")
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    toolchain = find_toolchain((top,), ())
    assert scripts not in toolchain.search_path
    inside = [m.target for m in toolchain.mounts if m.target.is_relative_to(top)]
    assert inside == [environment]
    assert toolchain.python == environment / "bin" / "python"
    assert ("VIRTUAL_ENV", str(environment)) in toolchain.environment


def test_an_environment_that_is_the_repository_is_refused(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    with pytest.raises(UsageError, match="and the repository at once"):
        find_toolchain((environment,), ())


def test_the_invoking_python_is_there_with_its_base() -> None:
    """With no environment active, it is the one that runs easeci."""
    toolchain = find_toolchain((), ())
    seen = [Path("/usr"), *(mount.target for mount in toolchain.mounts)]
    for wanted in (sys.prefix, sys.base_prefix):
        assert any(Path(wanted).is_relative_to(place) for place in seen)


def test_a_home_is_never_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """~/bin is on many a PATH; that makes its neighbours nobody's business."""
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "pyvenv.cfg").touch()
    monkeypatch.setenv("PATH", str(programs(tmp_path / "bin")))
    targets = [mount.target for mount in find_toolchain((), ()).mounts]
    assert tmp_path / "bin" in targets
    assert tmp_path not in targets


def test_mounts_are_checked(tmp_path: Path) -> None:
    secret, weights = tmp_path / "vault", tmp_path / "weights"
    (secret / "inner").mkdir(parents=True)
    weights.mkdir(mode=0o755)
    (tmp_path / "way").symlink_to(secret)
    assert find_toolchain((secret,), (str(weights),)).mounts[-1].source == weights
    for name, reason in (
        ("weights", "not an absolute path"),
        (str(tmp_path / "absent"), "there is no"),
        (str(secret / "inner"), "lies in the repository or in easeci's own store"),
        (str(tmp_path / "way"), "lies in the repository or in easeci's own store"),
        ("/", "would open the sandbox"),
        ("/proc/1", "would open the sandbox"),
    ):
        with pytest.raises(UsageError, match=reason):
            find_toolchain((secret,), (name,))


@pytest.mark.root
def test_mounts_must_be_readable_by_the_build(tmp_path: Path) -> None:
    """Only root builds as another user."""
    (tmp_path / "closed").mkdir(mode=0o700)
    with pytest.raises(UsageError, match="cannot be read by the user"):
        find_toolchain((), (str(tmp_path / "closed"),))


def test_mounts_that_the_account_cannot_get_to_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/python3")
    (tmp_path / "closed").mkdir(mode=0)
    (tmp_path / "closed").chmod(0)
    with ordinary_user(), pytest.raises(UsageError, match="this account cannot get to"):
        find_toolchain((), (str(tmp_path / "closed" / "weights"),))
