"""``easeci report`` as its users give it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.repositories import Workplace


def test_a_report_for_developers_and_one_for_the_owner(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    assert "no testset yet" in place.easeci("report", code=4).stderr
    place.add_testset()
    place.easeci("run", code=0)
    place.commit_cut(0.52, "a better <b>model</b>")
    place.easeci("run", code=0)
    file = place.repository / "easeci-report.html"

    assert "easeci-report.html" in place.easeci("report", code=0).stdout
    first = file.read_bytes()
    place.easeci("report", code=0)
    assert file.read_bytes() == first
    assert b"a better &lt;b&gt;model&lt;/b&gt;" in first
    assert b"<figure>" not in first

    other = tmp_path / "owner.html"
    done = place.easeci("report", "--owner", "-o", str(other), "--json", code=0)
    assert json.loads(done.stdout) == {
        "file": str(other),
        "owner": True,
        "testsets": 1,
        "commits": 2,
    }
    assert other.read_text("utf-8").count("<figure>") == 2
    assert "looked at more than the signals" in place.easeci("status", code=0).stdout

    refused = place.easeci("report", "-o", str(tmp_path / "missing" / "r.html"), code=2)
    assert "cannot be written" in refused.stderr
