"""Predictions that were made elsewhere: what they cost, what is refused, what is recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from easeci.errors import BuildError, DataError, NoTestsetError, UsageError
from easeci.ledger.signals import Signal
from easeci.service.commits import submit
from easeci.service.commits.answer import RunAnswer
from easeci.service.commits.baseline import ChosenBaseline, set_baseline
from easeci.service.commits.sent import SentPredictions
from easeci.service.commits.submit import RunOptions, run
from easeci.service.commits.trial import TrialPlace, try_program
from easeci.service.custody.verify import recorded_files, verify
from easeci.service.project import Project
from easeci.service.testsets.retire import retire_testset
from easeci.views.audit import AuditKind, audit
from easeci.views.commit import commit_view
from easeci.views.history import build_log, owner_rows
from easeci.views.status import status
from tests.predictions import built_for_real
from tests.projects import ON_SEALED, add, opened, run_on
from tests.repositories import SCRIPT, Workplace, write_examples


def predictions(place: Workplace, cut: float, name: str = "made.csv") -> Path:
    """What a model that is a cut predicts on the sealed examples of the latest testset."""
    project = opened(place)
    testset = project.state.latest_testset
    assert testset is not None
    sealed = set(project.sealed(testset).examples.ids)
    rows = [line.split(",") for line in place.examples.read_text().splitlines()[1:]]
    made = [f"{i},{'low' if float(x) < cut else 'high'}" for i, x in rows if i in sealed]
    return written(place, name, made)


def written(place: Workplace, name: str, rows: list[str]) -> Path:
    """A file of predictions with these rows."""
    path = place.folder / name
    path.write_text("\n".join(["id,prediction", *rows, ""]), encoding="utf-8")
    return path


def send(
    place: Workplace,
    file: Path,
    revision: str = "HEAD",
    *,
    test: bool = False,
    by: str = "ann",
) -> RunAnswer:
    """Run a commit with predictions that ann sends."""
    options = RunOptions(test=test, predictions=SentPredictions(file, by))
    return run(opened(place), revision, options=options)


def send_baseline(place: Workplace, commit: str, file: Path) -> ChosenBaseline:
    """Set a baseline with predictions that ann sends."""
    return set_baseline(opened(place), commit, predictions=SentPredictions(file, "ann"))


def note(place: Workplace, text: str) -> str:
    """A commit that only names a model: its program, if it has one, is as before."""
    place.write("weights.txt", text)
    return place.commit(text)


def leave_out_program(place: Workplace, **keys: str) -> None:
    """A script without a program, and no program in the repository."""
    lines = [f"  - {key}: {value}" for key, value in (SCRIPT | keys).items() if key != "script"]
    place.write(".easeci.yml", "\n".join(["ml:", *lines, ""]))
    place.git("rm", "--quiet", "--ignore-unmatch", "test_model.py", "model.py")
    place.commit("the model is elsewhere")


def project_of(place: Workplace) -> Project:
    """The project without a program, with its first testset."""
    leave_out_program(place)
    add(place)
    return opened(place)


def test_a_file_takes_the_place_of_the_build(sealed: Workplace) -> None:
    """The commit's own program would fail; the file passes, and its origin is recorded."""
    commit = sealed.commit_cut(0.95)
    file = predictions(sealed, 0.52)
    answer = send(sealed, file)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.PASS, 1, True)
    assert answer.file_read is True
    project = opened(sealed)
    assert project.state.baseline == commit
    sent = project.state.testsets[1].sent_file(project.state.submission(1).model)
    assert sent is not None
    assert (sent.by, sent.digest) == ("ann", hashlib.sha256(file.read_bytes()).hexdigest())
    assert project.state.archive is not None
    assert project.state.archive.commit == commit
    assert verify(project) == []


def test_submission_charge_and_predictions_are_recorded_together(sealed: Workplace) -> None:
    """A command that is killed right after them neither charges twice nor needs the file again."""
    sealed.commit_cut(0.95)
    file = predictions(sealed, 0.52)
    project = opened(sealed)
    before = project.head.number
    seen: list[list[str]] = []
    append = project.append

    def killed(*events: object, **more: object) -> None:
        append(*events, **more)  # type: ignore[arg-type]
        seen.append([type(event).__name__ for event in events])
        raise KeyboardInterrupt

    project.append = killed  # type: ignore[method-assign]
    options = RunOptions(predictions=SentPredictions(file))
    with pytest.raises(KeyboardInterrupt):
        run(project, options=options)
    assert seen == [["Submitted", "Charged", "Built"]]
    assert opened(sealed).head.number == before + 3
    file.unlink()
    again = send(sealed, file)
    assert (again.row.signal, again.row.step, again.charged) == (Signal.PASS, 1, False)
    assert (again.steps_used, again.file_read) == (1, False)


