"""Commits on their way to a signal: real git and a real store, in one process."""

from __future__ import annotations

from typing import NoReturn

import pytest

from easeci.errors import NoTestsetError, ScriptError, UsageError
from easeci.ledger.signals import Signal
from easeci.ledger.wording import step_reason
from easeci.script import Estimator
from easeci.service.commits import build
from easeci.service.commits.advance import evidence_of
from easeci.service.commits.submit import RunOptions, run
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import export_wanted, import_labels
from easeci.service.project import open_project
from easeci.service.testsets.retire import retire_testset
from easeci.views.status import status
from tests.projects import ON_SEALED, add, opened, run_on
from tests.repositories import MODEL, PROGRAM, SAMPLE, SEALED, Workplace, write_examples


def test_without_a_testset_nothing_is_tested(place: Workplace) -> None:
    with pytest.raises(NoTestsetError, match="no testset yet"):
        open_project(place.repository)


def test_the_baseline_again_is_nothing_to_test(sealed: Workplace) -> None:
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


def test_the_same_model_has_the_recorded_signal(place: Workplace) -> None:
    """A commit that changes only what the script ignores is the same model."""
    add(place, ignore="['README.md', 'docs/**']")
    place.commit_cut(0.75)
    run_on(place)
    place.write("README.md", "words")
    place.commit("words only")
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.FAIL, 1, False)
    assert answer.steps_used == 1


def test_the_same_predictions_of_another_model_are_a_new_step(sealed: Workplace) -> None:
    """That they are the same on sealed examples is never told."""
    sealed.commit_cut(0.75)
    run_on(sealed)
    sealed.write("model.py", (sealed.repository / "model.py").read_text() + "# refactored\n")
    sealed.commit("refactored")
    answer = run_on(sealed)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.FAIL, 2, True)


def test_a_refactoring_is_unchanged_and_free(place: Workplace) -> None:
    add(place, unchanged="skip")
    first = place.git("rev-parse", "HEAD")
    place.write("model.py", (place.repository / "model.py").read_text() + "# refactored\n")
    place.commit("refactored")
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step, answer.steps_used) == (Signal.UNCHANGED, None, 0)
    assert (answer.sample, answer.row.signal.exit_code) == (SAMPLE, 0)
    assert opened(place).state.baseline == first
    head = opened(place).state.head
    assert run_on(place).row == answer.row
    assert opened(place).state.head == head
    tested = run_on(place, test=True)
    assert (tested.row.signal, tested.row.step, tested.charged) == (Signal.FAIL, 1, True)


def test_a_squash_merge_of_what_passed_is_the_baseline_at_no_cost(place: Workplace) -> None:
    """It has another id, message and date, and the same files."""
    add(place, branches="[side]")
    place.git("checkout", "--quiet", "-b", "side")
    better = place.commit_cut(0.52)
    assert run_on(place).row.signal is Signal.PASS
    place.git("checkout", "--quiet", "main")
    place.git("merge", "--quiet", "--squash", "side")
    place.git("commit", "--quiet", "-m", "squashed")
    squashed = place.git("rev-parse", "HEAD")
    assert squashed != better
    answer = run_on(place)
    assert (answer.row.signal, answer.charged, answer.steps_used) == (Signal.PASS, False, 1)
    assert opened(place).state.baseline == squashed


def test_mounted_files_are_part_of_the_model(place: Workplace) -> None:
    weights = place.folder / "weights"
    weights.mkdir()
    (weights / "w.bin").write_bytes(b"1")
    add(place, mounts=f"[{weights}]")
    place.commit_cut(0.75)
    assert run_on(place).row.step == 1
    assert not run_on(place).charged
    (weights / "w.bin").write_bytes(b"2")
    again = run_on(place)
    assert (again.row.step, again.charged) == (2, True)


def test_the_same_model_against_another_baseline_is_a_new_step(sealed: Workplace) -> None:
    """On the predictions that were kept: nothing is built again. Asking for its signal is free."""
    middling = sealed.commit_cut(0.68)
    assert run_on(sealed).row.signal is Signal.FAIL
    sealed.commit_cut(0.52)
    assert run_on(sealed).row.signal is Signal.PASS
    builds = sum(s.log is not None for s in opened(sealed).state.submissions)
    asked = run_on(sealed, middling)
    assert (asked.row.signal, asked.row.step, asked.charged) == (Signal.FAIL, 1, False)
    answer = run_on(sealed, middling, test=True)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.FAIL, 3, True)
    assert sum(s.log is not None for s in opened(sealed).state.submissions) == builds


