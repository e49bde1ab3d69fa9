"""Commits on their way to a signal: real git and a real store, in one process."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from easeci.errors import BuildError, NoTestsetError, ScriptError, UsageError
from easeci.evidence.cells import Codes
from easeci.ledger.signals import Signal
from easeci.script import Script
from easeci.service.commits.answer import RunAnswer
from easeci.service.commits.baseline import set_baseline
from easeci.service.commits.submit import run
from easeci.service.labelling.files import export_wanted, import_labels
from easeci.service.project import Project, open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.service.testsets.retire import retire_testset
from easeci.verdict.decide import decide
from easeci.verdict.result import Verdict
from easeci.views.history import baseline_log
from easeci.views.status import status
from tests.repositories import MODEL, Workplace, copy_of, write_examples


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    """A repository with a first model."""
    return copy_of(with_model, tmp_path)


@pytest.fixture
def sealed(tmp_path: Path) -> Workplace:
    """The same with a testset, whose labels are all known."""
    return copy_of(with_testset, tmp_path)


def with_model(folder: Path) -> Workplace:
    place = Workplace.make(folder)
    place.commit_cut(0.7)
    return place


def with_testset(folder: Path) -> Workplace:
    place = with_model(folder)
    add(place)
    return place


def opened(place: Workplace) -> Project:
    return open_project(place.repository, create=True)


def add(place: Workplace, *, labelled: bool = True) -> None:
    add_testset(
        opened(place),
        Offer(
            place.examples,
            labels=place.labels if labelled else None,
            script=place.repository / ".easeci.yml",
        ),
    )


def run_on(place: Workplace, revision: str = "HEAD") -> RunAnswer:
    return run(opened(place), revision)


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


def test_a_program_that_fails_spends_no_step(sealed: Workplace) -> None:
    run_on(sealed)
    sealed.write("model.py", "raise SystemExit(3)\n")
    sealed.commit("broken")
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BUILD_ERROR
    assert answer.failure is not None
    assert "exit code 3" in answer.failure
    assert answer.steps_used == 0
    project = opened(sealed)
    assert project.state.build_failures(project.require_active()) == 1


@pytest.mark.parametrize(
    "program",
    {
        "missing ids": "print(*['id,prediction', 'e1,low'], sep='\\n', file=file)",
        "unknown classes": "print('id,prediction', *[f\"{r['id']},3\" for r in rows], sep='\\n', file=file)",
        "no columns": "print('hello', file=file)",
        "nothing": "pass",
    }.values(),
)
def test_malformed_predictions_spend_no_step_and_are_not_quoted(
    sealed: Workplace, program: str
) -> None:
    run_on(sealed)
    sealed.write(
        "test_model.py",
        "import json, os\n"
        "rows = [json.loads(line) for line in open(os.environ['EASECI_EXAMPLES'] + '/examples.jsonl')]\n"
        "with open(os.environ['EASECI_PREDICTIONS'], 'w') as file:\n"
        f"    {program}\n",
    )
    sealed.commit("malformed")
    answer = run_on(sealed)
    assert answer.row.signal is Signal.BUILD_ERROR
    assert answer.steps_used == 0
    assert "e1" not in (answer.failure or "")


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
    assert passed in project.require_active().predictions
    place.commit_cut(0.75)
    assert run_on(place).row.signal is Signal.FAIL


@pytest.mark.usefixtures("real_sandbox")
def test_a_force_push_cannot_lose_the_baseline(place: Workplace) -> None:
    """Neither while its ref stands nor when that is gone too: the archive has its files."""
    place.write_script(steps="1")
    first = place.commit("one step")
    add(place)
    run_on(place)
    passed = place.commit_cut(0.55)
    run_on(place)
    place.git("reset", "--quiet", "--hard", first)
    place.git("reflog", "expire", "--expire=now", "--all")
    place.git("gc", "--quiet", "--prune=now")
    assert place.git("cat-file", "-t", passed) == "commit"
    for ref in place.git("for-each-ref", "--format=%(refname)", "refs/easeci").splitlines():
        place.git("update-ref", "-d", ref)
    place.git("gc", "--quiet", "--prune=now")
    with pytest.raises(UsageError):
        opened(place).repository.resolve(passed)
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    assert passed in opened(place).require_active().predictions


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


def test_a_baseline_is_set_before_the_first_step_only(place: Workplace) -> None:
    first = place.git("rev-parse", "HEAD")
    place.commit_cut(0.6)
    add(place)
    assert set_baseline(opened(place), first) == first
    assert run_on(place).row.signal is Signal.PASS
    with pytest.raises(UsageError, match="before the first step"):
        set_baseline(opened(place), "HEAD")


def test_a_testset_retired_by_hand_is_used_no_more(sealed: Workplace) -> None:
    run_on(sealed)
    retire_testset(opened(sealed), "by hand")
    sealed.commit_cut(0.52)
    with pytest.raises(NoTestsetError, match="by hand"):
        run_on(sealed)


def test_nothing_waits_on_a_testset_that_has_ended(place: Workplace) -> None:
    add(place, labelled=False)
    run_on(place)
    for cut in (0.52, 0.51):
        place.commit_cut(cut)
        assert run_on(place).row.signal is Signal.PENDING
    assert waiting(place) == 2
    retire_testset(opened(place), "by hand")
    assert waiting(place) == 0


def waiting(place: Workplace) -> int:
    owner = status(opened(place), owner=True).owner
    assert owner is not None
    return owner.waiting


def test_two_repositories_do_not_share_a_project(sealed: Workplace, tmp_path: Path) -> None:
    other = Workplace.make(tmp_path / "other")
    other.commit_cut(0.6, "another repository")
    with pytest.raises(UsageError, match="another repository"):
        open_project(other.repository, store=sealed.repository / ".easeci")
    named = open_project(
        other.repository, store=sealed.repository / ".easeci", name="other", create=True
    )
    assert named.store.projects() == ["model", "other"]


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


def test_a_baseline_that_cannot_be_built_is_not_set(place: Workplace) -> None:
    good = place.git("rev-parse", "HEAD")
    place.write("model.py", "print('why')\nraise SystemExit(1)\n")
    broken = place.commit("broken")
    better = place.commit_cut(0.52)
    add(place)
    run_on(place, good)
    with pytest.raises(BuildError, match="cannot be built"):
        set_baseline(opened(place), broken)
    assert opened(place).state.baseline == good
    assert "why" in baseline_log(opened(place))
    assert run_on(place, better).row.signal is Signal.PASS


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


def test_under_none_refs_are_never_taken_away(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which commits are still held would tell what passed."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org")
    first = place.commit("none")
    add(place)
    set_baseline(opened(place), first)
    better = place.commit_cut(0.52)
    run_on(place)
    assert opened(place).state.baseline == better
    held = place.git("for-each-ref", "--format=%(objectname)", "refs/easeci").split()
    assert set(held) == {first, better}


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


def test_under_none_a_baseline_that_cannot_be_built_shows_to_nobody(
    place: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which commit the baseline is tells what passed, and so would its failure."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    place.write_script(adaptivity="none -> a@example.org")
    place.commit("none")
    add(place)
    run_on(place)
    examples = "open(os.environ['EASECI_EXAMPLES'] + '/examples.csv').read()"
    picky = f"import os\nif 'e9000,' in {examples}:\n    raise SystemExit(3)\n"
    place.write("model.py", picky + MODEL.format(cut=0.52))
    place.commit("passes, and does not build on other examples")
    run_on(place)
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    place.commit_cut(0.6)
    answer = run_on(place)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.ACCEPTED, 1, True)
    failure = opened(place).state.testsets[2].baseline_failure
    assert failure is not None
    assert "exit code 3" in failure.reason


def test_asking_for_labels_does_not_show_in_what_developers_see(place: Workplace) -> None:
    add(place, labelled=False)
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    before = status(opened(place))
    assert export_wanted(opened(place), place.folder / "ask.csv").wanted
    assert status(opened(place)) == before
