"""The plan explorer calculates only what a visitor asked for last."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import httpx
import pytest

from easeci.service.planning.explore import explore
from easeci.web import explorer
from tests.integration.web.busy import Busy
from tests.waiting import PATIENCE, wait_until


def test_a_plan_that_was_typed_over_is_not_calculated(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one plan is calculated, only the newest request of a visitor waits for its turn."""
    begun, go, calculated = Event(), Event(), []

    def slowly(fields: Mapping[str, str]) -> object:
        calculated.append(fields["steps"])
        begun.set()
        assert go.wait(PATIENCE)
        return explore(fields)

    def plan(steps: int) -> httpx.Response:
        return busy.owner.get(f"/plan?condition=n+%3E+0.5+%2B%2F-+0.1&steps={steps}")

    monkeypatch.setattr(explorer, "explore", slowly)
    asked: list[object] = []

    def has_asked() -> bool:
        last = [*busy.here.site.newest_only._newest.values()]
        return bool(last) and last != asked[-1:]

    with ThreadPoolExecutor(3) as threads:
        answers = []
        for steps in (1, 2, 3):
            answers.append(threads.submit(plan, steps))
            wait_until(has_asked)
            asked += busy.here.site.newest_only._newest.values()
        assert begun.wait(PATIENCE)
        go.set()
        first, second, third = (answer.result() for answer in answers)
    assert (first.status_code, second.status_code, third.status_code) == (200, 204, 200)
    assert second.content == b""
    assert calculated == ["1", "3"]
    assert "steps: 3" in third.text
