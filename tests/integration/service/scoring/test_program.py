"""The owner's scorer in real sandboxes: what it scores, and what hostile outputs can do to it."""

from __future__ import annotations

import socket
from pathlib import Path

import polars as pl
import pytest

from easeci.errors import BuildError, InfrastructureError, ScriptError
from easeci.ledger.disclosure import disclosed_rows
from easeci.ledger.events import Event, Scored
from easeci.ledger.signals import Signal
from easeci.service.commits.advance import SCORING_PAUSE_SECONDS, acting
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import import_labels
from easeci.service.project import Project
from easeci.service.scoring import program
from easeci.views.history import owner_rows, scorer_log
from tests.projects import opened, run_on, sealed_ids
from tests.repositories import Workplace, copy_of
from tests.scored_projects import (
    SCORER,
    add_scored,
    commit_share,
    only_step,
    only_testset,
    scored_place,
    write_references,
)

HOSTILE = """
honest = outputs
def outputs(row):
    return [{text}] if row["id"] in {ids} else honest(row)
"""


def hostile(text: str, *ids: str) -> str:
    """More of a model: its output for some examples is the value of an expression."""
    return HOSTILE.format(text=text, ids=list(ids))


def scores_of(project: Project) -> pl.DataFrame:
    testset = only_testset(project)
    return project.sealed(testset).scores.known(testset.score_files)


def first_sealed(place: Workplace) -> str:
    return min(sealed_ids(place.repository))


def ready_to_run(folder: Path) -> Workplace:
    """A commit that was not tested yet, and all references."""
    place = scored_place(folder)
    add_scored(place)
    commit_share(place, 0.9)
    return place


def scored_few(place: Workplace, output: str, **keys: str) -> pl.DataFrame:
    """The scores after four references came; the new model's output for the first is given."""
    add_scored(place, labelled=False, **keys)
    names = sorted(sealed_ids(place.repository))[:4]
    commit_share(place, 1.0, more=hostile(repr(output), names[0]))
    assert run_on(place).row.signal is Signal.PENDING
    references = place.folder / "references.csv"
    write_references(references, names)
    import_labels(opened(place), references)
    project = opened(place)
    table = scores_of(project)
    assert set(table["id"]) == set(names)
    assert set(table.filter("failed")["id"]) <= {names[0]}
    assert set(table.filter(pl.col("id") != names[0])["score"]) <= {0.0, 1.0}
    assert verify(project) == []
    return table


def test_a_scorer_decides_and_every_verdict_is_recomputed(tmp_path: Path) -> None:
    """Better outputs pass, worse ones fail, and no score is computed twice."""
    place = scored_place(tmp_path)
    add_scored(place)
    commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    before = only_testset(project).scored
    assert only_testset(project).failed_scores == 0
    commit_share(place, 0.4)  # its outputs are those of the first model: all have their scores
    assert run_on(place).row.signal is Signal.FAIL
    project = opened(place)
    assert only_testset(project).scored == before
    table = scores_of(project)
    assert table.select("id", "output", "reference", "name").is_unique().all()
    assert verify(project) == []


@pytest.mark.long
def test_it_sees_neither_network_nor_repository_nor_other_labels(tmp_path: Path) -> None:
    """The scorer has its own file and its outputs, and nothing else of the project."""
    spying = """
import socket
def reachable():
    try:
        socket.create_connection(("127.0.0.1", {port}), timeout=1)
        return True
    except OSError:
        return False
def readable(path):
    try:
        return bool(os.listdir(path))
    except OSError:
        return False
assert sorted(os.listdir(".")) == ["score.py"], os.listdir(".")
assert os.listdir(os.path.dirname(os.environ["EASECI_OUTPUTS"])) == ["outputs.jsonl"]
assert not readable("{repository}")
assert not readable("{store}")
assert "EASECI_EXAMPLES" not in os.environ
keys = set()
for line in open(os.environ["EASECI_OUTPUTS"]):
    keys |= set(json.loads(line))
assert keys == {{"id", "trial", "output", "reference", "example"}}, keys
assert not reachable()
"""
    store = tmp_path / "model" / ".easeci"
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        more = spying.format(repository=tmp_path / "model", store=store, port=port)
        place = scored_place(tmp_path, scorer=more)
        add_scored(place)
        commit_share(place, 0.9)
        assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    assert only_testset(project).failed_scores == 0, scorer_log(project)


