"""A note of the highest head: keyed, private, and never a reason to fail."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from easeci.ledger.chain import Head
from easeci.store.head_note import ChangedNoteError, HeadNote

HEAD = Head(17, "ab" * 32)


def test_a_note_is_read_as_it_was_written(tmp_path: Path) -> None:
    note = HeadNote(tmp_path, "p", b"key")
    assert note.read() is None
    note.write(HEAD)
    assert note.read() == HEAD
    note.write(Head(18, "cd" * 32))
    assert note.read() == Head(18, "cd" * 32)
    assert HeadNote(tmp_path, "q", b"key").read() is None


def test_a_note_of_a_lower_head_cannot_be_forged(tmp_path: Path) -> None:
    """Any byte that is changed, and a note that was written with another key."""
    note = HeadNote(tmp_path, "p", b"key")
    HeadNote(tmp_path, "p", b"another key").write(Head(1, HEAD.code))
    with pytest.raises(ChangedNoteError):
        note.read()
    note.write(HEAD)
    content = note.path.read_bytes()
    for position in range(len(content)):
        note.path.write_bytes(content[:position] + b"7" + content[position + 1 :])
        if note.path.read_bytes() != content:
            with pytest.raises(ChangedNoteError):
                note.read()


def test_others_see_neither_the_note_nor_when_it_changed(tmp_path: Path) -> None:
    """The folder that others can see never changes after it was made."""
    note = HeadNote(tmp_path, "p", b"key")
    note.write(HEAD)
    folder = tmp_path / "easeci-owner"
    assert folder.stat().st_mode & 0o777 == 0o700
    before = folder.stat()
    for number in range(3):
        note.write(Head(20 + number, HEAD.code))
    after = folder.stat()
    assert (after.st_mtime_ns, after.st_ctime_ns) == (before.st_mtime_ns, before.st_ctime_ns)


def test_a_place_that_others_control_is_not_used(tmp_path: Path) -> None:
    """A link, or a folder that others may write to: no note is written there, and none believed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git_dir = tmp_path / "git"
    git_dir.mkdir()
    folder = git_dir / "easeci-owner"
    folder.symlink_to(elsewhere)
    note = HeadNote(git_dir, "p", b"key")
    note.write(HEAD)
    assert list(elsewhere.iterdir()) == []
    folder.unlink()
    note.write(HEAD)
    folder.chmod(0o777)
    assert note.read() is None


def test_a_note_is_only_raised(tmp_path: Path) -> None:
    note = HeadNote(tmp_path, "p", b"key")
    for number in (5, 3, 7):
        note.raise_to(Head(number, HEAD.code))
        assert note.read() == Head(max(5, number), HEAD.code)


@pytest.mark.root
def test_root_keeps_a_note_in_the_repository_of_another_account(tmp_path: Path) -> None:
    """The account can remove it, but neither read nor forge it, nor lead root elsewhere by a link."""
    git_dir, elsewhere = tmp_path / "git", tmp_path / "elsewhere"
    for folder in (git_dir, elsewhere):
        folder.mkdir()
        os.chown(folder, 64_321, 64_321)
    note = HeadNote(git_dir, "p", b"key")
    (git_dir / "easeci-owner").symlink_to(elsewhere)
    note.write(HEAD)
    assert list(elsewhere.iterdir()) == []
    (git_dir / "easeci-owner").unlink()
    note.write(HEAD)
    assert note.read() == HEAD
    assert note.path.stat().st_uid == 0
    (git_dir / "easeci-owner").rename(git_dir / "moved")
    elsewhere.rename(git_dir / "easeci-owner")
    (git_dir / "easeci-owner" / "heads").mkdir()
    assert note.read() is None


def test_a_note_that_cannot_be_written_is_left_out(tmp_path: Path) -> None:
    """The record itself is in the store: a command must not fail after it has recorded."""
    (tmp_path / "easeci-owner").write_text("a file")
    note = HeadNote(tmp_path, "p", b"key")
    note.write(HEAD)
    assert note.read() is None
    HeadNote(tmp_path / "missing", "p", b"key").write(HEAD)
