"""A plan from the texts of a form, in about a second.

Every field is a text that a user typed; a blank field means the default. A text that cannot be
understood is returned as a :class:`FieldError` with the place in the text; nothing is raised.

A page answers at once or not at all, so there are bounds on what it takes: texts, clauses,
and the size of a testset by Hoeffding's inequality, which is known in no time and grows with what
the exact sizes cost. Clauses on anything but n, o and d have no exact size that takes long.
`easeci plan` has none of these bounds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from easeci.bounds import Hoeffding
from easeci.charts import LabelsBar
from easeci.errors import ScriptError, UsageError
from easeci.evidence.clause_test import Goal
from easeci.plan import Estimate, Plan, Promise, Row, Truth, plan
from easeci.plan.assumptions import planned_difference, typical_step
from easeci.plan.clause_shapes import difference_of_accuracies, known_difference
from easeci.plan.commit_mix import MIXED, MIXES, CommitMix
from easeci.plan.curves import PassCurve, ToleranceCurve, pass_curve, tolerance_curve
from easeci.plan.document import SECONDS_PER_LABEL, hours
from easeci.plan.estimators import PUBLISHED
from easeci.plan.truth import labels_at_truth, likely_truth, out_of_reach, promised
from easeci.script import (
    KEYS,
    Adaptivity,
    Entry,
    Estimator,
    NormalClause,
    Script,
    assemble,
    parse_difference,
    parse_effect,
    parse_option,
)
from easeci.service.scripts import DEFAULTS, script_document

CONDITION, EFFECT, TRUE_DIFFERENCE = "condition", "effect", "true_difference"
COMMITS, ESTIMATOR = "commits", "estimator"
CLASSES, EXPECTED = "classes", "expected"
SCRIPT_FIELDS = (
    CONDITION,
    "reliability",
    "steps",
    "adaptivity",
    "mode",
    "sensitivity",
    "difference",
    ESTIMATOR,
    "sample",
    CLASSES,
    EXPECTED,
)
FIELDS = (*SCRIPT_FIELDS, COMMITS, EFFECT, TRUE_DIFFERENCE)
"""``commits``: the name of the mix of commits that the forecast assumes. ``effect``: how far the
new model really is on the good side of the threshold of each clause that needs labels (below 0: on
the bad side). ``true_difference``: the true d. ``classes`` are separated by commas, and
``expected`` are shares of classes, such as fraud: 2%."""

FIRST_CONDITION = next(key.example for key in KEYS if key.name == CONDITION)
LONGEST = {CONDITION: 500, CLASSES: 500, EXPECTED: 500}
LONGEST_OTHER = 100
MOST_CLAUSES = 4
MOST_EXAMPLES = 10_000_000
"""By Hoeffding's inequality, for all clauses together."""
LARGEST_DIFFERENCE = Fraction(9, 20)
"""Exact sizes for n - o take long where models may differ on more than half: there the largest
difference need not be the worst (:mod:`easeci.bounds.trinomial`), and d is known within limits."""
AT_LEISURE = "`easeci plan` has no such bound."


@dataclass(frozen=True)
class FieldError:
    """What is wrong with the text of one field.

    ``text`` is the line with the mistake; the caret goes below its characters ``column`` (from 0)
    to ``column + width``. Both are None if the whole text is wrong.
    """

    field: str
    message: str
    hint: str | None = None
    text: str | None = None
    column: int | None = None
    width: int = 1


@dataclass(frozen=True)
class Method:
    """What one estimator asks for, in the numbers of the plan.

    ``hours`` are of labelling, by the seconds that a label takes.
    """

    row: Row
    ours: bool
    recommended: bool
    hours: Mapping[int, float] | None

    @property
    def estimate(self) -> Estimate:
        """The plan's estimate."""
        return self.row.estimate

    @property
    def estimator(self) -> Estimator:
        """Which estimator this is."""
        return self.estimate.estimator


@dataclass(frozen=True)
class Reckoned:
    """Labels of the sequential estimator at one truth: for a commit, and over the testset's life.

    ``difference`` is None if the condition has no old model in it. ``promise`` is the answer that
    the script promises such a commit.
    """

    effect: float
    difference: float | None
    labels: int
    labels_in_all: int
    promise: Promise


