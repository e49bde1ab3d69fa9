"""The summary of a plan: at most twelve lines of 80 columns, each with what a person can act on.

If there is more to say, the least important lines are left out or shortened first, and the last
line says where the rest is.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from easeci.plan.labelling_time import labelling_time
from easeci.plan.numbers import PlanNumbers
from easeci.script import Estimator, Script

MOST_LINES, MOST_COLUMNS = 12, 80
NO_BREAK = "\N{NO-BREAK SPACE}"
FORMULA = re.compile(r"\w [-*] [\w.]+| \+/- \S+| [<>] \S+|--\w+ \w+|\S+ points|[\d.]+ s\b")
"""Words that stay on one line, such as n - o, +/- 0.01 and 5 s."""
INDENT = 9
HINT = "--all adds every estimator, --explain derives the numbers."
SHORTENED = "Shortened: --explain prints everything."
NOTHING = "Nothing is recommended for such a condition. Change it first."
WARNING, CONDITION, SETTINGS, LAST = "warning:", "condition", "settings", "hint"
UNNAMED = (CONDITION, SETTINGS, LAST)
"""Parts that are shown without their name."""
SHORTENINGS = (
    ("Decides", 0),
    (CONDITION, 0),
    (SETTINGS, 0),
    ("Assumed", 1),
    ("Means", 5),
    ("Cheaper", 0),
    (WARNING, 3),
    ("Means", 4),
    ("Assumed", 0),
    (WARNING, 2),
    ("Means", 3),
    ("Bring", 2),
    ("Label", 2),
)
"""What is shortened to how many lines, one after the other, until the rest fits."""


@dataclass(frozen=True)
class SummaryLine:
    """A line of a summary: the ``part`` it belongs to, the ``name`` in front, and the words.

    ``name`` is as wide as the indent, and blank on further lines of a part.
    """

    part: str
    name: str
    words: str

    @property
    def text(self) -> str:
        """The line as it is printed."""
        return f"{self.name}{self.words}"


def summary_lines(
    plan: PlanNumbers,
    defaults: Collection[str] = (),
    width: int = MOST_COLUMNS,
    *,
    whole: bool = False,
) -> list[SummaryLine]:
    """The lines of the summary; ``whole``: all of them, however many they are.

    ``defaults`` are the settings that nobody gave. They are named last.
    """
    parts = list(_parts(plan, defaults, whole=whole))
    limits: dict[str, int] = {}
    lines = _lines(parts, width, limits)
    if not whole and len(lines) > MOST_LINES:
        for part, most in SHORTENINGS:
            limits[part] = most
            lines = _lines(parts, width, limits)
            if len(lines) < MOST_LINES:
                break
        return [*lines[: MOST_LINES - 1], SummaryLine(LAST, "", SHORTENED)]
    if not whole and len(lines) < MOST_LINES and not plan.useless:
        lines.append(SummaryLine(LAST, "", HINT))
    return lines


def _lines(parts: list[tuple[str, str]], width: int, limits: dict[str, int]) -> list[SummaryLine]:
    return [
        line
        for part, words in parts
        if limits.get(part, 1) > 0
        for line in _wrapped(part, words, min(width, MOST_COLUMNS), limits.get(part))
    ]


def _wrapped(part: str, words: str, width: int, most: int | None) -> list[SummaryLine]:
    """The words of a part in lines of this width, at most so many."""
    indent = 0 if part in UNNAMED else INDENT
    kept = FORMULA.sub(lambda found: found[0].replace(" ", NO_BREAK), words)
    rows = textwrap.wrap(
        kept, width - indent, break_on_hyphens=False, max_lines=most, placeholder=" …"
    )
    names = [f"{part if indent else '':<{indent}}"] + [" " * indent] * (len(rows) - 1)
    return [
        SummaryLine(part, name, row.replace(NO_BREAK, " "))
        for name, row in zip(names, rows, strict=True)
    ]


def _parts(
    plan: PlanNumbers, defaults: Collection[str], *, whole: bool
) -> Iterator[tuple[str, str]]:
    """The parts of the summary, in the order in which they are shown."""
    for warning in plan.warnings if whole else _merged_warnings(plan):
        yield WARNING, warning
    yield CONDITION, str(plan.script.condition)
    yield SETTINGS, _settings(plan.script, defaults)
    if plan.useless:
        yield "Advice", NOTHING
        return
    yield "Bring", bring_words(plan)
    yield "Label", label_words(plan)
    if plan.by_need:
        yield "Assumed", f"{plan.assumption} (--commits {plan.mix.name})."
    yield "Means", f"{plan.meaning}."
    if plan.cheaper is not None:
        change = plan.cheaper
        takes = f"{change.labels:,} {'labels' if _asks_for_labels(plan) else 'examples'}"
        yield "Cheaper", f"{change.write} takes {takes}; {change.gives_up}."
    yield "Decides", _decides(plan)


def _merged_warnings(plan: PlanNumbers) -> Iterator[str]:
    """One warning for each obstacle: further clauses with the same one are only counted."""
    found = plan.script.reach_warnings
    for obstacle in dict.fromkeys(warning.obstacle for warning in found):
        first, *more = (w.sentence for w in found if w.obstacle is obstacle)
        clauses = "1 more clause" if len(more) == 1 else f"{len(more)} more clauses"
        yield f"{first} The same is true of {clauses} (--explain)." if more else first
    yield from plan.warnings_of_commits


def _settings(script: Script, defaults: Collection[str]) -> str:
    """The settings; those that were filled in by default come last."""
    words = {
        "reliability": f"reliability {float(script.reliability):.10g}",
        "mode": str(script.mode),
        "adaptivity": f"adaptivity {script.adaptivity}",
        "steps": f"{script.steps:,} steps",
    }
    given = [text for name, text in words.items() if name not in defaults]
    filled = [text for name, text in words.items() if name in defaults]
    if not filled:
        return ", ".join(given)
    return "; ".join([", ".join(given)] * bool(given) + [f"by default: {', '.join(filled)}"])


def bring_words(plan: PlanNumbers) -> str:
    """How many examples to bring, as a sentence."""
    bring = plan.bring
    if bring is None:
        return f"as many examples as {plan.decides_by} finds that it needs; give `difference:`."
    sample = f" and {bring.sample:,} for the public sample" if bring.sample else ", no sample"
    words = f"{bring.examples:,} examples: {bring.sealed:,} to seal{sample}."
    if bring.each_slice is None:
        return words
    return f"at least {words} Every slice needs {bring.each_slice:,}."


def _asks_for_labels(plan: PlanNumbers) -> bool:
    """Whether labels are asked for; scores that need no references are not."""
    return not plan.script.is_scored or plan.script.needs_references


def label_words(plan: PlanNumbers) -> str:
    """How many labels are needed and when, as a sentence."""
    if not _asks_for_labels(plan):
        labels = plan.labels
        return (
            f"none. Score about {labels.in_all:,} examples in its life, {labels.per_commit:,} a "
            f"commit, worst {labels.worst_commit:,}."
        )
    if plan.by_need:
        labels = plan.labels
        slices = [clause.score.slice for clause in plan.script.clauses]
        each = " a slice" if any(where is not None and where.every for where in slices) else ""
        once = f" The first {plan.prefix:,} examples are labelled once, for all commits."
        return (
            f"about {labels.in_all:,}{each} in its life, {labels.per_commit:,} a commit, worst "
            f"{labels.worst_commit:,}; {labelling_time(labels.in_all)}."
            f"{once if plan.prefix else ''}"
        )
    row = plan.row(plan.decides_by)
    if row.labels_in_all is None:
        return "as many as it then needs, where the models differ."
    if row.labels_in_all == 0:
        return "none: the condition is on d alone."
    when = f"({labelling_time(row.labels_in_all)})"
    if row.labels_per_commit:
        return f"at most {row.labels_in_all:,} {when}; {row.labels_per_commit:,} a commit."
    return f"{row.labels_in_all:,} before the first commit {when}, none later."


def _decides(plan: PlanNumbers) -> str:
    if plan.script.estimator is not Estimator.AUTO:
        return f"{plan.decides_by}, as the script says."
    if not plan.script.needs_labels:
        return "exact."
    if not plan.exact_fits:
        return "sequential."
    return "sequential; exact if all labels come with the testset."
