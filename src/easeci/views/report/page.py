"""The page of a report: from what is shown to HTML. Whatever is not markup is escaped."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from importlib.resources import files
from string import Template

from easeci.charts import StepPoint, count_chart, for_pages, history_chart
from easeci.ledger.disclosure import DisclosedRow
from easeci.ledger.signals import Signal
from easeci.ledger.verdicts import RecordedClause
from easeci.script import LinearClause, Script
from easeci.times import readable_time
from easeci.views.commit import zone_of
from easeci.views.history import DecidedStep, OwnerRow
from easeci.views.report.contents import (
    OwnerReport,
    Report,
    TestsetFindings,
    TestsetReport,
)
from easeci.views.status import promise

KEEP = (
    "This is the owner's version: it shows more than the signals, and the look is recorded. "
    "Keep it from developers; no decision about a model may rest on it."
)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, *content: str, **attributes: str) -> Markup:
    """An element; content that is not markup is escaped. ``class_`` is written class."""
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"'
        for key, value in attributes.items()
    )
    return Markup(f"<{name}{given}>{joined(*content)}</{name}>")


def joined(*content: str) -> Markup:
    return Markup("".join(c if isinstance(c, Markup) else _escaped(c) for c in content))


def _escaped(text: str) -> str:
    # Control characters are no part of HTML, and have no look of their own.
    return html.escape("".join(c if ord(c) >= 32 and ord(c) != 127 else " " for c in text))


def page(report: Report) -> str:
    template = files("easeci.views.report").joinpath("report.html").read_text("utf-8")
    title = f"{report.project}: easeci report"
    return Template(template).substitute(title=_escaped(title), body=_body(report))


def _body(report: Report) -> Markup:
    parts = [symbols(), tag("h1", tag("bdi", report.project)), tag("p", report.next)]
    if report.owner is not None:
        parts.append(_owner_head(report.owner))
    for testset in report.testsets:
        found = None if report.owner is None else report.owner.testsets[testset.number]
        parts.append(_section(testset, found))
    last = max((row.at for t in report.testsets for row in t.rows), default=None)
    until = (
        "no commit yet"
        if last is None
        else f"up to the commit submitted at {readable_time(last)} UTC"
    )
    return joined(*parts, tag("footer", f"Written by easeci report, {until}."))


def symbols() -> Markup:
    drawn = [
        Markup(f'<symbol id="{s.css_class}" viewBox="0 0 20 20">{s.symbol}</symbol>')
        for s in Signal
    ]
    return tag("svg", *drawn, class_="symbols", aria_hidden="true")


def symbol(signal: Signal) -> Markup:
    use = Markup(f'<use href="#{signal.css_class}"/>')
    return tag("svg", use, class_=signal.css_class, aria_hidden="true")


def _owner_head(owner: OwnerReport) -> Markup:
    return joined(
        tag("p", KEEP, class_="notice"),
        _facts(owner.facts),
        tag("h2", "What the guarantee rests on"),
        tag("ul", *(tag("li", line) for line in owner.rests_on)),
    )


def _facts(facts: tuple[tuple[str, str], ...]) -> Markup:
    cells = []
    for name, value in facts:
        content = tag("dt", name) + tag("dd", value)
        wide = {"class_": "wide"} if len(value) > 40 else {}
        cells.append(tag("div", Markup(content), **wide))
    return tag("dl", *cells)


def _section(testset: TestsetReport, found: TestsetFindings | None) -> Markup:
    state = "in use" if testset.retired is None else f"retired: {testset.retired}"
    heading = (f"Testset {testset.number} ", tag("span", f"({state})", class_="soft"))
    parts = [
        tag("h2", *heading),
        tag("code", str(testset.script.condition), class_="condition"),
        tag("ul", *(tag("li", line) for line in promise(testset.script))),
        _budget(testset),
    ]
    if found is not None:
        parts.append(_facts((("Examples from", testset.name), *found.facts)))
        parts += history_figures(testset.script, found.steps)
    parts += [tag("h3", "Commits"), _strip(testset.rows), _table(testset, found)]
    return tag("section", *parts)


def _budget(testset: TestsetReport) -> Markup:
    used, steps = testset.steps_used, testset.steps
    words = f"{used:,} of {steps:,} steps used, {steps - used:,} left"
    bar = tag("div", tag("div", style=f"width: {100 * used / steps:.4g}%"))
    return joined(tag("div", bar, class_="budget", role="img", aria_label=words), tag("p", words))


def _strip(rows: tuple[DisclosedRow, ...]) -> Markup:
    """A symbol for each commit, the first on the left, and what the symbols mean."""
    if not rows:
        return tag("p", "No commit yet.", class_="soft")
    counts = Counter(row.signal for row in rows)
    summary = ", ".join(f"{counts[s]:,} {s.word}" for s in Signal if counts[s])
    drawn = [symbol(row.signal) for row in rows]
    key = [tag("span", symbol(s), f" {s.word} ({counts[s]:,})") for s in Signal if counts[s]]
    label = f"Signals of {len(rows):,} commits in the order of submission: {summary}"
    return joined(
        tag("div", *drawn, class_="strip", role="img", aria_label=label),
        tag("div", *key, class_="key"),
    )


def _table(testset: TestsetReport, found: TestsetFindings | None) -> Markup:
    if not testset.rows:
        return Markup("")
    headings = ["no.", "signal", "step", "commit", "subject", "branch", "submitted (UTC)"]
    scores = [str(clause.score) for clause in testset.script.clauses]
    if found is not None:
        clauses = [f"{score}: estimate [interval]" for score in scores]
        headings += ["verdict", "labels", *clauses, "against"]
    rows = []
    for position, row in enumerate(testset.rows):
        cells = _cells(row)
        if found is not None:
            cells += _owner_cells(found.rows[position], scores)
        rows.append(tag("tr", *cells, role="row"))
    columns = (tag("th", heading, scope="col", role="columnheader") for heading in headings)
    label = f"Commits of testset {testset.number}"
    table = tag(
        "table",
        tag("caption", f"{label}, in the order of submission"),
        tag("thead", tag("tr", *columns, role="row"), role="rowgroup"),
        tag("tbody", *rows, role="rowgroup"),
        role="table",
    )
    return _scrolling(table, label)


def _scrolling(content: Markup, label: str) -> Markup:
    """It may be wider than the window: it scrolls by itself, also by the keyboard."""
    return tag("div", content, class_="scroll", tabindex="0", role="region", aria_label=label)


def _cell(*content: str, **attributes: str) -> Markup:
    """On a phone the cells of a row are below each other: ``data_name`` says there what the
    column's heading says elsewhere, and the role keeps it a cell, whatever a stylesheet makes of
    it."""
    return tag("td", *content, role="cell", **attributes)


def _cells(row: DisclosedRow) -> list[Markup]:
    step = "" if row.step is None else f"{row.step:,}"
    return [
        _cell(f"{row.submission:,}", class_="number", data_name="no."),
        _cell(symbol(row.signal), " ", tag("b", row.signal.word), class_="first"),
        _cell(step, class_="number", data_name="step"),
        _cell(row.commit[:10], class_="code first end"),
        _cell(tag("bdi", row.subject), class_="words whole"),
        _cell(tag("bdi", row.branch) if row.branch else ""),
        _cell(readable_time(row.at)),
    ]


def _owner_cells(found: OwnerRow, scores: Sequence[str]) -> list[Markup]:
    verdict = found.verdict
    if verdict is None:
        words = "" if found.failure is None else f"build error: {found.failure}"
        empty = [_cell() for _ in range(len(scores) + 2)]
        return [_cell(words, class_="words"), *empty]
    answer = f"{'pass' if found.passed else 'fail'} ({verdict.result})"
    return [
        _cell(answer, data_name="verdict"),
        _cell(f"{verdict.labels:,}", class_="number", data_name="labels"),
        *(
            _cell(_clause_words(clause), data_name=f"{score}:")
            for score, clause in zip(scores, verdict.clauses, strict=False)
        ),
        _cell((found.baseline or "")[:10], class_="code", data_name="against"),
    ]


def _clause_words(clause: RecordedClause) -> str:
    shown = "-" if clause.estimate is None else f"{clause.estimate:.4g}"
    return f"{shown} [{clause.low:.4g}, {clause.high:.4g}] {clause.result}"


def history_figures(script: Script, steps: Sequence[DecidedStep]) -> list[Markup]:
    """A history for each clause, and the labels of each step."""
    if not steps:
        return [tag("p", "No step is decided yet.", class_="soft")]
    parts = [
        _clause_figure(script, clause, position, steps)
        for position, clause in enumerate(script.clauses)
    ]
    counts = [(step.number, step.verdict.labels) for step in steps]
    total = f"{counts[-1][1]:,} at the last step, {max(c for _, c in counts):,} at the most"
    drawn = for_pages(partial(count_chart, counts, "labels", steps=script.steps))
    caption = f"Labels that each step consulted: {total}. Steps share labels."
    return [*parts, _figure("Labels", drawn, caption)]


def _clause_figure(
    script: Script, clause: LinearClause, position: int, steps: Sequence[DecidedStep]
) -> Markup:
    points = clause_points(steps, position)
    low, high = zone_of(clause, script.mode)
    threshold = float(clause.threshold)
    drawn = for_pages(
        partial(
            history_chart,
            points,
            str(clause.score),
            threshold,
            (low, high),
            steps=script.steps,
        )
    )
    counts = Counter(point.outcome for point in points)
    summary = ", ".join(f"{count:,} {outcome}" for outcome, count in counts.items())
    passed, changes = sum(p.passed is True for p in points), sum(p.baseline for p in points)
    over = "1 step" if len(points) == 1 else f"{len(points):,} steps"
    caption = (
        f"Over {over}: {summary}. Of these commits {passed:,} passed the whole "
        f"condition, and {changes:,} became the baseline, each with a thin line upwards. The line "
        f"across is the threshold {threshold:.4g}, the shaded band the zone from "
        f"{low:.4g} to {high:.4g}, where Unknown is honest. Dots are estimates, bars what is shown "
        "of the true value, cut at the edge of the chart. The table of commits has the numbers."
    )
    return _figure(clause.text, drawn, caption)


def clause_points(steps: Sequence[DecidedStep], position: int) -> list[StepPoint]:
    """What each decided step found of the clause at a position of the condition."""
    return [
        _point(step, step.verdict.clauses[position])
        for step in steps
        if position < len(step.verdict.clauses)
    ]


def _point(step: DecidedStep, clause: RecordedClause) -> StepPoint:
    return StepPoint(
        step.number,
        clause.estimate,
        clause.low,
        clause.high,
        clause.result,
        passed=step.passed,
        baseline=step.became_baseline,
    )


def _figure(title: str, drawn: Mapping[str, str], caption: str) -> Markup:
    image = picture(drawn, f"{title}. {caption}")
    return joined(
        tag("h3", tag("code", title)),
        tag("figure", image, tag("figcaption", caption)),
    )


def picture(drawn: Mapping[str, str], label: str) -> Markup:
    """A chart by the classes that show it, one of which the stylesheet chooses, under one name."""
    versions = (tag("div", Markup(svg), class_=name) for name, svg in drawn.items())
    return tag("div", *versions, role="img", aria_label=label)
