"""What letters say, and that nothing in them can be anything but words."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.ledger.reasons import (
    BudgetUsed,
    ByHand,
    FirstChange,
    StepsLeftWarning,
    UndecidedWarning,
)
from easeci.ledger.wording import ADOPTED, PROGRAM_FAILED
from easeci.notify import (
    AlarmFacts,
    ClauseFacts,
    Needs,
    VerdictFacts,
    WarningFacts,
    Words,
    alarm_letter,
    verdict_letter,
    warning_letter,
)
from easeci.notify.page import COLUMNS, columns
from easeci.verdict.logic import Result
from easeci.verdict.wording import ANYTIME
from tests.cases import each_case

HEAD = "1234567:" + "ab" * 32
VERDICT = VerdictFacts(
    project="digits",
    commit="0123456789abcdef0123456789abcdef01234567",
    subject="A better model",
    branch="main",
    testset=2,
    step=3,
    steps=32,
    passed=True,
    why="shown to be better by more than 2 points, after 165 labels",
    result=Result.TRUE,
    clauses=(
        ClauseFacts("n - o > 0.02 +/- 0.01", "+3.1 points", "+2.1 to +4.1 points", Result.TRUE),
        ClauseFacts("d < 0.1 +/- 0.01", "not known", "0.0% to 9.0%", Result.TRUE),
    ),
    labels=1234,
    examples=56789,
    secret=False,
    head=HEAD,
)
ALARM = AlarmFacts(
    project="digits",
    testset=2,
    reason=BudgetUsed(),
    steps_used=32,
    steps=32,
    examples=56789,
    labels=4321,
    needs=Needs(60000, 5000),
    head=HEAD,
)
WARNING = WarningFacts(
    project="digits",
    testset=2,
    topic=StepsLeftWarning(2),
    steps_used=30,
    steps=32,
    decided=30,
    undecided=12,
    needs=None,
    head=HEAD,
)
ALL = [verdict_letter(VERDICT), alarm_letter(ALARM), warning_letter(WARNING)]
REASONS = (FirstChange(passed=True), FirstChange(passed=False), ByHand("labels were wrong"))
ALL += [alarm_letter(replace(ALARM, reason=reason)) for reason in REASONS]
UNDECIDED = UndecidedWarning(12, 30)
ALL += [warning_letter(replace(WARNING, topic=UNDECIDED))]
HOSTILE = "</td><script src=//x>&amp;\"'`<b>`\nBcc: x\r\n\u202e"


class Tags(HTMLParser):
    """The words, and every tag that is there, with its attributes."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words, self.tags, self.attributes, self.open = "", set[str](), set[str](), list[str]()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data


HTML_TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "body",
    "h2",
    "p",
    "table",
    "tr",
    "th",
    "td",
    "pre",
    "code",
}


def letters_of(text: str) -> str:
    """Without what is drawn with spaces, lines and quotes."""
    return "".join(c for c in text if c.isalnum())


def said(words: Words) -> str:
    return " ".join(words.text.split())


def check(words: Words) -> None:
    assert all(columns(line) <= COLUMNS for line in words.text.splitlines())
    assert "\n" not in words.subject
    read = Tags(words.html)
    assert read.tags <= HTML_TAGS
    assert read.attributes <= {"style", "lang", "charset", "name", "content"}
    assert not read.open
    assert "url(" not in words.html


@each_case("words", ALL)
def test_every_letter_is_narrow_closed_html_and_has_the_head(words: Words) -> None:
    check(words)
    assert f"\n  {HEAD}\n" in words.text  # on one line, to be copied
    assert HEAD in words.html
    assert "What to do next" in words.text
    assert words.subject.startswith("[digits] ")


def test_text_and_html_say_the_same() -> None:
    for words in ALL:
        shown = Tags(words.html).words.replace(words.subject, "", 1)
        assert letters_of(words.text) == letters_of(shown)


def test_a_verdict_says_everything_about_its_step() -> None:
    words = verdict_letter(VERDICT)
    assert words.subject == "[digits] PASS: step 3 of 32, A better model"
    for part in (
        "PASS: shown to be better by more than 2 points, after 165 labels.",
        "0123456789 A better model",
        "n - o > 0.02 +/- 0.01",
        "+3.1 points",
        "+2.1 to +4.1 points",
        "not known",
        "1,234 consulted, of 56,789 examples",
        "29 steps are left",
    ):
        assert part in said(words)
    assert "developers" not in words.text


