"""Every measure against its plain definition, on random small sets of predictions and labels."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.script import Score, compile_condition, parse_condition
from easeci.script.lattice import Scoring
from easeci.script.measures import (
    BY_NAME,
    CLASS_MEASURES,
    MEASURES,
    Form,
    block_shape,
    expected_share,
)
from easeci.script.outcomes import ExampleAlphabet, Outcome
from easeci.script.problem import Problem
from easeci.script.score import Ratio
from easeci.script.syntax import measures_of
from tests.cases import each_case

Example = tuple[str, str, str]
"""The new prediction, the old one, and the label."""
examples = st.lists(st.tuples(*[st.sampled_from("abc")] * 3), min_size=1, max_size=30)


def score_of(text: str) -> Score:
    """The score of an expression; whether a clause makes sense does not matter here."""
    for constant in ("0.123", "1.07", "-0.123"):
        try:
            (clause,) = compile_condition(parse_condition(f"{text} > {constant} +/- 0.001"))
        except Problem:  # this constant is out of reach
            continue
        return clause.score
    raise AssertionError(text)


def outcome_of(example: Example, alphabet: ExampleAlphabet) -> int:
    new, old, label = example
    places = {name: place for place, name in enumerate(alphabet.classes)}
    other = len(places)
    shown = Outcome(
        int(new == label),
        int(old == label),
        int(new != old),
        *((places.get(name, other) for name in example) if places else ()),
    )
    return alphabet.shown.index(shown)


def mean_ratio(ratio: Ratio, outcomes: list[int]) -> Fraction | None:
    above = sum((ratio.numerator[one] for one in outcomes), Fraction(0))
    below = sum((ratio.denominator[one] for one in outcomes), Fraction(0))
    return above / below if below else None


def by_tables(text: str, data: list[Example]) -> Fraction | None:
    score = score_of(text)
    assert isinstance(score.alphabet, ExampleAlphabet)
    outcomes = [outcome_of(example, score.alphabet) for example in data]
    value = mean_ratio(score.ratio, outcomes)
    if score.subtracted is None:
        return value
    subtracted = mean_ratio(score.subtracted, outcomes)
    return None if value is None or subtracted is None else value - subtracted


# -- plain definitions, with sets of positions


def share(part: set[int], whole: set[int]) -> Fraction | None:
    return Fraction(len(part & whole), len(whole)) if whole else None


def where(data: list[Example], place: int, name: str) -> set[int]:
    return {i for i, example in enumerate(data) if example[place] == name}


def precision(data: list[Example], model: int, name: str) -> Fraction | None:
    return share(where(data, 2, name), where(data, model, name))


def recall(data: list[Example], model: int, name: str) -> Fraction | None:
    return share(where(data, model, name), where(data, 2, name))


def f1(data: list[Example], model: int, name: str) -> Fraction | None:
    found, true = where(data, model, name), where(data, 2, name)
    if not found and not true:
        return None
    p, r = precision(data, model, name), recall(data, model, name)
    if not p or not r:
        return Fraction(0)
    return 2 * p * r / (p + r)


def accuracy(data: list[Example], model: int) -> Fraction:
    return Fraction(sum(example[model] == example[2] for example in data), len(data))


Definition = Callable[[list[Example], int, str], Fraction | None]
DEFINITIONS: dict[str, Definition] = {"precision": precision, "recall": recall, "f1": f1}


@settings(max_examples=25, deadline=None)
@given(examples)
def test_each_measure_of_a_class_is_the_ratio_of_its_tables(data: list[Example]) -> None:
    """For both models and every class: alone, against another class, and against the other model.

    A clause that names more classes has other tables, and they give the same value.
    """
    for name, define in DEFINITIONS.items():
        for (place, model), k in product(enumerate("no"), "abc"):
            value = define(data, place, k)
            assert by_tables(f"{model}.{name}({k})", data) == value
            other = define(data, 1 - place, "b")
            text = f"{model}.{name}({k}) - {'on'[place]}.{name}(b)"
            expected = None if value is None or other is None else value - other
            assert by_tables(text, data) == expected


def test_every_measure_of_a_class_has_a_definition_here() -> None:
    assert set(DEFINITIONS) == {m.name for m in MEASURES if m.form is Form.CLASS}


@settings(max_examples=25, deadline=None)
@given(examples)
def test_accuracies_and_ratios_are_means_of_their_tables(data: list[Example]) -> None:
    n, o = accuracy(data, 0), accuracy(data, 1)
    d = Fraction(sum(new != old for new, old, _ in data), len(data))
    assert by_tables("n", data) == by_tables("o.accuracy - o + accuracy", data) == n
    assert by_tables("n - 2 * o + d / 4", data) == n - 2 * o + d / 4
    assert by_tables("n / o", data) == (n / o if o else None)
    assert by_tables("(n - o) / (2 * o)", data) == ((n - o) / (2 * o) if o else None)
    assert by_tables("(1 - n) / (1 - o)", data) == ((1 - n) / (1 - o) if o != 1 else None)
    assert by_tables("n / (n + 3 * o)", data) == (n / (n + 3 * o) if n + o else None)
    found, before = recall(data, 0, "a"), recall(data, 1, "a")
    text = "n.recall(a) / o.recall(a)"
    assert by_tables(text, data) == (found / before if found is not None and before else None)
    gain = None if found is None or not before else (found - before) / before
    assert by_tables("(n.recall(a) - o.recall(a)) / o.recall(a)", data) == gain
    weighed = None if found is None else found - n / 2
    assert by_tables("recall(a) - 0.5 * n", data) == weighed


@each_case("measure", MEASURES)
def test_the_example_of_a_measure_has_the_measure(measure: object) -> None:
    """Each row of the documented table has an example that compiles."""
    assert isinstance(measure, type(MEASURES[0]))
    condition = parse_condition(measure.example)
    scoring = Scoring(trials=3) if measure.form is Form.TRIALS else None
    assert compile_condition(condition, scoring=scoring)
    names = [m.name.partition("@")[0] for c in condition.clauses for m in measures_of(c.left)]
    assert measure.name in names
    assert measure.written.startswith(measure.name)
    assert BY_NAME[measure.name] is measure


@each_case(
    ("percent", "shape"),
    [
        (50, (2, 2)),
        (35, (2, 2)),
        (65, (2, 2)),
        (34, (1, 2)),
        (66, (2, 1)),
        (25, (1, 3)),
        (10, (1, 9)),
        (90, (9, 1)),
        (2, (1, 40)),
        (98, (40, 1)),
        (Fraction(1, 10**6), (1, 40)),
    ],
)
def test_the_shapes_of_blocks_never_change(percent: int, shape: tuple[int, int]) -> None:
    """Recorded verdicts are recomputed with these shapes."""
    assert block_shape(Fraction(percent) / 100) == shape


def test_a_share_is_given_or_what_the_others_leave() -> None:
    given = [("a", Fraction(1, 4)), ("b", Fraction(1, 4))]
    assert expected_share("a", (), given) == Fraction(1, 4)
    assert expected_share("c", ("a", "b", "c"), given) == Fraction(1, 2)
    assert expected_share("c", ("a", "b", "c", "d"), given) is None
    assert expected_share("c", (), given) is None


def test_measures_of_a_class_include_auc() -> None:
    assert CLASS_MEASURES == ("precision", "recall", "f1", "auc")
