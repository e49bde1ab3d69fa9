"""Which outputs of a model have no score yet, although they could have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.evidence.cells import STATES, LabelState
from easeci.script import Script
from easeci.vault.scored_facts import load_model_outputs, load_references
from easeci.vault.scores import look_up
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class UnscoredOutputs:
    """Different outputs of examples, each once, that lack some score.

    ``table`` has the columns of :class:`easeci.vault.scored_facts.OutputColumns`. Trials are
    numbered anew: an example's different outputs, from 0.
    """

    table: pl.DataFrame

    def __len__(self) -> int:
        return len(self.table)

    @property
    def rows(self) -> npt.NDArray[np.int64]:
        """The row of each output's example in the file of examples."""
        return self.table["row"].to_numpy().astype(np.int64)


def failed_outputs(
    testset: SealedTestset,
    script: Script,
    file: str,
    names: Sequence[str],
    label_files: Sequence[str],
    score_files: Sequence[str],
) -> int:
    """How many outputs in a file of predictions the scorer could not score."""
    outputs = load_model_outputs(
        testset, script, file, load_references(testset, script, label_files)
    )
    known = testset.scores.known(score_files)
    failed = np.zeros(outputs.shape, np.bool_)
    for name in names:
        failed |= look_up(known, outputs.table, name, outputs.shape).failed
    return int(failed.sum())


def unscored_outputs(
    testset: SealedTestset,
    script: Script,
    files: Sequence[str],
    names: Sequence[str],
    label_files: Sequence[str],
    score_files: Sequence[str],
    *,
    unsettled: bool = False,
) -> UnscoredOutputs:
    """The outputs in some files of predictions that lack one of the scores of these names.

    With a scorer that needs references, only outputs of examples whose reference is known. With
    ``unsettled``, also outputs that were imported without a score.
    """
    references = load_references(testset, script, label_files)
    known, tables = testset.scores.known(score_files), []
    for file in files:
        outputs = load_model_outputs(testset, script, file, references)
        lacking = np.zeros(outputs.shape, np.bool_)
        for name in names:
            scores = look_up(known, outputs.table, name, outputs.shape)
            lacking |= scores.missing | (scores.unsettled & unsettled)
        if script.needs_references:
            lacking &= (references.states == STATES.index(LabelState.LABEL))[:, None]
        tables.append(outputs.table.filter(lacking.ravel()))
    table = pl.concat(tables).unique(["row", "output"], keep="first", maintain_order=True)
    table = table.with_columns(trial=pl.int_range(pl.len()).over("row"))
    return UnscoredOutputs(table)
