"""A checkout as one file, so that a commit can be built again after its history is lost."""

from __future__ import annotations

import gzip
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from easeci.errors import InfrastructureError


def save_archive(folder: Path, archive: Path) -> None:
    """Pack a checkout. The same tree always gives the same bytes."""
    with (
        archive.open("wb") as file,
        gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0, compresslevel=6) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in _sorted_tree(folder):
            member = tar.gettarinfo(path, arcname=str(path.relative_to(folder)))
            if not (member.isreg() or member.isdir() or member.issym()):
                raise InfrastructureError(f"{path.name!r} is neither a file, a folder nor a link")
            _plain(member)
            if member.isreg():
                with path.open("rb") as content:
                    tar.addfile(member, content)
            else:
                tar.addfile(member)


def restore_archive(archive: Path, into: Path) -> None:
    """Unpack a checkout: nothing lands outside the folder, and only run bits are kept."""
    into.mkdir(parents=True, exist_ok=True)
    try:
        with tarfile.open(archive, mode="r:gz") as tar:
            for member in tar:
                _restore(tar, member, into)
    except (tarfile.TarError, EOFError, gzip.BadGzipFile) as error:
        raise InfrastructureError(f"{archive} cannot be unpacked: {type(error).__name__}") from None
    except OSError as error:
        raise InfrastructureError(f"{archive} cannot be unpacked: {error.strerror}") from None


def _sorted_tree(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir(), key=lambda entry: os.fsencode(entry.name)):
        yield path
        if path.is_dir() and not path.is_symlink():
            yield from _sorted_tree(path)


def _plain(member: tarfile.TarInfo) -> None:
    """Drop everything but content and run bits."""
    runs = member.isdir() or member.issym() or bool(member.mode & 0o100)
    member.mode = 0o755 if runs else 0o644
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""


def _restore(tar: tarfile.TarFile, member: tarfile.TarInfo, into: Path) -> None:
    target = into / member.name
    parts = Path(member.name).parts
    # A link that was unpacked earlier must not lead a later file outside.
    inside = target.parent.resolve() == (into.resolve() / member.name).parent
    if Path(member.name).is_absolute() or ".." in parts or not inside or target.is_symlink():
        raise InfrastructureError(f"the archive leads outside its folder: {member.name!r}")
    if member.isdir():
        target.mkdir(exist_ok=True)
    elif member.issym():
        target.symlink_to(member.linkname)
    elif member.isreg():
        content = tar.extractfile(member)
        assert content is not None
        with target.open("xb") as file:
            while block := content.read(1 << 20):
                file.write(block)
        target.chmod(0o755 if member.mode & 0o100 else 0o644)
    else:
        raise InfrastructureError(f"the archive holds more than files: {member.name!r}")
