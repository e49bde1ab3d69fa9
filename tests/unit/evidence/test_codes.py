"""Codes of an alphabet: unsettled labels at their worst, and counts."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from easeci.evidence.codes import Counts, at_worst, in_groups, unlabelled
from easeci.script import Score
from tests.cases import each_case
from tests.measures import Shown, alphabet_of, clause_of

RECALL = clause_of("recall(k) > 0.5 +/- 0.1").score
ALPHABET = alphabet_of(RECALL)


@each_case(
    "score", [RECALL, clause_of("n / o > 1 +/- 0.1").score, clause_of("f1(k) > 0.5 +/- 0.1").score]
)
def test_an_unsettled_label_has_the_lowest_entry_of_its_group(score: Score) -> None:
    alphabet, table = score.alphabet, score.ratio.table(Fraction(1, 3))
    codes = np.arange(alphabet.codes, dtype=np.uint8)
    found = at_worst(codes, alphabet, table)
    for number, group in enumerate(alphabet.groups):
        worst = int(found[alphabet.unsettled(number)])
        assert worst in group
        assert table[worst] == min(table[outcome] for outcome in group)
    kept = alphabet.unsettled(0)
    np.testing.assert_array_equal(found[:kept], codes[:kept])


def test_groups_and_missing_labels_of_any_code() -> None:
    codes = np.arange(ALPHABET.codes, dtype=np.uint8)
    missing = np.flatnonzero(unlabelled(codes, ALPHABET))
    assert list(missing) == [ALPHABET.unlabelled(group) for group in range(5)]
    inside = np.flatnonzero(in_groups(codes, ALPHABET, [2]))
    assert list(inside) == [*ALPHABET.groups[2], ALPHABET.unlabelled(2), ALPHABET.unsettled(2)]


def counts_of(chances: list[int]) -> Counts:
    codes = np.repeat(np.arange(len(chances), dtype=np.uint8), chances)
    facts = Shown(ALPHABET).facts(codes)
    return Counts.of(facts.codes(RECALL), ALPHABET)


def test_the_value_of_a_ratio_is_that_of_the_sample() -> None:
    """Of six examples of the class, the new model finds three and the old one finds two."""
    by_key = {(one.new, one.old, one.label): number for number, one in enumerate(ALPHABET.shown)}
    chances = [0] * ALPHABET.outcomes
    for key, count in (((0, 0, 0), 2), ((0, 1, 0), 1), ((1, 1, 0), 3), ((1, 0, 1), 2)):
        chances[by_key[key]] = count
    assert counts_of(chances).value(RECALL) == Fraction(1, 2)
    difference = clause_of("n.precision(k) - o.precision(k) > 0 +/- 0.1").score
    assert counts_of(chances).value(difference) == 1 - Fraction(2, 4)
    assert counts_of([0] * ALPHABET.outcomes).value(RECALL) is None


def test_labels_are_missing_only_where_the_score_depends_on_them() -> None:
    codes = np.array([ALPHABET.unlabelled(group) for group in (0, 1, 2, 3, 4)], np.uint8)
    counts = Counts.of(codes, ALPHABET)
    assert counts.missing_labels(RECALL) == 5
    precision = clause_of("precision(k) > 0.5 +/- 0.1").score
    predicted = [g for g, group in enumerate(ALPHABET.groups) if ALPHABET.shown[group[0]].new == 0]
    assert counts.missing_labels(precision) == len(predicted) == 2
