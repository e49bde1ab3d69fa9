"""A plan as text: a dozen lines at 80 columns, with the same numbers everywhere."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from easeci.cli.plan_table import _short
from easeci.cli.plan_text import show_plan
from easeci.cli.script_options import Request
from easeci.cli.terminal import output
from easeci.errors import ScriptError
from easeci.plan import Estimate, Plan, plan
from easeci.plan.cheaper import Change
from easeci.plan.commit_mix import MIXES
from easeci.plan.document import plan_document
from easeci.plan.forecast import Forecast
from easeci.plan.summary import HINT, MOST_LINES, NOTHING, SHORTENED, summary_lines
from easeci.script import Estimator, Script
from easeci.service.scripts import make_script
from tests.commands import easeci_here

PAIR = r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01"
SCRIPTS: dict[str, tuple[str, dict[str, object]]] = {
    "usual": ("n - o > 0.02 +/- 0.01", {}),
    "two clauses": (PAIR, {}),
    "three clauses": (PAIR + r" /\ n > 0.8 +/- 0.02", {"sensitivity": 0.95}),
    "no commit can pass": (r"d < 0.05 +/- 0.01 /\ n - o > 0.1 +/- 0.01", {}),
    "none is certain to pass": ("n > 0.9 +/- 0.08", {}),
    "fn-free": (PAIR, {"mode": "fn-free", "sensitivity": 0.95}),
    "none": ("n - o > 0.02 +/- 0.01", {"adaptivity": "none", "steps": 16}),
    "first change": ("n - o > 0.02 +/- 0.01", {"adaptivity": "firstChange"}),
    "accuracy": ("n > 0.9 +/- 0.01", {}),
    "d alone": ("d < 0.1 +/- 0.01", {}),
    "many steps": ("n - o > 0.02 +/- 0.01", {"steps": 10**9}),
    "weights": ("n - 1.1 * o > 0.01 +/- 0.01", {}),
    "exact": ("n - o > 0.02 +/- 0.01", {"estimator": "exact"}),
    "hoeffding": ("n - o > 0.02 +/- 0.01", {"estimator": "hoeffding"}),
    "active": (PAIR, {"estimator": "pattern1-active"}),
    "known when it runs": ("n - o > 0.02 +/- 0.01", {"estimator": "pattern2"}),
    "no sample": ("n - o > 0.02 +/- 0.05", {"sample": 0}),
    "long": (r"n > 0.9 +/- 0.08 /\ n - o > 0.01 +/- 0.01 /\ d < 0.2 +/- 0.02", {}),
    "four warnings": (
        r"n > 0.9 +/- 0.08 /\ n > 0.91 +/- 0.08 /\ n > 0.92 +/- 0.08 /\ o > 0.93 +/- 0.08",
        {},
    ),
    "five clauses": (r" /\ ".join(f"n > 0.{k} +/- 0.1" for k in range(86, 91)), {}),
    "recall": ("recall(fraud) > 0.8 +/- 0.02", {"expected": "fraud: 5%"}),
    "prefix": ("n.recall(fraud) - o.recall(fraud) > -0.01 +/- 0.01", {}),
    "slices": (r"n[lang=*] > 0.8 +/- 0.02 /\ precision(fraud)[age>=65] > 0.8 +/- 0.05", {}),
    "ranks": (r"auc(fraud) > 0.9 +/- 0.02 /\ n - top(3) > 0 +/- 0.02", {"mode": "fn-free"}),
    "none is expected to pass": ("n - o > 0.02 +/- 0.05", {}),
}


def shown(
    capsys: pytest.CaptureFixture[str],
    name: str,
    *,
    everything: bool = False,
    explain: bool = False,
) -> str:
    """What is printed of a script's plan, at 80 columns."""
    condition, keys = SCRIPTS[name]
    script = make_script(condition, **{"steps": 32, **keys})
    output.cache_clear()  # the console of this test, not of another one
    request = Request(script, "-c", {"reliability": "0.9999"})
    show_plan(request, plan(script), everything=everything, explain=explain)
    output.cache_clear()
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def at_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_a_plan_is_a_dozen_lines_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    for name in SCRIPTS:
        lines = shown(capsys, name).splitlines()
        assert len(lines) <= MOST_LINES, (name, lines)
        assert max(map(len, lines)) <= 80, (name, lines)


