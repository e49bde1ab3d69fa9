"""Where the vault keeps things in a store.

::

    <store>/.gitignore                    git ignores the store, even inside a repository
    <store>/key
    <store>/vault/<project>/commits/      commits as they were fetched, while they are needed
    <store>/vault/<project>/mounted.db    remembers digests of mounted files
    <store>/vault/<project>/<testset>/    one folder for each testset, by number
        examples/examples.<as given>      what programs see: no labels, all files of one time
        examples/examples.jsonl
        examples/files/…
        files.jsonl                       the digest of each of those files
        ids.parquet  order.npy  fingerprints.npy
        labels/0001.parquet …             never rewritten: a correction is another file
        predictions/<fingerprint>.parquet
        scorer/<as given>                 the owner's program that scores outputs, if there is one
        scores/0001.parquet …             never rewritten: a score never changes
        sample/                           public examples that were set aside, in the same form
        logs/  archives/
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from easeci.errors import UsageError
from easeci.files import explained, make_folder, make_store_folder, remove_folder, unfinished
from easeci.vault.key import KEY_FILE, Key, create_key, load_key

VAULT = "vault"
COMMITS = "commits"
MOUNTED = "mounted.db"
EXAMPLES = "examples"
FILES = "files"
JSONL = "examples.jsonl"
MANIFEST = "files.jsonl"
IDS = "ids.parquet"
ORDER = "order.npy"
FINGERPRINTS = "fingerprints.npy"
LABELS = "labels"
FIRST_LABELS = f"{LABELS}/0001.parquet"
PREDICTIONS = "predictions"
SCORER = "scorer"
SCORES = "scores"
LOGS = "logs"
ARCHIVES = "archives"
SAMPLE = "sample/"
PARTS = (EXAMPLES, LABELS, PREDICTIONS, LOGS, ARCHIVES)
"""The folders of every testset, empty ones included."""


@dataclass(frozen=True)
class Vault:
    """The testsets of one project."""

    folder: Path
    key: Key

    def testset_folder(self, number: int) -> Path:
        """The folder of a testset, which may not exist."""
        return self.folder / str(number)

    @property
    def commits(self) -> Path:
        """The folder of fetched commits, which may not exist."""
        return self.folder / COMMITS

    @property
    def mounted(self) -> Path:
        """The file that remembers digests of mounted files, which may not exist."""
        return self.folder / MOUNTED

    def numbers(self) -> list[int]:
        """The numbers of the testsets on the disk, in ascending order."""
        with explained(f"the vault {self.folder} cannot be read"):
            names = [entry.name for entry in self.folder.iterdir()]
        return sorted(int(name) for name in names if re.fullmatch(r"[1-9][0-9]*", name))

    def sweep(self) -> None:
        """Remove what killed processes left half-written. No other process may be writing."""
        with explained(f"the vault {self.folder} cannot be swept"):
            for path in [p for p in self.folder.rglob(".*") if unfinished(p.name)]:
                if path.is_dir():
                    remove_folder(path)
                else:
                    path.unlink()

    def discard(self, number: int) -> None:
        """Remove a testset for good: one that was sealed, but never recorded."""
        with explained(f"testset {number} cannot be removed"):
            remove_folder(self.testset_folder(number))


def open_vault(store: Path, project: str) -> Vault:
    """The vault of a project in a store. Makes both if they are missing."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}", project):
        raise UsageError(
            f"'{project[:40]}' cannot be the name of a project",
            hint="Use up to 100 letters, digits, dots, dashes and underscores: --project NAME.",
        )
    folder = store / VAULT / project
    make_store_folder(store)
    with explained(f"the store {store} cannot be used"):
        fresh = not (store / KEY_FILE).exists() and not _holds_testsets(store)
        key = create_key(store) if fresh else load_key(store)
        make_folder(folder)
    return Vault(folder, key)


def _holds_testsets(store: Path) -> bool:
    """Whether the store has testsets. If so, a missing key was lost: a new one verifies nothing."""
    return (store / VAULT).is_dir() and any((store / VAULT).glob("*/[0-9]*"))
