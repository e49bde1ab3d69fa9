"""Sealing: a sample is set aside, the rest is put into a secret order, and both are stored."""

from __future__ import annotations

import io
import secrets
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from easeci.errors import InfrastructureError
from easeci.files import PRIVATE_FILE, PRIVATE_FOLDER, create_folder, explained, write_synced
from easeci.vault import paths
from easeci.vault.attachments import copy_attachments
from easeci.vault.file_times import forget_times
from easeci.vault.intake import Offered
from easeci.vault.key import Key
from easeci.vault.paths import Vault
from easeci.vault.sample import draw_sample
from easeci.vault.sealed_files import parquet, write_manifest


@dataclass(frozen=True)
class Seal:
    """What the ledger records of a testset, so that any later change is found."""

    examples: int
    """How many it has; those of the sample do not count."""
    labels_known: int
    digests: dict[str, str]
    """By file, relative to the testset's folder, the sample's files included."""
    sample: int = 0
    """How many examples were set aside and are public."""

    @property
    def label_files(self) -> tuple[str, ...]:
        """The files of labels among them; at most one."""
        return tuple(name for name in self.digests if name.startswith(f"{paths.LABELS}/"))


@dataclass(frozen=True)
class OfferedScorer:
    """The owner's program that scores outputs: one file."""

    name: str
    content: bytes


def seal(
    vault: Vault,
    number: int,
    offered: Offered,
    sample: int = 0,
    scorer: OfferedScorer | None = None,
) -> Seal:
    """Store examples as a testset, in a secret random order. All is stored, or nothing.

    ``sample`` of them, drawn at random, are stored apart: they are not part of the testset. A
    ``scorer`` is stored with it.
    """
    if number < 1:
        raise ValueError("testsets are numbered from 1")
    kept, aside = offered, None
    if sample:
        rows, chosen = draw_sample(offered.size, sample)
        kept, aside = offered.choose(rows), offered.choose(chosen)
    target = vault.testset_folder(number)
    digests: dict[str, str] = {}

    def fill(folder: Path) -> None:
        digests.update(_fill(folder, vault.key, kept))
        if scorer is not None:
            name = f"{paths.SCORER}/{scorer.name}"
            (folder / paths.SCORER).mkdir(mode=PRIVATE_FOLDER)
            write_synced(folder / name, scorer.content, PRIVATE_FILE)
            digests[name] = vault.key.digest(scorer.content)
        if aside is not None:
            inside = folder / paths.SAMPLE
            inside.mkdir(mode=PRIVATE_FOLDER)
            stored = _fill(inside, vault.key, aside)
            digests.update({paths.SAMPLE + name: digest for name, digest in stored.items()})

    with explained(f"testset {number} was not stored"):
        if target.exists():
            raise InfrastructureError(f"testset {number} was not stored: there is one already")
        create_folder(target, fill)
    return Seal(kept.size, kept.labels_known, digests, sample)


def _fill(folder: Path, key: Key, offered: Offered) -> dict[str, str]:
    """Write all files of examples into a folder. Returns their digests, by name."""
    for name in paths.PARTS:
        (folder / name).mkdir(mode=PRIVATE_FOLDER)
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
    forget_times(folder / paths.EXAMPLES)
    return {name: key.digest(content) for name, content in contents.items()}


def _secret_order(size: int) -> npt.NDArray[np.int64]:
    """A random order. Only the order is stored, and its seed is forgotten."""
    generator = np.random.Generator(np.random.PCG64(secrets.randbits(256)))
    return generator.permutation(size)


def _array(values: npt.NDArray[np.int64] | npt.NDArray[np.uint64]) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, values, allow_pickle=False)
    return buffer.getvalue()