CRASHING = """
def score(row):
    if row["output"].startswith("CRASH"):
        print("it was", row["id"], flush=True)
        os.abort()
    return float(row["output"] == row["reference"])
"""


@pytest.mark.long
def test_an_output_that_crashes_the_scorer_scores_0_alone(tmp_path: Path) -> None:
    """All other outputs have their scores, and only the owner hears of it."""
    place = scored_place(tmp_path, scorer=CRASHING)
    add_scored(place)
    name = first_sealed(place)
    commit_share(place, 0.9, more=hostile("'CRASH'", name))
    assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    table = scores_of(project)
    failed = table.filter("failed")
    assert failed["id"].to_list() == [name]
    assert failed["score"].to_list() == [0.0]
    assert "exit code" in failed["reason"][0]
    assert table.filter(pl.col("score") == 1.0).height > 200
    assert only_testset(project).failed_scores == 1
    assert only_step(project).failed_scores == 1
    assert owner_rows(project.state)[-1].failed_scores == 1
    assert f"it was {name}" in scorer_log(project)
    shown = disclosed_rows(project.state)[-1]
    assert "score" not in str(vars(shown))
    assert verify(project) == []


@pytest.mark.long
def test_an_output_that_hangs_the_scorer_scores_0_alone(tmp_path: Path) -> None:
    hanging = """
def score(row):
    while row["output"] == "HANG":
        pass
    return float(row["output"] == row["reference"])
"""
    table = scored_few(scored_place(tmp_path, scorer=hanging), "HANG", timeout="3s")
    failed = table.filter("failed")
    assert len(failed) == 1
    assert "3s" in failed["reason"][0]


ODD = """
def score(row):
    if row["output"].startswith("ODD"):
        return row["output"].split(":")[1]
    return float(row["output"] == row["reference"])
"""


@pytest.mark.long
def test_scores_that_are_no_numbers_from_0_to_1_are_0(tmp_path: Path) -> None:
    """NaN, infinity, other numbers and texts: each of these outputs scores 0, and no other does."""
    place = scored_place(tmp_path, scorer=ODD)
    add_scored(place)
    ids = sorted(sealed_ids(place.repository))[:5]
    odd = dict(zip(ids, ["nan", "inf", "1.5", "-0.1", "much"], strict=True))
    commit_share(place, 0.9, more=hostile(f"'ODD:' + {odd}[row['id']]", *odd))
    assert run_on(place).row.signal is Signal.PASS
    failed = scores_of(opened(place)).filter("failed")
    assert sorted(failed["id"]) == ids
    assert set(failed["score"]) == {0.0}


@pytest.mark.long
def test_scores_for_outputs_that_it_was_not_given_are_its_error(tmp_path: Path) -> None:
    """An output that makes the scorer write another id scores 0; the other id keeps its score."""
    foreign = """
read = json.loads
def loads(line):
    row = read(line)
    return row | {"id": "not an id"} if row["output"] == "FOREIGN" else row
json.loads = loads
"""
    table = scored_few(scored_place(tmp_path, scorer=foreign), "FOREIGN")
    failed = table.filter("failed")
    assert len(failed) == 1
    assert "not given" in failed["reason"][0]


def test_a_hostile_model_cannot_touch_the_scores_of_the_baseline(tmp_path: Path) -> None:
    """Outputs of the two models never meet in one run of the scorer."""
    spoiling = """
import sys
if any(json.loads(line)["output"] == "SPOIL" for line in open(os.environ["EASECI_OUTPUTS"])):
    with open(os.environ["EASECI_SCORES"], "w") as file:
        file.write("id,trial,score\\\\n")
        for line in open(os.environ["EASECI_OUTPUTS"]):
            row = json.loads(line)
            own = row["output"] == "SPOIL"
            file.write(f"{row['id']},{row['trial']},{float(own)}\\\\n")
    sys.exit(0)
""".replace("\\\\n", "\\n")
    place = scored_place(tmp_path, scorer=spoiling)
    add_scored(place, labelled=False)
    names = sorted(sealed_ids(place.repository))
    commit_share(place, 0.9, more=hostile("'SPOIL'", names[0]))
    assert run_on(place).row.signal is Signal.PENDING
    references = place.folder / "references.csv"
    write_references(references, names)
    import_labels(opened(place), references)
    project = opened(place)
    testset = only_testset(project)
    old = project.sealed(testset).scores.known(testset.score_files[:1])
    assert len(old) == len(names)  # the baseline's came first, in a file of its own
    assert old.filter(pl.col("score") == 1.0).height > 0.3 * len(names)