@dataclass(frozen=True)
class Exploration:
    """What the texts ask for. ``defaults`` are the fields that were blank, with what was taken.

    ``reckoned`` is None if no labels are asked for commit by commit. ``difference`` is the true d
    that :attr:`pass_curve` assumes.
    """

    script: Script
    defaults: Mapping[str, str]
    warnings: tuple[str, ...]
    plan: Plan
    methods: tuple[Method, ...]
    reckoned: Reckoned | None
    script_text: str
    difference: Fraction

    @cached_property
    def tolerance_curve(self) -> ToleranceCurve | None:
        """Labels against the tolerance; None if there are none to forecast."""
        return tolerance_curve(self.plan)

    @cached_property
    def pass_curve(self) -> PassCurve | None:
        """The probability of a pass against the true effect; None if there is no forecast."""
        return pass_curve(self.plan, self.difference)

    @property
    def bars(self) -> tuple[LabelsBar, ...]:
        """A bar for each method whose labels are known, for :func:`easeci.charts.labels_chart`.

        The bar of ``sequential`` is the forecast; a second one assumes the given effect.
        """
        bars = [
            LabelsBar(
                str(method.estimator), method.row.labels_in_all, method.ours, method.recommended
            )
            for method in self.methods
            if method.row.labels_in_all is not None
        ]
        if self.reckoned is not None:
            most = self.reckoned.labels_in_all
            bars.append(LabelsBar(f"{Estimator.SEQUENTIAL}, at this effect", most, ours=True))
        return tuple(bars)


def explore(fields: Mapping[str, str]) -> Exploration | FieldError:
    """The plan that a form asks for, by every method. Missing fields count as blank."""
    given = {name: fields.get(name, "").strip() for name in FIELDS}
    try:
        return _explore({name: text for name, text in given.items() if text})
    except _FieldUnusableError as unusable:
        return unusable.error
    except ScriptError as error:
        return _field_error(error)


