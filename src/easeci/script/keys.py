"""The keys of a script: what each means, and how its text becomes a value.

The YAML document, the options of the commands, ``easeci init`` and the documentation all use this
one table.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeVar

from easeci.script.problem import Problem, closest, shortened
from easeci.script.scorer import parse_label_kind, parse_score_name, parse_scorer, parse_trials
from easeci.script.script import USUAL_SAMPLE, Adaptivity, Estimator, Mode, Unchanged
from easeci.script.syntax import Span

MOST_STEPS = 1_000_000_000
MOST_SAMPLE = 1_000_000
LONGEST_SHARES = 2_000


@dataclass(frozen=True)
class ScriptKey:
    """One key of a script. ``parse`` gets its text, or each text of its list if ``is_list``.

    If ``is_mapping``, ``parse`` gets "name: value" for each entry of a mapping, or all of them in
    one text, and returns pairs.
    """

    name: str
    meaning: str
    example: str
    parse: Callable[[str], Any]
    required: bool = False
    is_list: bool = False
    is_mapping: bool = False


def parse_text(text: str) -> str:
    """Any text that is not empty."""
    if not text:
        raise Problem("a value is missing here")
    return text


def parse_probability(text: str) -> Fraction:
    """A number strictly between 0 and 1, or such a percentage; exact."""
    value = _parse_number(text)
    if 0 < value < 1:
        return value
    hint = None
    if 1 < value < 100 and not text.endswith("%"):
        hint = f"Did you mean {text}%, that is {float(value / 100):g}?"
    elif value == 1:
        hint = "No finite testset can be right for certain; 0.9999 is common."
    raise Problem("this must lie between 0 and 1, both excluded", hint=hint)


def parse_difference(text: str) -> Fraction:
    """A number above 0 and at most 1, or such a percentage; exact."""
    value = _parse_number(text)
    if 0 < value <= 1:
        return value
    raise Problem(
        "the difference must be above 0 and at most 1",
        hint="It is the largest share of predictions that you expect a commit to change.",
    )


def parse_effect(text: str) -> Fraction:
    """A number or a percentage with or without a sign, from -2 to 2; exact."""
    sign = -1 if text[:1] in ("-", "−") else 1
    size = text[1:].strip() if text[:1] in ("+", "-", "−") else text
    value = sign * _parse_number(size, "0.03 or -1%")
    if -2 <= value <= 2:
        return value
    raise Problem(
        "the effect must lie between -2 and 2",
        hint="It says how far the new model lies on the good side of its threshold: 0.03, or -1%.",
    )


def parse_steps(text: str) -> int:
    """A whole number from 1 to ``MOST_STEPS``."""
    if not re.fullmatch(r"[0-9]{1,12}", text) or not 1 <= int(text) <= MOST_STEPS:
        raise Problem(
            f"the steps must be a whole number from 1 to {MOST_STEPS:,}",
            hint="It is how many commits one testset must serve: 32 is one a day for a month.",
        )
    return int(text)


def parse_sample(text: str) -> int:
    """A whole number from 0 to ``MOST_SAMPLE``."""
    if not re.fullmatch(r"[0-9]{1,7}", text) or int(text) > MOST_SAMPLE:
        raise Problem(
            f"the sample must be a whole number from 0 to {MOST_SAMPLE:,}",
            hint="It is how many examples of a testset become public: 100 is usual, 0 means none.",
        )
    return int(text)


def parse_unchanged(text: str) -> Unchanged:
    """``skip`` or ``test``."""
    return _choice(Unchanged, text, "value of unchanged")


def parse_mode(text: str) -> Mode:
    """``fp-free`` or ``fn-free``."""
    return _choice(Mode, text, "mode")


def parse_estimator(text: str) -> Estimator:
    """The name of an estimator, or ``auto``."""
    return _choice(Estimator, text, "estimator")


def parse_adaptivity(text: str) -> tuple[Adaptivity, str | None]:
    """``full``, ``firstChange`` (or ``hybrid``), or ``none``, which may name an address."""
    kind, arrow, address = (part.strip() for part in text.partition("->"))
    if kind == "hybrid":
        kind = Adaptivity.FIRST_CHANGE.value
    adaptivity = _choice(Adaptivity, kind, "adaptivity")
    if not arrow:
        return adaptivity, None
    if adaptivity is not Adaptivity.NONE:
        raise Problem(
            f"'{adaptivity}' tells the developers, so it takes no address",
            hint="Only none -> address sends verdicts to a third party.",
        )
    return adaptivity, parse_email(address)


def parse_email(text: str) -> str:
    """One mail address, checked for its form only."""
    if not re.fullmatch(r"[^@\s<>,;]+@[^@\s<>,;]+", text):
        raise Problem("this is not a mail address", hint="Write one such as owner@example.org.")
    return text


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_BYTES = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def parse_duration(text: str) -> int:
    """A duration such as 30m, in seconds."""
    found = re.fullmatch(r"([0-9]{1,9})\s*([smhd])", text)
    if not found or int(found[1]) == 0:
        raise Problem("this is not a duration", hint="Write one such as 90s, 30m, 2h or 1d.")
    return int(found[1]) * _SECONDS[found[2]]


def parse_memory(text: str) -> int:
    """An amount of memory such as 8GiB, in bytes."""
    found = re.fullmatch(r"([0-9]{1,9})\s*([KMGT]iB)", text)
    if not found or int(found[1]) == 0:
        raise Problem("this is not an amount of memory", hint="Write one such as 512MiB or 8GiB.")
    return int(found[1]) * _BYTES[found[2]]


def parse_mount(text: str) -> str:
    """An absolute path."""
    if not text.startswith("/"):
        raise Problem("a mount is an absolute path", hint="Write one such as /data/weights.")
    return text


def parse_branch(text: str) -> str:
    """The name of one branch."""
    if "*" in text or text.startswith(REFS):
        raise Problem(
            "this is the name of one branch, without refs/ and *",
            hint="Write one such as main. Patterns belong to branches:.",
        )
    return parse_text(text)


def parse_branches(text: str) -> str:
    """The name of a branch or a full ref, in which ``*`` stands for any text."""
    strange = re.search(r"[\x00-\x20\x7f~^:?\[\\]|\.\.|@\{|//", text)
    if strange and ("*" in text or strange[0] in ("?", "[")):
        raise Problem(
            "this pattern can match no branch",
            Span(*strange.span()),
            hint="Only * has a meaning, any text: feature/*, or refs/pull/*/head.",
        )
    if text.startswith(REFS):
        _, folder, *rest = text.split("/", 2)
        if not any(rest) or "*" in folder or folder in NOT_BRANCHES:
            raise Problem(
                "no commits are tested by such refs",
                hint="Write refs such as refs/pull/* or refs/merge-requests/*/head, or a branch.",
            )
    return parse_text(text)


_PAIR = re.compile(r"\s*(?P<name>[^\s].*?)\s*[:=]\s*(?P<share>[^\s:=,]+(?:\s*%)?)\s*(?:,|$)")


def parse_shares(text: str) -> tuple[tuple[str, Fraction], ...]:
    """Shares of classes, each strictly between 0 and 1: "fraud: 2%, spam: 0.1"."""
    if len(text) > LONGEST_SHARES:
        raise Problem(f"these are more than {LONGEST_SHARES:,} characters")
    inner = text[1:-1].strip() if text.startswith("{") and text.endswith("}") else text
    pairs: list[tuple[str, Fraction]] = []
    start = 0
    while start < len(inner) or not pairs:
        found = _PAIR.match(inner, start)
        if found is None:
            raise Problem("these are not shares of classes", hint="Write them as {fraud: 2%}.")
        name, share = _unquoted(found["name"]), _unquoted(found["share"])
        try:
            pairs.append((name, parse_probability(share)))
        except Problem as problem:
            raise Problem(
                f"the share of '{shortened(name)}': {problem.message}", hint=problem.hint
            ) from None
        start = found.end()
    return tuple(pairs)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


REFS, NOT_BRANCHES = "refs/", ("tags", "notes")
KEYS: tuple[ScriptKey, ...] = (
    ScriptKey(
        "script", "the program that makes predictions for a commit", "./test_model.py", parse_text
    ),
    ScriptKey(
        "condition",
        "what a commit must meet",
        "n - o > 0.02 +/- 0.01",
        parse_text,
        required=True,
    ),
    ScriptKey(
        "reliability",
        "probability that no answer is wrong over the testset's whole life",
        "0.9999",
        parse_probability,
        required=True,
    ),
    ScriptKey(
        "mode",
        "fp-free: never pass wrongly; fn-free: never fail wrongly",
        "fp-free",
        parse_mode,
        required=True,
    ),
    ScriptKey(
        "adaptivity",
        "what developers learn: full | firstChange | none -> address of a third party",
        "full",
        parse_adaptivity,
        required=True,
    ),
    ScriptKey("steps", "how many commits one testset must serve", "32", parse_steps, required=True),
    ScriptKey(
        "sensitivity",
        "probability that no clearly good commit fails (fp-free; the mirror image in fn-free); "
        "default: the reliability",
        "0.9999",
        parse_probability,
    ),
    ScriptKey(
        "estimator",
        f"the method: {' | '.join(Estimator)}; default: auto",
        "auto",
        parse_estimator,
    ),
    ScriptKey(
        "difference",
        "the largest d that you expect of a commit; sizes the testset, does not affect safety",
        "0.1",
        parse_difference,
    ),
    ScriptKey("email", "where alarms go", "owner@example.org", parse_email),
    ScriptKey(
        "branch",
        "the branch whose tips become the baseline; default: the default branch",
        "main",
        parse_branch,
    ),
    ScriptKey(
        "branches",
        "other branches whose commits may spend steps, and refs such as refs/pull/*; * stands for "
        "any text; default: none",
        "feature/*",
        parse_branches,
        False,
        True,
    ),
    ScriptKey(
        "ignore",
        "files that no model depends on, as git pathspecs: commits that differ only there are the "
        "same model; default: none",
        "'README.md', 'CHANGELOG.md', 'docs/**'",
        parse_text,
        False,
        True,
    ),
    ScriptKey(
        "sample",
        "how many examples are set aside and made public when a testset is sealed, at most 5% of "
        f"them: every build runs on them first; default: {USUAL_SAMPLE}",
        str(USUAL_SAMPLE),
        parse_sample,
    ),
    ScriptKey(
        "unchanged",
        "a commit that predicts on the sample what the baseline does is not tested and free "
        "(skip), or tested all the same (test); default: skip",
        "skip",
        parse_unchanged,
    ),
    ScriptKey(
        "classes",
        "the values that a label can have; default: any",
        "low, high",
        parse_text,
        False,
        True,
    ),
    ScriptKey(
        "expected",
        "shares of classes that you expect; size the testset, do not affect safety",
        "{fraud: 2%}",
        parse_shares,
        is_mapping=True,
    ),
    ScriptKey(
        "scorer",
        "how outputs get their scores: exact | contains | regex | numeric(1e-3) | external | the "
        "file of a program; default: none, a prediction is right or wrong",
        "./score.py",
        parse_scorer,
    ),
    ScriptKey(
        "scores",
        "names of scores that the scorer gives beside the main one, for n.faithful; default: none",
        "faithful",
        parse_score_name,
        False,
        True,
    ),
    ScriptKey(
        "labels",
        "class: labels are classes, or references for a scorer; none: the scorer needs no "
        "reference; default: class",
        "class",
        parse_label_kind,
    ),
    ScriptKey(
        "trials",
        "how many outputs a model gives for each example; its score is their mean; default: 1",
        "5",
        parse_trials,
    ),
    ScriptKey(
        "disclose",
        "how often signals are given: at fixed times, so that the time of a signal tells nothing",
        "24h",
        parse_duration,
    ),
    ScriptKey("timeout", "how long the program may run", "30m", parse_duration),
    ScriptKey("memory", "how much memory the program may use", "8GiB", parse_memory),
    ScriptKey(
        "mounts",
        "read-only folders that the program needs",
        "/data/weights",
        parse_mount,
        False,
        True,
    ),
)
KEY_NAMES = tuple(key.name for key in KEYS)


Choice = TypeVar("Choice", bound=StrEnum)


def _choice(kind: type[Choice], text: str, what: str) -> Choice:
    try:
        return kind(text)
    except ValueError:
        options = ", ".join(kind)
        close = closest(text, kind)
        hint = f"Did you mean '{close}'? " if close else ""
        raise Problem(f"unknown {what}", hint=f"{hint}It is one of: {options}.") from None


def _parse_number(text: str, example: str = "0.9999 or 99.99%") -> Fraction:
    percent = text.endswith("%")
    digits = text[:-1].strip() if percent else text
    if len(digits) > 40 or not re.fullmatch(r"[0-9]*\.?[0-9]+([eE][+-]?[0-9]{1,2})?", digits):
        raise Problem("this is not a number", hint=f"Write one such as {example}.")
    try:
        value = Fraction(Decimal(digits))
    except InvalidOperation:
        raise Problem("this is not a number", hint=f"Write one such as {example}.") from None
    return value / 100 if percent else value
