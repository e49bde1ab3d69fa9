"""Commits on their way to a signal: real git and a real store, in one process."""

from __future__ import annotations

from importlib import import_module

import pytest

from easeci.errors import NoTestsetError, ScriptError, UsageError
from easeci.evidence.cells import Codes
from easeci.ledger.signals import Signal
from easeci.script import Script
from easeci.service.labelling.files import export_wanted, import_labels
from easeci.service.project import open_project
from easeci.service.testsets.retire import retire_testset
from easeci.verdict.decide import decide
from easeci.verdict.result import Verdict
from easeci.views.status import status
from tests.projects import add, opened, run_on
from tests.repositories import Workplace, write_examples


def test_without_a_testset_nothing_is_tested(place: Workplace) -> None:
    with pytest.raises(NoTestsetError, match="no testset yet"):
        open_project(place.repository)


def test_the_first_commit_is_adopted_without_a_step(sealed: Workplace) -> None:
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BASELINE
    assert answer.steps_used == 0
    assert opened(sealed).state.baseline == answer.row.commit


@pytest.mark.usefixtures("real_sandbox")
def test_a_better_commit_passes_and_becomes_the_baseline(sealed: Workplace) -> None:
    run_on(sealed)
    better = sealed.commit_cut(0.52)
    answer = run_on(sealed)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.PASS, 1, True)
    assert opened(sealed).state.baseline == better


def test_the_same_commit_again_is_neither_built_nor_charged(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.commit_cut(0.75)
    first = run_on(sealed)
    records = opened(sealed).state.head
    again = run_on(sealed)
    assert again.row == first.row
    assert not again.charged
    assert opened(sealed).state.head == records


def test_the_same_predictions_have_the_recorded_signal(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.commit_cut(0.75)
    run_on(sealed)
    sealed.write("README.md", "words")
    sealed.commit("words only")
    answer = run_on(sealed)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.FAIL, 1, False)
    assert answer.steps_used == 1


def test_the_same_predictions_against_another_baseline_are_a_new_step(sealed: Workplace) -> None:
    run_on(sealed)
    middling = sealed.commit_cut(0.68)
    assert run_on(sealed).row.signal is Signal.FAIL
    sealed.commit_cut(0.52)
    assert run_on(sealed).row.signal is Signal.PASS
    builds = sum(s.log is not None for s in opened(sealed).state.submissions)
    answer = run_on(sealed, middling)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.FAIL, 3, True)
    assert sum(s.log is not None for s in opened(sealed).state.submissions) == builds


