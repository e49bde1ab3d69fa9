"""Results that are kept, and work that nobody wants any more."""

from __future__ import annotations

import threading

import pytest

from easeci.web.cache import MOST_CACHED, Cache, NewestOnly
from tests.waiting import PATIENCE, wait_until


def test_a_result_is_made_once_also_if_it_is_nothing() -> None:
    cache, made = Cache(), []

    def make() -> None:
        made.append(1)

    assert cache.get(("a",), make) is None
    assert cache.get(("a",), make) is None
    assert made == [1]


def test_what_was_not_used_for_long_is_dropped() -> None:
    cache = Cache()
    for number in range(MOST_CACHED):
        cache.get((number,), lambda: "old")
    cache.get((0,), lambda: "new")
    cache.get(("one more",), lambda: "new")
    assert cache.get((0,), lambda: "new") == "old"
    assert cache.get((1,), lambda: "new") == "new"


def test_no_request_waits_for_what_another_one_makes() -> None:
    cache, begun, end = Cache(), threading.Event(), threading.Event()

    def slowly() -> str:
        begun.set()
        assert end.wait(PATIENCE)
        return "slow"

    thread = threading.Thread(target=cache.get, args=(("a",), slowly))
    thread.start()
    assert begun.wait(PATIENCE)
    assert cache.get(("a",), lambda: "quick") == "quick"
    end.set()
    thread.join(PATIENCE)


def test_work_is_skipped_if_the_session_has_asked_for_something_newer() -> None:
    newest = NewestOnly()
    done: dict[str, str | None] = {}

    def run(session: str, work: str) -> threading.Thread:
        """Ask for work, and return when it waits for its turn."""
        before = newest._newest.get(session)
        thread = threading.Thread(
            target=lambda: done.update({work: newest.run(session, lambda: work)})
        )
        thread.start()
        wait_until(lambda: newest._newest.get(session) is not before)
        return thread

    with newest._lock:  # as while something else is computed
        threads = [run("ada", "first"), run("bob", "other"), run("ada", "second")]
    for thread in threads:
        thread.join(PATIENCE)
    assert done == {"first": None, "other": "other", "second": "second"}
    assert newest._newest == {}


def test_an_error_leaves_nothing_behind() -> None:
    newest = NewestOnly()
    with pytest.raises(ZeroDivisionError):
        newest.run("ada", lambda: 1 // 0)
    assert newest._newest == {}
    assert newest.run("ada", lambda: 1) == 1
