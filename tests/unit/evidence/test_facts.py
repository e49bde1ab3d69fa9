"""From the columns of a testset to the codes that a clause reads."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from easeci.evidence.cells import Code
from easeci.evidence.facts import LABELS, ClassColumns, Facts, Known, RankColumns
from easeci.evidence.levels import StepLevels
from easeci.script import Mode
from easeci.script.outcomes import ExampleAlphabet
from easeci.verdict.sequential import decide_sequentially
from tests.cases import each_case
from tests.measures import Shown, alphabet_of, clause_of

CONDITIONS = [
    "n - o > 0 +/- 0.1",
    "recall(k) > 0.5 +/- 0.1",
    "recall(k) - recall(b) > 0 +/- 0.1",
]


@each_case("condition", CONDITIONS)
def test_every_outcome_is_read_as_itself(condition: str) -> None:
    """With a label, without one, and with an unsettled one."""
    score = clause_of(condition).score
    alphabet = alphabet_of(score)
    outcomes = np.arange(alphabet.outcomes, dtype=np.uint8)
    facts = Shown(alphabet).facts(outcomes)
    np.testing.assert_array_equal(facts.codes(score), outcomes)
    unsettled = Shown(alphabet).facts(outcomes, np.ones(len(outcomes), bool))
    expected = [alphabet.unsettled(alphabet.group_of[outcome]) for outcome in outcomes]
    np.testing.assert_array_equal(unsettled.codes(score), expected)
    missing = np.where(facts.cells >= 2, Code.DIFFER_UNLABELLED, Code.AGREE_UNLABELLED)
    unlabelled = replace(facts, cells=missing.astype(np.uint8))
    expected = [alphabet.unlabelled(alphabet.group_of[outcome]) for outcome in outcomes]
    np.testing.assert_array_equal(unlabelled.codes(score), expected)


@each_case("condition", CONDITIONS)
def test_one_label_changes_the_code_that_the_whole_column_would_have(condition: str) -> None:
    score = clause_of(condition).score
    alphabet = alphabet_of(score)
    outcomes = np.arange(alphabet.outcomes, dtype=np.uint8)
    hidden = Shown(alphabet).facts(outcomes, np.ones(len(outcomes), bool)).copied()
    shown = Shown(alphabet).facts(outcomes)
    for position in range(len(outcomes)):
        known = shown.known_at(position)
        assert hidden.code_at(position, known, score) == outcomes[position]
        hidden.put(position, known)
    np.testing.assert_array_equal(hidden.codes(score), outcomes)


def test_classes_that_a_clause_does_not_name_are_other_ones() -> None:
    """The testset knows two classes, the clause one of them."""
    columns = ClassColumns(
        ("b", "k"),
        np.array([0, 1, 2], np.uint16),
        np.array([0, 0, 2], np.uint16),
        np.array([0, 1, 1], np.uint16),
    )
    cells = np.array([Code.AGREE_RIGHT, Code.NEW_RIGHT, Code.AGREE_WRONG], np.uint8)
    score = clause_of("recall(k) > 0.5 +/- 0.1").score
    alphabet = ExampleAlphabet.of(("k",))
    found = [alphabet.shown[code] for code in Facts(cells, columns).codes(score)]
    assert [(one.new, one.old, one.label) for one in found] == [(1, 1, 1), (0, 1, 0), (1, 1, 0)]
    assert [one.new_right for one in found] == [1, 1, 0]


def test_a_slice_is_cut_out_in_the_order_of_the_testset() -> None:
    score = clause_of("n[lang=de] > 0.5 +/- 0.1").score
    assert score.slice is not None
    cells = np.array([0, 1, 2, 3, 4, 0], np.uint8)
    facts = Facts(cells, slices={score.slice: np.array([1, 3, 4])})
    np.testing.assert_array_equal(facts.codes(score), [1, 3, 4])


def test_a_block_sees_labels_alone() -> None:
    score = clause_of("auc(k) > 0.7 +/- 0.1").score
    cells = [Code.NEW_RIGHT, Code.AGREE_RIGHT, Code.DIFFER_UNLABELLED, Code.AGREE_UNSETTLED]
    labels = np.array([0, 1, 0, 0], np.uint16)
    facts = Facts(
        np.array(cells, np.uint8),
        ClassColumns(("k",), labels, labels, labels),
        ranks={"k": RankColumns(np.array([0.5, 0.1, 0.2, 0.3]))},
    )
    expected = [0, 1, LABELS.unlabelled(0), LABELS.unsettled(0)]
    np.testing.assert_array_equal(facts.codes(score), expected)
    assert facts.code_at(2, Known(Code.NEW_RIGHT, 1), score) == 1


def test_known_codes_hold_earlier_models_too() -> None:
    cells = np.array([Code.DIFFER_UNLABELLED] * 2, np.uint8)
    facts = Facts(cells, rivals=(cells, cells)).copied()
    facts.put(1, Known(Code.NEW_RIGHT, 0, (Code.NEW_RIGHT, Code.OLD_RIGHT)))
    assert facts.known_at(1).rivals == (Code.NEW_RIGHT, Code.OLD_RIGHT)
    assert list(cells) == [Code.DIFFER_UNLABELLED] * 2
    with pytest.raises(ValueError, match="zip"):
        facts.put(1, Known(Code.NEW_RIGHT))


EMPTY = [
    "n[a=x] > 0.5 +/- 0.1",
    "n[a=x] - o[a=x] > 0.1 +/- 0.1",
    "d[a=x] < 0.5 +/- 0.1",
    "n[a=x] / o[a=x] > 1 +/- 0.1",
    "recall(k)[a=x] > 0.5 +/- 0.1",
    "n.precision(k)[a=x] - o.precision(k)[a=x] > 0.1 +/- 0.2",
    "auc(k)[a=x] > 0.7 +/- 0.1",
    "n[a=x] - top(2)[a=x] > 0 +/- 0.1",
]


@each_case("condition", EMPTY)
@each_case("mode", list(Mode))
def test_nothing_is_known_of_an_empty_slice(condition: str, mode: Mode) -> None:
    """No proof, no estimate, and an interval of all that is possible."""
    clause = clause_of(condition)
    assert clause.score.slice is not None
    cells, places = np.zeros(9, np.uint8), np.zeros(9, np.uint16)
    facts = Facts(
        cells,
        ClassColumns(("k",), places, places, places),
        {clause.score.slice: np.zeros(0, np.intp)},
        {"k": RankColumns(np.zeros(9))},
        (cells, cells),
    )
    levels = StepLevels(*(math.log(0.4),) * 3)
    verdict = decide_sequentially([clause], mode, levels, facts)
    assert verdict.passed is (mode is Mode.FN_FREE)
    (found,) = verdict.clauses
    assert found.estimate is None
    assert found.interval.low <= clause.score.lowest
    assert found.interval.high >= clause.score.highest
