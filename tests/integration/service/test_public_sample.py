"""Developers find the public sample: in the store, or published in a shared repository."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from easeci.build.repository import Repository
from easeci.errors import NoTestsetError, UsageError
from easeci.service.project import open_project
from easeci.service.public_sample import find_sample, publish_sample
from easeci.service.pushes.hooks import install
from easeci.service.testsets.add import Offer, add_testset
from easeci.service.testsets.retire import retire_testset
from easeci.service.testsets.sample import write_sample
from tests.repositories import SAMPLE, Workplace, write_examples


@pytest.fixture
def shared(tmp_path: Path) -> Workplace:
    """A bare repository of a group with a store and a testset, and a developer's clone of it."""
    place = Workplace.make(tmp_path / "developer")
    place.commit_cut(0.7)
    bare = tmp_path / "shared.git"
    place.git("init", "--quiet", "--bare", "--shared=group", "--initial-branch=main", str(bare))
    place.git("remote", "add", "origin", str(bare))
    place.git("push", "--quiet", "origin", "main")
    install(Repository.find(bare), ["/bin/true"], [])
    add(place, bare)
    return place


def add(place: Workplace, bare: Path) -> None:
    script = place.repository / ".easeci.yml"
    project = open_project(bare, store=bare.parent / "store", create=True)
    add_testset(project, Offer(place.examples, labels=place.labels, script=script))


def published(place: Workplace) -> Path:
    return place.folder.parent / "shared.git" / "easeci" / "sample"


def publish(place: Workplace) -> None:
    root = place.folder.parent
    publish_sample(open_project(root / "shared.git", store=root / "store"))


def test_the_sample_is_published_for_developers(shared: Workplace, tmp_path: Path) -> None:
    """A developer without access to the store gets examples and labels from the repository."""
    with pytest.raises(NoTestsetError):
        write_sample(tmp_path / "early", shared.repository)
    publish(shared)
    done = write_sample(tmp_path / "out", shared.repository)
    assert (done.testset, done.examples, done.labels) == (1, SAMPLE, SAMPLE)
    root = tmp_path
    owner = write_sample(tmp_path / "mine", root / "shared.git", store=root / "store")
    assert owner.examples == SAMPLE
    names = {"examples.csv", "examples.jsonl", "labels.csv"}
    for folder in (tmp_path / "out", tmp_path / "mine"):
        assert {path.name for path in folder.iterdir()} == names
    for name in names:
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "mine" / name).read_bytes()
    ids = pl.read_csv(tmp_path / "out" / "examples.csv")["id"]
    project = open_project(root / "shared.git", store=root / "store")
    sealed = project.sealed(project.require_active())
    assert sealed.sample is not None
    assert ids.to_list() == sealed.sample.ids.to_list()
    assert set(ids).isdisjoint(sealed.examples.ids.to_list())


def test_developers_may_read_it_and_not_write(shared: Workplace) -> None:
    """Folders and files are the owner's; the group may read them, and others can't get there."""
    publish(shared)
    folder = published(shared)
    assert folder.parent.stat().st_mode & 0o777 == 0o750
    for path in (folder, *folder.rglob("*")):
        mode = path.stat().st_mode & 0o777
        assert mode & 0o022 == 0
        assert mode & 0o040
        assert not path.is_dir() or mode & 0o010


def test_publishing_again_changes_nothing(shared: Workplace) -> None:
    """The watcher does it in every round."""
    publish(shared)
    before = {path: path.stat().st_ino for path in published(shared).rglob("*")}
    publish(shared)
    assert {path: path.stat().st_ino for path in published(shared).rglob("*")} == before


def test_the_next_testset_replaces_it(shared: Workplace, tmp_path: Path) -> None:
    """Only the active testset's sample is there; between two testsets, the last one's."""
    publish(shared)
    root = tmp_path
    retire_testset(open_project(root / "shared.git", store=root / "store"), "next")
    publish(shared)
    assert write_sample(tmp_path / "old", shared.repository).testset == 1
    write_examples(shared.examples, shared.labels, start=9000)
    add(shared, root / "shared.git")
    publish(shared)
    assert write_sample(tmp_path / "new", shared.repository).testset == 2
    assert [path.name for path in published(shared).glob("testset-*")] == ["testset-2"]


