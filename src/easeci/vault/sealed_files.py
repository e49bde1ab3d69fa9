"""The files of one testset, verified against their digests. The vault reads them only here."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from easeci.errors import InfrastructureError
from easeci.files import explained
from easeci.vault.paths import Vault

if TYPE_CHECKING:
    import numpy.typing as npt
    import polars as pl


@dataclass(frozen=True)
class SealedFiles:
    """The folder of a testset.

    With the recorded ``digests``, every file is verified before anything is read from it.
    """

    vault: Vault
    number: int
    digests: Mapping[str, str] | None = field(default=None, repr=False)
    part: str = ""
    """The folder in the testset's own that is meant, such as ``sample/``; empty for the whole."""

    @property
    def folder(self) -> Path:
        """Where the testset lies in the vault. All names of files are relative to it."""
        return self.vault.testset_folder(self.number)

    def named(self, name: str) -> str:
        """The name of a file of this part, as it is recorded."""
        return self.part + name

    def has(self, name: str) -> bool:
        """Whether the testset has a file of that name."""
        if self.digests is not None:
            return name in self.digests
        return (self.folder / name).exists()

    def read(self, name: str) -> bytes:
        """The content of a file, verified."""
        with explained(f"{name} of testset {self.number} cannot be read"):
            content = (self.folder / name).read_bytes()
        self.verify(name, content)
        return content

    def verify(self, name: str, content: bytes) -> None:
        """Raise an error if the content does not have the recorded digest."""
        if self.digests is not None and self.digests.get(name) != self.vault.key.digest(content):
            raise self.changed(name)

    def load_table(self, name: str) -> pl.DataFrame:
        """A Parquet file, verified."""
        import polars as pl

        from easeci.tables.source import UNREADABLE

        try:
            return pl.read_parquet(io.BytesIO(self.read(name)))
        except UNREADABLE:
            raise self.changed(name) from None

    def load_array(self, name: str) -> npt.NDArray[Any]:
        """A file of numpy's format, verified."""
        import numpy as np

        try:
            array: npt.NDArray[Any] = np.load(io.BytesIO(self.read(name)), allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, MemoryError):
            raise self.changed(name) from None
        return array

    def changed(self, name: str) -> InfrastructureError:
        """The error for a file that is not what was stored."""
        return InfrastructureError(
            f"{name} of testset {self.number} was changed or damaged since it was stored",
            hint="`easeci log --verify` lists all damage. Put the store back from a backup.",
        )


def parquet(columns: Mapping[str, pl.Series]) -> bytes:
    """Columns as the content of a Parquet file."""
    import polars as pl

    buffer = io.BytesIO()
    pl.DataFrame(dict(columns)).write_parquet(buffer)
    return buffer.getvalue()


def write_manifest(digests: Mapping[str, str]) -> bytes:
    """The digests of files as JSON lines. The digest of this text then covers all of them."""
    lines = [json.dumps({"file": path, "digest": digest}) for path, digest in digests.items()]
    return "".join(f"{line}\n" for line in lines).encode()


def read_manifest(content: bytes) -> dict[str, str]:
    """The digests of files, by path, as :func:`write_manifest` wrote them."""
    rows = [json.loads(line) for line in content.splitlines()]
    return {row["file"]: row["digest"] for row in rows}