@pytest.mark.long
def test_large_outputs_and_control_characters_reach_the_scorer_as_they_are(tmp_path: Path) -> None:
    strange = "'\\x1b[2J\\x07\\u2028</script>\\r\\n\\x00' + 'y' * 10_000_000"
    exact = """
def score(row):
    if len(row["output"]) > 1000:
        return float(row["output"] == {strange})
    return float(row["output"] == row["reference"])
""".replace("{strange}", strange)
    place = scored_place(tmp_path, scorer=exact)
    add_scored(place)
    name = first_sealed(place)
    commit_share(place, 0.9, more=hostile(strange, name))
    assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    assert only_testset(project).failed_scores == 0
    mine = scores_of(project).filter(pl.col("id") == name)
    assert mine.filter(pl.col("score") == 1.0).height >= 1
    assert verify(project) == []


@pytest.mark.long
def test_references_that_come_later_are_scored_when_they_come(tmp_path: Path) -> None:
    """The step waits, asks for references, and only outputs with a reference are scored."""
    place = scored_place(tmp_path)
    add_scored(place, labelled=False)
    commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PENDING
    assert only_testset(opened(place)).scored == 0
    names = sorted(sealed_ids(place.repository))
    references = place.folder / "references.csv"
    write_references(references, names[:3])
    done = import_labels(opened(place), references)
    project = opened(place)
    assert done.wanted > 0
    assert set(scores_of(project)["id"]) == set(names[:3])
    write_references(references, names)
    done = import_labels(opened(place), references)
    assert done.answered == (1,)
    project = opened(place)
    step = only_step(project)
    assert step.passed
    assert step.verdict is not None
    assert step.verdict.labels_at_hand == 0  # no reference was there when its turn came
    assert verify(project) == []


@pytest.mark.long
def test_labels_none_needs_no_references(tmp_path: Path) -> None:
    """The scorer gets no reference, and the verdict comes with the run."""
    alone = """
def score(row):
    assert "reference" not in row
    return float(row["output"] == "yes " + row["example"]["id"])
"""
    place = scored_place(tmp_path, scorer=alone)
    add_scored(place, labelled=False, labels="none")
    commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    step = only_step(project)
    assert step.verdict is not None
    assert step.verdict.labels == step.verdict.labels_at_hand > 0
    assert verify(project) == []


@pytest.mark.long
def test_a_corrected_reference_leads_to_new_scores_and_old_verdicts_stand(tmp_path: Path) -> None:
    place = scored_place(tmp_path)
    add_scored(place)
    commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PASS
    before = only_step(opened(place)).document
    name = first_sealed(place)
    corrected = place.folder / "corrected.csv"
    corrected.write_text(f"id,label\n{name},another\n")
    import_labels(opened(place), corrected, correct=True)
    commit_share(place, 0.95)
    run_on(place)
    project = opened(place)
    rows = scores_of(project).filter(pl.col("id") == name)
    assert rows["reference"].n_unique() == 2
    assert only_testset(project).steps[0].document == before
    assert verify(project) == []


@pytest.mark.long
def test_several_trials_and_pass_at_k(tmp_path: Path) -> None:
    """Each trial has its score; equal outputs of one example are scored once."""
    place = scored_place(tmp_path)
    condition = "n.pass@2 - o.pass@2 > 0.05 +/- 0.1"
    more = """
honest = outputs
def outputs(row):
    return [*honest(row)[:2], "another"]
"""
    commit_share(place, 0.4, trials=3, more=more)
    add_scored(place, condition=condition, trials="3")
    commit_share(place, 0.9, trials=3, more=more)
    assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    first = scores_of(project).filter(pl.col("id") == first_sealed(place))
    assert first["output"].is_unique().all()
    assert verify(project) == []


