"""What ``run`` tells a developer of a commit, as a value and as a document (JSON)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from easeci.build.sandbox import duration_text
from easeci.ledger.disclosure import DisclosedRow, disclosed_reason, disclosed_row, steps_used
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Submission, Testset
from easeci.service.project import Project

_BESIDE_ROW = (
    "steps",
    "steps_used",
    "charged",
    "failure",
    "log",
    "sample",
    "warning",
    "ended",
    "file_read",
)


@dataclass(frozen=True)
class RunAnswer:
    """The disclosed row of a commit, the testset's budget, and what is new.

    ``charged`` says whether this commit has spent a step. ``failure`` is why its build failed at no
    cost, and ``log`` what it printed on the public sample then. ``sample`` is the size of the
    public sample. ``warning`` follows from how long the program took for the sample.
    ``ended`` is why the testset has ended, None if it is in use. ``file_read`` says whether the
    file of predictions that came with the commit was read; None if there was no such file.
    """

    row: DisclosedRow
    steps: int
    steps_used: int
    charged: bool
    failure: str | None = None
    log: str | None = None
    sample: int = 0
    warning: str | None = None
    ended: str | None = None
    file_read: bool | None = None


def answer_of(
    state: State,
    submission: Submission,
    *,
    charged: bool | None = None,
    log: str | None = None,
    file_read: bool | None = None,
) -> RunAnswer:
    """What is disclosed of a submission now.

    ``charged`` overrides whether it has spent a step: a repeated ``run`` spends none. ``log`` is
    what :func:`public_log` gives.
    """
    testset = state.testsets[submission.testset]
    row = disclosed_row(state, submission)
    spent = row.step is not None and submission.repeats is None
    return RunAnswer(
        row=row,
        steps=testset.terms.steps,
        steps_used=steps_used(state, testset),
        charged=spent if charged is None else spent and charged,
        failure=submission.failure,
        log=log,
        sample=testset.sample,
        warning=pace_warning(testset, submission),
        ended=disclosed_reason(state, testset),
        file_read=file_read,
    )


def public_log(project: Project, submission: Submission) -> str | None:
    """What the program printed when it failed on the public sample."""
    testset = project.state.testsets[submission.testset]
    if submission.failure is None or not submission.public or submission.log is None:
        return None
    return project.sealed(testset).builds.load_log(submission.log)


def pace_warning(testset: Testset, submission: Submission) -> str | None:
    """A warning if the sealed examples would take too long at the pace of the public sample."""
    built = testset.sample_predictions.get(submission.tested_model)
    if built is None or testset.sample == 0:
        return None
    limit = testset.script.longest_seconds
    expected = built.seconds * testset.examples / testset.sample
    if expected <= limit:
        return None
    return (
        f"the program took {built.seconds:.1f} s for the {testset.sample:,} examples of the "
        f"sample: at this pace the testset takes {duration_text(round(expected))}, and it is "
        f"stopped after {duration_text(limit)} (timeout: in the script)"
    )


def answer_document(answer: RunAnswer) -> dict[str, Any]:
    """The answer as JSON: what ``run --json`` prints and what a push's result file holds."""
    return asdict(answer.row) | {name: getattr(answer, name) for name in _BESIDE_ROW}


def parse_answer(document: Mapping[str, Any]) -> RunAnswer:
    """The answer that :func:`answer_document` wrote, also in an older version."""
    row = {name: value for name, value in document.items() if name not in _BESIDE_ROW}
    beside = {name: document[name] for name in _BESIDE_ROW if name in document}
    return RunAnswer(row=DisclosedRow(**row | {"signal": Signal(row["signal"])}), **beside)
