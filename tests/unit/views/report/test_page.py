"""The report: what it shows, what it hides, and that nothing in it is taken for markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import pytest

from easeci.ledger.chain import Head
from easeci.ledger.events import Decided, Submitted, TestsetRetired
from easeci.ledger.reasons import BudgetUsed, ByHand
from easeci.ledger.state import State
from easeci.ledger.verdicts import RecordedClause
from easeci.verdict.logic import Result
from easeci.views.report.contents import developer_report, make_report
from easeci.views.report.page import page
from tests.histories import CLAUSE, History, added, verdict

NUMBERS = ("0.0731", "0.6113", "-0.4417", "7.31", "61.13", "-44.17", "98765", "98,765")
TWO = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.02"
VOID = {"meta", "use", "path", "circle", "rect"}


def clause(estimate: float | None = 0.0731, outcome: str = "False") -> RecordedClause:
    found = Result(outcome)
    return replace(CLAUSE, estimate=estimate, low=-0.4417, high=0.6113, result=found)


def decided(history: History, *clauses: RecordedClause) -> History:
    """The same history with whole verdicts, whose numbers are easily found."""
    for index, event in enumerate(history.events):
        if isinstance(event, Decided):
            found = verdict(result=Result.UNKNOWN, labels=98765, clauses=clauses)
            history.events[index] = replace(event, verdict=found.document())
    return history


def developer(state: State) -> str:
    return page(developer_report("a model", state))


def owner(state: State) -> str:
    """Of a project that is nothing but its state: no step is open, so no label is looked for."""
    project: Any = SimpleNamespace(name="a model", state=state, head=Head(7, "beef" * 16))
    return page(make_report(project, owner=True))


class Reader(HTMLParser):
    """Every element, and the words between them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.words = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


def test_developers_see_condition_promise_budget_and_signals() -> None:
    history = decided(History.begun().commit("1", True).commit("2", False), clause())
    words = Reader(developer(history.state)).words
    for part in (
        "n - o > 0.02 +/- 0.01",
        "probability at least 0.99, no commit passes whose condition is false",
        "2 of 4 steps used, 2 left",
        "commit 1",
        "1111111111",
        "pass (1)",
        "fail (1)",
    ):
        assert part in words


def test_no_number_of_a_verdict_is_in_the_developers_version() -> None:
    state = decided(History.begun().commit("1", True).commit("2", False), clause()).state
    shown = developer(state)
    assert not [number for number in NUMBERS if number in shown]
    assert "Unknown" not in shown
    everything = owner(state)
    assert "98,765" in everything
    assert "7.31" in everything


def test_under_none_passing_failing_and_waiting_give_the_same_bytes() -> None:
    pages = set()
    for answer in (True, False, None):
        history = History.begun(adaptivity="none -> a@b.org")
        for name in "123":
            history.commit(name, False, signal="accepted")
        history.commit("9", answer, signal="accepted")
        if answer is not None:
            history.add(TestsetRetired(1, BudgetUsed()))
        pages.add(developer(decided(history, clause()).state))
    assert len(pages) == 1
    assert "a@b.org" not in pages.pop()


@pytest.mark.parametrize(
    "subject",
    [
        "<script>alert(1)</script>",
        "\"><img src=x onerror='alert(1)'>",
        "</table></body> & &lt;",
        "שלום \u202e עולם",
        "naïve 模型 🚀 $title ${body}",
        "a\x00b\x1b[31m",
    ],
)
def test_what_users_wrote_is_never_markup(subject: str) -> None:
    history = decided(History.begun().commit("1", True), clause())
    for index, event in enumerate(history.events):
        if isinstance(event, Submitted):
            history.events[index] = replace(event, subject=subject, branch=subject)
    for text in (developer(history.state), owner(history.state)):
        read = Reader(text)
        assert read.open == []
        assert not {"script", "img", "link", "iframe", "object"} & set(read.tags)
        shown = "".join(c if c.isprintable() or ord(c) > 127 else " " for c in subject)
        assert shown in read.words


def test_nothing_is_asked_of_another_host() -> None:
    text = owner(decided(History.begun().commit("1", True), clause()).state)
    assert "default-src 'none'" in text
    outside = re.sub(r'xmlns="http://www.w3.org/2000/svg"', "", text)
    assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)", outside)


def test_the_owner_sees_a_chart_for_each_clause_and_one_of_labels() -> None:
    history = History.begun(condition=TWO).commit("1", True).commit("2", False)
    clauses = (clause(None, "Unknown"), clause(0.05, "True"))
    text = owner(decided(history, *clauses).state)
    assert text.count("<figure>") == 3
    words = Reader(text).words
    assert "is the threshold 2 points, the shaded band the zone from 2 to 4 points," in words
    assert "is the threshold 10%, the shaded band the zone from 6 to 10 percent," in words
    assert "n - o (points)" in words
    assert "d (percent)" in words
    assert "not known (-44.2 to +61.1 points) Unknown" in words
    assert "Last verdict (step 1.2): FAIL: " in words
    assert "What the guarantee rests on" in words
    assert "7:beef" in words


def test_the_owner_sees_which_commits_became_the_baseline_and_developers_do_not() -> None:
    history = History.begun().commit("1", True).commit("2", False).commit("3", True)
    state = decided(history, clause()).state
    everything, shown = owner(state), developer(state)
    assert "2 passed the whole condition, and 2 became the baseline" in Reader(everything).words
    assert "passed, the new baseline" in everything
    assert "new baseline" not in shown
    assert "became the baseline" not in shown


def test_every_chart_has_words_and_a_table_behind_it() -> None:
    text = owner(decided(History.begun().commit("1", True), clause()).state)
    assert len(re.findall(r'<div role="img" aria-label="[^"]{40,}', text)) == text.count("<figure>")
    assert "<caption>" in text


def test_five_hundred_steps_are_in_rows_and_without_a_step_there_is_no_chart() -> None:
    assert "No step is decided yet." in owner(History.begun().state)
    assert "No commit yet." in developer(History.begun().state)
    assert "no testset yet" in developer(History().state)
    from easeci.charts import StepPoint, history_chart

    points = [StepPoint(n, None if n % 3 else 0.03, -1.0, 0.04, "Unknown") for n in range(1, 501)]
    svg = history_chart(points, "n - o", 0.02, (0.02, 0.04))
    assert svg.count(">step</text>") == 5
    assert len(re.findall(r"aria-roledescription=\"point\"", svg)) >= 500


def test_testsets_have_a_section_each_the_newest_first() -> None:
    history = History.begun().commit("1", False)
    history.add(TestsetRetired(1, ByHand("by <hand>")), added(2, adaptivity="firstChange"))
    words = Reader(developer(history.state)).words
    assert words.index("Testset 2 (in use)") < words.index("Testset 1 (retired: by <hand>)")
    assert "ends with its first pass" in words
