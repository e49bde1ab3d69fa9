"""A store that an older easeci wrote opens, shows the same, verifies and goes on.

The stores were made once, each by the code of its time: see tests/fixtures/make_store.py.
"""

from __future__ import annotations

import json
import os
import re
import tarfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from easeci.evidence.endings import Ending
from easeci.ledger.events import Delivery
from easeci.ledger.reasons import (
    AlarmLetter,
    BudgetUsed,
    ByHand,
    FirstChange,
    StepsLeftWarning,
    UndecidedWarning,
    VerdictLetter,
)
from easeci.ledger.verdicts import differences, record_of
from easeci.service.commits.advance import verdict_of
from easeci.service.mail.compose import letter_of
from easeci.service.project import Project, open_project
from easeci.vault.file_times import LAST_CHANGED, LAST_READ
from easeci.verdict.logic import Result
from tests.commands import COMMAND
from tests.file_systems import UNWRITABLE, in_small_file_system
from tests.fixtures.make_store import (
    PROJECTS,
    VERSIONS,
    VIEWS,
    archive_of,
    projects_of,
    shown_of,
)
from tests.repositories import Workplace

each_project = pytest.mark.parametrize(
    ("version", "name"), [(v, name) for v in VERSIONS for name in projects_of(v)]
)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> int:
    """The format of the store."""
    number: int = request.param
    return number


@pytest.fixture
def expected(version: int) -> dict[str, dict[str, Any]]:
    """What the commands of its time printed, by project."""
    shown: dict[str, dict[str, Any]] = json.loads(shown_of(version).read_text("utf-8"))
    return shown