def test_a_commit_that_changes_only_ignored_files_becomes_the_commit_of_the_baseline(
    place: Workplace,
) -> None:
    add(place, ignore="[README.md]")
    place.commit_cut(0.52)
    run_on(place)
    place.write("README.md", "words")
    words = place.commit("words only")
    answer = run_on(place)
    assert answer.row.signal is Signal.BASELINE
    assert answer.steps_used == 1
    assert opened(place).state.baseline == words


def test_a_failed_run_against_another_baseline_costs_a_step_again(sealed: Workplace) -> None:
    """For nothing, it would tell a failed run from a failed test. It is not run again."""
    sealed.write("model.py", ON_SEALED)
    failing = sealed.commit("fails on sealed examples")
    assert run_on(sealed).row.signal is Signal.FAIL
    sealed.commit_cut(0.52)
    assert run_on(sealed).row.signal is Signal.PASS
    again = run_on(sealed, failing, test=True)
    assert (again.row.signal, again.row.step, again.charged) == (Signal.FAIL, 3, True)


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


def test_what_a_killed_command_left_is_answered_and_charged_like_a_new_commit(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its model may have a signal by now, and the steps may be used up."""
    add(place, steps="1", ignore="[README.md]")

    def be_killed(*_: object, **__: object) -> NoReturn:
        raise KeyboardInterrupt

    def killed(cut: float) -> str:
        commit = place.commit_cut(cut)
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(build, "build", be_killed)
            run_on(place)
        return commit

    other, same = killed(0.8), killed(0.75)
    place.write("README.md", "words")
    place.commit("the same model")
    assert run_on(place).row.step == 1
    again = run_on(place, same)
    assert (again.row.signal, again.row.step, again.charged) == (Signal.FAIL, 1, False)
    with pytest.raises(NoTestsetError, match="all its steps are used"):
        run_on(place, other)
    assert opened(place).state.testsets[1].steps_used == 1


def test_a_program_that_may_take_too_long_is_warned_of_before_it_is_charged(
    place: Workplace,
) -> None:
    add(place, timeout="4s")
    place.write("model.py", f"import time\ntime.sleep(0.4)\n{MODEL.format(cut=0.75)}")
    place.commit("slow")
    warned: list[tuple[str, int]] = []
    project = opened(place)

    def warn(warning: str) -> None:
        warned.append((warning, project.state.testsets[1].steps_used))

    answer = run(project, options=RunOptions(warn=warn))
    ((warning, used),) = warned
    assert used == 0
    assert f"for the {SAMPLE} examples of the sample: at this pace the testset takes" in warning
    assert "it is stopped after 4s (timeout: in the script)" in warning
    assert (answer.warning, answer.charged) == (warning, True)


def test_a_changed_script_is_refused_with_what_to_do(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.write_script(reliability="0.5")
    sealed.commit_cut(0.52)
    with pytest.raises(ScriptError, match="reliability") as error:
        run_on(sealed)
    assert "testset retire" in str(error.value)
    assert opened(sealed).state.testsets[1].steps_used == 0


def test_a_script_with_other_comments_is_the_same_script(place: Workplace) -> None:
    add(place, unchanged="skip")
    text = (place.repository / ".easeci.yml").read_text()
    place.write(".easeci.yml", "# a comment\n" + text)
    place.commit("comment")
    assert run_on(place).row.signal is Signal.UNCHANGED


def test_a_branch_that_is_not_listed_spends_no_step(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.git("checkout", "--quiet", "-b", "side")
    sealed.commit_cut(0.52)
    with pytest.raises(UsageError, match="none of the branches"):
        run_on(sealed)
    assert opened(sealed).state.testsets[1].steps_used == 0


def test_a_branch_that_a_pattern_takes_spends_steps(place: Workplace) -> None:
    """The branch of baselines comes first, whichever pattern takes it, too."""
    place.write_script(branches="['*', 'refs/pull/*']")
    first = place.commit("branches")
    add(place)
    run_on(place)
    place.git("checkout", "--quiet", "-b", "a/side")
    place.commit_cut(0.52)
    place.git("update-ref", "refs/pull/7/head", "HEAD")
    place.git("checkout", "--quiet", "--detach")
    assert run_on(place, "refs/pull/7/head").row.signal is Signal.PASS
    submissions = opened(place).state.submissions
    assert [(s.branch, s.candidate) for s in submissions] == [("main", True), ("a/side", False)]
    assert opened(place).state.baseline == first


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
    assert project.require_active().steps_used == 2
    done = import_labels(opened(place), place.labels)
    assert done.added == SEALED
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
        pytest.param("hoeffding", "n - o > 0.02 +/- 0.05", 5300, marks=pytest.mark.long),
        ("pattern1", r"n - o > 0.02 +/- 0.1 /\ d < 0.5 +/- 0.1", 1600),
        ("pattern1-active", r"n - o > 0.02 +/- 0.1 /\ d < 0.5 +/- 0.1", 1600),
        pytest.param("pattern2", "n - o > 0.02 +/- 0.05", 5300, marks=pytest.mark.long),
        pytest.param("pattern3", "n > 0.9 +/- 0.02", 6800, marks=pytest.mark.long),
        ("exact", "n - o > 0.02 +/- 0.05", 1600),
        ("sequential", "n - o > 0.02 +/- 0.05", 1600),
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
    assert import_labels(opened(place), some).added
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
    place.git("rm", "--quiet", "test_model.py", "model.py")
    place.write_script(branches="[side]")
    place.commit("branches")
    add(place)
    place.git("checkout", "--quiet", "-b", "side")
    place.write("test_model.py", PROGRAM)
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


def test_each_step_is_decided_after_the_answers_before_it(place: Workplace) -> None:
    """What a step costs is the surprise of its answer after those that were given."""
    add(place)
    for cut in (0.75, 0.52, 0.51, 0.6):
        place.commit_cut(cut)
        run_on(place)
    project = opened(place)
    testset = project.state.testsets[1]
    found = [evidence_of(project, testset, step).history for step in testset.steps]
    assert found == ["", "F", "FP", "FPF"]
    assert testset.history == "FPFF"


def test_labels_that_are_there_are_used(place: Workplace) -> None:
    """A commit is not given up while labels at hand may show that it is better."""
    add(place, labelled=False)
    import_labels(opened(place), place.labels)
    place.commit_cut(0.65)
    run_on(place)
    project = opened(place)
    (step,) = project.state.testsets[1].steps
    evidence = evidence_of(project, project.state.testsets[1], step)
    assert evidence.at_hand is not None
    assert evidence.at_hand.all()
    assert verify(project) == []


def test_asking_for_labels_does_not_show_in_what_developers_see(place: Workplace) -> None:
    add(place, labelled=False)
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    before = status(opened(place))
    assert export_wanted(opened(place), place.folder / "ask.csv").wanted
    assert status(opened(place)) == before


@pytest.mark.parametrize("labelled", ["with the testset", "afterwards", "when asked for"])
def test_a_better_model_passes_by_labels_that_are_there(place: Workplace, labelled: str) -> None:
    """Accuracies .884 and .908 on 6,000 examples, and labels that all say so.

    A gain of 5 points is ruled out at once, so no label is worth buying. But labels that are there
    show the gain of more than 1 point.
    """
    place.commit_cut(0.616)
    write_examples(place.examples, place.labels, size=6000)
    early = labelled == "with the testset"
    keys = {"condition": "n - o > 0.01 +/- 0.02", "reliability": "0.999", "estimator": "auto"}
    add(place, labelled=early, difference="0.1", **keys)
    if labelled == "afterwards":
        import_labels(opened(place), place.labels)
    place.commit_cut(0.592)
    answer = run_on(place)
    project = opened(place)
    testset = project.state.testsets[1]
    assert testset.estimator is (Estimator.EXACT if early else Estimator.SEQUENTIAL)
    assert answer.row.signal is (Signal.FAIL if labelled == "when asked for" else Signal.PASS)
    assert verify(project) == []
    if labelled == "when asked for":
        (step,) = testset.steps
        assert step_reason(step) == (
            "not shown to be better: asked for no label, because a gain of 5 points or more is "
            "ruled out"
        )
