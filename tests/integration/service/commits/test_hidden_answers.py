"""What developers hear depends on no hidden verdict and on no uncharged run."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import InfrastructureError
from easeci.ledger.signals import Signal
from easeci.service import project
from easeci.service.commits import advance, sealed_run
from easeci.service.custody.verify import verify
from easeci.service.public_sample import find_sample
from easeci.service.testsets.retire import retire_testset
from tests.integration.service.commits.test_sealed_run import _broken
from tests.projects import ON_SEALED, add, opened, run_on
from tests.repositories import MODEL, PROGRAM, Workplace, write_examples

WEIGHTED = """import os
cut = float(open("{weights}").read())
if cut > 5 and len(open(os.environ["EASECI_EXAMPLES"] + "/examples.csv").readlines()) > 500:
    raise SystemExit(int(cut))
def predict(row):
    return "low" if float(row["x"]) < cut else "high"
"""
NONE = "none -> third@example.org"


@pytest.fixture
def place(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    """A repository with a first model, and a file that letters go to."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    return place


def weighted(place: Workplace, cut: float, *, labelled: bool = True) -> Path:
    """A testset whose baseline reads its cut from a mounted file, which is returned."""
    folder = place.folder / "weights"
    folder.mkdir()
    folder.chmod(0o755)
    weights = folder / "cut"
    weights.write_text(str(cut))
    place.write("model.py", WEIGHTED.format(weights=weights))
    place.commit("weights")
    add(place, labelled=labelled, mounts=f"[{folder}]")
    return weights


def test_other_weights_of_the_baselines_commit_are_charged(place: Workplace) -> None:
    """They are another model, and nothing of its run on sealed examples is told."""
    weights = weighted(place, 0.6)
    for number, code in enumerate((37, 41), start=1):
        weights.write_text(str(code))
        answer = run_on(place)
        assert (answer.row.signal, answer.steps_used, answer.failure) == (Signal.FAIL, number, None)
    assert verify(opened(place)) == []


def test_other_weights_do_not_change_what_the_baseline_is(place: Workplace) -> None:
    """A commit that is better than the bad weights, but worse than the baseline, fails."""
    weights = weighted(place, 0.52)
    weights.write_text("0.95")
    assert run_on(place).row.signal is Signal.FAIL
    weights.write_text("0.7")
    place.write("other.txt", "x")
    place.commit("worse than the baseline")
    assert run_on(place).row.signal is Signal.FAIL
    assert verify(opened(place)) == []


def test_a_commit_that_waits_keeps_its_model(place: Workplace) -> None:
    """Whatever is mounted when it is run again, and whatever comes behind it."""
    weights = weighted(place, 0.8, labelled=False)
    place.write("other.txt", "x")
    place.commit("better")
    weights.write_text("0.52")
    assert run_on(place).row.signal is Signal.PENDING
    weights.write_text("37")
    assert run_on(place).row.signal is Signal.PENDING
    place.commit_cut(0.51)
    assert run_on(place).row.signal is Signal.PENDING
    assert opened(place).state.testsets[1].steps_used == 3


@pytest.mark.parametrize("works", [pytest.param(True, marks=pytest.mark.long), False])
def test_under_none_nobody_hears_whether_the_first_commit_was_adopted(
    place: Workplace, works: bool
) -> None:
    place.git("rm", "--quiet", "test_model.py", "model.py")
    place.commit("no program yet")
    add(place, adaptivity=NONE, branches="[side]")
    place.write("test_model.py", PROGRAM)
    place.write("model.py", MODEL.format(cut=0.7) if works else ON_SEALED)
    place.commit("first")
    assert run_on(place).row.signal is Signal.ACCEPTED
    place.git("checkout", "--quiet", "-b", "side")
    place.commit_cut(0.52)
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step) == (Signal.ACCEPTED, 2)


@pytest.mark.parametrize("cut", [0.51, pytest.param(0.75, marks=pytest.mark.long)])
def test_a_merge_tells_nothing_of_a_verdict_before_its_tick(
    place: Workplace, monkeypatch: pytest.MonkeyPatch, cut: float
) -> None:
    """A commit that passed on another branch is merged while one of main is decided and hidden."""
    clock = ["2026-11-16T00:00:00Z"]
    for module in (project, advance):
        monkeypatch.setattr(module, "utc_now", lambda: clock[0])
    add(place, disclose="1h", branches="[side]", ignore="[README.md]")
    place.git("checkout", "--quiet", "-b", "side")
    side = place.commit_cut(0.6)
    run_on(place)
    clock[0] = "2026-11-16T03:00:00Z"
    assert run_on(place, side).row.signal is Signal.PASS
    place.git("checkout", "--quiet", "main")
    place.commit_cut(cut)
    assert run_on(place).row.signal is Signal.PENDING
    place.git("branch", "--force", "merged", side)
    place.git("update-ref", "refs/heads/main", side)
    place.git("reset", "--quiet", "--hard")
    merged = run_on(place)
    place.write("README.md", "x")
    place.commit("words")
    words = run_on(place)
    assert (merged.row.signal, words.row.signal) == (Signal.PASS, Signal.BASELINE)


@pytest.mark.parametrize("cut", [0.52, pytest.param(0.75, marks=pytest.mark.long)])
def test_after_none_the_next_testset_tells_nothing_of_hidden_verdicts(
    place: Workplace, cut: float
) -> None:
    """Neither by what earlier commits cost, nor by its branches, nor by its public baseline."""
    add(place, adaptivity=NONE, branches="[side]")
    start = place.git("rev-parse", "HEAD")
    place.commit_cut(cut)
    run_on(place)
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=9000)
    add(place, adaptivity=NONE, branches="[side]")
    assert run_on(place, start).charged
    place.git("checkout", "--quiet", "-b", "side")
    place.commit_cut(0.51)
    assert run_on(place).row.signal is Signal.ACCEPTED
    place.git("checkout", "--quiet", "main")
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=19000)
    add(place)
    with find_sample(place.repository) as found:
        assert found.baseline is None


def test_a_retired_testset_leaves_no_baseline_that_nobody_knows(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its pass was not told before it ended; on the next testset it is the baseline for all."""
    add(place, disclose="24h")
    passed = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    assert opened(place).state.baseline == passed
    assert run_on(place).row.signal is Signal.BASELINE


def test_that_a_run_was_interrupted_is_not_told_by_a_missing_sandbox(
    sealed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    baseline = sealed.git("rev-parse", "HEAD")
    sealed.commit_cut(0.52)

    def missing(*_: object, **__: object) -> None:
        raise InfrastructureError("no sandbox works here")

    with monkeypatch.context() as broken:
        broken.setattr(sealed_run, "build", _broken)
        run_on(sealed)
        broken.setattr(sealed_run, "allowed_sandboxes", missing)
        assert run_on(sealed, baseline).row.signal is Signal.BASELINE
