"""A testset at rest, and the way to each of its parts.

Files are never rewritten. Labels are numbered files, and what is known is what these files say
together, in the order of the ledger. So the labels behind an old verdict can always be read again.

A part is loaded when it is first used: the owner's log of a build needs no tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from easeci.errors import InfrastructureError
from easeci.vault import paths
from easeci.vault.build_files import BuildFiles
from easeci.vault.paths import Vault
from easeci.vault.sealed_files import SealedFiles

if TYPE_CHECKING:
    from easeci.vault.examples import SealedExamples
    from easeci.vault.labels import LabelFiles
    from easeci.vault.predictions import PredictionFiles
    from easeci.vault.sample import SealedSample
    from easeci.vault.scores import ScoreFiles


@dataclass(frozen=True)
class SealedTestset:
    """A testset on the disk.

    With the recorded ``digests``, every file is verified before anything is read from it.
    """

    vault: Vault
    number: int
    digests: Mapping[str, str] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.folder.is_dir():
            raise InfrastructureError(
                f"testset {self.number} is missing from the vault",
                hint="Put the store back from a backup.",
            )

    @property
    def folder(self) -> Path:
        """Where the testset lies in the vault."""
        return self.vault.testset_folder(self.number)

    @property
    def examples_folder(self) -> Path:
        """What programs may see."""
        return self.folder / paths.EXAMPLES

    @property
    def labels_folder(self) -> Path:
        """Where the labels are, and the journal of answers that are not recorded yet."""
        return self.folder / paths.LABELS

    @cached_property
    def files(self) -> SealedFiles:
        """All files, verified when they are read."""
        return SealedFiles(self.vault, self.number, self.digests)

    @cached_property
    def builds(self) -> BuildFiles:
        """Logs and archives."""
        return BuildFiles(self.files)

    @cached_property
    def examples(self) -> SealedExamples:
        """Ids, secret order and rows."""
        from easeci.vault.examples import SealedExamples

        return SealedExamples(self.files)

    @cached_property
    def labels(self) -> LabelFiles:
        """What is known of the labels."""
        from easeci.vault.labels import LabelFiles

        public = None if self.sample is None else self.sample.ids
        return LabelFiles(self.files, self.examples, public)

    @cached_property
    def predictions(self) -> PredictionFiles:
        """Predictions for its examples."""
        from easeci.vault.predictions import PredictionFiles

        return PredictionFiles(self.files, self.examples)

    @cached_property
    def scores(self) -> ScoreFiles:
        """Scores of outputs."""
        from easeci.vault.scores import ScoreFiles

        return ScoreFiles(self.files)

    @cached_property
    def scorer(self) -> Path | None:
        """The owner's program that scores outputs, verified; None if there is none."""
        inside = f"{paths.SCORER}/"
        listed = self.digests if self.digests is not None else _listed(self.folder, inside)
        name = next((name for name in listed if name.startswith(inside)), None)
        if name is None:
            return None
        self.files.read(name)  # an error if it was changed
        return self.folder / name

    @cached_property
    def sample(self) -> SealedSample | None:
        """The public examples that were set aside from it; None if there are none."""
        from easeci.vault.sample import SealedSample

        files = SealedFiles(self.vault, self.number, self.digests, paths.SAMPLE)
        return SealedSample(files) if files.has(files.named(paths.IDS)) else None


def _listed(folder: Path, inside: str) -> list[str]:
    """The files in one folder of a testset, as they are recorded."""
    place = folder / inside
    return sorted(f"{inside}{path.name}" for path in place.iterdir()) if place.is_dir() else []
