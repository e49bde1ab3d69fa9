"""Verify the vault: is every file as it was recorded?"""

from __future__ import annotations

import os
from collections.abc import Mapping, Set
from pathlib import Path

from easeci.files import IGNORED_BY_GIT
from easeci.vault import paths
from easeci.vault.key import Key
from easeci.vault.paths import Vault
from easeci.vault.sealed_files import read_manifest

PARTS = ("", paths.SAMPLE)
"""The testset itself, and its sample: both have examples."""


def store_damage(store: Path) -> list[str]:
    """What is wrong with the store's folder itself: git must ignore all of it."""
    try:
        ignored = (store / ".gitignore").read_bytes() == IGNORED_BY_GIT
    except OSError:
        ignored = False
    return [] if ignored else [".gitignore was changed: git might see the store"]


def damage(vault: Vault, expected: Mapping[int, Mapping[str, str]]) -> list[str]:
    """A sentence for every file that is missing, changed or added.

    ``expected`` holds the recorded digests of each testset: of its seal, and of all labels and
    predictions since. The folder of examples may contain no other files.
    """
    found: list[str] = []
    for number, digests in sorted(expected.items()):
        folder = vault.testset_folder(number)
        if folder.is_dir():
            found += [f"testset {number}: {words}" for words in _damage(folder, vault.key, digests)]
        else:
            found.append(f"testset {number} is missing from the vault")
    return found


def attached_files(folder: Path, digests: Mapping[str, str]) -> dict[str, str]:
    """The digests of the files that examples refer to, which recorded files list."""
    found: dict[str, str] = {}
    for part in PARTS:
        manifest = part + paths.MANIFEST
        if manifest in digests:
            listed = read_manifest((folder / manifest).read_bytes())
            place = f"{part}{paths.EXAMPLES}/{paths.FILES}"
            found |= {f"{place}/{path}": digest for path, digest in listed.items()}
    return found


def _damage(folder: Path, key: Key, digests: Mapping[str, str]) -> list[str]:
    found = _differences(folder, key, digests)
    manifests = tuple(part + paths.MANIFEST for part in PARTS)
    if any(words.startswith(manifests) for words in found):
        return found  # without the list of files, they cannot be checked
    files = attached_files(folder, digests)
    return [*found, *_differences(folder, key, files), *_additional(folder, {*digests, *files})]


def _differences(folder: Path, key: Key, digests: Mapping[str, str]) -> list[str]:
    found = (_difference(folder, name, key, digest) for name, digest in digests.items())
    return [words for words in found if words is not None]


def _difference(folder: Path, name: str, key: Key, digest: str) -> str | None:
    try:
        same = key.digest_file(folder / name) == digest
    except (FileNotFoundError, NotADirectoryError):
        return f"{name} is missing"
    except OSError as error:
        return f"{name} cannot be read: {error.strerror or 'it is not a file'}"
    return None if same else f"{name} was changed"


def _additional(folder: Path, expected: Set[str]) -> list[str]:
    """Files among the examples that were not there when the testset was sealed."""
    found = []
    for part in PARTS:
        for parent, folders, files in os.walk(folder / part / paths.EXAMPLES):
            links = [name for name in folders if Path(parent, name).is_symlink()]
            for name in sorted([*files, *links]):
                path = Path(parent, name).relative_to(folder).as_posix()
                if path not in expected:
                    found.append(f"{path} was added")
    return found
