"""A long history must not slow commands down: after ten thousand commits against after one."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.repositories import SCRIPT, Workplace

from bench.page import Section
from bench.progress import tell
from bench.ratio import Ratio, ratio, ratio_section
from easeci.evidence.endings import Ending
from easeci.ledger.events import (
    BaselineArchived,
    BaselineSet,
    Built,
    Charged,
    Decided,
    Event,
    LabelsAdded,
    MessageQueued,
    Signalled,
    Submitted,
    TestsetAdded,
    TestsetRetired,
)
from easeci.ledger.reasons import BudgetUsed, VerdictLetter
from easeci.ledger.sealed_script import sealed
from easeci.ledger.verdicts import RecordedClause, RecordedVerdict
from easeci.script import Estimator
from easeci.service.project import Project, open_project
from easeci.service.scripts import load_entries
from easeci.vault.intake import load_offered
from easeci.vault.sealing import seal
from easeci.verdict.logic import Result

COMMITS = 10_000
A_TESTSET = 100
"""How many commits each testset of the history served."""
A_PASS = 10
"""One commit in so many passed."""
PROMISED = 3.0
OWNER = "owner@example.org"
OPENING = """\
## Ten thousand commits of history

Whole commands in a repository of 10,000 commits that were all tested, on a hundred testsets,
against the same commands where one commit was. Every command reads the whole ledger (50,000 events)
and checks that nothing of it was changed. The commit that `run` is given has its signal already, so
that nothing is built and what is measured is what `run` itself takes. Under adaptivity `none` a ref
holds each of the 10,000 commits."""


def section() -> Section:
    return ratio_section(OPENING, measure())


def measure(commits: int = COMMITS) -> list[Ratio]:
    found = []
    for adaptivity in ("full", f"none -> {OWNER}"):
        tell(f"  {commits:,} commits, adaptivity {adaptivity}")
        with tempfile.TemporaryDirectory() as folder:
            long = make_place(Path(folder, "long"), commits, adaptivity)
            short = make_place(Path(folder, "short"), 0, adaptivity)
            for command in ("status", "run"):
                what = f"`easeci {command}` after {commits:,} commits, `{adaptivity.split()[0]}`"
                found.append(_ratio(what, command, long, short))
    return found


def _ratio(what: str, command: str, long: Workplace, short: Workplace) -> Ratio:
    return ratio(
        what,
        lambda: _run(long, command),
        "the same after one commit",
        lambda: _run(short, command),
        promised=PROMISED,
    )


def _run(place: Workplace, command: str) -> None:
    done = place.easeci(command)
    # `run` repeats the recorded signal of a commit, and its exit code.
    assert done.returncode == int(done.stdout.startswith("FAIL")), done.stderr


def make_place(folder: Path, commits: int, adaptivity: str) -> Workplace:
    """A repository whose commits are in the ledger, and one more that is tested for real."""
    place = Workplace.make(folder, adaptivity=adaptivity)
    first = place.commit_cut(0.7)
    project = open_project(place.repository, create=True)
    project.append(BaselineSet(first, "set"))
    ids = _make_commits(place, first, commits)
    for number, start in enumerate(range(0, commits, A_TESTSET), start=1):
        baseline = project.state.baseline or first
        chosen = ids[start : start + A_TESTSET]
        project.append(*testset_events(number, chosen, start, baseline, adaptivity))
    _add_testset(project, place)
    place.commit_cut(0.75)
    _run(place, "run")
    return place


def _make_commits(place: Workplace, parent: str, commits: int) -> list[str]:
    """Make so many commits on the branch, all with the tree of their parent; return their ids."""
    lines = []
    for number in range(1, commits + 1):
        subject = f"Experiment {number}: another learning rate"
        lines += ["commit refs/heads/main", f"committer A <a@b.org> {1_767_225_600 + number} +0000"]
        lines += [f"data {len(subject)}", subject] + [f"from {parent}"] * (number == 1)
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=place.repository,
        input="\n".join([*lines, ""]).encode(),
        check=True,
    )
    return place.git("rev-list", "--reverse", f"{parent}..main").split()


def testset_events(
    number: int, ids: Sequence[str], before: int, baseline: str, adaptivity: str
) -> list[Event]:
    """The life of one testset: a step for each commit, and its end."""
    script = SCRIPT | {"adaptivity": adaptivity, "steps": str(A_TESTSET)}
    files = ("examples/examples.csv", "examples/examples.jsonl", "ids.parquet", "order.npy")
    events: list[Event] = [
        TestsetAdded(
            testset=number,
            name=f"examples-{number}.csv",
            examples=1500,
            needed=1429,
            script={key: [value] for key, value in script.items()},
            source=".easeci.yml",
            estimator="sequential",
            files={file: _digest(f"{number} {file}") for file in files},
        ),
        LabelsAdded(number, "labels/0001.parquet", _digest(f"{number} labels"), 1500),
    ]
    for step, commit in enumerate(ids, start=1):
        passed = step % A_PASS == 0
        events += _commit_events(number, before + step, step, commit, baseline, passed, adaptivity)
        baseline = commit if passed else baseline
    return [*events, TestsetRetired(number, BudgetUsed())]


def _commit_events(
    testset: int,
    submission: int,
    step: int,
    commit: str,
    baseline: str,
    passed: bool,
    adaptivity: str,
) -> list[Event]:
    made, log = _digest(f"made {commit}"), f"logs/commit-{submission:06}.txt"
    subject = f"Experiment {submission}: another learning rate"
    file = f"predictions/{made}.parquet"
    hidden = adaptivity.startswith("none")
    signal = "accepted" if hidden else "pass" if passed else "fail"
    events: list[Event] = [
        Submitted(submission, commit, subject, "main", candidate=True, testset=testset),
        Built(submission, file, _digest(file), made, log, _digest(log)),
        Charged(submission, step, baseline),
        Decided(testset, step, passed, _verdict(passed, step).document()),
        Signalled(submission, signal),
    ]
    if hidden:
        events.append(MessageQueued(step, VerdictLetter(), OWNER, testset, step))
    if passed:
        archive = f"archives/{commit}.tar.gz"
        events.append(BaselineArchived(testset, commit, archive, _digest(archive)))
    return events


def _verdict(passed: bool, step: int) -> RecordedVerdict:
    """A verdict like those of the sequential estimator."""
    result = Result.TRUE if passed else Result.UNKNOWN
    clause = RecordedClause(
        text=SCRIPT["condition"],
        result=result,
        estimate=(0.09 if passed else 0.01) + step / 10_000,
        low=0.02 if passed else -1.0,
        high=1.0 if passed else 0.12,
        tolerance=None,
        widened=False,
        examples=300 + step,
        examples_needed=None,
        ended=Ending.PROVEN if passed else Ending.FUTILE,
    )
    return RecordedVerdict(
        result=result,
        passed=passed,
        estimator=Estimator.SEQUENTIAL,
        clauses=(clause,),
        examples=1500,
        labels=300 + step,
        labels_wanted=0,
        widened=False,
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _add_testset(project: Project, place: Workplace) -> None:
    """Add a real testset after the others, which have no examples that it could repeat."""
    number = len(project.state.testsets) + 1
    kept = seal(project.vault, number, load_offered(place.examples, labels=place.labels))
    events: list[Event] = [
        TestsetAdded(
            testset=number,
            name=place.examples.name,
            examples=kept.examples,
            needed=1429,
            script=sealed(load_entries(place.repository / ".easeci.yml")),
            source=".easeci.yml",
            estimator="sequential",
            files=kept.digests,
        )
    ]
    for file in kept.label_files:
        events.append(LabelsAdded(number, file, kept.digests[file], kept.labels_known))
    project.append(*events)
