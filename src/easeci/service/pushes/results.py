"""What became of a push, as developers read it: an answer, or why nothing was tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from easeci.service.commits.answer import RunAnswer, answer_document, parse_answer


@dataclass(frozen=True)
class NotTested:
    """Nothing was tested, and why."""

    reason: str
    hint: str | None = None


PushResult = RunAnswer | NotTested


def result_document(result: PushResult) -> dict[str, Any]:
    """The result as JSON; an answer has the keys of ``run --json``."""
    if isinstance(result, RunAnswer):
        return answer_document(result)
    return {"signal": None, "untested": result.reason, "hint": result.hint}


def parse_result(document: Mapping[str, Any]) -> PushResult:
    """The result that :func:`result_document` wrote."""
    if document["signal"] is None:
        return NotTested(document["untested"], document["hint"])
    return parse_answer(document)


def in_short(result: PushResult) -> str:
    """One line for the owner's terminal."""
    if isinstance(result, NotTested):
        return f"not tested: {result.reason}"
    return str(result.row.signal)