def test_a_wide_terminal_gets_80_columns_too(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    narrow = shown(capsys, "usual")
    monkeypatch.setenv("COLUMNS", "200")
    assert shown(capsys, "usual") == narrow


def test_what_does_not_fit_is_shortened_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    """Warnings, Bring, Label and Means stay; --explain leaves nothing out."""
    for name in ("long", "four warnings", "five clauses"):
        text = shown(capsys, name)
        assert text.splitlines()[-1] == SHORTENED
        for word in ("warning: ", "Bring ", "Label ", "Means "):
            assert ("\n" + text).count(f"\n{word}") == 1 or word == "warning: "
        condition, keys = SCRIPTS[name]
        made = plan(make_script(condition, **{"steps": 32, **keys}))
        explained = " ".join(shown(capsys, name, explain=True).split())
        for sentence in (*made.warnings, made.meaning, str(made.script.condition)):
            assert sentence in explained
    words = " ".join(shown(capsys, "four warnings").split())
    assert words.count("no commit is certain to pass '") == 1
    assert "The same is true of 3 more clauses (--explain)." in words


PIECES = ("n", "o", "d", "n - o", "n - 1.1 * o", "n - o + d", "2 * n - o", "0.5 * d")
MEASURED = (
    "recall(fraud)", "n.precision(fraud)", "f1(spam)", "n.recall(fraud) - o.recall(fraud)",
    "n.f1(spam) - o.f1(spam)", "n / o", "auc(fraud)", "n.auc(fraud) - o.auc(fraud)", "n[lang=de]",
    "n[age>=65] - o[age>=65]", "recall(fraud)[lang=*]", "n - top(3)", "recall(*)",
)  # fmt: skip


def random_condition(draw: random.Random) -> str:
    """A conjunction of one to four clauses; many make no sense."""
    clauses = []
    for _ in range(draw.choice((1, 2, 2, 3, 3, 4))):
        threshold = draw.choice((0.01, 0.02, 0.05, 0.1, 0.123, 0.9, 0.95))
        tolerance = draw.choice((0.02, 0.04, 0.0625, 0.1))
        piece = draw.choice(draw.choice((PIECES, MEASURED)))
        clauses.append(f"{piece} {draw.choice('><')} {threshold} +/- {tolerance}")
    return r" /\ ".join(clauses)


def random_plan(draw: random.Random) -> Plan | None:
    """The plan of a random script, with numbers of a life that take no time and much room."""
    try:
        script = make_script(
            random_condition(draw),
            reliability=draw.choice(("0.9", "0.99", "0.999")),
            mode=draw.choice(("fp-free", "fn-free")),
            adaptivity=draw.choice(("full", "none", "firstChange")),
            steps=draw.choice((1, 8, 10**6)),
            classes=["fraud", "spam", "legit"],
        )
    except ScriptError:  # a clause that is always true, or always false
        return None
    mix = draw.choice(tuple(MIXES.values()))
    made = Plan(script, mix)
    passes = draw.choice((0.0, 4.0))
    labels = draw.choice((12.0, 123456789.0))
    vars(made)["life"] = Forecast(
        labels, labels / 8, labels, 8, 8.0, 4.0, passes, 10**9, mix.fitted(script)
    )
    gives_up = "a pass is then certain only with n - 1.1 * o from +12.5 points"
    change = Change(f"'{script.clauses[0].text}'", 123456, gives_up)
    vars(made)["cheaper"] = draw.choice((None, change))
    return made


def test_every_plan_is_a_dozen_lines_of_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """For some hundred random scripts; what matters most is always there.

    Sizes take most of the time and only a little room, so one large size stands for all.
    """

    def sized(_: Script, name: Estimator) -> Estimate:
        examples = 713_501_442_048
        return Estimate(name, applies=True, reason="", examples=examples, in_each_slice=examples)

    monkeypatch.setattr("easeci.plan.numbers.estimate_by", sized)
    draw = random.Random(14)
    plans = [made for made in (random_plan(draw) for _ in range(360)) if made is not None]
    assert len(plans) > 150
    for made in plans:
        for defaults in ((), ("reliability", "mode", "adaptivity", "steps")):
            lines = [line.text for line in summary_lines(made, defaults)]
            assert len(lines) <= MOST_LINES, (made.script.condition, lines)
            assert max(map(len, lines)) <= 80, (made.script.condition, lines)
            starts = {line.split()[0] for line in lines}
            assert made.useless or {"Bring", "Label", "Means"} <= starts, lines
            assert not made.warnings or lines[0].startswith("warning: ")


def test_the_usual_plan_says_everything_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "usual")
    made = plan(make_script("n - o > 0.02 +/- 0.01"))
    words = " ".join(text.split())
    bring, labels, change = made.bring, made.labels, made.cheaper
    assert bring is not None
    assert change is not None
    for fragment in (
        "by default: reliability 0.9999",
        f"Bring {bring.examples:,} examples: {bring.sealed:,} to seal and 100 for the public sample.",
        f"Label about {labels.in_all:,} in its life, {labels.per_commit:,} a commit, worst "
        f"{labels.worst_commit:,}; {labels.in_all * 5 / 3600:.1f} hours at 5 s.",
        f"Assumed {MIXES['mixed'].sentence()} (--commits mixed).",
        "Means n - o: passes (99.99%) from +4.0 points, if the examples suffice; never (99.99%) "
        "at or below +2.0; in between it may fail.",
        f"Cheaper {change.write} takes {change.labels:,} labels; {change.gives_up}.",
        "Decides sequential; exact if all labels come with the testset.",
        HINT,
    ):
        assert fragment in words
        words = words[words.index(fragment) :]


