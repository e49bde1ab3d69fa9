"""An archive gives back the checkout that was saved, and nothing outside its folder."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from easeci.build.archive import restore_archive, save_archive
from easeci.build.checkout import checkout
from easeci.build.repository import Repository
from easeci.errors import InfrastructureError
from tests.integration.build.trees import tree
from tests.sandbox.building import commit_files, fetched


def test_archives_come_back_the_same(repository: Repository, folder: Path, tmp_path: Path) -> None:
    """Content, run bits and links are restored; who packed it and when makes no difference."""
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "link").symlink_to("../outside")
    (folder / "sub").mkdir()
    (folder / "sub" / "ünï.txt").write_text("ü")
    commit = commit_files(folder, "More")
    checkout(fetched(repository, commit), tmp_path / "one")
    checkout(fetched(repository, commit), tmp_path / "two")
    for path in (tmp_path / "two").rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    save_archive(tmp_path / "one", tmp_path / "one.tar.gz")
    save_archive(tmp_path / "two", tmp_path / "two.tar.gz")
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    restore_archive(tmp_path / "one.tar.gz", tmp_path / "back")
    assert tree(tmp_path / "back") == tree(tmp_path / "one")


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


@pytest.mark.parametrize(
    "members",
    [
        [member("../escaped")],
        [member("/tmp/escaped")],
        [member("link", tarfile.SYMTYPE, ".."), member("link/escaped")],
        [member("escaped", tarfile.SYMTYPE, "../escaped"), member("escaped")],
        [member("hard", tarfile.LNKTYPE, "/etc/passwd")],
        [member("device", tarfile.CHRTYPE)],
    ],
    ids=["above", "absolute", "through a link", "over a link", "hard link", "device"],
)
def test_archives_stay_in_their_folder(members: list[tarfile.TarInfo], tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "evil.tar.gz", "w:gz") as tar:
        for info in members:
            tar.addfile(info, io.BytesIO())
    with pytest.raises(InfrastructureError, match="archive"):
        restore_archive(tmp_path / "evil.tar.gz", tmp_path / "into" / "here")
    assert not (tmp_path / "into" / "escaped").exists()


def test_damaged_archives_are_told(tmp_path: Path) -> None:
    (tmp_path / "bad.tar.gz").write_bytes(b"not an archive")
    with pytest.raises(InfrastructureError, match="cannot be unpacked"):
        restore_archive(tmp_path / "bad.tar.gz", tmp_path / "out")