class _FieldUnusableError(UsageError):
    """Something wrong with a field as a whole. Never leaves this module."""

    def __init__(self, field: str, message: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.error = FieldError(field, message, hint)


def _field_error(error: ScriptError) -> FieldError:
    """The error of a script as the error of a field; its message does not repeat the field."""
    place = error.excerpt
    if place is None or place.source not in FIELDS:
        return FieldError(CONDITION, error.message, error.hint)
    message = error.message.removeprefix(f"{place.source}: ")
    shown = "".join(c if c.isprintable() else " " for c in place.text)
    width = max(1, min(place.width, len(shown) - place.caret))
    return FieldError(place.source, message, error.hint, shown, place.caret, width)


def _explore(given: Mapping[str, str]) -> Exploration:
    for name, text in given.items():
        longest = LONGEST.get(name, LONGEST_OTHER)
        if len(text) > longest:
            raise _FieldUnusableError(name, f"this is longer than {longest} characters", AT_LEISURE)
    defaults = {
        name: text
        for name, text in {CONDITION: FIRST_CONDITION, **DEFAULTS}.items()
        if name not in given
    }
    texts = {**given, **defaults}
    keys = {name: texts[name] for name in SCRIPT_FIELDS if name in texts}
    script = assemble({name: _entry(name, text) for name, text in keys.items()})
    truth, supposed = _truth(script, given)
    made = _plan(script, _mix(given))
    if "sensitivity" not in given:
        defaults["sensitivity"] = texts["reliability"]
    return Exploration(
        script=script,
        defaults={**defaults, **supposed},
        warnings=made.warnings,
        plan=made,
        methods=tuple(_method(made, row) for row in made.rows),
        reckoned=_reckoned(made, truth) if made.by_need else None,
        script_text=_script_text(script, keys),
        difference=truth.difference,
    )


def _entry(name: str, text: str) -> Entry:
    if name == CLASSES:
        return Entry.options(name, [part.strip() for part in text.split(",") if part.strip()])
    return Entry.option(name, text)


def _mix(given: Mapping[str, str]) -> CommitMix:
    name = given.get(COMMITS, MIXED.name)
    if name not in MIXES:
        raise _FieldUnusableError(
            COMMITS, f"there is no mix '{name}'", f"Choose one of {', '.join(MIXES)}."
        )
    return MIXES[name]


def _require_quick(script: Script) -> None:
    if len(script.clauses) > MOST_CLAUSES:
        raise _FieldUnusableError(
            CONDITION, f"this page takes at most {MOST_CLAUSES} clauses", AT_LEISURE
        )
    if any(_difference(script, clause) > LARGEST_DIFFERENCE for clause in script.clauses):
        raise _FieldUnusableError(
            CONDITION if script.difference is None else "difference",
            f"this page reckons with models that differ on at most {float(LARGEST_DIFFERENCE)} "
            "of the examples",
            AT_LEISURE,
        )
    if _size_by_hoeffding(script) > MOST_EXAMPLES:
        raise _FieldUnusableError(
            CONDITION,
            f"this takes more than {MOST_EXAMPLES:,} examples by Hoeffding's inequality, too many "
            "for this page to reckon with",
            f"Try a larger tolerance or fewer steps. {AT_LEISURE}",
        )


def _difference(script: Script, clause: NormalClause) -> Fraction:
    """The largest d that the exact size of a clause on n - o reckons with; 0 for any other."""
    scale = difference_of_accuracies(clause.score)
    if scale is None:
        return Fraction(0)
    known = known_difference(script.clauses, clause) or Fraction(0)
    reach = (abs(clause.threshold) + 2 * clause.tolerance) / abs(scale)
    return max(known, planned_difference(script, clause).share, min(reach, Fraction(1)))


def _size_by_hoeffding(script: Script) -> int:
    """Examples that Hoeffding's inequality asks for to keep both promises of every clause.

    Known in no time, and above whatever the exact sizes are; the time that those take grows with
    them, and with the number of clauses.
    """
    levels = typical_step(script).levels.per_clause(script.mode, len(script.clauses))
    level = min(levels.safety, levels.sensitivity)
    total = 0
    for clause in script.clauses:
        goal = Goal.of(clause, script.mode)
        zone = (goal.clear - goal.bound) / 2.0
        if zone > 0.0 and clause.score.is_linear:
            total += Hoeffding(float(clause.score.weight)).sample_size(zone, level)
    return total


def _plan(script: Script, mix: CommitMix) -> Plan:
    try:
        _require_quick(script)
        return plan(script, mix)
    except ScriptError as error:
        raise _FieldUnusableError(ESTIMATOR, error.message, error.hint) from None
    except (ValueError, ArithmeticError):
        # Numbers so extreme that no size comes out, and so nothing that could be shown.
        raise _FieldUnusableError(
            CONDITION,
            "no testset of a practical size can show this",
            "Try a larger tolerance, or a larger difference.",
        ) from None


def _method(made: Plan, row: Row) -> Method:
    in_all = row.labels_in_all
    return Method(
        row=row,
        ours=row.estimate.estimator not in PUBLISHED,
        recommended=row.estimate.estimator is made.recommended,
        hours=None
        if in_all is None
        else {seconds: hours(in_all, seconds) for seconds in SECONDS_PER_LABEL},
    )


def _truth(script: Script, given: Mapping[str, str]) -> tuple[Truth, dict[str, str]]:
    """The assumed effect and difference of a commit, and which of them are defaults."""
    effect = difference = None
    if EFFECT in given:
        effect = parse_option(EFFECT, given[EFFECT], parse_effect)
    if TRUE_DIFFERENCE in given:
        difference = parse_option(TRUE_DIFFERENCE, given[TRUE_DIFFERENCE], parse_difference)
    truth = likely_truth(script, effect, difference)
    clause = out_of_reach(script, truth)
    if clause is not None:
        which = EFFECT if effect is not None or difference is None else TRUE_DIFFERENCE
        raise _FieldUnusableError(
            which,
            f"{clause.score} cannot be so far from the threshold of '{clause.text}'",
            "Of two accuracies the difference is never larger than d, nor is one larger than 1.",
        )
    supposed = {}
    if script.needs_labels and effect is None:
        supposed[EFFECT] = _words(truth.effect)
    if script.needs_labels and script.needs_old_model and difference is None:
        supposed[TRUE_DIFFERENCE] = _words(truth.difference)
    return truth, supposed


def _words(value: Fraction) -> str:
    return f"{float(value):.6g}"


def _reckoned(made: Plan, truth: Truth) -> Reckoned:
    estimate, script = made.estimate(Estimator.SEQUENTIAL), made.script
    assert estimate.examples is not None
    labels = labels_at_truth(script, estimate.examples, truth)
    return Reckoned(
        effect=float(truth.effect),
        difference=float(truth.difference) if script.needs_old_model else None,
        labels=labels,
        labels_in_all=min(script.steps * labels, estimate.examples),
        promise=promised(script, truth),
    )


def _script_text(script: Script, texts: Mapping[str, str]) -> str:
    """The script as a file, each constant as it was written."""
    adaptivity: str = script.adaptivity
    if script.adaptivity is Adaptivity.NONE and script.third_party is not None:
        adaptivity = f"{adaptivity} -> {script.third_party}"
    spelt = {CONDITION: str(script.condition), "mode": str(script.mode), "adaptivity": adaptivity}
    text = script_document(
        {
            name: spelt.get(name, "".join(text.split()))
            for name, text in texts.items()
            if name not in (CLASSES, EXPECTED)
        }
    )
    # JSON is YAML too.
    if script.classes:
        text += f"  - {CLASSES}: {json.dumps(list(script.classes), ensure_ascii=False)}\n"
    if script.expected:
        shares = {name: f"{float(100 * share):.10g}%" for name, share in script.expected}
        text += f"  - {EXPECTED}: {json.dumps(shares, ensure_ascii=False)}\n"
    return text
