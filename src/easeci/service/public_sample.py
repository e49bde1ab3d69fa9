"""The public sample of the active testset: found in the store, or published for developers.

::

    <repository>/easeci/sample/about.json      which testset it is from, and its baseline
    <repository>/easeci/sample/testset-<n>/    as ``easeci testset sample --to`` writes it

Developers who cannot read the store find the sample there, like the signals of their pushes.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from easeci.build.repository import Repository
from easeci.errors import EaseciError, UsageError
from easeci.files import create_folder, explained, remove_folder, replace_file
from easeci.ledger.state import State, Testset
from easeci.script import Adaptivity
from easeci.service.project import Project, open_project

SHARED = "easeci"
"""The folder of a shared repository that developers hand pushes over in."""
SAMPLE = "sample"
ABOUT = "about.json"
READABLE_FOLDER, READABLE_FILE = 0o755, 0o644


@dataclass(frozen=True)
class SampleBaseline:
    """The baseline's commit, and what it predicts on the sample, by id: one text for each trial."""

    commit: str
    predictions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class PublicSample:
    """The sample of the active testset, in a folder that lasts as long as it is used."""

    testset: int
    examples: int
    labels: int
    folder: Path
    baseline: SampleBaseline | None


@contextmanager
def find_sample(
    folder: Path = Path(), *, store: Path | None = None, name: str | None = None
) -> Iterator[PublicSample]:
    """The sample of the active testset: from the store, or as it is published for developers."""
    try:
        project = open_project(folder, store=store, name=name)
    except EaseciError:
        published = _published(Repository.find(folder))
        if published is None:
            raise
        yield published
        return
    with tempfile.TemporaryDirectory(prefix="easeci-sample-") as place:
        yield _written(project, project.require_active(), Path(place) / "sample")


def _written(project: Project, testset: Testset, target: Path) -> PublicSample:
    """Write the sample of a testset to a new folder."""
    from easeci.vault.release import write_release

    sample = project.sealed(testset).sample
    if sample is None:
        raise UsageError(
            f"testset {testset.number} has no public sample",
            hint="`easeci try --examples FILE` takes other public examples. The next testset has a "
            "sample unless its script says sample: 0.",
        )
    labels = sample.labels()
    known = len(labels) - labels.null_count()
    write_release(sample.examples, labels if known else None, target)
    baseline = _baseline(project, testset)
    return PublicSample(testset.number, sample.size, known, target, baseline)


def public_baseline(state: State, testset: Testset) -> str | None:
    """The baseline, as far as developers know it; under ``none`` they know none."""
    return None if testset.script.adaptivity is Adaptivity.NONE else state.public_baseline


def _baseline(project: Project, testset: Testset) -> SampleBaseline | None:
    sample = project.sealed(testset).sample
    commit = public_baseline(project.state, testset)
    known = testset.sample_predictions.get(testset.public_model or "")
    if sample is None or commit is None or known is None:
        return None
    trials = testset.script.trials
    values = sample.predictions.load(known.file, trials).to_list()
    by_id = {
        str(name): tuple(values[place * trials : (place + 1) * trials])
        for place, name in enumerate(sample.ids)
    }
    return SampleBaseline(commit, by_id)


# -- published in a shared repository


def publish_sample(project: Project) -> None:
    """Let developers read the active testset's sample, if the repository has a drop box."""
    shared = project.repository.git_dir / SHARED
    testset = project.state.active_testset
    if not shared.is_dir() or testset is None or project.sealed(testset).sample is None:
        return
    about = _read_about(shared / SAMPLE)
    if _edition(project, testset) != about.get("edition"):
        with explained("the sample cannot be published"):
            _publish(project, testset, shared / SAMPLE)


def _edition(project: Project, testset: Testset) -> list[str | int | None]:
    """What the published files depend on: the testset, its baseline and what that predicts."""
    baseline = public_baseline(project.state, testset)
    known = None if baseline is None else testset.sample_predictions.get(testset.public_model or "")
    return [testset.number, baseline, None if known is None else known.fingerprint]


def _publish(project: Project, testset: Testset, folder: Path) -> None:
    if not folder.is_dir():  # an older version has made the drop box
        folder.mkdir()
        folder.chmod(READABLE_FOLDER)  # as far as the folder above it lets others pass
    target = folder / f"testset-{testset.number}"
    found: list[PublicSample] = []

    def fill(new: Path) -> None:
        found.append(_written(project, testset, new))
        for path in (new, *new.rglob("*")):
            path.chmod(READABLE_FOLDER if path.is_dir() else READABLE_FILE)

    if target.exists():
        remove_folder(target)
    create_folder(target, fill)
    sample = found[0]
    about = {
        "edition": _edition(project, testset),
        "testset": sample.testset,
        "examples": sample.examples,
        "labels": sample.labels,
        "commit": None if sample.baseline is None else sample.baseline.commit,
        "predictions": None if sample.baseline is None else dict(sample.baseline.predictions),
    }
    replace_file(folder / ABOUT, json.dumps(about).encode(), READABLE_FILE)
    for path in folder.glob("testset-*"):
        if path != target:
            remove_folder(path)


def _published(repository: Repository) -> PublicSample | None:
    """What the owner has published in this repository, or in the one that it was cloned from."""
    for git_dir in (repository.git_dir, repository.origin_folder()):
        if git_dir is None:
            continue
        folder = git_dir / SHARED / SAMPLE
        about = _read_about(folder)
        place = folder / f"testset-{about.get('testset')}"
        if about and place.is_dir():
            commit, predictions = about["commit"], about["predictions"]
            baseline = None if commit is None else SampleBaseline(commit, _by_id(predictions))
            return PublicSample(
                about["testset"], about["examples"], about["labels"], place, baseline
            )
    return None


def _by_id(published: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """What a baseline predicts, as it is published. Older versions published one text each."""
    return {
        name: (made,) if isinstance(made, str) else tuple(map(str, made))
        for name, made in published.items()
    }


def _read_about(folder: Path) -> dict[str, Any]:
    """What the published sample says of itself; empty if there is none that can be read."""
    with suppress(OSError, ValueError):
        found: dict[str, Any] = json.loads((folder / ABOUT).read_bytes())
        return found
    return {}
