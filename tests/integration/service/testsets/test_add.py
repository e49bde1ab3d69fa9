"""Testsets: what is sealed, what is refused, and labels that come later."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import DataError, ScriptError, UsageError
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Added, Offer, add_testset
from easeci.service.testsets.retire import retire_testset
from tests.repositories import Workplace, write_examples


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    return place


def opened(place: Workplace) -> Project:
    return open_project(place.repository, create=True)


def add(place: Workplace, **options: object) -> Added:
    script = place.repository / ".easeci.yml"
    return add_testset(opened(place), Offer(place.examples, script=script, **options))  # type: ignore[arg-type]


def test_what_the_plan_needs_is_said(place: Workplace) -> None:
    added = add(place, labels=place.labels)
    assert (added.examples, added.labels, added.testset) == (1500, 1500, 1)
    assert added.needed is not None
    assert added.needed <= 1500
    assert added.sensitivity_left is None


def test_a_testset_that_is_too_small_is_refused_with_how_many_are_missing(place: Workplace) -> None:
    write_examples(place.examples, place.labels, size=1000)
    with pytest.raises(DataError, match="429 are missing") as error:
        add(place, labels=place.labels)
    assert "--allow-smaller" in str(error.value)
    assert not opened(place).state.testsets


@pytest.mark.parametrize("name", ["label", "Labels"])
def test_a_column_called_label_is_not_sealed_by_oversight(place: Workplace, name: str) -> None:
    """Models would see it: it is named as the labels, or kept on purpose. Labels of some examples,
    given beside it, say nothing of what it holds."""
    rows = place.examples.read_text().splitlines()
    columns = [f"id,x,{name}", *(f"{row},{'low' if row[-1] < '5' else 'high'}" for row in rows[1:])]
    place.examples.write_text("\n".join([*columns, ""]))
    for labels in (None, place.labels):
        with pytest.raises(DataError, match=f"column '{name}', and models would see it") as error:
            add(place, labels=labels)
        assert "--label-column" in str(error.value)
        assert "--keep-label-column" in str(error.value)
    assert not opened(place).state.testsets
    kept = add(place, keep_label_column=True)
    assert any(f"column '{name}' will be shown to programs" in text for text in kept.warnings)
    retire_testset(opened(place), "next")
    write_examples(place.examples, start=5000)
    rows = place.examples.read_text().splitlines()
    place.examples.write_text("\n".join([f"{rows[0]},{name}", *(f"{row},low" for row in rows[1:])]))
    named = add(place, label_column=name)
    assert (named.labels, named.warnings[0:1]) == (1500, ())


def test_a_smaller_one_is_allowed_with_what_sensitivity_is_left(place: Workplace) -> None:
    write_examples(place.examples, place.labels, size=1300)
    added = add(place, labels=place.labels, allow_smaller=True)
    assert added.sensitivity_left is not None
    assert 0.0 < added.sensitivity_left < 0.9
    write_examples(place.examples, place.labels, size=1350)
    retire_testset(opened(place), "next")
    more = add(place, labels=place.labels, allow_smaller=True, allow_overlap=True)
    assert more.sensitivity_left is not None
    assert more.sensitivity_left > added.sensitivity_left


def test_the_same_examples_are_not_fresh(place: Workplace) -> None:
    """Whatever they are called, and in whatever order."""
    add(place)
    retire_testset(opened(place), "by hand")
    rows = place.examples.read_text().splitlines()[1:]
    renamed = [f"other{i},{row.split(',')[1]}" for i, row in enumerate(reversed(rows))]
    place.examples.write_text("\n".join(["id,x", *renamed, ""]))
    for options in ({}, {"allow_overlap": True}):
        with pytest.raises(DataError, match="examples of testset 1 again"):
            add(place, **options)


@pytest.mark.parametrize(("shared", "refused"), [(15, False), (16, True)])
def test_more_than_a_hundredth_of_overlap_is_refused(
    place: Workplace, shared: int, refused: bool
) -> None:
    add(place)
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=1500 - shared)
    if refused:
        with pytest.raises(DataError, match="16 of the examples"):
            add(place)
        assert add(place, allow_overlap=True).overlaps[0].shared == shared
    else:
        assert add(place).overlaps[0].shared == shared


def test_one_testset_at_a_time(place: Workplace) -> None:
    add(place)
    write_examples(place.examples, place.labels, start=9000)
    with pytest.raises(UsageError, match="still in use"):
        add(place)


@pytest.mark.parametrize(
    ("keys", "words"),
    [({"adaptivity": "none"}, "needs an address"), ({"condition": "n * o > 1 +/- 1"}, "linear")],
)
def test_a_script_that_cannot_run_is_refused_at_once(
    place: Workplace, keys: dict[str, str], words: str
) -> None:
    place.write_script(**keys)
    with pytest.raises(ScriptError, match=words):
        add(place)
