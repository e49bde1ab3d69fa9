"""``easeci report`` as its users give it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

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
    # The owner reads why on top, with the interval; developers read nothing of it.
    log = " ".join(place.easeci("log", "--owner", code=0).stdout.split())
    sentence = re.match(
        r"Last verdict \(step 1\.1\): PASS: shown to be better by .*? labels\.", log
    )
    assert sentence is not None
    assert re.search(r"n - o = \+[\d.]+ points, interval [+-][\d.]+ to \+[\d.]+ points", log)
    assert "pass: shown" in log
    assert sentence[0] in other.read_text("utf-8")
    assert b"Last verdict" not in first
    assert b"points" not in first
    assert "Last verdict" not in place.easeci("log", code=0).stdout
    rows = json.loads(place.easeci("log", "--owner", "--json", code=0).stdout)
    assert sentence[0].endswith(f"PASS: {rows[-1]['why']}.")
    assert "looked at more than the signals" in place.easeci("status", code=0).stdout

    refused = place.easeci("report", "-o", str(tmp_path / "missing" / "r.html"), code=2)
    assert "cannot be written" in refused.stderr


@pytest.mark.parametrize("missing", ["altair", pytest.param("vl_convert", marks=pytest.mark.long)])
def test_the_owners_report_needs_no_extra(
    tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the library of charts it has all numbers, and says how to get the charts."""
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    place.add_testset()
    place.easeci("run", code=0)
    monkeypatch.setitem(sys.modules, missing, None)
    file = tmp_path / "owner.html"
    early = place.easeci("report", "--owner", "-o", str(file), code=0)
    assert "No step is decided yet." in file.read_text("utf-8")
    place.commit_cut(0.52)
    place.easeci("run", code=0)
    done = place.easeci("report", "--owner", "-o", str(file), code=0)
    for said in (early, done):
        assert "it has no charts: they need the extra, pip install 'easeci[charts]'" in " ".join(
            said.stderr.split()
        )
    text = file.read_text("utf-8")
    assert "Charts need the extra: pip install &#39;easeci[charts]&#39;." in text
    assert "<svg viewBox" not in text
    assert "Labels known" in text
    assert "charts" not in place.easeci("report", code=0).stderr
