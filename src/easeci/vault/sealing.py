"""Sealing: examples are compared with earlier ones, put into a secret order, and stored."""

from __future__ import annotations

import io
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from easeci.errors import InfrastructureError
from easeci.files import PRIVATE_FILE, create_folder, explained, write_synced
from easeci.vault import paths
from easeci.vault.attachments import copy_attachments
from easeci.vault.file_times import forget_times
from easeci.vault.fingerprints import count_shared
from easeci.vault.intake import Offered
from easeci.vault.key import Key
from easeci.vault.paths import Vault
from easeci.vault.sealed_files import parquet, write_manifest
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class Overlap:
    """What offered examples have in common with an earlier testset."""

    testset: int
    shared: int
    """How many of the offered examples have the content of one in the earlier testset."""
    share: Fraction
    identical: bool
    """Whether all have: then none of them is new."""


def overlaps(offered: Offered, earlier: Sequence[SealedTestset]) -> list[Overlap]:
    """The earlier testsets that share content with the offered examples."""
    found = []
    if earlier:
        mine = offered.fingerprints(earlier[0].vault.key)
    for testset in earlier:
        count = count_shared(mine, testset.examples.fingerprints)
        if count:
            share = Fraction(count, offered.size)
            found.append(Overlap(testset.number, count, share, count == offered.size))
    return found


@dataclass(frozen=True)
class Seal:
    """What the ledger records of a testset, so that any later change is found."""

    examples: int
    labels_known: int
    digests: dict[str, str]
    """By file, relative to the testset's folder."""

    @property
    def label_files(self) -> tuple[str, ...]:
        """The files of labels among them; at most one."""
        return tuple(name for name in self.digests if name.startswith(f"{paths.LABELS}/"))


def seal(vault: Vault, number: int, offered: Offered) -> Seal:
    """Store examples as a testset, in a secret random order. All is stored, or nothing."""
    if number < 1:
        raise ValueError("testsets are numbered from 1")
    target = vault.testset_folder(number)
    digests: dict[str, str] = {}
    with explained(f"testset {number} was not stored"):
        if target.exists():
            raise InfrastructureError(f"testset {number} was not stored: there is one already")
        create_folder(target, lambda folder: _fill(folder, vault.key, offered, digests))
    return Seal(offered.size, offered.labels_known, digests)


def _fill(folder: Path, key: Key, offered: Offered, digests: dict[str, str]) -> None:
    for name in paths.PARTS:
        (folder / name).mkdir(mode=0o700)
    examples = offered.examples
    contents = {
        f"{paths.EXAMPLES}/examples{examples.suffix}": examples.content,
        f"{paths.EXAMPLES}/{paths.JSONL}": examples.jsonl,
        paths.IDS: parquet({"id": examples.ids}),
        paths.ORDER: _array(_secret_order(offered.size)),
        paths.FINGERPRINTS: _array(offered.fingerprints(key)),
    }
    if offered.labels_known:
        known = offered.labels.is_not_null()
        labels = {"id": examples.ids.filter(known), "label": offered.labels.filter(known)}
        contents[paths.FIRST_LABELS] = parquet(labels)
    if offered.files is not None:
        files = copy_attachments(offered.files, folder / paths.EXAMPLES / paths.FILES, key)
        contents[paths.MANIFEST] = write_manifest(files)
    for name, content in contents.items():
        write_synced(folder / name, content, PRIVATE_FILE)
        digests[name] = key.digest(content)
    forget_times(folder / paths.EXAMPLES)


def _secret_order(size: int) -> npt.NDArray[np.int64]:
    """A random order. Only the order is stored, and its seed is forgotten."""
    generator = np.random.Generator(np.random.PCG64(secrets.randbits(256)))
    return generator.permutation(size)


def _array(values: npt.NDArray[np.int64] | npt.NDArray[np.uint64]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()