@pytest.fixture
def place(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workplace:
    # Python 3.11 has no filters before 3.11.4.
    filtered: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(archive_of(version)) as archive:
        archive.extractall(tmp_path, **filtered)
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{tmp_path / 'letters'}")
    return Workplace(tmp_path)


def opened(place: Workplace, name: str) -> Project:
    return open_project(place.repository, store=place.folder / "store", name=name)


def give(place: Workplace, name: str, *command: str, code: int = 0) -> Any:
    """What a command prints as JSON."""
    store = str(place.folder / "store")
    done = place.easeci(*command, "--json", "--project", name, code=code, EASECI_STORE=store)
    return json.loads(done.stdout)


def known_keys(now: Any, before: Any) -> Any:
    """A document without the keys that easeci did not know before."""
    if isinstance(now, dict) and isinstance(before, dict):
        return {key: known_keys(now[key], before[key]) for key in now if key in before}
    if isinstance(now, list) and isinstance(before, list) and len(now) == len(before):
        return [known_keys(*pair) for pair in zip(now, before, strict=True)]
    return now


@each_project
def test_the_fixture_has_events_of_its_version(place: Workplace, version: int, name: str) -> None:
    records, _ = opened(place, name).store.ledger(name)
    assert max(record.version for record in records) == min(version, 2)  # later: new kinds only


def test_it_has_the_kinds_of_event_that_came_with_its_version(
    place: Workplace, version: int
) -> None:
    """Version 4 charges before a program sees sealed examples; before, nothing of that is there."""
    came = {
        "SampleBuilt",
        "SealedRunBegun",
        "SealedRunFailed",
        "SealedRunInterrupted",
        "StepShared",
        "TurnCame",
    }
    found = {
        record.kind
        for name in projects_of(version)
        for record in opened(place, name).store.ledger(name)[0]
    }
    assert found & came == (came if version >= 4 else set())


def test_its_database_moves_below_the_folder_of_the_store(place: Workplace, version: int) -> None:
    """With all that it holds, and only once. Since version 3 it is there already."""
    store, names = place.folder / "store", projects_of(version)
    assert (store / "ledger.db").exists() == (version < 3)
    events = [opened(place, name).head.number for name in names]
    assert not (store / "ledger.db").exists()
    assert [opened(place, name).head.number for name in names] == events
    assert sorted(path.name for path in store.glob("ledger*")) == ["ledger"]


@pytest.mark.parametrize("kind", ["read-only", pytest.param("full", marks=pytest.mark.long)])
def test_it_can_be_read_where_nothing_can_be_written(
    place: Workplace, tmp_path: Path, version: int, kind: str
) -> None:
    """It is neither moved nor migrated then; since version 3 it has no need of either."""
    program = f"""
import subprocess
for words in ("status", "log", "log --verify", "status --owner"):
    done = subprocess.run(
        ["{COMMAND}", *words.split(), "--store", "{tmp_path}/place/store", "--project", "full"],
        cwd="{place.repository}", capture_output=True, text=True)
    print(done.returncode, done.stderr.partition("\\n")[0])
"""
    store = place.folder / "store"
    said = in_small_file_system(store, tmp_path / "place", UNWRITABLE[kind], program)
    *shown, refused = said.splitlines()
    assert [line.strip() for line in shown] == ["0", "0", "0"]
    assert refused.startswith("6 error: ")
    assert ("earlier version" in refused) == (version < 3)


def test_the_times_of_its_examples_are_forgotten(place: Workplace, version: int) -> None:
    """Versions 1 and 2 left the time at which somebody last read each of them."""
    if version >= 3:
        return
    examples = place.folder / "store" / "vault" / "full" / "1" / "examples"
    for path in examples.rglob("*"):
        os.utime(path, (1_700_000_000, 1_700_000_000))
    opened(place, "full")
    times = {(path.stat().st_atime, path.stat().st_mtime) for path in examples.rglob("*")}
    assert times == {(LAST_READ, LAST_CHANGED)}


def what_is_next(words: str) -> tuple[list[str], bool]:
    """The numbers of a sentence on what happens next, and whether a testset is missing.

    The other words change with time.
    """
    return re.findall(r"\d+", words), "new testset is needed" in words


@each_project
def test_it_shows_what_it_showed(
    place: Workplace, expected: dict[str, dict[str, Any]], name: str
) -> None:
    for view in VIEWS:
        now, before = give(place, name, *view.split()), expected[name][view]
        if view == "status":  # the guarantee rests on more than was said
            said = before.pop("rests_on")
            assert [line for line in now["rests_on"] if line in said] == said
            assert what_is_next(now["next"]) == what_is_next(before.pop("next"))
        assert known_keys(now, before) == before, view


@each_project
def test_it_verifies(place: Workplace, name: str) -> None:
    assert give(place, name, "log", "--verify") == {"damage": []}


def planless(text: str) -> str:
    """A letter without what the plan asks of the next testset: plans get better with time."""
    return re.sub(r"With the same script,.*?says why\.", "", text, flags=re.DOTALL)


@each_project
def test_letters_read_as_they_did(
    place: Workplace, version: int, expected: dict[str, dict[str, Any]], name: str
) -> None:
    project = opened(place, name)
    letters = [letter_of(project, message) for message in project.state.messages]
    now = [[letter.subject, planless(letter.text)] for letter in letters]
    expected[name]["letters"] = [[s, planless(text)] for s, text in expected[name]["letters"]]
    if name == "secret" and version == 1:
        # Its owner retired it with a sentence of easeci's. Version 1 could not tell the two apart.
        subject, text = now[-1]
        right, wrong = "the owner retired this one by hand", "all steps of this one are used"
        assert right in " ".join(text.split())
        now[-1] = [subject, " ".join(text.split()).replace(right, wrong)]
        expected[name]["letters"][-1][1] = " ".join(expected[name]["letters"][-1][1].split())
    for message, letter, before in zip(
        project.state.messages, now, expected[name]["letters"], strict=True
    ):
        if message.topic == VerdictLetter():
            # Verdicts have other words now, and values in points; the facts are the same.
            assert letter[0] == before[0]
            assert letter[1].splitlines()[-1] == before[1].splitlines()[-1]
            assert "can't tell" not in letter[1]
        else:
            assert letter == before


def test_it_folds_to_the_state_that_it_had(place: Workplace) -> None:
    """Reasons and verdicts are typed, whatever form they were recorded in."""
    states = {name: opened(place, name).state for name in PROJECTS}
    assert {
        name: [testset.retired for testset in state.testsets.values()]
        for name, state in states.items()
    } == {
        "full": [BudgetUsed(), None],
        "secret": [ByHand("all its steps are used")],
        "change": [FirstChange(passed=True)],
        "wide": [None],
    }
    assert {
        name: [(message.topic, message.outcome) for message in state.messages]
        for name, state in states.items()
    } == {
        "full": [
            (StepsLeftWarning(2), Delivery.FAILED),
            (AlarmLetter(BudgetUsed()), Delivery.REFUSED),
        ],
        "secret": [
            (VerdictLetter(), Delivery.FAILED),
            (VerdictLetter(), Delivery.SENT),
            (StepsLeftWarning(2), Delivery.SENT),
            (AlarmLetter(ByHand("all its steps are used")), Delivery.SENT),
        ],
        "change": [(AlarmLetter(FirstChange(passed=True)), None)],
        "wide": [(UndecidedWarning(8, 8), Delivery.SENT)],
    }
    first = states["full"].testsets[1].steps[0].verdict
    assert first is not None
    assert (first.result, first.passed, len(first.clauses)) == (Result.TRUE, True, 2)
    assert [clause.ended for clause in first.clauses] == [Ending.PROVEN, Ending.PROVEN]
    second = states["full"].testsets[2]
    assert second.undecided_step is second.steps[0]
    assert (second.labels, second.corrected) == (15, 5)
    assert [view for _, view in states["full"].looks] == ["status", "labelling"]
    assert (states["full"].baseline_how, states["change"].baseline_how) == ("passed", "passed")
    assert all(step.undecided for step in states["wide"].testsets[1].steps)


@each_project
def test_every_recorded_verdict_can_be_recomputed(place: Workplace, name: str) -> None:
    """From the labels of its time, none of them at hand; another answer would be noticed."""
    project = opened(place, name)
    decided = [
        (testset, step, step.verdict)
        for testset in project.state.testsets.values()
        for step in testset.steps
        if step.verdict is not None
    ]
    assert decided
    for testset, step, recorded in decided:
        again = record_of(verdict_of(project, testset, step))
        assert differences(recorded, again) == []
        assert differences(replace(recorded, labels=recorded.labels + 1), again)
        assert recorded.why


def test_what_it_released_is_shown(place: Workplace) -> None:
    """And not the testset that is in use."""
    found = give(place, "full", "report", "--released")
    assert found["testset"] == 1
    assert found["old"] is not None
    assert sum(map(sum, found["confusion"]["new"]["counts"])) == found["whole"]["labelled"] > 0
    store = str(place.folder / "store")
    refused = place.easeci("report", "--released", "2", "--project", "full", EASECI_STORE=store)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_it_goes_on(place: Workplace, version: int) -> None:
    """Labels answer the step that waits and the commits behind it, and another commit is tested.

    In versions 1 to 3 a commit that waits for its turn is not charged, and the next one takes its
    place. Version 4 has charged all three, so each gets its answer.
    """
    give(place, "full", "labels", "import", str(place.folder / "labels-full.csv"))
    rows = give(place, "full", "log")
    behind, steps = ("superseded", [1, None, 2]) if version < 4 else ("fail", [1, 2, 3])
    assert [row["signal"] for row in rows[-3:]] == ["pass", behind, "fail"]
    assert [row["step"] for row in rows[-3:]] == steps
    place.commit_cut(0.8)
    give(place, "full", "run", code=1)
    assert give(place, "full", "status")["shown"]["retired"] == "all its steps are used"
    assert give(place, "full", "log", "--verify") == {"damage": []}
    sent = [letter["outcome"] for letter in give(place, "full", "outbox", "--send")]
    assert sent == ["sent"] * len(sent)


since_4 = pytest.mark.parametrize("version", [v for v in VERSIONS if v >= 4])
"""Versions 1 to 3 have no such project, sample or step."""


@since_4
def test_its_samples_are_public_and_its_baselines_built(place: Workplace, version: int) -> None:
    """The sample is no part of the testset. The baseline has predictions before the first step."""
    sizes = {"full": 250, "secret": 420, "change": 420, "wide": 60, "measures": 900}
    samples = {"full": 12, "secret": 20, "change": 20, "wide": 3, "measures": 45}
    for name in projects_of(version):
        for testset in opened(place, name).state.testsets.values():
            assert (testset.sample, testset.examples) == (
                samples[name],
                sizes[name] - samples[name],
            )
            assert testset.starts_with_baseline == (name != "wide")
            assert testset.sample_predictions


@since_4
def test_a_program_that_failed_on_sealed_examples_has_a_step(place: Workplace) -> None:
    """The owner reads why; developers read that it failed."""
    step = opened(place, "full").state.testsets[1].steps[2]
    assert (step.passed, step.verdict) == (False, None)
    (row,) = [row for row in give(place, "full", "log") if (row["testset"], row["step"]) == (1, 3)]
    assert row["signal"] == "fail"
    assert "exit code" not in json.dumps(row)
    owner = give(place, "full", "log", "--owner")
    (seen,) = [line for line in owner if line["shown"]["submission"] == row["submission"]]
    assert seen["failure"] == "the program ended with exit code 1"


@since_4
def test_measures_of_classes_and_slices_keep_their_prefix(place: Workplace) -> None:
    """Verdicts depend on the length of the prefix, so the recorded one counts."""
    project = opened(place, "measures")
    testset = project.state.testsets[1]
    recall, of_slice = testset.script.clauses
    assert testset.prefixes == {recall.text: 200}
    assert of_slice.score.slice is not None
    first, second, third = testset.steps
    assert first.verdict is not None
    assert [clause.ended for clause in first.verdict.clauses] == [Ending.PROVEN, Ending.PROVEN]
    assert 200 <= first.verdict.labels <= testset.labels < testset.examples
    assert testset.undecided_step is second
    assert project.state.submission(third.submission).interruption == "the disk is full"
    testset.prefixes = {recall.text: 100}  # otherwise the verdict would be another one
    again = record_of(verdict_of(project, testset, first))
    assert differences(first.verdict, again)


@since_4
def test_an_interrupted_run_is_repeated_under_its_charge(place: Workplace) -> None:
    """And the step before it gets its answer from the labels that come."""
    before = give(place, "measures", "log")
    assert [row["signal"] for row in before] == ["unchanged", "pass", "pending", "pending"]
    labels = str(place.folder / "labels-measures.csv")
    give(place, "measures", "labels", "import", labels)
    give(place, "measures", "run", code=1)  # the commit of the run
    rows = give(place, "measures", "log")
    assert [(row["signal"], row["step"]) for row in rows] == [
        ("unchanged", None),
        ("pass", 1),
        ("pass", 2),
        ("fail", 3),
    ]
    assert give(place, "measures", "status")["shown"]["steps_used"] == 3
    assert give(place, "measures", "log", "--verify") == {"damage": []}
