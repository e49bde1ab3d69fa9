"""The evidence for verdicts about scores: from outputs, references and scores to facts.

An example is known if its reference is there, if the scorer needs one, and the scores of all
outputs that the condition is about. Where labellers cannot tell what is right, every output scores
0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from easeci.evidence.bets import Floats
from easeci.evidence.cells import STATES, LabelState, codes_of
from easeci.evidence.codes import Codes, Flags
from easeci.evidence.trials import example_scores
from easeci.script import Script
from easeci.script.lattice import ScoreTerm
from easeci.vault.scores import TrialScores, look_up, output_digests
from easeci.vault.testset import SealedTestset

NEW, OLD = "n", "o"
_PLACES = {str(state): place for place, state in enumerate(STATES) if state is not None}


@dataclass(frozen=True)
class ExampleReferences:
    """The references of all examples, in the order of the file of examples.

    ``texts`` are null where there is none, and ``digests`` empty where the scorer needs none.
    ``states`` are places in :data:`easeci.evidence.cells.STATES`.
    """

    texts: pl.Series
    digests: pl.Series
    states: npt.NDArray[np.uint8]


def load_references(
    testset: SealedTestset, script: Script, label_files: Sequence[str]
) -> ExampleReferences:
    """The references that are known by some files of labels."""
    known = testset.labels.known(label_files)
    places = known["state"].replace_strict(_PLACES, default=0, return_dtype=pl.UInt8)
    if script.needs_references:
        digests = output_digests(testset.vault.key, known["label"], "reference")
    else:
        digests = pl.repeat("", len(known), dtype=pl.String, eager=True)
    return ExampleReferences(known["label"], digests, places.to_numpy())


@dataclass(frozen=True)
class OutputColumns:
    """The outputs of a model, with ``trials`` for each example, one after the other.

    ``table`` has columns row (of the example in its file), trial, id, text, output (the digest),
    and the text and digest of the reference.
    """

    table: pl.DataFrame
    trials: int

    @property
    def shape(self) -> tuple[int, int]:
        """(examples, trials)."""
        return len(self.table) // self.trials, self.trials

    def differ(self, other: OutputColumns) -> Flags:
        """For each example, whether some trial has another output than the other model's."""
        different = self.table["text"] != other.table["text"]
        return np.asarray(different.to_numpy().reshape(self.shape).any(axis=1))


def load_model_outputs(
    testset: SealedTestset, script: Script, file: str, references: ExampleReferences
) -> OutputColumns:
    """The stored outputs of a model, and what they are compared with."""
    values, trials = testset.predictions.load(file, script.trials), script.trials
    ids = testset.examples.ids
    rows = np.repeat(np.arange(len(ids)), trials)
    table = pl.DataFrame(
        {
            "row": rows,
            "trial": np.tile(np.arange(trials), len(ids)),
            "id": ids.gather(rows),
            "text": values,
            "output": output_digests(testset.vault.key, values),
            "label": references.texts.gather(rows),
            "reference": references.digests.gather(rows),
        }
    )
    return OutputColumns(table, trials)


@dataclass(frozen=True)
class ScoredExamples:
    """Scores, states and outputs of all examples, in the order of the file of examples."""

    script: Script
    references: ExampleReferences
    new: OutputColumns
    old: OutputColumns | None
    scores: Mapping[tuple[str, str], TrialScores]
    """By model (n or o) and name: those that the condition is about."""

    @cached_property
    def states(self) -> npt.NDArray[np.uint8]:
        """What is known of each example, as places in ``STATES``."""
        label, skipped = (STATES.index(s) for s in (LabelState.LABEL, LabelState.SKIPPED))
        needed = self.script.needs_references
        given = self.references.states
        states = given.copy() if needed else np.full(self.new.shape[0], label, np.uint8)
        open_ = states == label
        for scores in self.scores.values():
            states[open_ & scores.unsettled.any(axis=1)] = skipped
        for scores in self.scores.values():  # last: a score that may still come is waited for
            states[open_ & scores.missing.any(axis=1)] = 0
        return states

    @cached_property
    def differ(self) -> Flags:
        """Where the two models have different outputs in some trial."""
        if self.old is None:
            return np.zeros(self.new.shape[0], np.bool_)
        return self.new.differ(self.old)

    @property
    def cells(self) -> Codes:
        """The codes of n, o and d: whether outputs differ, and what is known of the example."""
        return codes_of(self.states, differ=self.differ, new_right=False, old_right=False)

    def term(self, term: ScoreTerm) -> Floats:
        """The score of each example; NaN where it is not known, 0 where nobody can tell."""
        values = example_scores(self.scores[term.model, term.name].values, term.best_of)
        cannot_tell = self.states == STATES.index(LabelState.CANNOT_TELL)
        return np.asarray(np.where(cannot_tell, 0.0, values))

    @property
    def failed(self) -> int:
        """How many outputs score 0 because the scorer could not score them."""
        together: dict[str, Flags] = {}
        for (model, _), scores in self.scores.items():
            together[model] = scores.failed | together.get(model, False)
        return int(sum(flags.sum() for flags in together.values()))


def load_scored_examples(
    testset: SealedTestset,
    script: Script,
    new: str,
    old: str | None,
    label_files: Sequence[str],
    score_files: Sequence[str],
) -> ScoredExamples:
    """What is known of every example by some files of labels and scores."""
    references = load_references(testset, script, label_files)
    models = {NEW: load_model_outputs(testset, script, new, references)}
    if old is not None:
        models[OLD] = load_model_outputs(testset, script, old, references)
    known = testset.scores.known(score_files)
    wanted = dict.fromkeys((term.model, term.name) for term in script.score_terms)
    scores = {
        (model, name): look_up(known, models[model].table, name, models[model].shape)
        for model, name in wanted
    }
    return ScoredExamples(script, references, models[NEW], models.get(OLD), scores)
