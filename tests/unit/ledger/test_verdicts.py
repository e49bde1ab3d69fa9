"""Recorded verdicts: what is recorded of a live one, and how records are read."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from easeci.errors import InfrastructureError
from easeci.evidence.endings import Ending
from easeci.ledger.verdicts import differences, parse_verdict, record_of
from easeci.script import Estimator
from easeci.service.scripts import make_script
from easeci.verdict.decide import decide
from easeci.verdict.logic import Result
from easeci.verdict.result import Verdict
from tests.cases import each_case
from tests.histories import CLAUSE, VERDICT

KEYS = "outcome pass estimator clauses examples labels labels_wanted widened labels_at_hand"
CLAUSE_KEYS = (
    "clause estimate interval outcome tolerance widened examples examples_needed ended "
    "interval_error"
)
ADDED_LATER = ("labels_at_hand",)


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
    del document["clauses"][0]["interval_error"]
    del document["labels_at_hand"]
    assert parse_verdict(document) == replace(VERDICT, clauses=(replace(CLAUSE, ended=None),))


@each_case(
    "damage", [{"outcome": "Maybe"}, {"clauses": None}, {"clauses": [{}]}, {"estimator": "best"}]
)
def test_a_damaged_document_is_said(damage: dict[str, Any]) -> None:
    with pytest.raises(InfrastructureError, match="a verdict cannot be read"):
        parse_verdict(VERDICT.document() | damage)
    for key in VERDICT.document():
        if key in ADDED_LATER:
            continue
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


@each_case("estimator", ["sequential", "hoeffding", "exact"])
def test_a_recomputed_verdict_agrees_with_its_record(estimator: str) -> None:
    recorded = record_of(live(estimator))
    assert differences(recorded, record_of(live(estimator))) == []
    rounded = replace(recorded.clauses[0], low=recorded.clauses[0].low + 1e-13)
    assert differences(replace(recorded, clauses=(rounded, recorded.clauses[1])), recorded) == []


@each_case(
    ("change", "sentence"),
    [
        ({"passed": True}, "the answer is True, recomputed False"),
        ({"labels": 7}, "the number of labels is 7, recomputed 0"),
        ({"result": Result.TRUE}, "the outcome is True, recomputed Unknown"),
        ({"examples": 41}, "the number of examples is 41, recomputed 40"),
    ],
)
def test_another_answer_than_the_recorded_one_is_named(
    change: dict[str, Any], sentence: str
) -> None:
    again = record_of(live("sequential"))
    assert again.passed is False
    assert differences(replace(again, **change), again) == [sentence]


@each_case(
    ("change", "part"),
    [
        ({"result": Result.TRUE}, "the outcome"),
        ({"ended": Ending.OPEN}, "the ending"),
        ({"examples": 3}, "the number of examples"),
        ({"low": -0.75}, "the lower limit"),
        ({"high": 0.75}, "the upper limit"),
        ({"estimate": 0.5}, "the estimate"),
    ],
)
def test_another_clause_than_the_recorded_one_is_named(change: dict[str, Any], part: str) -> None:
    again = record_of(live("sequential"))
    first, second = again.clauses
    (line,) = differences(replace(again, clauses=(replace(first, **change), second)), again)
    assert line.startswith(f"clause {first.text}: {part} is ")


def test_older_records_have_other_intervals() -> None:
    """A record from before confidence sequences is compared without its half-line."""
    again = record_of(live("sequential"))
    old = tuple(
        replace(clause, low=-1.0, high=0.22, interval_error=None, ended=None, estimate=None)
        for clause in again.clauses
    )
    assert differences(replace(again, clauses=old), again) == []
