"""Alarms: what the owner should do something about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from easeci.ledger.disclosure import disclosed_reason, steps_used
from easeci.ledger.mail_rules import STEPS_LEFT, mostly_undecided
from easeci.ledger.state import State, Testset
from easeci.ledger.wording import undecided_words


class AlarmKind(StrEnum):
    """What an alarm is about."""

    NEW_TESTSET = "new testset"
    FEW_STEPS = "few steps"
    UNDECIDED = "undecided"
    BASELINE = "baseline"
    INTERRUPTED = "interrupted"
    LETTERS = "letters"
    SCORES = "scores"
    UNSCORED = "unscored"
    SCORER = "scorer"
    SET_ASIDE = "set aside"
    POSTPONED = "postponed"


@dataclass(frozen=True)
class Alarm:
    """One alarm: what is wrong, and what the owner can do. Commands are between backticks."""

    kind: AlarmKind
    message: str
    hint: str


@dataclass(frozen=True)
class UntestedPushes:
    """Pushed commits that wait: set aside after unfinished tries, or postponed after failures."""

    set_aside: Sequence[str] = ()
    postponed: Sequence[str] = ()


def alarms(
    state: State, testset: Testset, untested: UntestedPushes, *, scores_wanted: int = 0
) -> tuple[Alarm, ...]:
    """Every alarm about a testset in use or just ended, about letters and about pushes.

    For the owner only.
    """
    found = (
        _new_testset(state, testset),
        _few_steps(state, testset),
        _undecided(testset),
        _baseline(testset),
        _awaited_baseline(state, testset),
        _interrupted(state, testset),
        _scores(scores_wanted),
        _unscored(testset),
        _scorer(testset),
        _letters(state),
        _set_aside(untested.set_aside),
        _postponed(untested.postponed),
    )
    return tuple(alarm for alarm in found if alarm is not None)


def _new_testset(state: State, testset: Testset) -> Alarm | None:
    reason = disclosed_reason(state, testset)
    if reason is None:
        return None
    return Alarm(
        AlarmKind.NEW_TESTSET,
        f"A new testset is needed: testset {testset.number} has ended ({reason}).",
        "Until it is added, no commit is tested.",
    )


def _few_steps(state: State, testset: Testset) -> Alarm | None:
    left = testset.terms.steps - steps_used(state, testset)
    if disclosed_reason(state, testset) is not None or left > STEPS_LEFT:
        return None
    return Alarm(AlarmKind.FEW_STEPS, f"Steps left: {left}.", "Prepare the next testset.")


def _undecided(testset: Testset) -> Alarm | None:
    warning = mostly_undecided(testset)
    if warning is None:
        return None
    return Alarm(
        AlarmKind.UNDECIDED,
        f"{undecided_words(warning)}.",
        "A larger tolerance or testset would decide more of them; `easeci plan` shows what that "
        "needs.",
    )


def _baseline(testset: Testset) -> Alarm | None:
    failure = testset.baseline_failure
    if failure is None:
        return None
    return Alarm(
        AlarmKind.BASELINE,
        f"The baseline could not be built: {failure.reason}.",
        "No commit can be compared with it. `easeci log --owner --build baseline` shows what it "
        "printed.",
    )


def _awaited_baseline(state: State, testset: Testset) -> Alarm | None:
    """The baseline has to be sent: the script names no program that could make it."""
    commit, script = state.baseline, testset.script
    made_here = script.program is not None or not script.needs_old_model
    if commit is None or made_here or testset.retired or testset.baseline_predictions is not None:
        return None
    return Alarm(
        AlarmKind.BASELINE,
        f"The baseline has no predictions on testset {testset.number}, so no commit can be "
        "compared with it.",
        f"`easeci baseline set {commit[:10]} --predictions FILE` gives them.",
    )


def _interrupted(state: State, testset: Testset) -> Alarm | None:
    waiting = [] if testset.retired is not None else state.interrupted(testset)
    if not waiting:
        return None
    last = waiting[-1]
    reason = f" ({last.interruption.splitlines()[0]})" if last.interruption else ""
    return Alarm(
        AlarmKind.INTERRUPTED,
        f"Runs on sealed examples that were interrupted: "
        f"{_some([submission.commit for submission in waiting])}{reason}.",
        "The next `easeci run`, or `easeci watch`, repeats them. The third interruption of a run "
        "is a fail.",
    )


def _scores(wanted: int) -> Alarm | None:
    if not wanted:
        return None
    return Alarm(
        AlarmKind.SCORES,
        f"Outputs that wait for a score: {wanted:,}.",
        "`easeci scores export FILE` writes them, `easeci scores import FILE` brings the scores.",
    )


def _unscored(testset: Testset) -> Alarm | None:
    if not testset.failed_scores or testset.retired is not None:
        return None
    return Alarm(
        AlarmKind.UNSCORED,
        f"Outputs that the scorer could not score: {testset.failed_scores:,} of "
        f"{testset.scored:,}. Each scores 0.",
        "`easeci log --owner --build scorer` shows what the scorer printed."
        if testset.scorer_log is not None
        else "It printed nothing.",
    )


def _scorer(testset: Testset) -> Alarm | None:
    if testset.scoring_problem is None or testset.retired is not None:
        return None
    return Alarm(
        AlarmKind.SCORER,
        f"The scorer cannot run now: {testset.scoring_problem.splitlines()[0]}",
        "Commits wait for it. The next command tries again.",
    )


def _letters(state: State) -> Alarm | None:
    failed = [message for message in state.messages if message.attempts and not message.sent]
    if not failed:
        return None
    return Alarm(
        AlarmKind.LETTERS,
        f"Letters that could not be sent: {len(failed):,} ({failed[-1].last_reason}).",
        "`easeci outbox --send` tries them again.",
    )


def _set_aside(commits: Sequence[str]) -> Alarm | None:
    if not commits:
        return None
    return Alarm(
        AlarmKind.SET_ASIDE,
        f"Pushed commits set aside: {_some(commits)}. Each stopped the watcher, or ended in an "
        "unexpected error, three times.",
        "`easeci watch --retry` tries them again.",
    )


def _postponed(commits: Sequence[str]) -> Alarm | None:
    if not commits:
        return None
    return Alarm(
        AlarmKind.POSTPONED,
        f"Pushed commits postponed: {_some(commits)}. Testing each failed three times or more "
        "because of this machine, such as its disk. It is tried again, at most an hour later.",
        "The lines of `easeci watch` name the cause. `easeci watch --retry` tries them at once.",
    )


def _some(commits: Sequence[str]) -> str:
    """How many commits, and the first of them."""
    names = ", ".join(commit[:10] for commit in commits[:3]) + (", …" if len(commits) > 3 else "")
    return f"{len(commits):,} ({names})"