def test_a_commit_whose_build_was_killed_may_be_sent(sealed: Workplace) -> None:
    sealed.commit_cut(0.95)
    project = opened(sealed)
    with pytest.MonkeyPatch.context() as patched, pytest.raises(KeyboardInterrupt):

        def killed(*_: object) -> None:
            raise KeyboardInterrupt

        patched.setattr(submit, "_test", killed)
        run(project)
    assert len(opened(sealed).state.submissions) == 1
    answer = send(sealed, predictions(sealed, 0.52))
    assert (answer.row.submission, answer.row.signal, answer.steps_used) == (1, Signal.PASS, 1)


def test_sending_again_changes_nothing(sealed: Workplace) -> None:
    sealed.commit_cut(0.95)
    first = send(sealed, predictions(sealed, 0.75))
    head = opened(sealed).head
    again = send(sealed, predictions(sealed, 0.75))
    assert again.row == first.row
    assert (again.charged, again.file_read, opened(sealed).head) == (False, False, head)


def test_the_same_tree_with_other_predictions_gets_no_second_answer(sealed: Workplace) -> None:
    """Neither by the commit itself, nor by another one with the same files, nor by its program."""
    commit = sealed.commit_cut(0.52)
    assert send(sealed, predictions(sealed, 0.75)).row.signal is Signal.FAIL
    better = predictions(sealed, 0.5, "better.csv")
    for answer in (send(sealed, better), send(sealed, better, test=True), run_on(sealed)):
        assert (answer.row.signal, answer.charged, answer.row.step) == (Signal.FAIL, False, 1)
    sealed.commit("the same files")
    answer = send(sealed, better)
    assert answer.row.commit != commit
    assert (answer.row.signal, answer.charged, answer.file_read) == (Signal.FAIL, False, False)
    assert opened(sealed).state.testsets[1].steps_used == 1


def test_against_a_new_baseline_the_kept_predictions_are_tested(sealed: Workplace) -> None:
    """Other predictions of the same model are not used there either, and nothing is built."""
    first = sealed.commit_cut(0.95)
    send(sealed, predictions(sealed, 0.69))
    sealed.commit_cut(0.52)
    assert run_on(sealed).row.signal is Signal.PASS
    answer = send(sealed, predictions(sealed, 0.5), first, test=True)
    assert (answer.row.signal, answer.row.step, answer.file_read) == (Signal.FAIL, 3, False)
    state = opened(sealed).state
    model = state.submission(1).model
    assert [step.model == model for step in state.testsets[1].steps] == [True, False, True]
    assert state.testsets[1].sent_steps == 2
    assert verify(opened(sealed)) == []


def test_equal_predictions_of_another_tree_are_a_step_of_their_own(sealed: Workplace) -> None:
    """That they are equal on sealed examples is never told for nothing."""
    file = predictions(sealed, 0.75)
    note(sealed, "one")
    send(sealed, file)
    note(sealed, "two")
    answer = send(sealed, file)
    assert (answer.row.signal, answer.row.step, answer.charged) == (Signal.FAIL, 2, True)


def test_the_model_of_the_baseline_needs_no_file(sealed: Workplace) -> None:
    answer = send(sealed, sealed.folder / "none.csv")
    assert (answer.row.signal, answer.charged, answer.file_read) == (Signal.BASELINE, False, False)


def test_a_program_that_failed_is_not_replaced_by_a_file(sealed: Workplace) -> None:
    """A step that failed on the sealed examples keeps its answer."""
    sealed.write("model.py", ON_SEALED)
    sealed.commit("fails on the sealed examples")
    with built_for_real():
        assert run_on(sealed).row.signal is Signal.FAIL
    answer = send(sealed, predictions(sealed, 0.5))
    assert (answer.row.signal, answer.charged, answer.file_read) == (Signal.FAIL, False, False)


