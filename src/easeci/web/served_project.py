"""Which project a server shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from easeci.service.project import Project, open_project


@dataclass(frozen=True)
class ServedProject:
    """A project by its repository's folder, its store and its name."""

    folder: Path
    store: Path | None = None
    name: str | None = None

    def open(self) -> Project:
        """A copy of the project of its own, for one thread at a time."""
        return open_project(self.folder, store=self.store, name=self.name, create=True)
