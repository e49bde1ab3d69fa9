"""Scores and outputs behind a step: those that its verdict may use, and a page full at most."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from easeci.evidence.facts import Facts
from easeci.script.lattice import ScoreTerm
from easeci.service.commits.advance import evidence_of
from easeci.service.labelling.files import import_labels
from easeci.service.project import Project
from easeci.service.testsets.add import Offer, add_testset
from easeci.views.figures import score_figures
from easeci.views.readable import MOST_CHARACTERS, TextKind
from easeci.views.scores import CommitScores, commit_scores
from easeci.views.shown_outputs import BUDGET, MOST_EXAMPLES, ShownExample
from tests.hostile_outputs import HOSTILE, HUGE, SEEN, hostile_project
from tests.projects import add, opened, run_on
from tests.repositories import Workplace
from tests.scored_projects import (
    add_scored,
    commit_share,
    only_step,
    only_testset,
    scored_place,
    write_references,
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return hostile_project(tmp_path_factory.mktemp("hostile"))


def scores_of(project: Project, number: int = 1) -> CommitScores:
    found = commit_scores(project, number)
    assert found is not None
    return found


def facts_of(project: Project) -> Facts:
    return evidence_of(project, only_testset(project), only_step(project)).facts


def test_distributions_are_those_of_the_evidence(hostile: Workplace) -> None:
    """The same means and comparisons as the scores that decide, and a bar for each example."""
    project = opened(hostile)
    found, facts = scores_of(project), facts_of(project)
    assert [shown.name for shown in found.distributions] == ["score", "short"]
    for shown in found.distributions:
        new, old = (facts.scores[ScoreTerm(model, shown.name)] for model in "no")
        assert [model.mean for model in shown.models] == pytest.approx([new.mean(), old.mean()])
        for model, values in zip(shown.models, (new, old), strict=True):
            counts, _ = np.histogram(values + 1e-9, bins=10, range=(0, 1))
            assert sum(model.bars.counts) == len(values) == shown.examples
            assert model.bars.counts[:-1] == tuple(counts[:-1])
        better, worse = int((new > old + 1e-9).sum()), int((new < old - 1e-9).sum())
        equal = shown.examples - better - worse
        assert (shown.better, shown.worse, shown.equal) == (better, worse, equal)
    assert (found.unsettled, found.unknown) == (0, 0)


def test_the_examples_that_changed_most_come_first(hostile: Workplace) -> None:
    """By the first score of the condition; of those that changed equally, always the same."""
    project = opened(hostile)
    found = scores_of(project)
    fell, rose = found.groups
    facts = facts_of(project)
    change = facts.scores[ScoreTerm("n")] - facts.scores[ScoreTerm("o")]
    for group, sign in ((fell, 1), (rose, -1)):
        shown = [main(example) for example in group.examples]
        expected = sorted((sign * change).tolist())[:MOST_EXAMPLES]
        assert [sign * value for value in shown] == pytest.approx(expected)
        assert group.more == ((sign * change) < -1e-9).sum() - MOST_EXAMPLES
    assert scores_of(opened(hostile)) == found


def main(example: ShownExample) -> float:
    new, old = example.scores[0].new, example.scores[0].old
    assert new is not None
    assert old is not None
    return new - old


def test_hostile_outputs_are_cut_and_harmless(hostile: Workplace) -> None:
    """Ten of them fell most. All texts together are a page, whatever is in them."""
    fell, rose = scores_of(opened(hostile)).groups
    new = [example.models[1].outputs[0] for example in fell.examples]
    assert {example.models[0].model for example in fell.examples} == {"Old model"}
    assert len(new) == len(HOSTILE) + 1
    kinds = {output.text.kind for output in new if SEEN.replace("-", "_") in output.text.text}
    assert kinds == {TextKind.CODE}
    assert TextKind.JSON in {output.text.kind for output in new}
    assert max(output.text.cut for output in new) == HUGE - MOST_CHARACTERS
    assert all((output.trials, output.score) == (2, 0.0) for output in new)
    texts = [
        text
        for group in (fell, rose)
        for example in group.examples
        for text in (
            *(column.text for column in example.columns),
            *(output.text for model in example.models for output in model.outputs),
        )
    ]
    assert sum(len(shown.text) for shown in texts) <= BUDGET
    assert not any(c in shown.text for shown in texts for c in "\x00\x1b\u202e\u2066\ufeff")


@pytest.mark.long
def test_a_decided_step_keeps_its_scores(tmp_path: Path) -> None:
    """References that come later change nothing on its page; what is missing is counted."""
    place = scored_place(tmp_path, share=0.4)
    add_scored(place, labelled=False, scorer="exact")
    project = opened(place)
    examples = project.sealed(only_testset(project)).examples
    ids = examples.ids_at(range(len(examples))).to_list()
    commit_share(place, 0.95)
    run_on(place)
    write_references(place.labels, ids[:-50])
    import_labels(opened(place), place.labels)
    project = opened(place)
    assert only_step(project).passed is True
    found = scores_of(project)
    (shown,) = found.distributions
    assert (shown.examples, found.unknown) == (len(ids) - 50, 50)
    assert "Of the other examples, 50 are not known." in score_figures(found)[0].caption
    write_references(place.labels, ids)
    import_labels(opened(place), place.labels)
    assert scores_of(opened(place)) == found


def test_a_condition_on_one_model_shows_the_lowest_scores(tmp_path: Path) -> None:
    place = scored_place(tmp_path, condition="n > 0.2 +/- 0.1")
    script = place.repository / ".easeci.yml"
    script.write_text(script.read_text().replace("./score.py", "exact"))
    offer = Offer(place.examples, labels=place.labels, script=script, allow_smaller=True)
    add_testset(opened(place), offer)
    commit_share(place, 0.6)
    run_on(place)
    found = scores_of(opened(place))
    (shown,) = found.distributions
    assert len(shown.models) == 1
    assert (shown.better, shown.worse, shown.equal) == (None, None, None)
    (group,) = found.groups
    assert group.title == "Lowest scores"
    assert {example.scores[0].new for example in group.examples} == {0.0}
    example = group.examples[0]
    assert example.reference is not None
    assert example.reference.text == f"yes {example.id}"
    assert [column.name for column in example.columns] == ["x"]


def test_classes_have_no_scores(tmp_path: Path) -> None:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    add(place, baseline="HEAD")
    place.commit_cut(0.5)
    run_on(place)
    assert commit_scores(opened(place), 1) is None