def test_unchanged_is_no_answer_to_a_file(place: Workplace) -> None:
    """The program predicts what the baseline does, but it is not the program that is tested."""
    add(place, unchanged="skip")
    note(place, "the same program")
    answer = send(place, predictions(place, 0.52))
    assert (answer.row.signal, answer.charged) == (Signal.PASS, True)


ROWS: dict[str, Callable[[list[str]], list[str]]] = {
    "too few": lambda rows: rows[:-3],
    "other ids": lambda rows: [f"x{row}" for row in rows],
    "twice": lambda rows: [*rows, rows[0]],
    "too many": lambda rows: [*rows, "more,low"],
    "other classes": lambda rows: [row.replace("low", "Low") for row in rows],
    "no values": lambda rows: [row.split(",")[0] for row in rows],
    "none": lambda _: [],
}


@pytest.mark.parametrize("how", ROWS)
def test_a_wrong_file_costs_nothing_and_names_no_id_that_it_lacks(
    place: Workplace, how: str
) -> None:
    """Nothing is recorded; the ids of the testset are secret, those of the file are not."""
    add(place, classes="[low, high]")
    note(place, "sent")
    good = predictions(place, 0.52).read_text().splitlines()[1:]
    rows = ROWS[how](good)
    file = written(place, "wrong.csv", rows)
    head = opened(place).head
    with built_for_real(), pytest.raises(DataError, match=r"wrong\.csv|classes") as refused:
        send(place, file)
    project = opened(place)
    assert project.head == head
    assert (len(project.state.submissions), project.state.testsets[1].steps_used) == (0, 0)
    lacking = {row.split(",")[0] for row in good} - {row.split(",")[0] for row in rows}
    words = {word.strip(",.:;'") for word in str(refused.value).split()}
    assert not words & lacking
    assert "no step was spent" in str(refused.value)
    if how == "too few":
        assert "lacks ids of the testset: 3" in refused.value.message
    if how == "other ids":
        assert f"too many: {len(good):,}, first x{good[0].split(',')[0]}" in str(refused.value)
    assert send(place, written(place, "right.csv", good)).row.signal is Signal.PASS


@pytest.mark.parametrize("name", ["none.csv", "folder.csv", "made.txt", "broken.parquet"])
def test_a_file_that_cannot_be_read_costs_nothing(sealed: Workplace, name: str) -> None:
    (sealed.folder / "folder.csv").mkdir()
    for file in ("made.txt", "broken.parquet"):
        (sealed.folder / file).write_text("id,prediction\n")
    note(sealed, "sent")
    head = opened(sealed).head
    with built_for_real(), pytest.raises(DataError, match=name.split(".", maxsplit=1)[0]):
        send(sealed, sealed.folder / name)
    assert opened(sealed).head == head


