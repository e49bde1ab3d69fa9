"""How outputs get their scores: a built-in rule, a program of the owner's, or somebody outside.

::

    exact                      the output is the reference
    contains                   the reference is a part of the output
    regex                      the output matches the reference, a regular expression
    numeric(1e-3)              both are numbers, at most so far apart
    ./score.py                 a program of the owner's, sealed with the testset
    external                   scores are imported: ``easeci scores export`` and ``import``

The built-in rules give 0 or 1. ``exact`` and ``contains`` can ignore differences:
``exact(ignore-case, ignore-space, ignore-punctuation)``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction

from easeci.script.problem import Problem, closest

MAIN_SCORE = "score"
"""The score that n and o are the means of, and its column in files."""
MOST_TRIALS = 1000


class ScorerKind(StrEnum):
    """What gives outputs their scores."""

    EXACT = "exact"
    CONTAINS = "contains"
    REGEX = "regex"
    NUMERIC = "numeric"
    PROGRAM = "program"
    EXTERNAL = "external"

    @property
    def built_in(self) -> bool:
        """Whether easeci compares outputs with references itself, and scores them 0 or 1."""
        return self not in (ScorerKind.PROGRAM, ScorerKind.EXTERNAL)


class Ignored(StrEnum):
    """A difference between output and reference that a built-in rule can ignore."""

    CASE = "ignore-case"
    SPACE = "ignore-space"
    """Runs of white space count as one blank, and white space at the ends as nothing."""
    PUNCTUATION = "ignore-punctuation"


class LabelKind(StrEnum):
    """What labels are: a class of the example or a reference for its outputs; or there are none."""

    CLASS = "class"
    NONE = "none"
    """The scorer needs no reference."""


@dataclass(frozen=True)
class Scorer:
    """A scorer as the script names it."""

    kind: ScorerKind
    ignored: tuple[Ignored, ...] = ()
    tolerance: Fraction = Fraction(0)
    """How far two numbers may be apart, for ``numeric``."""
    command: str = ""
    """The file of a program, as the script names it."""


_RULE = re.compile(r"(?P<name>[A-Za-z]+)\s*(?:\((?P<options>[^()]*)\))?")
_RULES = {str(kind): kind for kind in ScorerKind if kind is not ScorerKind.PROGRAM}
_IGNORING = (ScorerKind.EXACT, ScorerKind.CONTAINS)
_EXAMPLES = (
    "Write exact, contains, regex, numeric(1e-3), external, or a program such as ./score.py."
)


def parse_scorer(text: str) -> Scorer:
    """A scorer: the name of a rule with its options, or the file of a program."""
    found = _RULE.fullmatch(text)
    if found is None or found["name"] not in _RULES:
        return _program(text)
    kind = _RULES[found["name"]]
    options = [option.strip() for option in (found["options"] or "").split(",")]
    options = [option for option in options if option]
    if kind is ScorerKind.NUMERIC:
        return Scorer(kind, tolerance=_tolerance(options))
    if options and kind not in _IGNORING:
        raise Problem(f"{kind} takes no options", hint=_EXAMPLES)
    return Scorer(kind, tuple(_ignored(option) for option in dict.fromkeys(options)))


def _program(text: str) -> Scorer:
    if "/" in text and not re.search(r"\s", text):
        return Scorer(ScorerKind.PROGRAM, command=text)
    rule = re.match(r"[A-Za-z]+", text)
    close = None if rule is None else closest(rule[0], _RULES)
    hint = f"Did you mean '{close}'? " if close else ""
    raise Problem(
        "unknown scorer",
        hint=f"{hint}{_EXAMPLES} A program is one file, named without arguments.",
    )


def _tolerance(options: list[str]) -> Fraction:
    hint = "Write numeric(1e-3): the output may differ from the reference by 0.001."
    if len(options) != 1 or len(options[0]) > 40:
        raise Problem("numeric needs one tolerance", hint=hint)
    try:
        value = Decimal(options[0])
    except InvalidOperation:
        raise Problem("numeric needs a number as its tolerance", hint=hint) from None
    if not value.is_finite() or value < 0 or not -30 <= value.adjusted() <= 30:
        raise Problem("the tolerance of numeric is a number from 0 on", hint=hint)
    return Fraction(value)


def _ignored(option: str) -> Ignored:
    if option in list(Ignored):
        return Ignored(option)
    close = closest(f"ignore-{option}", Ignored)
    hint = f"Did you mean '{close}'? " if close else ""
    raise Problem(
        f"unknown option of a scorer: '{option[:40]}'", hint=f"{hint}{', '.join(Ignored)}."
    )


def parse_label_kind(text: str) -> LabelKind:
    """``class`` or ``none``."""
    if text in list(LabelKind):
        return LabelKind(text)
    raise Problem(
        "labels are class or none",
        hint="class: a class of the example, or a reference for its outputs. none: the scorer "
        "needs no reference.",
    )


def parse_trials(text: str) -> int:
    """A whole number from 1 to ``MOST_TRIALS``."""
    if not re.fullmatch(r"[0-9]{1,6}", text) or not 1 <= int(text) <= MOST_TRIALS:
        raise Problem(
            f"the trials must be a whole number from 1 to {MOST_TRIALS:,}",
            hint="It is how many outputs a model gives for each example: 1 is usual.",
        )
    return int(text)


def parse_score_name(text: str) -> str:
    """The name of a score: a word that a condition can have after a dot."""
    if not re.fullmatch(r"[^\W\d]\w{0,60}", text):
        raise Problem(
            "this cannot be the name of a score",
            hint="A name is a word of letters, digits and _, such as faithful.",
        )
    return text
