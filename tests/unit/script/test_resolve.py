"""Measures that are unknown, incomplete or about different examples, and what is said then."""

from __future__ import annotations

import pytest

from easeci.errors import ScriptError
from easeci.script import compile_condition, parse_condition
from easeci.script.measures import REFUSED
from easeci.script.problem import Problem, locate
from easeci.script.resolve import resolve
from tests.cases import each_case

CLASSES = ("fraud", "legit", "very bad")


def message_of(text: str, classes: tuple[str, ...] = CLASSES) -> str:
    with pytest.raises(ScriptError) as caught:
        try:
            compile_condition(parse_condition(text), classes)
        except Problem as problem:
            raise locate(problem, text) from None
    return str(caught.value)


@each_case(
    ("text", "fragments"),
    [
        ("n.recal(fraud) > 0.8", ["unknown measure 'recal'", "Did you mean 'n.recall(fraud)'?"]),
        ("Recall(fraud) > 0.8", ["unknown measure 'Recall'", "Did you mean 'recall(fraud)'?"]),
        ("wrong(fraud) > 0.8", ["unknown measure 'wrong'", "precision, recall, f1, auc"]),
        ("precison > 0.8", ["unknown name 'precison'", "Did you mean 'precision(fraud)'?"]),
        ("recall > 0.8", ["'recall' needs a class", "recall(*) for every class"]),
        ("o.f1[lang=de] > 0.8", ["'o.f1' needs a class", 'Write o.f1("very bad")']),
        ("recall(frud) > 0.8", ["class 'frud' is not declared", "'fraud'?", "column 8", "^^^^"]),
        ("auc(xyz) > 0.8", ["class 'xyz' is not declared", "declares: fraud, legit, very bad."]),
        ("n(fraud) > 0.8", ["'n' takes no class", "n.recall(fraud)", "A product needs a *"]),
        ("o(fraud) > 0.8", ["'o' takes no class", "o.recall(fraud)"]),
        ("d(fraud) > 0.8", ["'d' takes no class"]),
        ("n.accuracy(*) > 0.8", ["'n.accuracy' takes no class"]),
        ("d.recall(fraud) > 0.8", ["d compares both models", "Write n.recall(fraud)"]),
        ("n.n > 0.8", ["'n.n' is not a measure of a model", "n stands alone"]),
        ("o.d > 0.8", ["'o.d' is not a measure of a model", "share of predictions that differ"]),
        ("new.recall(fraud) > 0.8", ["unknown model 'new'", "Did you mean 'n.recall(fraud)'?"]),
        ("O.accuracy > 0.8", ["unknown model 'O'", "Did you mean 'o.accuracy'?"]),
        ("m.recall(fraud) > 0.8", ["unknown model 'm'", "n (the new one) and o (the old one)"]),
        ("auc > 0.8", ["'auc' needs to know its class", "exactly two classes"]),
        ("n.auc - o.auc > 0.8", ["'n.auc' needs to know its class", "column 1"]),
        ("top > 0.8", ["'top' needs a rank", "n - top(5)"]),
        ("n - top(0) > 0", ["whole number from 1 to 1,000", "column 9"]),
        ("n - top(1001) > 0", ["whole number from 1 to 1,000"]),
        ("n - top(1.5) > 0", ["whole number from 1 to 1,000"]),
        ("n - top(*) > 0", ["whole number from 1 to 1,000"]),
        ("n - top(fraud) > 0", ["whole number from 1 to 1,000"]),
        ("n - o.top(5) > 0", ["'top' is not a measure of one model", "n - top(5)"]),
        ("n[lang>=*] > 0.8", ["'>=*' makes no sense", "Write [lang=*]", "column 2"]),
        ("n[lang!=*] > 0.8", ["'!=*' makes no sense"]),
        ("n[age>=old] > 0.8", ["'>=' compares numbers, and 'old' is not one", "[age>=65]"]),
        ("n[lang=de] - o > 0", ["same examples", "n[lang=de] - o[lang=de] > 0 +/-", "column 14"]),
        ("n - o[lang=de] > 0", ["same examples", "n[lang=de] - o[lang=de] > 0 +/-"]),
        ("n[a=b] - o[a=c] > 0", ["same examples", "n[a=b] - o[a=b] > 0 +/-", "column 10"]),
        ("n[a=*] > o[a=b]", ["same examples", "n[a=*] > o[a=*] +/-"]),
        ("macro_f1 > 0.8", ["average over classes is not a mean", "f1(*) > 0.8 +/- 0.02"]),
        ("n.Macro_Recall > 0.8", ["average over classes is not a mean", "recall(*) > 0.8"]),
        ("balanced_accuracy > 0.8", ["average over classes is not a mean", "recall(*) > 0.8"]),
        ("specificity(fraud) > 0.8", ["no 'specificity'", "recall of the other class"]),
        ("mcc > 0.8", ["'mcc' is not a mean over examples", "f1(*) > 0.8 +/- 0.02"]),
        ("kappa > 0.8", ["'kappa' is not a mean over examples", "recall(*) > 0.8 +/- 0.02"]),
        ("bleu > 0.8", ["'bleu' is not a mean over examples", "Write n"]),
        ("ece < 0.8", ["'ece' is not a mean over examples"]),
        ("rmse < 0.8", ["'rmse' is not a mean of right and wrong predictions"]),
    ],
)
def test_mistakes_in_measures_say_what_and_where(text: str, fragments: list[str]) -> None:
    message = message_of(f"{text} +/- 0.01")
    for fragment in fragments:
        assert fragment in message


def test_every_refused_measure_names_what_to_write_instead() -> None:
    for name in REFUSED:
        message = message_of(f"n.{name} > 0.8 +/- 0.01")
        assert f"'{name}'" in message
        assert (
            "recall(" in message or "f1(*)" in message or "Write n" in message or "(*)" in message
        )


def test_without_declared_classes_any_class_is_allowed_and_none_is_implied() -> None:
    assert compile_condition(parse_condition("recall(anything) > 0.8 +/- 0.01"))
    assert "the script declares none" in message_of("n.f1(*) > 0.8 +/- 0.01", ())
    assert "needs to know its class" in message_of("auc > 0.8 +/- 0.01", ())


def expanded(text: str, classes: tuple[str, ...]) -> list[str]:
    (clause,) = parse_condition(text).clauses
    return [str(one) for one in resolve(clause, classes)]


def test_every_class_gets_a_clause_of_its_own() -> None:
    """The class is the same throughout a clause, and its text names it."""
    assert expanded("n.recall(*) - o.recall(*) > 0 +/- 0.1", ("a", "b c")) == [
        "n.recall(a) - o.recall(a) > 0 +/- 0.1",
        'n.recall("b c") - o.recall("b c") > 0 +/- 0.1',
    ]
    assert expanded("auc(*)[x=*] > 0.9 +/- 0.1", ("*",)) == ['auc("*")[x=*] > 0.9 +/- 0.1']


def test_auc_alone_is_that_of_the_last_of_two_classes() -> None:
    """The text names the class, so that it compiles without the script."""
    (text,) = expanded("n.auc - auc(ham) > 0.1 +/- 0.1", ("ham", "spam"))
    assert text == "n.auc(spam) - auc(ham) > 0.1 +/- 0.1"
