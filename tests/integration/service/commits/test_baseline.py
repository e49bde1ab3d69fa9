"""The baseline: when it can be set, and that it is built again on a new testset."""

from __future__ import annotations

import pytest

from easeci.errors import BuildError, UsageError
from easeci.ledger.signals import Signal
from easeci.service.commits.baseline import set_baseline
from easeci.service.custody.verify import verify
from easeci.service.testsets.retire import retire_testset
from easeci.views.history import baseline_log
from tests.projects import ON_SEALED, add, opened, run_on
from tests.repositories import MODEL, PROGRAM, Workplace, write_examples


@pytest.mark.long
@pytest.mark.usefixtures("real_sandbox")
def test_on_a_new_testset_the_baseline_is_built_again(place: Workplace) -> None:
    place.write_script(steps="1")
    place.commit("one step")
    add(place)
    run_on(place)
    passed = place.commit_cut(0.55)
    run_on(place)
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    project = opened(place)
    assert project.state.baseline == passed
    assert project.require_active().baseline_predictions is not None
    place.commit_cut(0.75)
    assert run_on(place).row.signal is Signal.FAIL


def test_on_a_new_testset_the_baseline_has_the_files_that_the_new_script_counts(
    place: Workplace,
) -> None:
    """Its archive was made without a file that the script ignored then, and no longer does."""
    place.write("cut.txt", "0.6")
    place.write(
        "model.py",
        "import os\n"
        'CUT = float(open("cut.txt").read()) if os.path.exists("cut.txt") else 0.95\n'
        "def predict(row):\n"
        '    return "low" if float(row["x"]) < CUT else "high"\n',
    )
    place.commit("reads a file, if it is there")
    add(place, ignore="[cut.txt]")
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=9000)
    add(place, ignore="[README.md]")
    project = opened(place)
    testset = project.state.testsets[2]
    known = testset.baseline_predictions
    assert known is not None
    made = project.sealed(testset).predictions.load(known.file)
    assert 0.58 < (made == "low").sum() / len(made) < 0.62


def test_a_published_estimator_under_first_change_needs_a_baseline_from_the_start(
    place: Workplace,
) -> None:
    """Its levels count one history of answers; failures before an adoption would add others."""
    place.git("rm", "--quiet", "test_model.py")
    place.commit("no program yet")
    with pytest.raises(UsageError, match="hoeffding needs a baseline from the start"):
        add(place, adaptivity="firstChange", estimator="hoeffding", condition="n - o > 0 +/- 0.2")
    assert opened(place).state.testsets == {}


def test_a_baseline_is_set_before_the_first_step_only(place: Workplace) -> None:
    first = place.git("rev-parse", "HEAD")
    place.commit_cut(0.6)
    add(place)
    assert set_baseline(opened(place), first).commit == first
    assert run_on(place).row.signal is Signal.PASS
    with pytest.raises(UsageError, match="before the first step"):
        set_baseline(opened(place), "HEAD")


def test_a_baseline_that_cannot_be_built_is_not_set(place: Workplace) -> None:
    good = place.git("rev-parse", "HEAD")
    place.write("model.py", "print('why')\nraise SystemExit(1)\n")
    broken = place.commit("broken")
    better = place.commit_cut(0.52)
    add(place, baseline=good)
    with pytest.raises(BuildError, match="cannot be built"):
        set_baseline(opened(place), broken)
    assert opened(place).state.baseline == good
    assert "why" in baseline_log(opened(place))
    assert run_on(place, better).row.signal is Signal.PASS


def test_after_none_the_baseline_is_tested_like_any_other(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it is the baseline is what nobody was told."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org")
    place.commit("none")
    add(place)
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    retire_testset(opened(place), "by hand")
    place.write_script()
    place.commit("full")
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step) == (Signal.FAIL, 1)


def test_a_baseline_that_cannot_be_built_seals_nothing(place: Workplace) -> None:
    """Only the owner reads why. Afterwards the same examples can be sealed."""
    good = place.git("rev-parse", "HEAD")
    place.write("model.py", ON_SEALED)
    place.commit("fails on sealed examples")
    with pytest.raises(BuildError, match="nothing was sealed: the baseline") as error:
        add(place)
    assert "this is secret" in str(error.value)
    project = opened(place)
    assert project.state.testsets == {}
    assert project.vault.numbers() == []
    add(place, baseline=good)
    assert opened(place).state.baseline == good


def test_the_first_baseline_is_the_tip_of_its_branch(place: Workplace) -> None:
    """Not where the owner happens to be."""
    tip = place.git("rev-parse", "main")
    place.git("checkout", "--quiet", "-b", "side")
    place.commit_cut(0.6)
    add(place)
    state = opened(place).state
    assert (state.baseline, state.baseline_how) == (tip, "set")
    assert state.testsets[1].steps_used == 0


@pytest.mark.parametrize("works", [True, False])
def test_without_a_program_the_first_commit_is_adopted_and_charged(
    place: Workplace, works: bool
) -> None:
    """That it did not fail on sealed examples is an answer."""
    place.git("rm", "--quiet", "test_model.py", "model.py")
    place.commit("no program yet")
    add(place)
    assert opened(place).state.baseline is None
    place.write("test_model.py", PROGRAM)
    place.write("model.py", MODEL.format(cut=0.7) if works else ON_SEALED)
    first = place.commit("first")
    answer = run_on(place)
    signal = Signal.BASELINE if works else Signal.FAIL
    assert (answer.row.signal, answer.row.step, answer.charged) == (signal, 1, True)
    state = opened(place).state
    assert state.baseline == (first if works else None)
    place.commit_cut(0.52)
    assert run_on(place).row.signal is (Signal.PASS if works else Signal.BASELINE)
    assert opened(place).state.testsets[1].history == ("BP" if works else "FB")
    assert verify(opened(place)) == []
