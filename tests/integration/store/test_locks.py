"""One command at a time acts on a project, and a lock ends with its process."""

from __future__ import annotations

import multiprocessing
import threading
import time
from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.store.locks import is_locked, locked
from easeci.store.store import Store
from tests.integration.store.records import again
from tests.waiting import PATIENCE, wait_until


def test_only_one_command_at_a_time_acts_on_a_project(store: Store) -> None:
    order: list[str] = []
    waits = threading.Event()
    with store.exclusive("p"):
        other = threading.Thread(target=_act, args=(again(store), waits, order))
        other.start()
        assert waits.wait(PATIENCE)
        order.append("first")
    other.join()
    assert order == ["first", "second"]


def _act(store: Store, waits: threading.Event, order: list[str]) -> None:
    with store.exclusive("p", waits.set):
        order.append("second")


def test_projects_do_not_wait_for_each_other(store: Store) -> None:
    with store.exclusive("p"), again(store).exclusive("q"):
        pass


def test_a_killed_command_leaves_no_lock(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=_hold, args=(store.folder,))
    process.start()
    wait_until((store.folder / "held").exists)
    process.kill()
    process.join()
    with store.exclusive("p", lambda: pytest.fail("the lock outlived its process")):
        pass


def _hold(folder: Path) -> None:
    with Store.open(folder).exclusive("p"):
        (folder / "held").touch()
        time.sleep(600)


def test_a_lock_is_seen_while_it_is_held(tmp_path: Path) -> None:
    """Nobody has to take it to see it, and looking makes no file."""
    path = tmp_path / "lock"
    assert not is_locked(path)
    assert not path.exists()
    with locked(path):
        assert is_locked(path)
    assert not is_locked(path)


def test_a_lock_that_is_free_is_not_waited_for(tmp_path: Path) -> None:
    with locked(tmp_path / "lock", lambda: pytest.fail("nobody holds it")):
        pass


def test_a_folder_that_takes_no_lock_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(InfrastructureError, match="may not be written") as error,
        locked(tmp_path / "nowhere" / "lock"),
    ):
        pass
    assert "--store" in str(error.value.hint)
