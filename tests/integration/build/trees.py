"""Folders, as tests compare them."""

from __future__ import annotations

import os
from pathlib import Path


def tree(folder: Path) -> dict[str, tuple[str, bytes | str]]:
    """Every path with its kind and content."""
    found: dict[str, tuple[str, bytes | str]] = {}
    for path in folder.rglob("*"):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        elif path.is_file():
            found[name] = ("run" if os.access(path, os.X_OK) else "file", path.read_bytes())
    return found
