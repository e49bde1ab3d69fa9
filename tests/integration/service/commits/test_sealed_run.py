"""Runs on sealed examples: charged before they begin, repeated if interrupted, failed at the third."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import NoReturn

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.signals import Signal
from easeci.service.commits import sealed_run
from easeci.service.commits.sealed_run import MOST_RUNS
from easeci.service.labelling.files import import_labels
from easeci.views.history import owner_rows
from tests.commands import COMMAND
from tests.projects import add, opened, run_on
from tests.repositories import MODEL, PROGRAM, Workplace
from tests.waiting import wait_until


def _broken(*_: object, **__: object) -> NoReturn:
    raise InfrastructureError("the disk is full of secrets")


def test_an_interruption_is_repeated_under_the_same_charge(
    sealed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed.commit_cut(0.52)
    with monkeypatch.context() as broken:
        broken.setattr(sealed_run, "build", _broken)
        first = run_on(sealed)
        assert (first.row.signal, first.steps_used, first.failure) == (Signal.PENDING, 1, None)
    again = run_on(sealed)
    assert (again.row.signal, again.row.step, again.steps_used) == (Signal.PASS, 1, 1)


def test_another_commit_repeats_it_too(sealed: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of steps stays that of their charges."""
    better = sealed.commit_cut(0.52)
    with monkeypatch.context() as broken:
        broken.setattr(sealed_run, "build", _broken)
        run_on(sealed)
    sealed.commit_cut(0.75)
    assert run_on(sealed).row.signal is Signal.FAIL
    assert run_on(sealed, better).row.signal is Signal.PASS
    assert opened(sealed).state.testsets[1].history == "PF"


def test_the_third_interruption_is_a_failure(
    sealed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Developers never read a reason or a count; the owner does."""
    commit = sealed.commit_cut(0.52)
    with monkeypatch.context() as broken:
        broken.setattr(sealed_run, "build", _broken)
        answers = [run_on(sealed) for _ in range(MOST_RUNS)]
    signals = [answer.row.signal for answer in answers]
    assert signals == [Signal.PENDING] * (MOST_RUNS - 1) + [Signal.FAIL]
    assert all(answer.steps_used == 1 for answer in answers)
    assert not any("secrets" in repr(answer) for answer in answers)
    submission = opened(sealed).state.submission(1)
    assert submission.run_failure is not None
    assert submission.interruption == "the disk is full of secrets"
    assert run_on(sealed, commit).row.signal is Signal.FAIL
    assert owner_rows(opened(sealed).state)[0].failure is not None


@pytest.mark.usefixtures("real_sandbox")
def test_a_command_that_is_killed_while_its_program_runs_goes_on(
    place: Workplace, tmp_path: Path
) -> None:
    """The program waits on sealed examples only, and only while a mounted file says so."""
    mounted = tmp_path / "mounted"
    mounted.mkdir()
    (mounted / "wait").touch()
    mounted.chmod(0o755)
    add(place, mounts=f"[{mounted}]")
    slow = f'import os, time\nwhile os.path.exists("{mounted}/wait") and len(rows) > 500:\n'
    program = PROGRAM.replace(
        'with open(os.environ["EASECI_PRED',
        slow + '    time.sleep(0.05)\nwith open(os.environ["EASECI_PRED',
    )
    place.write("test_model.py", program)
    place.write("model.py", MODEL.format(cut=0.52))
    place.commit("slow")
    with subprocess.Popen(
        [COMMAND, "run"], cwd=place.repository, start_new_session=True, stdout=subprocess.DEVNULL
    ) as running:
        wait_until(
            lambda: bool(opened(place).state.submissions and opened(place).state.submission(1).runs)
        )
        os.killpg(running.pid, signal.SIGKILL)
    state = opened(place).state
    assert state.testsets[1].steps_used == 1
    (mounted / "wait").unlink()
    # Other mounted files are another model: it is charged too. The first one can't be run again.
    signals = [run_on(place).row.signal for _ in range(MOST_RUNS - 1)]
    assert signals[0] is Signal.PENDING
    state = opened(place).state
    assert (state.testsets[1].history[0], state.testsets[1].steps_used) == ("F", 2)
    assert state.submission(1).run_failure is not None


def test_labels_that_come_meanwhile_do_not_decide_it(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step whose run has not ended waits, and so do those behind it."""
    add(place, labelled=False)
    place.commit_cut(0.52)
    with monkeypatch.context() as broken:
        broken.setattr(sealed_run, "build", _broken)
        run_on(place)
        import_labels(opened(place), place.labels)
        assert opened(place).state.testsets[1].history == ""
    assert run_on(place).row.signal is Signal.PASS
