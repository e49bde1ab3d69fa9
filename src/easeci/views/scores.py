"""The scores behind a step, for the owner: how they are spread, and where they changed most.

They are those that the step's verdict may use: a decided step keeps the labels and scores of that
time. Nothing here records a look; :func:`easeci.service.looks.record_look` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from easeci.charts import NEW_MODEL, OLD_MODEL, ScoreCounts
from easeci.evidence.bets import Floats
from easeci.evidence.cells import STATES, LabelState
from easeci.evidence.codes import Flags
from easeci.ledger.state import Step, Testset
from easeci.script.lattice import ScoreTerm
from easeci.script.scorer import MAIN_SCORE
from easeci.service.commits.advance import verdict_models
from easeci.service.project import Project
from easeci.vault.scored_facts import NEW, OLD, ScoredExamples, load_scored_examples
from easeci.vault.testset import SealedTestset
from easeci.views.history import require_submission
from easeci.views.shown_outputs import ChangedScores, OutputGroup, ScorePair, output_groups

PARTS = 10
"""Bars of a histogram: each is for a tenth of 0 to 1."""
EQUAL = 1e-9
"""Scores that are closer to each other differ by rounding only."""
_KNOWN = [STATES.index(state) for state in (LabelState.LABEL, LabelState.CANNOT_TELL)]
_UNSETTLED = [STATES.index(state) for state in (LabelState.SKIPPED, LabelState.DISPUTED)]


@dataclass(frozen=True)
class ModelScores:
    """One score of one model on the examples whose scores are known.

    ``failed`` counts its outputs that could not be scored, and so score 0.
    """

    bars: ScoreCounts
    mean: float
    failed: int


@dataclass(frozen=True)
class ScoreDistribution:
    """One score of the models that the condition compares; the new one comes first.

    ``better``, ``worse`` and ``equal`` compare the new model with the old one, example by example;
    they are None if the condition speaks of one model.
    """

    name: str
    models: tuple[ModelScores, ...]
    examples: int
    better: int | None
    worse: int | None
    equal: int | None


@dataclass(frozen=True)
class CommitScores:
    """What the owner sees of the scores behind a step.

    ``unsettled`` counts examples that were skipped or are disputed, or whose scores were imported
    as unsettled; ``unknown`` counts those whose reference or score is not there.
    """

    distributions: tuple[ScoreDistribution, ...]
    unsettled: int
    unknown: int
    groups: tuple[OutputGroup, ...]


def commit_scores(project: Project, number: int) -> CommitScores | None:
    """The scores behind a commit's step; None if it has none.

    It reads the whole testset, so cache it by :func:`easeci.views.commit.curves_key`.
    """
    submission = require_submission(project, number)
    testset, step = project.state.testsets[submission.testset], project.state.step_of(submission)
    if step is None or not step.began or step.model not in testset.predictions:
        return None  # its turn has not come, or its program failed
    if not testset.terms.is_scored or not testset.script.score_terms:
        return None
    sealed = project.sealed(testset)
    found = _load(sealed, testset, step)
    known = np.isin(found.states, _KNOWN)
    terms = {term: found.term(term) for term in testset.script.score_terms}
    pairs = _pairs(terms)
    return CommitScores(
        tuple(_distribution(found, pair, known) for pair in pairs),
        unsettled=int(np.isin(found.states, _UNSETTLED).sum()),
        unknown=int((found.states == 0).sum()),
        groups=_groups(sealed, found, pairs, known),
    )


def _load(sealed: SealedTestset, testset: Testset, step: Step) -> ScoredExamples:
    """As :func:`easeci.service.commits.advance.evidence_of`, with the outputs themselves."""
    models = verdict_models(testset, step)
    labels, scores = testset.label_files, testset.score_files
    return load_scored_examples(
        sealed,
        testset.script,
        models.new,
        models.old,
        labels[: step.label_files],
        scores[: step.score_files],
    )


def score_name(name: str, best_of: int | None) -> str:
    """A score as the condition calls it: score, faithful, pass@3."""
    if best_of is None:
        return name
    return f"pass@{best_of}" if name == MAIN_SCORE else f"{name}, pass@{best_of}"


def _pairs(terms: Mapping[ScoreTerm, Floats]) -> list[ScorePair]:
    """Each score once, with its values for the models that the condition speaks of."""
    keys = dict.fromkeys((term.name, term.best_of) for term in terms)
    return [
        ScorePair(
            name,
            score_name(name, best_of),
            new=terms.get(ScoreTerm(NEW, name, best_of)),
            old=terms.get(ScoreTerm(OLD, name, best_of)),
        )
        for name, best_of in keys
    ]


def _distribution(found: ScoredExamples, pair: ScorePair, known: Flags) -> ScoreDistribution:
    sides = ((NEW, NEW_MODEL, pair.new), (OLD, OLD_MODEL, pair.old))
    models = tuple(
        _model(words, values[known], int(found.scores[model, pair.name].failed.sum()))
        for model, words, values in sides
        if values is not None
    )
    if pair.change is None:
        return ScoreDistribution(pair.title, models, int(known.sum()), None, None, None)
    change = pair.change[known]
    better, worse = int((change > EQUAL).sum()), int((change < -EQUAL).sum())
    equal = len(change) - better - worse
    return ScoreDistribution(pair.title, models, len(change), better, worse, equal)


def _model(words: str, values: Floats, failed: int) -> ModelScores:
    # A mean over trials such as 0.29999999999999999 belongs to the part that begins at 0.3.
    parts = np.clip(np.floor(values * PARTS + EQUAL), 0, PARTS - 1).astype(np.intp)
    counts = np.bincount(parts, minlength=PARTS)
    mean = float(values.mean()) if len(values) else 0.0
    return ModelScores(ScoreCounts(words, tuple(counts.tolist())), mean, failed)


def _groups(
    sealed: SealedTestset, found: ScoredExamples, pairs: list[ScorePair], known: Flags
) -> tuple[OutputGroup, ...]:
    """The examples that lost and gained most by the first score that both models have."""
    if not known.any():
        return ()
    first = next((pair for pair in pairs if pair.change is not None), pairs[0])
    place = np.empty(len(known), np.intp)
    place[sealed.examples.order] = np.arange(len(known))
    return output_groups(sealed, found, ChangedScores(tuple(pairs), first, known, place))
