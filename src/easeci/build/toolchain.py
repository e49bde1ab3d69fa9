"""The programs and libraries of the invoking environment that a build may see."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from easeci.build.sandbox import SYSTEM_FOLDERS, Mount
from easeci.errors import UsageError

DEVICES = Path("/dev")
TOO_MUCH = tuple(map(Path, ("/", "/proc", "/sys", "/dev")))
"""A program that sees these folders of the machine is not in a sandbox any more."""


@dataclass(frozen=True)
class Toolchain:
    """Folders to mount, the PATH that leads to them, and which Python is the invoking one."""

    mounts: tuple[Mount, ...]
    search_path: tuple[Path, ...]
    python: Path
    prefixes: tuple[Path, ...]
    """Where Pythons keep their libraries; each may hold editable installs."""
    environment: tuple[tuple[str, str], ...]


def find_toolchain(hidden: Sequence[Path], extra: Sequence[str]) -> Toolchain:
    """What lies on the invoking PATH, the invoking Python, and the folders that a script names.

    A folder of programs inside a hidden one (the work tree) is left out, unless it belongs to a
    virtual environment there: of that, the environment alone is seen.
    """
    python = _invoking_python()
    prefixes = [_prefix_of_bin(python.parent), *_bases(python)]
    if python == Path(sys.executable):
        prefixes.append(Path(sys.base_prefix))
    search_path = []
    places: list[Path] = []
    for folder in _path_folders():
        prefix = _prefix_of_bin(folder)
        if prefix is not None:
            prefixes += [prefix, *_bases(folder / "python3"), *_bases(folder / "python")]
        elif any(folder.resolve().is_relative_to(secret) for secret in hidden):
            continue
        else:
            # pyenv, rbenv and asdf keep what their shims lead to beside them.
            places.append(folder.parent if folder.name == "shims" else folder)
        search_path.append(folder)
    known = list(dict.fromkeys(prefix for prefix in prefixes if prefix is not None))
    _refuse_as_repository(known, hidden)
    mounts = [Mount(place.resolve(), place) for place in _outermost([*places, *known], hidden)]
    mounts += _extra(extra, hidden)
    return Toolchain(tuple(mounts), tuple(search_path), python, tuple(known), tuple(_names(known)))


def _invoking_python() -> Path:
    """The Python of the active virtual environment, or else the one that runs us."""
    active = os.environ.get("VIRTUAL_ENV")
    if active and _may_enter(Path(active) / "bin"):
        python = Path(active) / "bin" / "python"
        if python.exists():
            return python
    return Path(sys.executable)


def _refuse_as_repository(prefixes: Sequence[Path], hidden: Sequence[Path]) -> None:
    for prefix in prefixes:
        if prefix.resolve() in hidden:
            raise UsageError(
                f"{prefix} is a virtual environment and the repository at once",
                hint="A program sees the one and never the other: make the environment in a folder "
                "of its own, such as .venv",
            )


def _names(prefixes: Iterable[Path]) -> Iterator[tuple[str, str]]:
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        value = os.environ.get(name)
        if value and Path(value) in prefixes:
            yield name, value


def _path_folders() -> Iterator[Path]:
    seen = set()
    for name in os.environ.get("PATH", os.defpath).split(os.pathsep):
        folder = Path(name)
        if folder.is_absolute() and folder not in seen and _may_enter(folder):
            seen.add(folder)
            yield folder


def _may_enter(folder: Path) -> bool:
    """Whether the account can use what is in the folder.

    The PATH may name folders of somebody else, such as root's after ``su``.
    """
    try:
        return folder.is_dir() and os.access(folder, os.X_OK, effective_ids=True)
    except PermissionError:  # a folder above it is closed
        return False


def _prefix_of_bin(folder: Path) -> Path | None:
    """The environment that a folder of programs belongs to: venv, conda, or a Python of its own.

    Only what is clearly one: the folder above ~/bin is a home.
    """
    prefix = folder.parent
    if not _may_enter(prefix):
        return None
    # The machine itself looks like one if /bin is another name of /usr/bin.
    if prefix in TOO_MUCH or str(prefix) == os.environ.get("HOME"):
        return None
    own_python = any(prefix.glob("lib/python3*/os.py"))
    if (prefix / "pyvenv.cfg").is_file() or (prefix / "conda-meta").is_dir() or own_python:
        return prefix
    return None


def _bases(python: Path) -> Iterator[Path]:
    """Where the links from a virtual environment's Python lead, step by step."""
    for _ in range(40):  # as many as the kernel follows
        if not python.is_symlink():
            return
        python = Path(os.path.normpath(python.parent / python.readlink()))
        if not _may_enter(python.parent):
            return
        yield _prefix_of_bin(python.parent) or python.parent


def _outermost(places: Iterable[Path], hidden: Sequence[Path]) -> list[Path]:
    """Each place once, without those that the system's folders or another place show already."""
    given = [place for place in dict.fromkeys(places) if str(place) not in SYSTEM_FOLDERS]
    return [
        place
        for place in given
        if not any(
            place != other and _shows(other, place, hidden)
            for other in (*given, *map(Path, SYSTEM_FOLDERS))
        )
    ]


def _shows(outer: Path, inner: Path, hidden: Sequence[Path]) -> bool:
    """Whether the outer folder shows the inner one; it does not if a hidden folder is between."""
    between = (secret for secret in hidden if secret.is_relative_to(outer))
    return inner.is_relative_to(outer) and not any(map(inner.is_relative_to, between))


def _extra(names: Sequence[str], hidden: Sequence[Path]) -> Iterator[Mount]:
    for name in names:
        place = Path(name)
        if not place.is_absolute():
            raise UsageError(f"mounts: {name!r} is not an absolute path")
        source = place.resolve()
        try:
            if not source.exists():
                raise UsageError(f"mounts: there is no {name}")
        except PermissionError:
            raise UsageError(f"mounts: this account cannot get to {name}") from None
        if source in TOO_MUCH or source.is_relative_to("/proc"):
            raise UsageError(f"mounts: {name} would open the sandbox", hint="Name what is needed.")
        if any(source.is_relative_to(folder) for folder in hidden):
            raise UsageError(
                f"mounts: {name} lies in the repository or in easeci's own store",
                hint="A program sees its commit, not the work tree, and never a testset.",
            )
        _require_open(source, name)
        yield Mount(source, place, required=True)


def _require_open(source: Path, name: str) -> None:
    """Started by root, programs run as another user: that user must be able to read the folder."""
    if os.geteuid() != 0 or source.is_relative_to(DEVICES):
        return
    about = source.stat()
    needed = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(about.st_mode) else 0)
    if about.st_mode & needed != needed:
        raise UsageError(
            f"mounts: {name} cannot be read by the user that builds run as",
            hint=f"Let every user read it: chmod -R o+rX {name}",
        )
