"""Files of a testset are verified when they are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.vault.testset import SealedTestset
from tests.unit.vault.making import add_labels, labelled, sealed


def test_what_is_read_is_verified(tmp_path: Path) -> None:
    """With the digests of the record at hand, nothing is read from a file that was changed."""
    vault, sealed_as, testset = sealed(tmp_path)
    received = add_labels(testset, labelled(tmp_path, "1,a\n"), known=[])
    assert received.file is not None
    assert received.digest is not None
    digests = {**sealed_as.digests, received.file: received.digest}
    assert SealedTestset(vault, 1, digests).labels.values([received.file]).to_list()[1] == "a"
    other = add_labels(testset, labelled(tmp_path, "1,b\n"), known=[])
    assert other.file is not None
    (testset.folder / other.file).replace(testset.folder / received.file)
    for name in ("order.npy", "ids.parquet"):
        (testset.folder / name).write_bytes((testset.folder / name).read_bytes() + b"\0")
    changed = SealedTestset(vault, 1, digests)
    for read in (
        lambda: changed.labels.values([str(received.file)]),
        lambda: changed.examples.order,
        lambda: changed.examples.ids,
    ):
        with pytest.raises(InfrastructureError, match="was changed or damaged"):
            read()
    with pytest.raises(InfrastructureError, match="cannot be read: it is not there"):
        testset.labels.values(["labels/0009.parquet"])


@pytest.mark.parametrize("name", ["order.npy", "ids.parquet", "fingerprints.npy"])
def test_files_cut_short_are_errors_in_words(tmp_path: Path, name: str) -> None:
    vault, _, _ = sealed(tmp_path)
    path = vault.testset_folder(1) / name
    for content in (b"", path.read_bytes()[:50]):
        path.write_bytes(content)
        testset = SealedTestset(vault, 1)
        with pytest.raises(InfrastructureError, match="was changed or damaged"):
            _ = (testset.examples.ids, testset.examples.order, testset.examples.fingerprints)
