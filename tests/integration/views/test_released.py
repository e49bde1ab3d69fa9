"""A released testset by class and slice: for the owner, after release, and never before."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from easeci.service.project import open_project
from tests.repositories import SEALED, Workplace, copy_of
from tests.sites import ROLES, serving_here, visitor, waiting_project

PAGE = "/testsets/1/released"
SHOW = ("report", "--released")


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A commit that passed, and one that failed; every example is labelled."""
    return copy_of(_tested, tmp_path)


def _tested(folder: Path) -> Workplace:
    place = waiting_project(folder, classes="[low, high]")
    place.easeci("labels", "import", str(place.labels), code=0)
    place.commit_cut(0.3, "a worse model")
    place.easeci("run", code=1)
    return place


def release(place: Workplace) -> None:
    place.easeci("testset", "release", "--to", str(place.folder / "out"), code=0)


def looks(place: Workplace) -> list[str]:
    """What was looked at and recorded."""
    return [view for _, view in open_project(place.repository).state.looks]


def test_only_a_released_testset_is_shown_and_only_to_the_owner(place: Workplace) -> None:
    """In no form and to no role before that."""
    early = place.folder / "early.html"
    with serving_here(place.repository) as here:
        visits = {role: visitor(here, place.repository, role) for role in ROLES}
        owner = visits["owner"]
        for words in ("still in use", "not released"):
            for form in ((), ("1",), ("--json",), ("-o", str(early)), ("--commit", "main")):
                refused = place.easeci(*SHOW, *form, code=2)
                assert words in refused.stderr
                assert refused.stdout == ""
            for role, visit in visits.items():
                answer = visit.get(PAGE)
                assert answer.status_code == (400 if role == "owner" else 403)
                assert (words in answer.text) == (role == "owner")
                assert "<table" not in answer.text
            assert PAGE not in owner.get("/testsets").text
            if words == "still in use":
                place.easeci("testset", "retire", code=0)
        assert not early.exists()
        release(place)
        assert PAGE in owner.get("/testsets").text
        assert f"All {SEALED:,} examples are labelled" in owner.get(PAGE).text
        for role in ("labeller", "developer"):
            assert visits[role].get(PAGE).status_code == 403


def test_the_owner_chooses_models_on_the_page_and_no_look_is_recorded(place: Workplace) -> None:
    place.easeci("testset", "retire", code=0)
    release(place)
    commits = [found.commit for found in open_project(place.repository).state.submissions]
    with serving_here(place.repository) as here:
        owner = visitor(here, place.repository, "owner")
        page = owner.get(f"{PAGE}?commit={commits[2]}&against={commits[1]}")
        assert f'<option value="{commits[2]}" selected>' in page.text
        assert f'<option value="{commits[1]}" selected>' in page.text
        assert owner.get(f"{PAGE}?commit=nothing").status_code == 400
        assert owner.get("/testsets/2/released").status_code == 404
    place.easeci(*SHOW, code=0)
    assert looks(place) == []


def test_numbers_are_those_of_the_models(place: Workplace) -> None:
    """A model is a cut: which examples it gets wrong is known beforehand."""
    place.easeci("testset", "retire", code=0)
    release(place)
    found = json.loads(place.easeci(*SHOW, "--json", code=0).stdout)
    subjects = [found[model]["subject"] for model in ("new", "old")]
    assert subjects == ["a better model", "the first model"]  # cuts at 0.52 and 0.7
    with (place.folder / "out" / "examples.csv").open() as file:
        xs = [float(row["x"]) for row in csv.DictReader(file)]
    low = sum(x < 0.5 for x in xs)
    both, one = sum(0.5 <= x < 0.52 for x in xs), sum(0.52 <= x < 0.7 for x in xs)
    high, rest = SEALED - low, SEALED - low - both - one
    assert found["confusion"]["new"]["counts"] == [[low, 0], [both, one + rest]]
    assert found["confusion"]["old"]["counts"] == [[low, 0], [both + one, rest]]
    assert found["classes"][1]["new"]["recall"] == pytest.approx(1 - both / high)
    assert found["whole"]["old"] == pytest.approx(1 - (both + one) / SEALED)
    assert found["whole"]["difference"] == pytest.approx(one / SEALED)
    counts = {"examples": one, "labelled": one, "new_right": one, "old_right": 0, "neither": 0}
    assert found["differ"] == counts
    assert len(found["differing"]) == one
    worse = json.loads(place.easeci(*SHOW, "1", "--commit", "main", "--json", code=0).stdout)
    assert (worse["new"]["subject"], worse["old"]["subject"]) == ("a worse model", "a better model")
    for name in ("released.html", "differing.csv"):
        path = place.folder / name
        assert name in place.easeci(*SHOW, "-o", str(path), code=0).stdout
        assert path.stat().st_mode & 0o777 == 0o600
    assert len((place.folder / "differing.csv").read_text().splitlines()) == one + 1


def test_options_that_mean_nothing_are_refused(place: Workplace) -> None:
    assert "leave --owner out" in place.easeci(*SHOW, "--owner", code=2).stderr
    for words in (("1",), ("--commit", "main"), ("--against", "main")):
        assert "Add --released" in place.easeci("report", *words, code=2).stderr
