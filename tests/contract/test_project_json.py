"""The JSON of commands on a project: names and types that other programs rely on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.repositories import Workplace

ROW = {
    "submission": int,
    "commit": str,
    "subject": str,
    "branch": str | None,
    "testset": int,
    "at": str,
    "signal": str,
    "step": int | None,
}


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = Workplace.make(tmp_path_factory.mktemp("json"))
    place.commit_cut(0.7)
    return place


def document(place: Workplace, *arguments: str, code: int = 0) -> Any:
    return json.loads(place.easeci(*arguments, "--json", code=code).stdout)


def require(found: dict[str, Any], types: dict[str, Any]) -> None:
    assert set(found) == set(types)
    for name, kind in types.items():
        assert isinstance(found[name], kind), name


def test_a_life_in_json(lived: Workplace) -> None:
    added = document(lived, "testset", "add", str(lived.examples), "--labels", str(lived.labels))
    require(
        added,
        {
            "testset": int,
            "examples": int,
            "labels": int,
            "needed": int,
            "estimator": str,
            "sensitivity_left": float | None,
            "overlaps": list,
            "sample": int,
            "left_out": int,
            "classes_line": str,
            "warnings": list,
            "baseline": str | None,
        },
    )
    words = dict.fromkeys(("failure", "log", "warning", "ended"), str | None)
    answer = {**ROW, "steps": int, "steps_used": int, "charged": bool, "sample": int, **words}
    answer["file_read"] = bool | None
    require(document(lived, "run"), answer)
    lived.commit_cut(0.75)
    failed = document(lived, "run", code=1)
    require(failed, answer)
    assert (failed["signal"], failed["step"], failed["charged"]) == ("fail", 1, True)
    (first, second) = document(lived, "log")
    require(first, ROW)
    assert second["signal"] == "fail"
    status = document(lived, "status")
    require(
        status,
        {
            "project": str,
            "shown": dict,
            "condition": str,
            "reliability": str,
            "mode": str,
            "adaptivity": str,
            "next": str,
            "rests_on": list,
            "owner": type(None),
            "alarms": list,
        },
    )
    assert status["alarms"] == []
    owner = document(lived, "status", "--owner")
    assert owner["owner"]["labels"] == 1520
    assert owner["alarms"] == []
    verdict = document(lived, "log", "--owner")[1]["verdict"]
    assert verdict["outcome"] in ("True", "False", "Unknown")
    assert document(lived, "log", "--verify") == {"damage": []}
    assert document(lived, "testset", "retire") == {"testset": 1, "retired": "by hand"}
    document(lived, "testset", "release", "--to", str(lived.folder / "out"))
    released = document(lived, "report", "--released")
    counts = dict.fromkeys(("testset", "cannot_tell", "unsettled"), int)
    names = dict.fromkeys(("released_at", "condition"), str)
    parts = dict.fromkeys(("new", "old", "whole", "confusion", "differ"), dict)
    lists = dict.fromkeys(("classes", "slices", "differing"), list)
    require(released, counts | names | parts | lists)
    require(released["differing"][0], dict.fromkeys(("id", "label", "new", "old"), str))
