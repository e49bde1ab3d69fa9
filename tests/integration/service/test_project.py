"""A project belongs to one repository, whatever its folder is called."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.ledger.signals import Signal
from easeci.service.commits.submit import run
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from tests.projects import run_on
from tests.repositories import Workplace


def test_two_repositories_do_not_share_a_project(sealed: Workplace, tmp_path: Path) -> None:
    other = Workplace.make(tmp_path / "other")
    other.commit_cut(0.6, "another repository")
    with pytest.raises(UsageError, match="another repository"):
        open_project(other.repository, store=sealed.repository / ".easeci")
    named = open_project(
        other.repository, store=sealed.repository / ".easeci", name="other", create=True
    )
    assert named.store.projects() == ["model", "other"]


def test_a_renamed_folder_is_the_same_project(sealed: Workplace, tmp_path: Path) -> None:
    run_on(sealed)
    store = tmp_path / "store"
    (sealed.repository / ".easeci").rename(store)
    moved = tmp_path / "renamed"
    sealed.repository.rename(moved)
    assert open_project(moved, store=store).name == "model"


@pytest.mark.parametrize("name", ["a..b", "m.lock", ".model", "模型", "with space"])
def test_any_folder_can_be_a_project(tmp_path: Path, name: str) -> None:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    folder = tmp_path / name
    place.repository.rename(folder)
    project = open_project(folder, create=True)
    add_testset(project, Offer(place.examples, script=folder / ".easeci.yml"))
    assert run(open_project(folder)).row.signal is Signal.BASELINE
