"""Outputs are scored by the owner's program: run in a sandbox, and what it wrote read with limits.

Whatever is wrong with a run is a failure of the scorer on some output, unless the machine is to
blame: an error of any other kind than the scorer's own ends the scoring, and nothing is recorded.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from easeci.build.detection import allowed_sandboxes
from easeci.build.program import LOG_NAME
from easeci.build.sandbox import Limits, Sandbox
from easeci.build.scoring import (
    GIVEN,
    PartScores,
    ScorerProgram,
    ScoringBudget,
    SettledOutputs,
    place_scorer,
    run_scorer,
    score_in_parts,
)
from easeci.errors import BuildError, DataError, InfrastructureError
from easeci.script import Script
from easeci.script.scorer import MAIN_SCORE
from easeci.service.project import Project
from easeci.tables.score_rows import NAME
from easeci.tables.untrusted_scores import load_untrusted_scores
from easeci.vault.missing_scores import UnscoredOutputs
from easeci.vault.testset import SealedTestset

LINES_AT_ONCE = 256
Named = dict[str, float | None]
"""The scores of one output by name; None for one that is not a number from 0 to 1."""


@dataclass
class ProgramScorer:
    """The owner's program, ready to score outputs of one testset."""

    project: Project
    sealed: SealedTestset
    script: Script
    outputs: UnscoredOutputs
    wanted: Sequence[str]
    """The names of the scores that every output needs."""
    printed: bytes = b""
    """What it printed in the last run that failed."""

    def run(
        self, keep: Callable[[SettledOutputs[Named]], None], until: float = math.inf
    ) -> SettledOutputs[Named]:
        """Score outputs until a time of the clock; ``keep`` gets what is settled, now and then.

        Any error but the scorer's own is the machine's.
        """
        path = self.sealed.scorer
        if path is None:
            raise InfrastructureError("the testset has no scorer")
        sandboxes = allowed_sandboxes(self.project.repository, unsandboxed=self.project.unsandboxed)
        with tempfile.TemporaryDirectory(prefix="easeci-") as scratch:
            folder = Path(scratch) / "scorer"
            folder.mkdir()
            place_scorer(path.name, path.read_bytes(), folder)
            limits = Limits(
                seconds=self.script.longest_seconds,
                memory_bytes=self.script.memory_bytes or Limits.memory_bytes,
            )
            program = ScorerProgram(folder, f"./{path.name}", limits, self.script.mounts)
            return score_in_parts(
                len(self.outputs),
                lambda part, seconds: self._run_part(program, sandboxes, part, seconds),
                ScoringBudget(limits.seconds, until=until),
                keep,
            )

    def _run_part(
        self,
        program: ScorerProgram,
        sandboxes: Sequence[Sandbox],
        part: Sequence[int],
        seconds: int,
    ) -> PartScores[Named]:
        limited = replace(program, limits=replace(program.limits, seconds=seconds))
        with tempfile.TemporaryDirectory(prefix="easeci-") as scratch:
            given, into = Path(scratch) / "given", Path(scratch) / "into"
            given.mkdir()
            with (given / GIVEN).open("w", encoding="ascii") as file:
                file.writelines(self._given_lines(part))
            try:
                done = run_scorer(
                    limited,
                    given,
                    into,
                    sandboxes,
                    repository=self.project.repository,
                    hidden=(self.project.store.folder,),
                )
                return PartScores(self._read(done.written, part))
            except (BuildError, DataError) as error:
                log = into / LOG_NAME
                self.printed = (log.read_bytes() if log.exists() else b"") or self.printed
                return PartScores({}, error.message)

    def _read(self, path: Path, part: Sequence[int]) -> dict[int, Named]:
        """The scores of the outputs that have all that are wanted."""
        keys = self.outputs.table.select(
            pl.col("id").cast(pl.String), pl.col("trial").cast(pl.String)
        )[np.asarray(part, dtype=np.int64)]
        names = dict.fromkeys((MAIN_SCORE, *self.script.scores))
        rows = load_untrusted_scores(path, keys, tuple(names))
        found: dict[int, Named] = {}
        for place, name, score in rows.select("place", NAME, MAIN_SCORE).iter_rows():
            found.setdefault(part[place], {})[name] = score
        if len(part) == 1 and found:  # alone, a name that it lacks is one that it cannot score
            return {part[0]: dict.fromkeys(self.wanted) | found[part[0]]}
        return {place: scores for place, scores in found.items() if set(self.wanted) <= set(scores)}

    def _given_lines(self, part: Sequence[int]) -> Iterator[str]:
        """A line of JSON for each output, in plain ASCII; never many of them at once in memory."""
        with_reference = self.script.needs_references
        for start in range(0, len(part), LINES_AT_ONCE):
            places = np.asarray(part[start : start + LINES_AT_ONCE], dtype=np.int64)
            table = self.outputs.table[places]
            examples = self.sealed.examples.rows_of(self.outputs.rows[places])
            rows = table.select("id", "trial", "text", "label").iter_rows()
            for (name, trial, text, label), example in zip(rows, examples, strict=True):
                row = {"id": name, "trial": trial, "output": text}
                if with_reference:
                    row["reference"] = label
                yield json.dumps(row | {"example": example}) + "\n"