def test_a_file_that_changes_while_it_is_read_is_refused(
    sealed: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recorded digest is that of the file that was read."""
    from easeci.vault.predictions import PredictionFiles

    note(sealed, "sent")
    file, store, head = predictions(sealed, 0.52), PredictionFiles.store, opened(sealed).head

    def changing(files: PredictionFiles, *given: object, **more: object) -> object:
        stored = store(files, *given, **more)  # type: ignore[arg-type]
        file.write_text(file.read_text() + "\n")
        return stored

    monkeypatch.setattr(PredictionFiles, "store", changing)
    with pytest.raises(DataError, match="was changed while it was read"):
        send(sealed, file)
    assert opened(sealed).head == head


def test_scores_are_wanted_where_the_condition_ranks_by_them(place: Workplace) -> None:
    add(place, condition="n.auc(low) > 0.6 +/- 0.15", classes="[low, high]", difference="0.2")
    note(place, "sent")
    file = predictions(place, 0.52)
    with pytest.raises(DataError, match=r"probability|confidence"):
        send(place, file)
    rows = [f"{row},{0.9 if row.endswith('low') else 0.1}" for row in file.read_text().split()[1:]]
    file.write_text("\n".join(["id,prediction,confidence", *rows, ""]))
    assert send(place, file).charged


def test_a_retired_testset_reads_no_file(sealed: Workplace) -> None:
    note(sealed, "sent")
    retire_testset(opened(sealed), "by hand")
    with pytest.raises(NoTestsetError):
        send(sealed, sealed.folder / "none.csv")


def test_other_branches_spend_nothing(sealed: Workplace) -> None:
    file = predictions(sealed, 0.52)
    sealed.git("checkout", "--quiet", "-b", "side")
    note(sealed, "sent")
    with pytest.raises(UsageError, match="none of the branches"):
        send(sealed, file)
    assert opened(sealed).state.submissions == []


def test_labels_are_asked_for_as_for_a_build(place: Workplace) -> None:
    add(place, labelled=False)
    note(place, "sent")
    answer = send(place, predictions(place, 0.52))
    assert (answer.row.signal, answer.charged) == (Signal.PENDING, True)
    found = status(opened(place), owner=True).owner
    assert found is not None
    assert found.labels_wanted > 0


# -- what people read


def test_everybody_reads_that_predictions_were_sent(sealed: Workplace) -> None:
    """The guarantee line has the count; only the owner reads by whom and when."""
    assert not any("sent as a file" in line for line in status(opened(sealed)).rests_on)
    sealed.commit_cut(0.75)
    run_on(sealed)
    note(sealed, "sent")
    send(sealed, predictions(sealed, 0.52))
    project = opened(sealed)
    shown = status(project)
    line = next(line for line in shown.rests_on if "sent as a file" in line)
    assert "for 1 of its 2 steps: the answers hold for these predictions" in line
    assert "nothing shows that the commit's program made them" in line
    assert (shown.shown.sent_steps, "ann" in line) == (1, False)
    built, sent = owner_rows(project.state)
    assert built.sent is None
    assert sent.sent is not None
    assert sent.sent_words == f"sent as a file by ann, {_minute(sent.sent.at)} UTC"
    view = commit_view(project, 2, owner=True)
    assert view.owner is not None
    assert view.owner.sent == sent.sent
    assert commit_view(project, 2).owner is None
    found = status(project, owner=True).owner
    assert found is not None
    assert found.baseline_sent == sent.sent
    with pytest.raises(UsageError, match="sent with its predictions"):
        build_log(project, 2)
    entries = [entry for entry in audit(project) if entry.what is AuditKind.PREDICTIONS_SENT]
    assert [(entry.who, entry.about.split(",")[0]) for entry in entries] == [
        ("ann", "commit number 2")
    ]


def _minute(at: str) -> str:
    return at[:16].replace("T", " ")


def test_backups_and_the_check_know_the_stored_file(sealed: Workplace) -> None:
    note(sealed, "sent")
    send(sealed, predictions(sealed, 0.52))
    project = opened(sealed)
    kept = project.state.testsets[1].predictions[project.state.submission(1).model]
    vaults = project.store.folder / "vault"
    files = [path for path, _ in recorded_files(project.store, project.vault.key, vaults)]
    stored = project.vault.testset_folder(1) / kept.file
    assert stored in files
    assert verify(project) == []
    stored.write_bytes(b"other")
    assert any(kept.file in line for line in verify(project))


# -- the baseline


def test_a_baseline_may_be_sent_before_the_first_step(sealed: Workplace) -> None:
    """Also where there is a program: here it would be right on all examples."""
    chosen = sealed.commit_cut(0.5)
    done = send_baseline(sealed, chosen, predictions(sealed, 0.8))
    assert done == ChosenBaseline(chosen, file_read=True)
    project = opened(sealed)
    testset = project.state.testsets[1]
    assert (project.state.baseline, testset.sent_baseline) == (chosen, True)
    assert any("for a baseline: the answers" in line for line in status(project).rests_on)
    head = project.head
    again = send_baseline(sealed, chosen, predictions(sealed, 0.5, "other.csv"))
    assert (again.file_read, opened(sealed).head) == (False, head)
    sealed.commit_cut(0.7)
    assert run_on(sealed).row.signal is Signal.PASS  # 0.7 beats the 0.8 that was sent, not 0.5
    assert verify(opened(sealed)) == []
    with pytest.raises(UsageError, match="before the first step"):
        send_baseline(sealed, "HEAD~1", predictions(sealed, 0.8))


def test_a_wrong_file_sets_no_baseline(sealed: Workplace) -> None:
    chosen = sealed.commit_cut(0.5)
    head = opened(sealed).head
    good = predictions(sealed, 0.8).read_text().splitlines()[1:]
    with pytest.raises(DataError, match="lacks ids of the testset: 1") as refused:
        send_baseline(sealed, chosen, written(sealed, "wrong.csv", good[1:]))
    assert good[0].split(",")[0] not in str(refused.value)
    assert opened(sealed).head == head


def test_a_baseline_that_nothing_is_compared_with_takes_no_file(place: Workplace) -> None:
    add(place, condition="n > 0.6 +/- 0.15")
    with pytest.raises(UsageError, match="compares with no old model"):
        send_baseline(place, "HEAD", place.folder / "none.csv")
    retire_testset(opened(place), "by hand")
    with pytest.raises(NoTestsetError):
        send_baseline(place, "HEAD", place.folder / "none.csv")


# -- without a program


def test_without_a_program_everything_is_sent(place: Workplace) -> None:
    """The first commit is adopted, the next ones are compared with it."""
    project = project_of(place)
    assert (project.state.baseline, project.state.testsets[1].baseline_predictions) == (None, None)
    first = note(place, "first")
    adopted = send(place, predictions(place, 0.7))
    assert (adopted.row.signal, adopted.row.step, adopted.charged) == (Signal.BASELINE, 1, True)
    state = opened(place).state
    assert (state.baseline, state.baseline_how) == (first, "adopted")
    assert state.testsets[1].history == "B"
    second = note(place, "second")
    assert send(place, predictions(place, 0.52)).row.signal is Signal.PASS
    project = opened(place)
    assert project.state.baseline == second
    assert project.state.archive is not None
    assert project.state.archive.commit == second
    assert verify(project) == []
    again = run(project, first, options=RunOptions(test=True))
    assert (again.row.signal, again.charged) == (Signal.FAIL, True)  # nothing has to be built


def test_without_a_program_a_run_needs_predictions(place: Workplace) -> None:
    """Nothing is recorded; the error says what to do."""
    project_of(place)
    head = opened(place).head
    with pytest.raises(UsageError, match="names no program") as refused:
        run_on(place)
    assert "--predictions FILE" in str(refused.value)
    assert "script:" in str(refused.value)
    assert opened(place).head == head
    with pytest.raises(UsageError, match="names no program"):
        set_baseline(opened(place), "HEAD")
    with pytest.raises(UsageError, match="names no program"):
        try_program(opened(place).repository, "HEAD", TrialPlace(examples=place.examples))
    assert opened(place).head == head


def test_without_a_program_a_baseline_is_sent_after_sealing(place: Workplace) -> None:
    leave_out_program(place)
    with pytest.raises(UsageError, match="no program that could make the predictions"):
        add(place, baseline="HEAD")
    leave_out_program(place)
    assert opened(place).state.testsets == {}
    add(place)
    commit = note(place, "old")
    send_baseline(place, commit, predictions(place, 0.7))
    note(place, "new")
    assert send(place, predictions(place, 0.52)).row.signal is Signal.PASS


def test_on_the_next_testset_the_baseline_has_to_be_sent(place: Workplace) -> None:
    """Until then no commit is tested or charged: the baseline is still the one that passed."""
    project_of(place)
    note(place, "old")
    send(place, predictions(place, 0.7))
    passed = note(place, "better")
    send(place, predictions(place, 0.55))
    retire_testset(opened(place), "by hand")
    write_examples(place.examples, place.labels, start=9000)
    add(place)
    note(place, "new")
    head = opened(place).head
    file = predictions(place, 0.6)
    with pytest.raises(BuildError, match="not ready on testset 2") as refused:
        send(place, file)
    assert "--predictions FILE" in str(refused.value)
    assert opened(place).head == head
    alarms = status(opened(place), owner=True).alarms
    assert any(f"baseline set {passed[:10]} --predictions" in alarm.hint for alarm in alarms)
    send_baseline(place, passed, predictions(place, 0.55, "old.csv"))
    assert status(opened(place), owner=True).alarms == ()
    assert send(place, file).row.signal is Signal.FAIL
    assert verify(opened(place)) == []


def test_hidden_verdicts_stay_hidden(place: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under none, a file gets ACCEPTED; what developers read counts the files alone."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{place.folder / 'letters'}")
    leave_out_program(place, adaptivity="none -> owner@example.org")
    add(place)
    for cut in (0.7, 0.52, 0.9):
        note(place, str(cut))
        answer = send(place, predictions(place, cut))
        assert (answer.row.signal, answer.charged) == (Signal.ACCEPTED, True)
    again = send(place, predictions(place, 0.5))
    assert (again.row.signal, again.charged, again.file_read) == (Signal.ACCEPTED, False, False)
    shown = status(opened(place))
    assert any("for 3 of its 3 steps" in line for line in shown.rests_on)
