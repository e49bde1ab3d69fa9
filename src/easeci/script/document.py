"""A script from the texts of its keys, or from a YAML text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from easeci.errors import ScriptError
from easeci.script.entries import Entry, Option, Place
from easeci.script.keys import KEYS, ScriptKey
from easeci.script.lattice import Scoring
from easeci.script.normal import NormalClause
from easeci.script.parser import parse_unlocated
from easeci.script.problem import Problem, closest, shortened
from easeci.script.scorer import MAIN_SCORE, LabelKind
from easeci.script.script import Script
from easeci.script.syntax import Condition

Value = TypeVar("Value")


def compile_condition(
    condition: Condition,
    classes: Sequence[str] = (),
    expected: Sequence[tuple[str, Fraction]] = (),
    scoring: Scoring | None = None,
) -> tuple[NormalClause, ...]:
    """The clauses in normal form. Raises :class:`Problem` if a clause makes no sense.

    ``classes`` are those that the script declares: without any, a clause may name any class, but
    cannot have a ``(*)``. The text of each clause compiles on its own. ``expected`` are shares of
    classes; only the shape of the blocks for AUC depends on them. With ``scoring``, n and o are
    mean scores of outputs.
    """
    # Here and not above: most commands compile no condition.
    from easeci.script.compiler import compiled_clauses

    return compiled_clauses(condition, classes, expected, scoring)


def parse_script(text: str, source: str = "the script") -> Script:
    """Parse a script from a YAML text. Raises :class:`ScriptError` and nothing else."""
    return assemble(parse_entries(text, source), source)


def parse_entries(text: str, source: str) -> dict[str, Entry]:
    """The keys of the ``ml:`` section with their texts, in the order of the document."""
    # Here and not above: ruamel.yaml is slow to load, and most commands read no YAML.
    from easeci.script.yaml_document import read_entries

    return read_entries(text, source)


WITH_DEFAULT = ("estimator", "sample", "unchanged", "scorer", "scores", "labels", "trials")
"""Keys whose default is the script's own."""


def assemble(entries: Mapping[str, Entry], source: str = "the script") -> Script:
    """Build a script from the texts of its keys, wherever each was written."""
    for key in KEYS:
        if key.required and key.name not in entries:
            raise ScriptError(
                f"{source} has no '{key.name}' ({key.meaning})",
                hint=f"Add a line such as   {key.name}: {key.example}",
            )
    values = {key.name: _parse(key, entries[key.name]) for key in KEYS if key.name in entries}
    classes = values.get("classes", ())
    expected = values.get("expected", ())
    if expected:
        _check_expected(expected, classes, entries["expected"])
    scoring = _scoring(values, entries)
    entry = entries["condition"]
    try:
        condition = parse_unlocated(entry.texts[0])
        clauses = compile_condition(condition, classes, expected, scoring)
    except Problem as problem:
        raise entry.places[0].error(problem, entry.texts[0]) from None
    adaptivity, third_party = values["adaptivity"]
    return Script(
        condition=condition,
        clauses=clauses,
        reliability=values["reliability"],
        mode=values["mode"],
        adaptivity=adaptivity,
        third_party=third_party,
        steps=values["steps"],
        sensitivity=values.get("sensitivity", values["reliability"]),
        program=values.get("script"),
        difference=values.get("difference"),
        email=values.get("email"),
        branch=values.get("branch"),
        branches=values.get("branches", ()),
        classes=classes,
        expected=expected,
        disclose_seconds=values.get("disclose"),
        timeout_seconds=values.get("timeout"),
        memory_bytes=values.get("memory"),
        mounts=values.get("mounts", ()),
        ignore=values.get("ignore", ()),
        **{name: values[name] for name in WITH_DEFAULT if name in values},
    )


def _scoring(values: Mapping[str, Any], entries: Mapping[str, Entry]) -> Scoring | None:
    """What the condition must know of scores; None if predictions are right or wrong."""

    def refuse(name: str, message: str, hint: str) -> ScriptError:
        entry = entries[name]
        return entry.places[0].error(Problem(f"{name}: {message}", hint=hint), entry.texts[0])

    scorer, names = values.get("scorer"), values.get("scores", ())
    if scorer is None and not names:
        for name in ("labels", "trials"):
            if name in values and values[name] not in (LabelKind.CLASS, 1):
                raise refuse(name, "this needs a scorer", "Add a line such as   scorer: exact")
        return None
    built_in = scorer.kind if scorer is not None and scorer.kind.built_in else None
    if "classes" in values:
        raise refuse(
            "classes",
            "a scorer compares outputs with references, which are not classes",
            "Leave out classes:, or scorer: to count right and wrong predictions.",
        )
    if built_in and set(names) - {MAIN_SCORE}:
        raise refuse("scores", f"{built_in} gives one score, without a name", "Leave them out.")
    if built_in and values.get("labels") is LabelKind.NONE:
        raise refuse("labels", f"{built_in} compares with references", "Write labels: class.")
    known = names if scorer is None else dict.fromkeys((MAIN_SCORE, *names))
    return Scoring(tuple(known), values.get("trials", 1), all_or_nothing=built_in is not None)


def parse_option(name: str, text: str, parse: Callable[[str], Value]) -> Value:
    """Parse an option that is not a key of a script, with the same errors as for a key."""
    return _parsed(name, text.strip(), Option(name), parse)


def _parse(key: ScriptKey, entry: Entry) -> Any:
    parsed = [
        _parsed(key.name, text, place, key.parse)
        for text, place in zip(entry.texts, entry.places, strict=True)
    ]
    if key.is_mapping:
        return tuple(pair for pairs in parsed for pair in pairs)
    return tuple(parsed) if key.is_list else parsed[0]


def _check_expected(
    expected: Sequence[tuple[str, Fraction]], classes: Sequence[str], entry: Entry
) -> None:
    """Refuse shares of classes that do not exist, twice the same class, and more than all."""

    def refuse(message: str, hint: str | None = None) -> ScriptError:
        # With one text for each class, the last one shows best where the shares stand.
        return entry.places[-1].error(Problem(f"expected: {message}", hint=hint), entry.texts[-1])

    names = [name for name, _ in expected]
    for name in names:
        if classes and name not in classes:
            close = closest(name, classes)
            hint = f"Did you mean '{close}'? " if close else ""
            raise refuse(
                f"the class '{shortened(name)}' is not declared",
                f"{hint}The script declares: {shortened(', '.join(classes), 200)}.",
            )
        if names.count(name) > 1:
            raise refuse(f"'{shortened(name)}' is given twice")
    if sum(share for _, share in expected) > 1:
        raise refuse("the shares of all classes together are more than 1")


def _parsed(name: str, text: str, place: Place, parse: Callable[[str], Value]) -> Value:
    try:
        return parse(text)
    except Problem as problem:
        named = Problem(f"{name}: {problem.message}", problem.span, problem.hint)
        raise place.error(named, text) from None
