"""What the owner keeps of a build: the log of its program, and an archive of its commit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from easeci.files import create_file, explained
from easeci.vault import paths
from easeci.vault.sealed_files import SealedFiles


@dataclass(frozen=True)
class StoredFile:
    """A file in the vault, relative to the folder of its testset."""

    file: str
    digest: str


@dataclass(frozen=True)
class BuildFiles:
    """Logs and archives that were kept with one testset."""

    files: SealedFiles

    def store_log(self, name: str, content: bytes) -> StoredFile:
        """Store what a program printed."""
        return self._store(f"{paths.LOGS}/{name}.txt", content)

    def load_log(self, file: str) -> str:
        """What a program printed."""
        return self.files.read(file).decode("utf-8", errors="replace")

    def store_archive(self, commit: str, archive: Path) -> StoredFile:
        """Store the files of a commit."""
        return self._store(f"{paths.ARCHIVES}/{commit}.tar.gz", archive.read_bytes())

    def archive_path(self, file: str) -> Path:
        """The path of an archive, after its content was verified."""
        self.files.read(file)
        return self.files.folder / file

    def remove_archive(self, file: str) -> None:
        """Remove an archive that is not needed any more."""
        with explained(f"{file} of testset {self.files.number} was not removed"):
            (self.files.folder / file).unlink(missing_ok=True)

    def _store(self, file: str, content: bytes) -> StoredFile:
        """Replace a file that was never recorded, because its command was killed."""
        with explained(f"{file} of testset {self.files.number} was not stored"):
            (self.files.folder / file).unlink(missing_ok=True)
            create_file(self.files.folder / file, content)
        return StoredFile(file, self.files.vault.key.digest(content))
