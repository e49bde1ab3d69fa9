"""Check the measures of a clause, one by one, and write each out in full.

After this, every measure is known, has the arguments that it needs, and all measures of a clause
have the same slice. ``(*)`` has become one clause for each declared class, and ``auc`` alone has
its class, so that the text of each clause means the same without the script around it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from easeci.script.lattice import Scoring
from easeci.script.measures import (
    ACCURACY,
    BY_NAME,
    CLASS_MEASURES,
    MODELS,
    MOST_RANKS,
    REFUSED,
    Form,
    MeasureDefinition,
)
from easeci.script.problem import Problem, closest, shortened
from easeci.script.scorer import MAIN_SCORE
from easeci.script.syntax import Argument, Clause, Measure, Slice, SliceTest

VARIABLES = {
    "n": "accuracy of the new model",
    "o": "accuracy of the old model",
    "d": "share of predictions that differ",
}
_SYNONYMS = {
    "new": "n",
    "old": "o",
    "diff": "d",
    "difference": "d",
    "disagreement": "d",
    "delta": "d",
    "baseline": "o",
    "accuracy": "n",
    "acc": "n",
}
_TWO = 2


def resolve(
    clause: Clause, classes: Sequence[str] = (), scoring: Scoring | None = None
) -> Iterator[Clause]:
    """The clause with its measures written out: one for each class if it has a ``(*)``.

    ``classes`` are those that the script declares; without any, every class is allowed. With
    ``scoring``, measures are mean scores. Raises :class:`Problem`.
    """
    for measure in clause.measures:
        if scoring is None:
            _check(measure, classes)
        else:
            _check_score(measure, scoring)
    _require_one_slice(clause)
    clause = clause.with_measures(lambda one: _with_class_of_auc(one, classes))
    every = [m for m in clause.measures if m.argument is not None and m.argument.every]
    if not every:
        yield clause
        return
    if not classes:
        raise Problem(
            f"'{every[0]}' stands for every class, and the script declares none",
            every[0].span,
            f"Declare them in the script, such as   classes: [fraud, legit]   or name one: "
            f"{_called(every[0])}(fraud).",
        )
    for name in classes:
        yield clause.with_measures(partial(_of_class, name))


def _of_class(name: str, measure: Measure) -> Measure:
    if measure.argument is None or not measure.argument.every:
        return measure
    return replace(measure, argument=replace(measure.argument, value=name, every=False))


def _with_class_of_auc(measure: Measure, classes: Sequence[str]) -> Measure:
    if measure.name in BY_NAME and BY_NAME[measure.name].form is Form.BLOCKS:
        return replace(measure, argument=measure.argument or Argument(classes[-1]))
    return measure


# -- one measure


def _check(measure: Measure, classes: Sequence[str]) -> None:
    refused = REFUSED.get(measure.name.lower().replace("-", "_"))
    if refused is not None:
        message, hint = refused
        raise Problem(message.format(measure.name), measure.span, hint)
    _check_model(measure)
    if measure.name == ACCURACY:
        _check_nothing(measure)
    elif measure.name.partition("@")[0] == "pass":
        raise Problem(
            f"'{shortened(measure.name)}' is about scores of outputs, and the script has no scorer",
            measure.span,
            "Add lines such as   scorer: exact   and   trials: 5",
        )
    elif measure.name not in BY_NAME:
        raise _unknown(measure)
    else:
        _check_argument(measure, BY_NAME[measure.name], classes)
    if measure.slice is not None:
        _check_slice(measure.slice)


def _check_score(measure: Measure, scoring: Scoring) -> None:
    """Check a measure where quality is a score."""
    _check_model(measure)
    names = [name for name in scoring.names if name != MAIN_SCORE]
    listed = ", ".join(["n, o, d", *(f"n.{name}" for name in names)])
    base, at, number = measure.name.partition("@")
    if measure.argument is not None or base in (*CLASS_MEASURES, "top", ACCURACY):
        raise Problem(
            f"'{shortened(str(measure))}' counts right predictions, and here outputs have scores",
            measure.span,
            f"The measures are {listed}.",
        )
    if at:
        _check_trials(measure, base, int(number), scoring)
    elif measure.name == "pass":
        raise Problem("'pass' needs a number of trials", measure.span, "Write one such as pass@3.")
    elif measure.name in MODELS and MAIN_SCORE not in scoring.names:
        hint = f"Write {measure.name}.{names[0]}. The scores are {', '.join(names)}."
        raise Problem("there is no score without a name", measure.span, hint)
    elif measure.name not in (*VARIABLES, *names):
        close = closest(measure.name, names)
        meant = "" if close is None else f"Did you mean '{replace(measure, name=close)}'? "
        more = "" if names else " The script declares other scores as   scores: [faithful]"
        raise Problem(
            f"unknown score '{shortened(measure.name)}'",
            measure.span,
            f"{meant}The measures are {listed}.{more}",
        )
    if measure.slice is not None:
        _check_slice(measure.slice)


def _check_trials(measure: Measure, base: str, number: int, scoring: Scoring) -> None:
    if base != "pass":
        raise Problem(
            f"unknown measure '{shortened(measure.name)}'",
            measure.span,
            "Write one such as pass@3.",
        )
    if MAIN_SCORE not in scoring.names:
        raise Problem(f"'{measure.name}' needs a score without a name", measure.span)
    if number < 1:
        raise Problem("the best of no trials is nothing", measure.span, "Write one such as pass@3.")
    if number > scoring.trials:
        some = "1 trial" if scoring.trials == 1 else f"{scoring.trials:,} trials"
        raise Problem(
            f"'{measure.name}' needs at least {number:,} trials, and each example has {some}",
            measure.span,
            "A model gives as many outputs for each example as trials: in the script says.",
        )


def _check_model(measure: Measure) -> None:
    if measure.model is None:
        return
    rest = replace(measure, model=None)
    if measure.model == "d":
        raise Problem(
            f"d compares both models, so it has no {shortened(measure.name)}",
            measure.span,
            f"Write n.{rest} for the new model or o.{rest} for the old one.",
        )
    if measure.model not in MODELS:
        folded = measure.model.lower()
        meant = folded if folded in MODELS else _SYNONYMS.get(folded)
        close = f"Did you mean '{meant}.{rest}'? " if meant in MODELS else ""
        raise Problem(
            f"unknown model '{shortened(measure.model)}'",
            measure.span,
            f"{close}The models are n (the new one) and o (the old one).",
        )
    if measure.name in VARIABLES:
        raise Problem(
            f"'{shortened(str(measure))}' is not a measure of a model",
            measure.span,
            f"{measure.name} stands alone: it is the {VARIABLES[measure.name]}.",
        )
    if measure.name in BY_NAME and BY_NAME[measure.name].form is Form.RANK:
        raise Problem(
            f"'{measure.name}' is not a measure of one model",
            measure.span,
            f"Compare the new model with it: {BY_NAME[measure.name].example}.",
        )


def _check_argument(
    measure: Measure, definition: MeasureDefinition, classes: Sequence[str]
) -> None:
    match definition.form:
        case Form.PLAIN:
            _check_nothing(measure)
        case Form.RANK:
            _check_rank(measure)
        case Form.BLOCKS if measure.argument is None:
            if len(classes) != _TWO:
                raise Problem(
                    f"'{_called(measure)}' needs to know its class",
                    measure.span,
                    f"Write {_called(measure)}({_example_class(classes)}). Without a class, the "
                    "script must declare exactly two classes; the last one is meant.",
                )
        case _:
            _check_class(measure, classes)


def _check_nothing(measure: Measure) -> None:
    if measure.argument is not None:
        model = "o" if "o" in (measure.name, measure.model) else "n"
        raise Problem(
            f"'{_called(measure)}' takes no class",
            measure.argument.span,
            f"Write {_called(measure)} alone, or a measure of a class, such as "
            f"{model}.recall({measure.argument}). A product needs a *.",
        )


def _check_class(measure: Measure, classes: Sequence[str]) -> None:
    if measure.argument is None:
        raise Problem(
            f"'{_called(measure)}' needs a class",
            measure.span,
            f"Write {_called(measure)}({_example_class(classes)}), or {_called(measure)}(*) for "
            "every class that the script declares.",
        )
    name = measure.argument.value
    if measure.argument.every or not classes or name in classes:
        return
    close = closest(name, classes)
    hint = f"Did you mean '{close}'? " if close else ""
    raise Problem(
        f"the class '{shortened(name)}' is not declared",
        measure.argument.span,
        f"{hint}The script declares: {shortened(', '.join(classes), 200)}.",
    )


def _check_rank(measure: Measure) -> None:
    argument = measure.argument
    if argument is None:
        raise Problem(
            f"'{measure.name}' needs a rank",
            measure.span,
            f"Write one such as {BY_NAME[measure.name].example}.",
        )
    if not re.fullmatch(r"[0-9]{1,9}", argument.value, re.ASCII) or not (
        1 <= int(argument.value) <= MOST_RANKS
    ):
        raise Problem(
            f"the rank must be a whole number from 1 to {MOST_RANKS:,}",
            argument.span,
            f"Write one such as {BY_NAME[measure.name].example}.",
        )


def _called(measure: Measure) -> str:
    """The measure without its arguments: n.recall."""
    return str(replace(measure, argument=None, slice=None))


def _example_class(classes: Sequence[str]) -> Argument:
    return Argument(classes[-1] if classes else "fraud")


def _unknown(measure: Measure) -> Problem:
    if measure.model is None and measure.argument is None:
        return Problem(
            f"unknown name '{shortened(measure.name)}'", measure.span, _suggestion(measure.name)
        )
    known = [name for name in (*BY_NAME, ACCURACY) if name not in VARIABLES]
    close = closest(measure.name, known)
    meant = "" if close is None else f"Did you mean '{replace(measure, name=close, slice=None)}'? "
    return Problem(
        f"unknown measure '{shortened(measure.name)}'",
        measure.span,
        f"{meant}The measures of a class are {', '.join(CLASS_MEASURES)}.",
    )


def _suggestion(name: str) -> str:
    known = ", ".join(f"{name} ({meaning})" for name, meaning in VARIABLES.items())
    listed = f"The names are {known}, and for a class {', '.join(CLASS_MEASURES)}."
    folded = name.lower()
    close = difflib.get_close_matches(folded, _SYNONYMS, n=1, cutoff=0.75)
    if folded in VARIABLES:
        return f"Did you mean '{folded}'? {listed}"
    if close:
        return f"Did you mean '{_SYNONYMS[close[0]]}'? {listed}"
    measure = difflib.get_close_matches(folded, CLASS_MEASURES, n=1, cutoff=0.75)
    return f"Did you mean '{measure[0]}(fraud)'? {listed}" if measure else listed


# -- slices

_NUMBER = re.compile(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", re.ASCII)


def _check_slice(where: Slice) -> None:
    if where.every and where.test is not SliceTest.EQUAL:
        raise Problem(
            f"'{where.test}*' makes no sense: * stands for every value",
            where.span,
            f"Write {Slice(where.column, SliceTest.EQUAL, '*', every=True)} for one clause for "
            "each value of the column.",
        )
    if where.test.is_numeric and not _NUMBER.fullmatch(where.value):
        raise Problem(
            f"'{where.test}' compares numbers, and '{shortened(where.value)}' is not one",
            where.span,
            "Write a number such as [age>=65], or compare texts with = or !=.",
        )


def _require_one_slice(clause: Clause) -> None:
    measures = clause.measures
    slices = [measure.slice for measure in measures]
    first = next((where for where in slices if where is not None), None)
    for measure in measures:
        if measure.slice != slices[0]:
            meant = clause.with_measures(lambda one: replace(one, slice=first))
            raise Problem(
                "the measures of one clause must be about the same examples",
                measure.span,
                f"Did you mean   {shortened(str(meant), 300)}   ?",
            )
