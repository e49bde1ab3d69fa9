"""Conditions over n, o and d: every verdict, count of labels and size stays the same to the bit."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from tests.fixtures.make_linear_verdicts import (
    CASES,
    ESTIMATORS,
    PLANNED_EVERY,
    RECORDED,
    Case,
    make_case,
    rounding,
)

ORDINARY = 300
"""So many cases are decided in every run of the tests, a hundred at a time."""
HUNDREDS = [range(start, min(start + 100, CASES)) for start in range(0, CASES, 100)]
SIZES = range(0, ORDINARY, 5 * PLANNED_EVERY)
NEARLY = 1e-9


@pytest.fixture(scope="module")
def recorded() -> list[dict[str, Any]]:
    """The row of each case."""
    return list(json.loads(RECORDED.read_text("utf-8"))[1:])


@pytest.fixture(scope="module")
def same() -> Callable[[Any, Any], bool]:
    """Whether two values are the same: to the bit where this machine rounds like the recorder's."""
    exact = json.loads(RECORDED.read_text("utf-8"))[0] == rounding()
    return (lambda one, other: bool(one == other)) if exact else nearly_same


def nearly_same(one: Any, other: Any) -> bool:
    """The same but for rounding. Floats are hexadecimal, all other values must be equal."""
    if isinstance(one, list) and isinstance(other, list):
        pairs = zip(one, other, strict=False)
        return len(one) == len(other) and all(nearly_same(a, b) for a, b in pairs)
    if isinstance(one, str) and isinstance(other, str) and "0x" in one and "0x" in other:
        floats = [float.fromhex(value) for value in (one, other)]
        return floats[0] == pytest.approx(floats[1], rel=NEARLY, abs=NEARLY)
    return bool(one == other)


def changes(
    case: Case, row: dict[str, Any], found: dict[str, Any], same: Callable[[Any, Any], bool]
) -> Iterable[str]:
    """What differs from the record, in words."""
    found = json.loads(json.dumps(found))
    for key in [name for name in {**row, **found} if name != "sizes" or name in found]:
        if not same(row.get(key), found.get(key)):
            yield (
                f"case {case.number}, {len(case.codes)} examples, history {case.history}, "
                f"batch {case.batch}\n{case.text}{key}\n  was {row.get(key)}\n  is  {found.get(key)}"
            )


def require_none(changed: list[str]) -> None:
    assert not changed, f"{len(changed)} changes, the first ones:\n" + "\n".join(changed[:3])


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(
            numbers,
            id=f"{numbers[0]} to {numbers[-1]}",
            marks=[pytest.mark.long] if numbers[0] >= ORDINARY else [],
        )
        for numbers in HUNDREDS
    ],
)
def test_verdicts_and_curves_are_those_of_the_five_cells(
    numbers: range, recorded: list[dict[str, Any]], same: Callable[[Any, Any], bool]
) -> None:
    """Answers, labels used and wanted, estimates, intervals and evidence, with every estimator."""
    require_none(
        [
            change
            for case in map(make_case, numbers)
            for change in changes(case, recorded[case.number], case.decided(), same)
        ]
    )


@pytest.mark.parametrize(
    "numbers",
    [
        pytest.param(SIZES, id="some"),
        pytest.param(
            [n for n in range(0, CASES, PLANNED_EVERY) if n not in SIZES],
            id="the others",
            marks=pytest.mark.long,
        ),
    ],
)
def test_sizes_are_those_of_the_five_cells(
    numbers: Iterable[int], recorded: list[dict[str, Any]]
) -> None:
    """How many examples and labels `plan` asks for."""
    for case in map(make_case, numbers):
        assert not case.planned or recorded[case.number]["sizes"] == case.sizes(), case.text


def test_the_record_has_verdicts_of_all_kinds(recorded: list[dict[str, Any]]) -> None:
    """Otherwise equal verdicts would show little."""
    assert len(recorded) == CASES
    decided = [row for row in recorded if "verdict" in row]
    assert len(decided) >= 700
    for passed in (True, False, None):
        assert sum(row["verdict"][0] is passed for row in decided) >= 150
    named = {name for name in ESTIMATORS if name != "auto"}
    assert {row["verdict"][2] for row in decided} == named
    walks = [clause for row in decided for clause in row["clauses"] if len(clause) == 14]
    for ending in ("proven", "futile", "exhausted", "open"):
        assert sum(clause[6] == ending for clause in walks) >= 100
    assert sum("sizes" in row for row in recorded) >= 150
    assert sum(bool(row.get("curves")) for row in recorded) >= 30