def test_a_drop_box_of_an_older_version_gets_the_folder(shared: Workplace, tmp_path: Path) -> None:
    """The owner need not install the hook again."""
    published(shared).rmdir()
    publish(shared)
    assert write_sample(tmp_path / "out", shared.repository).examples == SAMPLE


def test_without_a_drop_box_nothing_is_published(tmp_path: Path) -> None:
    """Developers of a repository that nobody shares read the store itself."""
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
    publish_sample(project)
    assert not (place.repository / ".git" / "easeci").exists()
    with find_sample(place.repository) as sample:
        folder = sample.folder
        assert (sample.examples, sample.labels) == (SAMPLE, 0)
        assert not (folder / "labels.csv").exists()
    assert not folder.exists()


def test_a_testset_without_a_sample_says_so(tmp_path: Path) -> None:
    """And what to do instead."""
    place = Workplace.make(tmp_path, sample="0")
    place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    add_testset(project, Offer(place.examples, script=place.repository / ".easeci.yml"))
    with pytest.raises(UsageError, match="testset 1 has no public sample") as error:
        write_sample(tmp_path / "out", place.repository)
    assert "easeci try --examples FILE" in str(error.value)
    assert not (tmp_path / "out").exists()


def test_a_full_folder_is_not_written_to(shared: Workplace, tmp_path: Path) -> None:
    """Nothing is mixed with other files."""
    publish(shared)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("x")
    with pytest.raises(UsageError, match="not an empty folder"):
        write_sample(tmp_path / "out", shared.repository)
    shutil.rmtree(tmp_path / "out")
    assert write_sample(tmp_path / "out", shared.repository).labels == SAMPLE


def test_the_baseline_is_published_with_its_predictions(shared: Workplace) -> None:
    """They are those of a public model on public examples."""
    publish(shared)
    with find_sample(shared.repository) as sample:
        assert sample.baseline is not None
        assert sample.baseline.commit == shared.git("rev-parse", "HEAD")
        rows = pl.read_csv(sample.folder / "examples.csv").iter_rows()
        cut = {name: ("low" if x < 0.7 else "high",) for name, x in rows}
        assert sample.baseline.predictions == cut


def test_a_baseline_that_developers_may_not_know_is_not_published(
    shared: Workplace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under `none` it depends on hidden verdicts."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{tmp_path}/letters")
    retire_testset(open_project(tmp_path / "shared.git", store=tmp_path / "store"), "next")
    shared.write_script(adaptivity="none -> owner@example.org")
    shared.commit("script")
    shared.git("push", "--quiet", "origin", "main")
    write_examples(shared.examples, shared.labels, start=9000)
    add(shared, tmp_path / "shared.git")
    publish(shared)
    about = (published(shared) / "about.json").read_text()
    assert shared.git("rev-parse", "HEAD") not in about
    with find_sample(shared.repository) as sample:
        assert (sample.testset, sample.baseline) == (2, None)


def test_what_is_published_follows_the_baseline_and_its_mounted_files(shared: Workplace) -> None:
    """The same commit with other weights is another model, with other predictions."""
    publish(shared)
    about = published(shared) / "about.json"
    first = json.loads(about.read_bytes())
    root = shared.folder.parent
    project = open_project(root / "shared.git", store=root / "store")
    testset = project.state.testsets[1]
    known = testset.sample_predictions[testset.public_model or ""]
    testset.sample_predictions[testset.public_model or ""] = replace(known, fingerprint="other")
    about.write_text(json.dumps(first | {"predictions": {}}))
    publish_sample(project)
    assert json.loads(about.read_bytes())["predictions"] == first["predictions"]
