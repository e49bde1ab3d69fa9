"""What ``run`` tells a developer of a commit, as a value and as a document (JSON)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from easeci.ledger.disclosure import DisclosedRow, disclosed_row, steps_used
from easeci.ledger.signals import Signal
from easeci.ledger.state import State, Submission

_BESIDE_ROW = ("steps", "steps_used", "charged", "failure")


@dataclass(frozen=True)
class RunAnswer:
    """The disclosed row of a commit, the testset's budget, and what is new.

    ``charged`` says whether this commit has spent a step. ``failure`` is why its build failed.
    """

    row: DisclosedRow
    steps: int
    steps_used: int
    charged: bool
    failure: str | None = None


def answer_of(state: State, submission: Submission, *, charged: bool | None = None) -> RunAnswer:
    """What is disclosed of a submission now.

    ``charged`` overrides whether it has spent a step: a repeated ``run`` spends none.
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
    )


def answer_document(answer: RunAnswer) -> dict[str, Any]:
    """The answer as JSON: what ``run --json`` prints and what a push's result file holds."""
    return asdict(answer.row) | {name: getattr(answer, name) for name in _BESIDE_ROW}


def parse_answer(document: Mapping[str, Any]) -> RunAnswer:
    """The answer that :func:`answer_document` wrote."""
    row = {name: value for name, value in document.items() if name not in _BESIDE_ROW}
    beside = {name: document[name] for name in _BESIDE_ROW}
    return RunAnswer(row=DisclosedRow(**row | {"signal": Signal(row["signal"])}), **beside)
