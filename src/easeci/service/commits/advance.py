"""Go on from wherever the last command ended: :func:`catch_up`, and nothing else, does it.

It takes the charged steps in their order, scores outputs if the script has a scorer, decides each
step as far as labels and time allow, gives signals, archives the baseline, lets go of fetched
commits and sends mail. A step is charged before its program sees a sealed example. Its turn comes
when the step before it is decided: its baseline and the labels at hand are fixed then. Signals are
given in the same order. All of it follows from the state, so it does not matter which command does
it. Every command that writes acts through :func:`acting`; commands and pages that only read never
do.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from easeci.errors import EaseciError
from easeci.ledger.baselines import compared_with
from easeci.ledger.events import (
    Decided,
    Event,
    ScoringInterrupted,
    SealedRunFailed,
    TurnCame,
)
from easeci.ledger.state import Step, Testset
from easeci.ledger.ticks import tick_of
from easeci.ledger.turns import next_events, tick_has_come
from easeci.script import Script
from easeci.service.commits.keep import ensure_archive, let_go
from easeci.service.mail.delivery import deliver
from easeci.service.project import Project, utc_now
from easeci.times import seconds_between

if TYPE_CHECKING:
    from easeci.build.checkout import CleanTree
    from easeci.evidence.codes import Flags
    from easeci.evidence.facts import Facts
    from easeci.vault.facts import VerdictModels
    from easeci.verdict.result import Verdict


BROKEN = "its outputs broke the scorer too often"
SCORING_PAUSE_SECONDS = 60.0
"""After a scorer could not run, a process that stays waits so long before it tries again."""


@contextmanager
def acting(project: Project, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    """Act alone on the project: catch up before, and again with what the action made possible."""
    with project.exclusive(waiting):
        catch_up(project)
        yield
        catch_up(project)


def catch_up(project: Project, tree: CleanTree | None = None) -> tuple[int, ...]:
    """Do everything that needs neither a build nor more labels; the caller acts alone.

    Returns the numbers of the submissions that have their signal since. If nothing was recorded
    since the last call on this project, only a tick or a letter that is due makes it work.
    ``tree`` is of the commit that was just built: if it becomes the baseline, it is not checked
    out again for its archive.
    """
    before = _signalled(project)
    moved = project.head != project.caught_up or tick_has_come(project.state, utc_now())
    if moved or _scoring_is_due(project):
        _advance(project)
        with suppress(EaseciError):  # tried again: that it fails must not tell what has passed
            ensure_archive(project, tree)
    let_go(project)
    deliver(project)
    project.caught_up = project.head
    return tuple(number for number in _signalled(project) if number not in before)


def _scoring_is_due(project: Project) -> bool:
    """Whether a process that stays goes on with outputs that were left, or tries once more."""
    waited = time.monotonic() - project.scoring_tried
    problem = project.scoring_problem is not None and waited >= SCORING_PAUSE_SECONDS
    return problem or project.scoring_left


def _signalled(project: Project) -> list[int]:
    return [s.number for s in project.state.submissions if s.signal is not None]


def _advance(project: Project) -> None:
    while (testset := project.state.active_testset) is not None:
        now = utc_now()
        due = tick_has_come(project.state, now)
        # A signal whose time has come does not wait for a scorer.
        scored = not due and _score_next(project, testset, _seconds_to_tick(testset, now))
        events = next_events(
            project.state, testset, now, lambda step: verdict_of(project, testset, step)
        )
        if not events:
            return
        begins = any(isinstance(event, TurnCame) for event in events)
        if begins and not scored and not due:
            return  # what is at hand at a turn must not depend on when the scorer could run
        project.append(*(_with_failures(project, testset, event) for event in events))


def _seconds_to_tick(testset: Testset, now: str) -> float:
    """How long it is to the next signal with a fixed time; infinite if there is none."""
    step = testset.next_signal
    tick = None if step is None else tick_of(testset, step)
    return math.inf if tick is None else max(seconds_between(now, tick), 0)


def _score_next(project: Project, testset: Testset, seconds: float) -> bool:
    """Score the outputs of the next step's models, before its turn comes and before it is decided.

    False if some are left, because the scorer cannot run now, or because so many seconds are over.
    The next command goes on; why must not reach developers, who see that the step is pending.
    """
    project.scoring_problem, project.scoring_tried = None, time.monotonic()
    project.scoring_left = False
    step = testset.next_step
    if step is None or not testset.terms.is_scored:
        return True
    submission = project.state.submission(step.submission)
    if not submission.built or submission.run_failure is not None:
        return True
    from polars.exceptions import PanicException

    from easeci.service.scoring.record import ComparedOutputs, ScoringState, score_what_can_be

    model = step.baseline_model
    if not step.began:
        baseline = compared_with(project.state, testset, step)
        model = None if baseline is None else baseline.model
    old = None if model is None else testset.predictions.get(model)
    compared = ComparedOutputs(
        testset.predictions[step.model].file, None if old is None else old.file
    )
    try:
        found = score_what_can_be(project, testset, compared, time.monotonic() + seconds)
    except (Exception, PanicException) as error:  # noqa: BLE001 - outputs may cause it
        _note_problem(project, testset, error)
        return False
    if found is ScoringState.BROKEN:
        project.append(SealedRunFailed(submission.number, BROKEN))
    project.scoring_left = found is ScoringState.OPEN
    return found is not ScoringState.OPEN


def _note_problem(project: Project, testset: Testset, error: BaseException) -> None:
    """Record for the owner why outputs could not be scored, unless that is known already."""
    reason = str(error) if isinstance(error, EaseciError) else type(error).__name__
    project.scoring_problem = reason
    if testset.scoring_problem != reason:
        with suppress(EaseciError):
            project.append(ScoringInterrupted(testset.number, reason))


def _with_failures(project: Project, testset: Testset, event: Event) -> Event:
    """A decision with the number of outputs that could not be scored."""
    if not isinstance(event, Decided) or event.verdict is None or not testset.terms.is_scored:
        return event
    from easeci.vault.scored_facts import load_scored_examples

    step = testset.steps[event.step - 1]
    models = verdict_models(testset, step)
    found = load_scored_examples(
        project.sealed(testset),
        testset.script,
        models.new,
        models.old,
        testset.label_files,
        testset.score_files,
    )
    return replace(event, failed_scores=found.failed)


def verdict_of(project: Project, testset: Testset, step: Step) -> Verdict:
    """The verdict of a step from the labels known so far."""
    from easeci.verdict.decide import Evaluation

    return Evaluation(*evidence_of(project, testset, step)).verdict()


class StepEvidence(NamedTuple):
    """What a step is decided by."""

    script: Script
    facts: Facts
    history: str
    """The answers before it."""
    at_hand: Flags | None
    """Where the label was known when its turn came; None for steps of older versions."""
    prefixes: Mapping[str, int]
    """How many examples are labelled first, by clause, as recorded at sealing."""


def evidence_of(project: Project, testset: Testset, step: Step) -> StepEvidence:
    """What a step is decided by.

    A decided step keeps the labels of that time: later ones and corrections do not count.
    """
    from easeci.vault.facts import expanded_script, known_by, load_facts

    sealed, models = project.sealed(testset), verdict_models(testset, step)
    script = expanded_script(sealed, testset.decides_by)
    labels, scores = testset.label_files, testset.score_files
    facts = load_facts(
        sealed, script, models, labels[: step.label_files], scores[: step.score_files]
    )
    at_hand = None
    if step.at_hand is not None:
        then = labels[: step.at_hand], scores[: step.scores_at_hand]
        at_hand = known_by(sealed, script, models, *then)
    history = testset.history[: step.number - 1]
    return StepEvidence(script, facts, history, at_hand, testset.prefixes)


def verdict_models(testset: Testset, step: Step) -> VerdictModels:
    """The stored predictions that the verdict of a step compares.

    Models that were tested before count only if the script asks for them (``top``): those of
    earlier steps, and what they were compared with. One whose program failed has no predictions:
    a program that can fail is beaten by definition.
    """
    from easeci.vault.facts import VerdictModels

    old = step.baseline_model
    rivals: dict[str, None] = {}
    if any(clause.score.top is not None for clause in testset.script.clauses):
        earlier = [before for before in testset.steps if before.number < step.number]
        named = [m for before in earlier for m in (before.baseline_model, before.model)]
        rivals = dict.fromkeys(model for model in (*named, old) if model is not None)
    stored = testset.predictions
    return VerdictModels(
        stored[step.model].file,
        None if old is None else stored[old].file,
        tuple(stored[m].file for m in rivals if m in stored and m != step.model),
    )