def test_predictions_of_the_baseline_are_nothing_to_test(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.commit_cut(0.52)
    run_on(sealed)
    sealed.write("README.md", "words")
    sealed.commit("words only")
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BASELINE
    assert answer.steps_used == 1


def test_when_the_steps_are_used_a_new_testset_is_needed(place: Workplace) -> None:
    place.write_script(steps="1")
    place.commit("one step")
    add(place)
    run_on(place)
    place.commit_cut(0.52)
    last = run_on(place)
    assert last.row.signal is Signal.PASS
    assert run_on(place).row == last.row  # its own signal may still be read
    place.commit_cut(0.51)
    with pytest.raises(NoTestsetError, match="all its steps are used"):
        run_on(place)


def test_a_changed_script_is_refused_with_what_to_do(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.write_script(reliability="0.5")
    sealed.commit_cut(0.52)
    with pytest.raises(ScriptError, match="reliability") as error:
        run_on(sealed)
    assert "testset retire" in str(error.value)
    assert opened(sealed).state.testsets[1].steps_used == 0


def test_a_script_with_other_comments_is_the_same_script(sealed: Workplace) -> None:
    text = (sealed.repository / ".easeci.yml").read_text()
    sealed.write(".easeci.yml", "# a comment\n" + text)
    sealed.commit("comment")
    assert run_on(sealed).row.signal is Signal.BASELINE


def test_a_branch_that_is_not_listed_spends_no_step(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.git("checkout", "--quiet", "-b", "side")
    sealed.commit_cut(0.52)
    with pytest.raises(UsageError, match="none of the branches"):
        run_on(sealed)
    assert opened(sealed).state.testsets[1].steps_used == 0


def test_a_listed_branch_spends_steps_and_moves_no_baseline(place: Workplace) -> None:
    place.write_script(branches="[side]")
    first = place.commit("branches")
    add(place)
    run_on(place)
    place.git("checkout", "--quiet", "-b", "side")
    better = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PASS
    assert opened(place).state.baseline == first
    place.git("checkout", "--quiet", "main")
    place.git("merge", "--quiet", "--ff-only", "side")
    merged = run_on(place)
    assert (merged.row.signal, merged.charged) == (Signal.PASS, False)
    assert opened(place).state.baseline == better


def test_a_condition_without_the_old_model_needs_no_baseline(place: Workplace) -> None:
    place.write_script(condition="n > 0.7 +/- 0.05")
    place.commit_cut(0.52)
    add(place)
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step) == (Signal.PASS, 1)


def test_a_commit_that_waits_goes_on_when_labels_come(place: Workplace) -> None:
    """And the one behind it is tested then, against the baseline of then."""
    add(place, labelled=False)
    run_on(place)
    better = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    place.commit_cut(0.51)
    assert run_on(place).row.signal is Signal.PENDING
    project = opened(place)
    assert project.require_active().steps_used == 1
    done = import_labels(opened(place), place.labels)
    assert done.added == 1500
    assert len(done.answered) == 2
    assert run_on(place, better).row.signal is Signal.PASS
    last = run_on(place)
    assert (last.row.signal, last.row.step) == (Signal.FAIL, 2)


def test_first_change_retires_the_testset_at_the_first_pass(place: Workplace) -> None:
    place.write_script(adaptivity="firstChange")
    place.commit("firstChange")
    add(place)
    run_on(place)
    place.commit_cut(0.75)
    assert run_on(place).row.signal is Signal.FAIL
    place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PASS
    place.commit_cut(0.51)
    with pytest.raises(NoTestsetError, match="firstChange"):
        run_on(place)


def test_in_fn_free_first_change_is_the_first_fail(place: Workplace) -> None:
    place.write_script(adaptivity="firstChange", mode="fn-free", condition="n - o > -0.02 +/- 0.05")
    place.commit("firstChange")
    add(place)
    run_on(place)
    place.commit_cut(0.68)
    assert run_on(place).row.signal is Signal.PASS
    place.commit_cut(0.95)
    assert run_on(place).row.signal is Signal.FAIL
    assert opened(place).state.active_testset is None


@pytest.mark.parametrize(
    ("estimator", "condition", "size"),
    [
        ("hoeffding", "n - o > 0.02 +/- 0.05", 5200),
        ("pattern1", r"n - o > 0.02 +/- 0.1 /\ d < 0.5 +/- 0.1", 1500),
        ("pattern1-active", r"n - o > 0.02 +/- 0.1 /\ d < 0.5 +/- 0.1", 1500),
        ("pattern2", "n - o > 0.02 +/- 0.05", 5200),
        ("pattern3", "n > 0.9 +/- 0.02", 6700),
        ("exact", "n - o > 0.02 +/- 0.05", 1500),
        ("sequential", "n - o > 0.02 +/- 0.05", 1500),
    ],
)
def test_any_estimator_decides(place: Workplace, estimator: str, condition: str, size: int) -> None:
    """The published ones included."""
    place.write_script(estimator=estimator, condition=condition)
    place.commit_cut(0.8)
    write_examples(place.examples, place.labels, size=size)
    add(place)
    run_on(place)
    place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PASS
    place.commit_cut(0.85)
    assert run_on(place).row.signal is Signal.FAIL


def test_models_that_never_agree_are_decided(place: Workplace) -> None:
    """One says "low" to everything, the other "high": legitimate, and it must not block anything."""
    place.commit_cut(2.0)
    add(place)
    run_on(place)
    place.commit_cut(-1.0)
    assert run_on(place).row.signal is Signal.FAIL
    place.commit_cut(0.5)
    assert run_on(place).row.signal is Signal.PASS


def test_labels_of_one_class_come_first_and_are_taken(place: Workplace) -> None:
    place.commit_cut(2.0)
    add(place, labelled=False)
    run_on(place)
    place.commit_cut(0.5)
    assert run_on(place).row.signal is Signal.PENDING
    lines = place.labels.read_text().splitlines()
    some = place.folder / "some.csv"
    some.write_text("\n".join([lines[0], *[x for x in lines if x.endswith("high")][:50], ""]))
    assert import_labels(opened(place), some).added == 50
    import_labels(opened(place), place.labels)
    assert run_on(place).row.signal is Signal.PASS


def test_a_last_step_that_waits_does_not_keep_the_testset_alive(place: Workplace) -> None:
    place.write_script(steps="1")
    place.commit("one step")
    add(place, labelled=False)
    run_on(place)
    waiting = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PENDING
    retire_testset(opened(place), "by hand")
    assert run_on(place, waiting).row.signal is Signal.DROPPED
    write_examples(place.examples, place.labels, start=9000)
    add(place)


def test_only_a_commit_of_the_main_branch_is_adopted(place: Workplace) -> None:
    place.write_script(branches="[side]")
    place.commit("branches")
    add(place)
    place.git("checkout", "--quiet", "-b", "side")
    place.commit_cut(0.6)
    with pytest.raises(UsageError, match="no baseline yet"):
        run_on(place)
    assert opened(place).state.baseline is None


def test_under_none_the_same_commit_is_charged_once(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if it comes to another branch; and there it may become the baseline."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org", branches="[side]")
    first = place.commit("none")
    add(place)
    run_on(place)
    place.git("checkout", "--quiet", "-b", "side")
    better = place.commit_cut(0.52)
    run_on(place)
    assert opened(place).state.baseline == first
    place.git("checkout", "--quiet", "main")
    place.git("merge", "--quiet", "--ff-only", "side")
    answer = run_on(place)
    assert (answer.row.signal, answer.charged, answer.steps_used) == (Signal.ACCEPTED, False, 1)
    assert opened(place).state.baseline == better


def test_each_step_is_decided_after_the_answers_before_it(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a step costs is the surprise of its answer after those that were given."""
    histories: list[str | None] = []

    def watched(script: Script, codes: Codes, history: str | None) -> Verdict:
        histories.append(history)
        return decide(script, codes, history)

    monkeypatch.setattr(import_module("easeci.verdict.decide"), "decide", watched)
    add(place)
    run_on(place)
    for cut in (0.75, 0.52, 0.51, 0.6):
        place.commit_cut(cut)
        run_on(place)
    assert histories == ["", "F", "FP", "FPF"]
    assert opened(place).state.testsets[1].history == "FPFF"


def test_asking_for_labels_does_not_show_in_what_developers_see(place: Workplace) -> None:
    add(place, labelled=False)
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    before = status(opened(place))
    assert export_wanted(opened(place), place.folder / "ask.csv").wanted
    assert status(opened(place)) == before
