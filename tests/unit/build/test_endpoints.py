"""Sockets and pipes in a folder are found, whatever lies around them."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from easeci.build.endpoints import find_endpoints


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files, links, and below them a socket and a pipe."""
    deep = tmp_path / "folder" / "a" / "b"
    deep.mkdir(parents=True)
    (deep / "file").write_text("x")
    os.mkfifo(deep / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(deep / "socket"))
    (tmp_path / "folder" / "loop").symlink_to(tmp_path / "folder")
    (tmp_path / "folder" / "link").symlink_to(deep / "socket")
    return tmp_path / "folder"


def test_sockets_and_pipes_are_found_once_each(folder: Path) -> None:
    """By their real place: what a link leads to is found where it is mounted, or is not."""
    deep = folder / "a" / "b"
    assert sorted(find_endpoints(folder)) == [deep / "pipe", deep / "socket"]


def test_what_is_left_out_is_not_searched(folder: Path) -> None:
    deep = folder / "a" / "b"
    assert list(find_endpoints(folder, [deep / "pipe"])) == [deep / "socket"]
    assert list(find_endpoints(folder, [folder / "a"])) == []


def test_a_folder_that_is_gone_holds_none(folder: Path) -> None:
    """Others may remove it meanwhile; that is no error."""
    assert list(find_endpoints(folder / "gone")) == []
    assert list(find_endpoints(folder / "a" / "b" / "file")) == []


def test_a_folder_that_cannot_be_listed_counts_as_a_whole(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that knows the name of a socket in it could still connect."""
    scandir = os.scandir

    def closed(path: str) -> object:
        if path.endswith("/b"):
            raise PermissionError
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)  # root may list every folder
    assert list(find_endpoints(folder)) == [folder / "a" / "b"]
