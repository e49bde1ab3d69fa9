"""Only a retired testset is released, with the labels that were given."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from easeci.errors import InfrastructureError, UsageError
from easeci.ledger.events import TestsetReleased, parse_event
from easeci.service.labelling.files import import_labels
from easeci.service.testsets import release as module
from easeci.service.testsets.release import release_testset
from easeci.service.testsets.retire import retire_testset
from tests.projects import add, opened
from tests.repositories import SEALED, Workplace


def test_a_testset_in_use_is_not_released(place: Workplace, tmp_path: Path) -> None:
    add(place)
    with pytest.raises(UsageError, match="still in use"):
        release_testset(opened(place), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_retired_testset_is_released_with_the_labels_that_were_given(
    place: Workplace, tmp_path: Path
) -> None:
    add(place, labelled=False)
    some = tmp_path / "some.csv"
    sealed = set(opened(place).sealed(opened(place).state.testsets[1]).examples.ids)
    header, *lines = place.labels.read_text().splitlines(keepends=True)
    known = [line for line in lines if line.split(",")[0] in sealed][:40]
    some.write_text("".join([header, *known]))
    import_labels(opened(place), some)
    retire_testset(opened(place), "by hand")
    done = release_testset(opened(place), tmp_path / "out")
    assert (done.examples, done.labels) == (SEALED, 40)
    out = tmp_path / "out"
    assert set(pl.read_csv(out / "examples.csv")["id"]) == sealed
    assert sorted((out / "labels.csv").read_text().split()) == sorted(some.read_text().split())
    with pytest.raises(UsageError, match="empty folder"):
        release_testset(opened(place), out)
    assert opened(place).state.testsets[1].released_at is not None


def test_every_release_is_recorded_before_anything_is_written(
    place: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the second, and one that fails half way: some of it may have left."""
    add(place)
    retire_testset(opened(place), "by hand")
    release_testset(opened(place), tmp_path / "one", by="ann")
    first = opened(place).state.testsets[1].released_at
    release_testset(opened(place), tmp_path / "two", by="ben")

    def fail(*_: object) -> None:
        raise InfrastructureError("the disk is full")

    monkeypatch.setattr(module, "write_release", fail)
    with pytest.raises(InfrastructureError):
        release_testset(opened(place), tmp_path / "three", by="eve")
    project = opened(place)
    events = [parse_event(r.kind, r.version, r.text) for r in project.store.records(project.name)]
    assert [e.by for e in events if isinstance(e, TestsetReleased)] == ["ann", "ben", "eve"]
    assert project.state.testsets[1].released_at == first