def test_a_fail_an_unknown_and_a_secret_are_said_as_such() -> None:
    worse = "shown to be worse, after 56 labels"
    false = replace(VERDICT, passed=False, result=Result.FALSE, step=32, branch=None, why=worse)
    fail = verdict_letter(false)
    assert fail.subject.startswith("[digits] FAIL")
    assert "FAIL: shown to be worse, after 56 labels." in said(fail)
    assert "No step is left" in said(fail)
    unknown = replace(VERDICT, result=Result.UNKNOWN, step=31)
    assert "That is a pass in fn-free mode." in said(verdict_letter(unknown))
    assert "That is a fail in fp-free mode." in said(verdict_letter(replace(unknown, passed=False)))
    assert "1 step is left" in said(verdict_letter(unknown))
    assert "Don't tell the developers" in said(verdict_letter(replace(VERDICT, secret=True)))


def test_where_asking_was_stopped_nothing_is_blamed_on_the_testset() -> None:
    reason = (
        "not shown to be better: stopped asking after 56 labels, because a gain of 5 points or "
        "more is ruled out"
    )
    words = said(verdict_letter(replace(VERDICT, passed=False, result=Result.UNKNOWN, why=reason)))
    assert f"FAIL: {reason}. That is a fail in fp-free mode." in words
    assert "can't tell" not in words


def test_a_note_on_intervals_and_a_failed_program() -> None:
    assert "may contain the threshold" in said(verdict_letter(replace(VERDICT, note=ANYTIME)))
    failed = replace(VERDICT, passed=False, result=None, clauses=(), labels=0, why=PROGRAM_FAILED)
    words = said(verdict_letter(failed))
    assert "FAIL: its program failed on the examples of the testset." in words
    assert "not measured" in words


def test_the_first_baseline_is_not_called_good() -> None:
    """It passed without a test, so a letter must not advise to use it."""
    adopted = replace(VERDICT, result=None, clauses=(), labels=0, why=ADOPTED)
    words = said(verdict_letter(adopted))
    assert f"PASS: {ADOPTED}." in words
    assert "Nothing is shown of this model." in words
    assert "may be used" not in words


def test_an_alarm_says_why_and_which_commands_to_run() -> None:
    words = alarm_letter(ALARM)
    for part in (
        "all steps of this one are used",
        "32 used of 32",
        "60,000 examples and about 5,000 labels",
    ):
        assert part in said(words)
    assert "\n  easeci testset add EXAMPLES\n" in words.text
    assert "\n  easeci testset release --to FOLDER\n" in words.text
    by_hand = replace(ALARM, reason=ByHand("labels were wrong"), needs=None)
    assert "labels were wrong" in alarm_letter(by_hand).text
    assert "easeci plan" in alarm_letter(by_hand).text


def test_warnings_say_what_is_ahead() -> None:
    assert "2 steps are left on testset 2" in warning_letter(WARNING).subject
    undecided = warning_letter(replace(WARNING, topic=UNDECIDED))
    assert "12 of 30 commits" in undecided.text
    assert "`easeci plan`" in undecided.text
    assert "<code" in undecided.html


@settings(max_examples=40)
@given(st.text() | st.just(HOSTILE))
def test_whatever_people_wrote_stays_words(text: str) -> None:
    clause = replace(VERDICT.clauses[0], text=text)
    check(
        verdict_letter(replace(VERDICT, project=text, subject=text, branch=text, clauses=(clause,)))
    )
    check(alarm_letter(replace(ALARM, project=text, reason=ByHand(text))))
    check(warning_letter(replace(WARNING, project=text)))


def test_what_is_quoted_is_shown_and_cut() -> None:
    words = verdict_letter(replace(VERDICT, subject=HOSTILE, branch="x" * 10_000))
    assert "</td><script src=//x>&amp;\"'`<b>` Bcc: x" in " ".join(words.text.split())
    assert "<td><script" not in words.html
    assert len(words.text) < 5_000
