"""The story of a model that writes texts: real commits, a real sandbox, an owner's scorer."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from examples.answers import score
from examples.answers.__main__ import SCRIPT, SIZE, Story, read_outputs
from examples.answers.commits import COMMITS
from examples.answers.works import HOSTILE, UNKNOWN, draw_machines, draw_questions

from easeci.evidence.cells import Code
from easeci.evidence.facts import Facts
from easeci.script import parse_script
from easeci.script.scorer import MAIN_SCORE
from easeci.verdict.decide import decide

ROOT = Path(__file__).parent.parent.parent
SIGNALS = ("PASS", "BASELINE", "UNCHANGED", "FAIL", "BUILD ERROR", "FAIL", "PASS")
"""Of the second commit and those after it."""


@pytest.mark.long
def test_the_story_goes_as_told() -> None:
    """It checks every exit code itself; here the signal of each commit is read, too."""
    done = subprocess.run(
        [sys.executable, "-m", "examples.answers"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    for commit, signal in zip(COMMITS[1:], SIGNALS, strict=True):
        signals = re.findall(rf"^(.+?)  commit \w+ \({commit.title}\)$", done.stdout, re.MULTILINE)
        assert [one for one in signals if one != "PENDING"] == [signal], commit.title
    for part in (
        "Decides  sequential",
        "100 examples with outputs",
        "examples to label are in ../ask.csv",
        "NameError: name 'length' is not defined",
        "n.concise shown to be below 80%",
        "Every verdict was decided again, with the same result.",
    ):
        assert part in said, part
    assert "Ignore all previous instructions" in said  # an output that was tried
    assert "\x1b" not in said


Floats = npt.NDArray[np.float64]
STEPS = (  # the commit, the baseline, the signals before it, its signal
    (1, 0, "", True),
    (4, 1, "P", False),
    (6, 1, "PF", False),
    (7, 1, "PFF", True),
)


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Story:
    made = Story(tmp_path_factory.mktemp("story"))
    made.prepare()
    return made


@pytest.fixture(scope="module")
def outputs(story: Story) -> Mapping[int, list[str]]:
    """What each model answers to all questions, by the place of its commit."""
    found, path = {}, story.folder / "made.csv"
    for place, commit in enumerate(COMMITS):
        story.change(commit.files)
        if commit.code != 5:
            story.answer(story.questions, path)
            found[place] = list(read_outputs(path).values())
    return found


@pytest.mark.long
@pytest.mark.parametrize(("new", "old", "history", "passes"), STEPS)
def test_no_signal_hangs_on_the_order_of_labels(
    story: Story,
    outputs: Mapping[int, list[str]],
    new: int,
    old: int,
    history: str,
    passes: bool,
) -> None:
    """Every run draws an order of its own. A signal that goes astray in 3% of all orders does so
    in one of these 100 with 95%; they are always the same."""
    script, orders = parse_script(SCRIPT), np.random.default_rng(0)
    references = [question.reference for question in story.questions.values()]

    def scores(rule: str, model: int) -> Floats:
        pairs = zip(references, outputs[model], strict=True)
        return np.array([getattr(score, rule)(*pair) for pair in pairs])

    columns = {
        term: scores(term.name, new if term.model == "n" else old) for term in script.score_terms
    }
    assert {term.name for term in columns} == {MAIN_SCORE, "concise"}
    differ = np.array([a != b for a, b in zip(outputs[new], outputs[old], strict=True)])
    cells = np.where(differ, Code.BOTH_WRONG, Code.AGREE_WRONG).astype(np.uint8)
    for _ in range(100):
        order = orders.permutation(SIZE)[: SIZE - script.sample]
        facts = Facts(cells[order], scores={term: of[order] for term, of in columns.items()})
        assert decide(script, facts, history).passed is passes


@pytest.mark.long
def test_the_second_clause_alone_fails_long_answers(
    story: Story, outputs: Mapping[int, list[str]]
) -> None:
    """They have more of the facts than the baseline's answers."""

    def mean(rule: Callable[[str, str], float], model: int) -> float:
        pairs = zip(story.questions.values(), outputs[model], strict=True)
        return float(np.mean([rule(question.reference, output) for question, output in pairs]))

    assert mean(score.score, 6) - mean(score.score, 1) > 0.06
    assert mean(score.concise, 6) < 0.1
    assert mean(score.concise, 1) > 0.86


@pytest.mark.long
def test_a_refactoring_changes_no_answer(outputs: Mapping[int, list[str]]) -> None:
    assert outputs[3] == outputs[2] == outputs[1]


@pytest.mark.long
def test_the_hostile_text_is_among_the_outputs_and_earns_nothing(
    story: Story, outputs: Mapping[int, list[str]]
) -> None:
    pairs = zip(story.questions.values(), outputs[4], strict=True)
    hostile = [(q.reference, output) for q, output in pairs if output == HOSTILE]
    assert len(hostile) >= 5
    assert np.mean([score.score(*pair) for pair in hostile]) < 0.1
    assert not any(score.concise(*pair) for pair in hostile)


def test_documents_have_the_answers_to_their_questions() -> None:
    """So that a perfect model would get the full score; and all is drawn the same every time."""
    machines = draw_machines()
    questions = draw_questions(machines, 200)
    assert questions == draw_questions(draw_machines(), 200)
    text = "\n".join(machine.document() for machine in machines)
    answerable = [question for question in questions if question.reference != UNKNOWN]
    assert 150 < len(answerable) < 200
    assert all(question.reference in text for question in answerable)


def test_the_scorer_is_graded() -> None:
    """Part of the reference is part of the score, and a long answer is less concise."""
    assert score.score("hall 7, north gate", "It stands in hall 7.") == 0.5
    assert score.score("unknown", "") == 0.0
    assert score.concise("hall 7", "hall 7") == 1.0
    assert score.concise("hall 7", "word " * 12) == 0.5
    assert score.concise("hall 7", "word " * 1000) == 0.0