# -- what can go wrong around it


@pytest.mark.long
def test_a_sandbox_that_cannot_run_leaves_the_step_pending_and_records_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Developers see PENDING without a reason; the next command scores and decides."""
    place = scored_place(tmp_path)
    add_scored(place)
    commit_share(place, 0.9)

    def broken(*arguments: object, **more: object) -> None:
        raise InfrastructureError("no sandbox works here")

    with monkeypatch.context() as patch:
        patch.setattr(program, "run_scorer", broken)
        answer = run_on(place)
        assert answer.row.signal is Signal.PENDING
        assert "sandbox" not in str(answer)
        project = opened(place)
        testset = only_testset(project)
        assert testset.score_files == []
        assert not only_step(project).began
        with acting(project):
            pass
        assert project.scoring_problem is not None
    with acting(project):
        pass
    assert not only_step(project).began  # a process that stays waits a while
    project.scoring_tried -= SCORING_PAUSE_SECONDS
    with acting(project):
        pass
    step = only_step(project)
    assert step.passed
    assert step.verdict is not None
    assert step.verdict.labels == step.verdict.labels_at_hand
    assert verify(project) == []


@pytest.mark.long
@pytest.mark.parametrize("file", [1, 2])
@pytest.mark.parametrize("recorded", [False, True])
def test_a_kill_around_the_recording_of_scores_neither_loses_nor_doubles_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: int, recorded: bool
) -> None:
    """The file is stored, and its event is recorded or not: the next command goes on from there."""
    place = copy_of(ready_to_run, tmp_path)
    append = Project.append

    def killed(project: Project, *events: Event) -> None:
        last = any(isinstance(event, Scored) for event in events) and (
            len(only_testset(project).score_files) == file - 1
        )
        if recorded or not last:
            append(project, *events)
        if last:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Project, "append", killed)
        with pytest.raises(KeyboardInterrupt):
            run_on(place)
    project = opened(place)
    testset = only_testset(project)
    assert len(testset.score_files) == file - 1 + recorded
    assert (project.sealed(testset).folder / f"scores/000{file}.parquet").exists()
    assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    assert only_testset(project).score_files == ["scores/0001.parquet", "scores/0002.parquet"]
    table = scores_of(project)
    assert table.select("id", "output").is_unique().all()
    assert only_testset(project).scored == len(table)
    assert verify(project) == []


@pytest.mark.long
def test_a_changed_scorer_or_file_of_scores_is_found(tmp_path: Path) -> None:
    """The scorer is sealed: a later commit brings no other, and a change in the vault is damage."""
    place = scored_place(tmp_path)
    add_scored(place)
    place.write("score.py", "raise SystemExit(1)\n")
    commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PASS
    project = opened(place)
    folder = project.sealed(only_testset(project)).folder
    for name in ("scorer/score.py", "scores/0001.parquet"):
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content + b" ")
        assert verify(project) == [f"testset 1: {name} was changed"]
        (folder / name).write_bytes(content)
    assert verify(project) == []


@pytest.mark.long
def test_a_scorer_that_scores_nothing_is_not_sealed(tmp_path: Path) -> None:
    """A mistake in the scorer would make every score 0 for ever: the owner reads what it printed."""
    place = scored_place(tmp_path, scorer="print('a mistake'); undefined")
    with pytest.raises(BuildError, match="can score none of the baseline's first 8") as found:
        add_scored(place)
    assert "| a mistake" in str(found.value.hint)
    assert opened(place).state.testsets == {}
    place.write("score.py", SCORER.format(more=""))
    add_scored(place)


def test_a_missing_scorer_is_not_sealed(tmp_path: Path) -> None:
    place = scored_place(tmp_path)
    (place.repository / "score.py").unlink()
    with pytest.raises(ScriptError, match="there is no file"):
        add_scored(place)
    assert opened(place).state.testsets == {}