def test_a_condition_that_no_commit_passes_is_said_first(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(capsys, "no commit can pass")
    assert text.startswith("warning: no commit can pass: 'd < 0.05 +/- 0.01' and")
    assert NOTHING in " ".join(text.split())
    for word in ("Bring", "Label", "Cheaper", "Recommended"):
        assert word not in text
    assert shown(capsys, "none is certain to pass").startswith("warning: no commit is certain")
    assert "Cheaper" not in shown(capsys, "none is certain to pass")


@pytest.mark.parametrize(
    ("name", "fragments"),
    [
        ("d alone", ["Label none: the condition is on d alone.", "Decides exact."]),
        ("exact", ["49,511 before the first commit (69 hours at 5 s), none later."]),
        ("exact", ["Decides exact, as the script says.", "estimator: auto takes"]),
        ("active", ["Label at most 80,822 (112 hours at 5 s); 9,699 a commit."]),
        ("known when it runs", ["Bring as many examples as pattern2 finds that it needs"]),
        ("no sample", ["to seal, no sample."]),
        ("none is certain to pass", ["Means n: no commit is certain to pass; never (99.99%)"]),
        ("fn-free", ["passes (99.99%) with n - o above +2.0 points and d below 10.0%"]),
    ],
)
def test_other_scripts_say_what_is_different(
    capsys: pytest.CaptureFixture[str], name: str, fragments: list[str]
) -> None:
    words = " ".join(shown(capsys, name).split())
    for fragment in fragments:
        assert fragment in words


def test_nothing_is_marked_or_recommended_if_no_commit_can_pass(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(capsys, "no commit can pass", everything=True)
    assert "sequential" in text
    for words in ("\n> ", "Recommended", "Cheap mode", "first stage"):
        assert words not in text


def test_a_plan_says_that_no_assumed_commit_is_expected_to_pass(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = shown(capsys, "none is expected to pass")
    assert text.startswith("warning: no commit like the assumed ones is expected to pass: they")
    assert "Cheaper" not in text


def test_a_smaller_d_than_the_mix_has_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    condition = r"n - o > 0.01 +/- 0.005 /\ d < 0.05 +/- 0.005"
    SCRIPTS["small d"] = (condition, {})
    try:
        words = " ".join(shown(capsys, "small d").split())
    finally:
        del SCRIPTS["small d"]
    assert (
        "none gains more than 2.9; each changes 4% of the predictions (--commits mixed)." in words
    )


def test_every_estimator_has_a_row_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, "usual", everything=True)
    rows = {line[2:].split()[0]: line for line in text.splitlines() if len(line.split()) > 5}
    made = plan(make_script("n - o > 0.02 +/- 0.01"))
    for estimate in made.estimates:
        assert str(estimate.estimator) in rows
    marked = [line for line in text.splitlines() if line.startswith("> ")]
    assert len(marked) == 1
    assert marked[0].split()[1:5] == [
        "sequential",
        f"{made.chosen.examples:,}",
        "0",
        f"{made.labels.per_commit:,}",
    ]
    assert f"Recommended: sequential — about {made.labels.in_all:,} labels" in text
    assert "Recommended" not in shown(capsys, "usual")


def test_explanation_and_document_have_the_numbers_that_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Text, --explain and --json agree on every number of the summary."""
    for name in ("usual", "two clauses", "accuracy", "fn-free", "first change"):
        condition, keys = SCRIPTS[name]
        made = plan(make_script(condition, **{"steps": 32, **keys}))
        printed = " ".join(shown(capsys, name).split())
        explained = " ".join(shown(capsys, name, explain=True)[len(printed) :].split())
        document = plan_document(made)
        bring, life, cheaper = (document[key] for key in ("bring", "forecast", "cheaper"))
        for number in (*bring.values(), *(life[k] for k in life if k.startswith("labels"))):
            assert f"{number:,}" in printed
            assert f"{number:,}" in explained
        assert f"worst {life['worst_commit']:,};" in printed
        assert f"Worst commit: {life['worst_commit']:,}," in explained
        assert life["assumes"] in printed
        assert life["assumes"] in explained
        assert document["meaning"] in printed
        assert f"{cheaper['write']} takes {cheaper['labels']:,} labels" in printed


def test_derivations_are_shown_only_if_they_are_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    short, long = shown(capsys, "accuracy"), shown(capsys, "accuracy", explain=True)
    assert len(long.splitlines()) > len(short.splitlines()) + 20
    for heading in ("Examples", "Labels", "hoeffding: ", "sequential: "):
        assert f"\n{heading}" in long
        assert f"\n{heading}" not in short


def test_an_unknown_mix_is_refused_with_the_names(tmp_path: Path) -> None:
    done = easeci_here("plan", "-c", "n > 0.8 +/- 0.1", "--commits", "wild", folder=tmp_path)
    assert done.returncode == 2
    assert "there is no mix 'wild'" in done.stderr
    assert ", ".join(MIXES) in done.stderr


def test_init_says_what_its_script_costs(tmp_path: Path) -> None:
    """The numbers are those of `easeci plan` for the same file."""
    said = " ".join(easeci_here("init", folder=tmp_path).stdout.split())
    printed = " ".join(easeci_here("plan", folder=tmp_path).stdout.split())
    made = plan(make_script("n - o > 0.02 +/- 0.01"))
    assert made.bring is not None
    assert f"takes {made.bring.examples:,} examples and about {made.labels.in_all:,} labels" in said
    assert f"Bring {made.bring.examples:,} examples" in printed
    assert f"about {made.labels.in_all:,} in its life" in printed


def test_large_counts_fit_their_column() -> None:
    assert [_short(count) for count in (0, 999_999, 1_000_000, 12_345_678, 713_501_442_048)] == [
        "0",
        "999,999",
        "1.0M",
        "12.3M",
        "713.5G",
    ]


def test_measures_say_what_they_need(capsys: pytest.CaptureFixture[str]) -> None:
    """A prefix is labelled once, slices have their own sizes, and exact is named where it fits."""
    prefix, slices, recall = (
        " ".join(shown(capsys, name).split()) for name in ("prefix", "slices", "recall")
    )
    assert "examples are labelled once, for all commits." in prefix
    assert "Every slice needs" in slices
    assert "at least" in slices
    assert "sequential; exact if all labels come with the testset." in recall
    everything = " ".join(shown(capsys, "prefix", everything=True).split())
    assert "no published estimator fits" in everything
    assert "speaks of n, o and d over all examples only" in everything
    explained = " ".join(shown(capsys, "prefix", explain=True).split())
    assert "which is the same for all models" in explained
