"""How many labels are asked for at a time, and that it changes no answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from easeci.ledger.signals import Signal
from easeci.script import Mode
from easeci.service.commits.submit import run
from easeci.service.labelling.files import export_wanted, import_labels, latest
from easeci.service.labelling.outlook import A_DAY_OF_LABELS, NOTHING_WANTED, label_outlook
from easeci.vault import sealing
from tests.projects import add, opened, with_model
from tests.repositories import Workplace, copy_of


@pytest.fixture
def fixed_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sealing, "_secret_order", lambda size: np.random.default_rng(7).permutation(size)
    )


def waiting(folder: Path, **keys: str) -> Workplace:
    """A commit that waits for its first label."""
    place = copy_of(with_model, folder)
    add(place, labelled=False, **{"sample": "0", **keys})
    run(opened(place))
    place.commit_cut(0.52)
    assert run(opened(place)).row.signal is Signal.PENDING
    return place


def differing(place: Workplace) -> int:
    """On how many examples the two models differ."""
    rows = place.examples.read_text().splitlines()[1:]
    return sum(0.52 <= float(row.split(",")[1]) < 0.7 for row in rows)


def label_in_files(place: Workplace, count: int) -> int:
    """Label whole files of this size until nothing is wanted; how many files it took."""
    truth = dict(line.split(",") for line in place.labels.read_text().splitlines()[1:])
    path, files = place.folder / "ask.csv", 0
    while export_wanted(opened(place), path, count=count).wanted:
        ids = [row.split(",")[0] for row in path.read_text().splitlines()[1:]]
        assert len(ids) <= count
        path.write_text("\n".join(["id,label", *(f"{name},{truth[name]}" for name in ids), ""]))
        import_labels(opened(place), path)
        files += 1
    return files


@pytest.mark.long
def test_the_size_of_a_file_changes_no_answer(tmp_path: Path, fixed_order: None) -> None:
    """The verdict rests on the same labels, whether 2 come at a time or all that can matter."""
    verdicts, files = [], []
    for count in (2, 5, A_DAY_OF_LABELS):
        place = waiting(tmp_path / str(count))
        files.append(label_in_files(place, count))
        verdicts.append(opened(place).state.testsets[1].steps[0].verdict)
    assert verdicts[0] is not None
    assert verdicts[0] == verdicts[1] == verdicts[2]
    assert files[0] > files[1] > files[2] == 1


def test_more_labels_are_asked_for_along_the_same_order(tmp_path: Path) -> None:
    """A smaller file is the beginning of a larger one, and agreeing examples are never asked."""
    place = waiting(tmp_path)
    project = opened(place)
    testset = latest(project)
    every = label_outlook(project, testset, A_DAY_OF_LABELS)
    for count in (1, 5, 20, 60):
        few = label_outlook(project, testset, count)
        assert few.positions == every.positions[:count]
        assert (few.needed, few.expected, few.most) == (every.needed, every.expected, every.most)
    assert len(every.positions) == every.most == differing(place)
    assert list(every.positions) == sorted(set(every.positions))
    assert every.needed is not None
    assert 0 < every.needed <= every.expected <= every.most
    assert (few.files(60), few.files(61), few.files(every.most)) == (1, 2, 5)


@pytest.mark.parametrize("mode", Mode)
def test_no_verdict_comes_before_the_labels_that_are_surely_needed(
    tmp_path: Path, mode: Mode, fixed_order: None
) -> None:
    """With one label less the commit still waits."""
    place = waiting(tmp_path, mode=mode)
    project = opened(place)
    needed = label_outlook(project, latest(project), 1).needed
    assert needed is not None
    truth = dict(line.split(",") for line in place.labels.read_text().splitlines()[1:])
    path = place.folder / "ask.csv"
    if needed > 1:
        export_wanted(project, path, count=needed - 1)
        ids = [row.split(",")[0] for row in path.read_text().splitlines()[1:]]
        path.write_text("\n".join(["id,label", *(f"{name},{truth[name]}" for name in ids), ""]))
        assert import_labels(opened(place), path).answered == ()


def test_an_estimator_of_all_labels_asks_for_all_of_them(tmp_path: Path) -> None:
    """It can't tell how many would be enough, and takes as many files as they fill."""
    place = waiting(tmp_path, estimator="exact")
    project = opened(place)
    found = label_outlook(project, latest(project), 100)
    assert (found.needed, len(found.positions)) == (None, 100)
    assert found.expected == found.most == differing(place)
    assert found.files(found.most) == 3
    import_labels(opened(place), place.labels)
    project = opened(place)
    assert label_outlook(project, latest(project), 100) == NOTHING_WANTED
