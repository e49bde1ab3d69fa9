"""Recorded verdicts: what is recorded of a live one, and how records are read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from easeci.errors import InfrastructureError
from easeci.evidence.endings import Ending
from easeci.ledger.verdicts import parse_verdict, record_of
from easeci.script import Estimator
from easeci.service.scripts import make_script
from easeci.verdict.decide import decide
from easeci.verdict.logic import Result
from easeci.verdict.result import Verdict
from tests.cases import each_case
from tests.histories import CLAUSE, VERDICT

KEYS = "outcome pass estimator clauses examples labels labels_wanted widened"  # of the document
CLAUSE_KEYS = "clause estimate interval outcome tolerance widened examples examples_needed ended"


def live(estimator: str) -> Verdict:
    script = make_script(
        "n - o > 0.02 +/- 0.1 /\\ d < 0.5 +/- 0.1", reliability=0.9, estimator=estimator
    )
    return decide(script, np.array([0] * 30 + [1] * 10, dtype=np.uint8), "")


@each_case("estimator", ["sequential", "hoeffding", "exact"])
def test_a_live_verdict_survives_the_record(estimator: str) -> None:
    """Recorded, written as JSON and parsed, it is the same; and its keys are those of always."""
    recorded = record_of(live(estimator))
    document = json.loads(json.dumps(recorded.document()))
    assert parse_verdict(document) == recorded
    assert list(document) == KEYS.split()
    assert [list(clause) for clause in document["clauses"]] == [CLAUSE_KEYS.split()] * 2
    assert recorded.estimator is Estimator(estimator)


def test_the_first_records_do_not_say_how_a_clause_ended() -> None:
    document = VERDICT.document()
    del document["clauses"][0]["ended"]
    assert parse_verdict(document) == replace(VERDICT, clauses=(replace(CLAUSE, ended=None),))


@each_case(
    "damage", [{"outcome": "Maybe"}, {"clauses": None}, {"clauses": [{}]}, {"estimator": "best"}]
)
def test_a_damaged_document_is_said(damage: dict[str, Any]) -> None:
    with pytest.raises(InfrastructureError, match="a verdict cannot be read"):
        parse_verdict(VERDICT.document() | damage)
    for key in VERDICT.document():
        rest = {name: value for name, value in VERDICT.document().items() if name != key}
        with pytest.raises(InfrastructureError, match="a verdict cannot be read"):
            parse_verdict(rest)


@each_case(
    ("result", "ends", "undecided"),
    [
        (Result.UNKNOWN, (Ending.EXHAUSTED,), True),
        (Result.UNKNOWN, (Ending.FUTILE,), False),
        (Result.UNKNOWN, (Ending.FUTILE, Ending.EXHAUSTED), True),
        (Result.UNKNOWN, (Ending.FUTILE, Ending.PROVEN), False),
        (Result.UNKNOWN, (None,), True),
        (Result.FALSE, (Ending.EXHAUSTED,), False),
        (Result.TRUE, (None,), False),
    ],
)
def test_undecided_means_unknown_for_too_few_examples(
    result: Result, ends: tuple[Ending | None, ...], undecided: bool
) -> None:
    clauses = tuple(replace(CLAUSE, ended=end) for end in ends)
    assert replace(VERDICT, result=result, clauses=clauses).undecided is undecided
