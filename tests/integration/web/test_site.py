"""Forms do not wait for long while another command has the project."""

from __future__ import annotations

from typing import Any

import pytest

from easeci.service.project import open_project
from easeci.web import site as sites
from tests.integration.web.busy import Busy
from tests.integration.web.uploads import as_csv, labels
from tests.sites import held


def test_a_form_is_refused_while_a_build_has_the_project(
    busy: Busy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the owner's: nothing was done, it says so, and sent again later it is done."""
    monkeypatch.setattr(sites, "PATIENCE_SECONDS", 0.05)
    one = as_csv(labels(busy.place, 0, 1))
    forms: tuple[tuple[str, Any, dict[str, str]], ...] = (
        ("/testsets", {"examples": ("e.csv", busy.place.examples.read_bytes())}, {}),
        ("/testsets/1/labels", {"labels": ("l.csv", one)}, {}),
        ("/testsets/1/retire", None, {"sure": "yes", "reason": "too old"}),
        ("/testsets/1/release", None, {}),
    )
    with held(busy.place):
        for path, files, fields in forms:
            answer = busy.owner.send(path, files=files, **fields)
            assert answer.status_code == 503, path
            assert "Another command is at work on the project, such as a build" in answer.text
            assert sites.LATER in answer.text
        assert "too old" in busy.owner.post("/testsets/1/retire", sure="yes", reason="too old").text
    testset = open_project(busy.place.repository).state.latest_testset
    assert testset is not None
    assert (testset.labels, testset.retired) == (0, None)
    assert "1 added" in busy.owner.send("/testsets/1/labels", files=forms[1][1]).text
