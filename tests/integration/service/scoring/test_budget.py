"""What a command may spend on scoring, and what becomes of a step that needs more.

The scorer runs in this process here, because many runs are needed; test_program.py has it in real
sandboxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from easeci.build.scoring import PartScores, ScoringBudget
from easeci.ledger.events import ScoringInterrupted
from easeci.ledger.signals import Signal
from easeci.service import project as project_module
from easeci.service.commits import advance
from easeci.service.custody.verify import verify
from easeci.service.project import Project
from easeci.service.scoring import program, record
from easeci.service.testsets.retire import retire_testset
from easeci.views.alarms import AlarmKind, UntestedPushes, alarms
from tests.projects import opened, run_on
from tests.repositories import Workplace
from tests.scored_projects import add_scored, commit_share, only_step, only_testset, scored_place

CRASHES = """
honest = outputs
def outputs(row):
    return ["CRASH " + row["id"]] if float(row["x"]) < {share} else honest(row)
"""


@pytest.fixture(autouse=True)
def _a_scorer_that_is_broken_by_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run fails as a whole if an output of it begins with CRASH. A command has 25 runs."""

    def run_part(
        self: program.ProgramScorer,
        program_: object,
        sandboxes: object,
        part: Sequence[int],
        seconds: int,
    ) -> PartScores[program.Named]:
        rows = self.outputs.table.select("text", "label").rows()
        if any(rows[place][0].startswith("CRASH") for place in part):
            return PartScores({}, "it crashed")
        return PartScores({p: {"score": float(rows[p][0] == rows[p][1])} for p in part})

    monkeypatch.setattr(program.ProgramScorer, "_run_part", run_part)
    monkeypatch.setattr(program, "ScoringBudget", partial(ScoringBudget, runs=25))


def scores_of(project: Project) -> pl.DataFrame:
    testset = only_testset(project)
    return project.sealed(testset).scores.known(testset.score_files)


def answered(place: Workplace, most: int = 40) -> tuple[Signal, int]:
    """The signal of the commit, and how many commands it took."""
    for number in range(1, most):
        signal = run_on(place).row.signal
        if signal is not Signal.PENDING:
            return signal, number
    raise AssertionError("it waits for ever")


def test_no_score_is_lost_because_of_other_outputs(tmp_path: Path) -> None:
    """A baseline that breaks the scorer on a tenth keeps all its other scores, over many commands.

    If its other outputs scored 0 with them, a worse model would pass.
    """
    place = scored_place(tmp_path)
    commit_share(place, 0.9, more=CRASHES.format(share=0.1))
    add_scored(place)
    commit_share(place, 0.6)
    signal, commands = answered(place)
    assert signal is Signal.FAIL
    assert commands > 1
    project = opened(place)
    table = scores_of(project)
    failed = table.filter("failed")
    assert 20 <= failed.height <= 40, "only what failed alone"
    assert table.height - failed.height > 300
    assert verify(project) == []


@pytest.mark.long
def test_a_new_model_that_breaks_the_scorer_over_and_over_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is like a program that fails on sealed examples; otherwise it would hold up the others."""
    monkeypatch.setattr(record, "MOST_BROKEN", 12)
    place = scored_place(tmp_path)
    add_scored(place)
    commit_share(place, 0.9, more=CRASHES.format(share=1.0))
    signal, _ = answered(place)
    assert signal is Signal.FAIL
    project = opened(place)
    step = only_step(project)
    assert (step.passed, step.document) == (False, None)
    assert project.state.submissions[-1].run_failure == advance.BROKEN
    assert verify(project) == []
    commit_share(place, 0.9)
    assert answered(place)[0] is Signal.PASS


def test_any_error_of_scoring_leaves_the_step_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outputs may use up the memory: developers see PENDING, the owner an alarm, and can retire."""
    place = scored_place(tmp_path)
    add_scored(place)
    commit_share(place, 0.9)

    def too_much(*arguments: object, **more: object) -> None:
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(record, "score_what_can_be", too_much)
        for _ in range(3):
            assert run_on(place).row.signal is Signal.PENDING
        project = opened(place)
        testset = only_testset(project)
        assert testset.scoring_problem == "MemoryError"
        noted = [
            r for r in project.store.records(project.name) if r.kind == ScoringInterrupted.__name__
        ]
        assert len(noted) == 1, "once is enough"
        found = alarms(project.state, testset, UntestedPushes((), ()))
        assert AlarmKind.SCORER in [alarm.kind for alarm in found]
        copy = opened(place)
    assert run_on(place).row.signal is Signal.PASS
    assert only_testset(opened(place)).scoring_problem is None
    with monkeypatch.context() as patch:
        patch.setattr(record, "score_what_can_be", too_much)
        commit_share(place, 0.5)
        assert run_on(place).row.signal is Signal.PENDING
        retire_testset(opened(place), "it is over")
    assert copy.state.testsets[1].retired is None


def test_a_signal_whose_time_has_come_waits_for_no_scorer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long a scorer takes depends on sealed examples, so it must not move a tick."""
    now = ["2026-11-16T00:00:00Z"]
    for module in (project_module, advance):
        monkeypatch.setattr(module, "utc_now", lambda: now[0])
    place = scored_place(tmp_path)
    add_scored(place, disclose="24h")
    given: list[float] = []

    def open_for_ever(
        project: object, testset: object, compared: object, until: float
    ) -> record.ScoringState:
        given.append(until)
        return record.ScoringState.OPEN

    monkeypatch.setattr(record, "score_what_can_be", open_for_ever)
    now[0] = "2026-11-16T23:00:00Z"
    commit = commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PENDING
    assert given, "before its tick it is scored"
    assert max(given) - min(given) < 3_600 + 60, "and no longer than until the tick"
    given.clear()
    now[0] = "2026-11-17T00:00:00Z"
    assert run_on(place, commit).row.signal is Signal.FAIL
    assert not given
    assert only_step(opened(place)).at_tick
