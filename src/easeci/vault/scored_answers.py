"""What the answer of a labeller shows of an example whose outputs are scored.

An answer is a reference. A built-in rule scores the outputs at once. The owner's program scores
them when the answer is recorded: until then the example waits for its scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

from easeci.evidence.bets import Floats
from easeci.evidence.cells import LabelState, code_of
from easeci.evidence.facts import Known
from easeci.evidence.trials import example_scores
from easeci.script import Script
from easeci.tables.scorers import built_in_scores
from easeci.vault.scored_facts import NEW, OLD
from easeci.vault.testset import SealedTestset


@dataclass(frozen=True)
class ReferenceReader:
    """From references to what they show, as :func:`easeci.vault.facts.load_facts` would.

    ``outputs`` are those of each model in the order of the file of examples.
    """

    testset: SealedTestset
    script: Script
    outputs: dict[str, pl.Series]

    @staticmethod
    def of(testset: SealedTestset, script: Script, new: str, old: str | None) -> ReferenceReader:
        """A reader for the models that a verdict compares."""
        files = {NEW: new} if old is None else {NEW: new, OLD: old}
        load = testset.predictions.load
        return ReferenceReader(
            testset, script, {model: load(file, script.trials) for model, file in files.items()}
        )

    def known(self, position: int, state: LabelState, label: str | None) -> Known:
        """What an answer shows of the example at a position."""
        row = int(self.testset.examples.order[position])
        texts = {model: self._texts(model, row) for model in self.outputs}
        differ = OLD in texts and not texts[NEW].equals(texts[OLD])
        scorer = self.script.scorer
        scores = tuple(math.nan for _ in self.script.score_terms)
        shown: LabelState | None = state
        if state is LabelState.CANNOT_TELL:
            scores = tuple(0.0 for _ in scores)
        elif label is not None and scorer is not None and scorer.kind.built_in:
            scores = self._scores(texts, label)
        elif label is not None:
            shown = None  # it waits for its scores
        code = code_of(shown, differ=differ, new_right=False, old_right=False)
        return Known(code, scores=scores)

    def _texts(self, model: str, row: int) -> pl.Series:
        trials = self.script.trials
        return self.outputs[model].slice(row * trials, trials)

    def _scores(self, texts: dict[str, pl.Series], label: str) -> tuple[float, ...]:
        assert self.script.scorer is not None
        by_model: dict[str, Floats] = {}
        for model, outputs in texts.items():
            references = pl.repeat(label, len(outputs), dtype=pl.String, eager=True)
            scores = built_in_scores(self.script.scorer, outputs, references)
            by_model[model] = np.array([scores.to_list()], dtype=np.float64)
        return tuple(
            float(example_scores(by_model[term.model], term.best_of)[0])
            for term in self.script.score_terms
        )
