"""References are labelled one by one: a built-in rule scores at once, a program when it is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.evidence.cells import LabelState
from easeci.ledger.signals import Signal
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import import_labels
from easeci.service.labelling.open_step import OpenStep
from easeci.service.labelling.terminal import TerminalSession
from easeci.tables.column import LONGEST_REFERENCE
from tests.projects import opened, run_on, sealed_ids
from tests.repositories import Workplace, copy_of
from tests.scored_projects import (
    add_scored,
    commit_share,
    only_step,
    only_testset,
    scored_place,
    write_references,
)


def waiting_for_references(folder: Path, **keys: str) -> Workplace:
    """A commit waits for references."""
    place = scored_place(folder)
    add_scored(place, labelled=False, **keys)
    commit_share(place, 0.9)
    assert run_on(place).row.signal is Signal.PENDING
    return place


def label_all(place: Workplace) -> TerminalSession:
    """Answer every question with the right reference."""
    asking = TerminalSession(opened(place), "ada")
    ids = {row["x"]: row["id"] for row in _examples(place)}
    while asking.question is not None:
        asking.answer(LabelState.LABEL, f"yes {ids[asking.question.row['x']]}")
    asking.close()
    return asking


def _examples(place: Workplace) -> list[dict[str, str]]:
    import csv

    with place.examples.open() as file:
        return list(csv.DictReader(file))


@pytest.mark.long
@pytest.mark.parametrize("scorer", ["exact", "./score.py"])
def test_a_session_ends_when_the_verdict_is_known(tmp_path: Path, scorer: str) -> None:
    """Labellers are asked until the scores decide, and for no more than that."""
    place = copy_of(waiting_for_references, tmp_path, scorer=scorer)
    asking = label_all(place)
    assert asking.answered == [1]
    project = opened(place)
    step = only_step(project)
    assert step.passed
    assert step.verdict is not None
    assert step.verdict.labels <= asking.given < only_testset(project).examples / 2
    assert verify(project) == []


def test_a_built_in_rule_needs_no_more_references_than_the_verdict(tmp_path: Path) -> None:
    """The session stops at the answer that decides."""
    place = copy_of(waiting_for_references, tmp_path, scorer="exact")
    asking = label_all(place)
    verdict = only_step(opened(place)).verdict
    assert verdict is not None
    assert asking.given == verdict.labels


def test_what_an_answer_shows_is_what_is_recorded_of_it(tmp_path: Path) -> None:
    """The verdict of a session is the one that its recorded references lead to."""
    place = copy_of(waiting_for_references, tmp_path, scorer="exact(ignore-case)")
    project = opened(place)
    step = OpenStep(project, only_testset(project), ())
    first = step.wanted[0]
    name = str(step.sealed.examples.ids_at([first])[0])
    step.add({"position": first, "state": "label", "label": f"YES {name}"})
    shown = step._evaluation.known_at(first) if step._evaluation is not None else None
    references = place.folder / "references.csv"
    references.write_text(f"id,label\n{name},YES {name}\n")
    import_labels(opened(place), references)
    project = opened(place)
    again = OpenStep(project, only_testset(project), ())
    assert again._evaluation is not None
    assert again._evaluation.known_at(first) == shown


def test_cannot_tell_scores_0_and_skipped_is_unsettled(tmp_path: Path) -> None:
    place = copy_of(waiting_for_references, tmp_path, scorer="exact")
    project = opened(place)
    step = OpenStep(project, only_testset(project), ())
    assert step._evaluation is not None
    first, second = step.wanted[:2]
    step.add({"position": first, "state": "cannot tell", "label": None})
    step.add({"position": second, "state": "skipped", "label": None})
    assert set(step._evaluation.known_at(first).scores) == {0.0}
    assert first not in step.wanted
    assert second not in step.wanted


def test_references_are_texts_of_several_lines(tmp_path: Path) -> None:
    """Rules of classes do not apply; what the scorer cannot use is refused at once."""
    place = copy_of(waiting_for_references, tmp_path, scorer="exact")
    project = opened(place)
    step = OpenStep(project, only_testset(project), ())
    for text in ("two\nlines", "3", "3.0", " blank ", "x" * LONGEST_REFERENCE):
        step.require_answer(LabelState.LABEL, text)
    for text in ("", "x" * (LONGEST_REFERENCE + 1)):
        with pytest.raises(UsageError, match="cannot be a reference"):
            step.require_answer(LabelState.LABEL, text)
    assert step.classes == []
    references = place.folder / "references.csv"
    names = sorted(sealed_ids(place.repository))
    references.write_text(f'id,label\n{names[0]},"two\nlines"\n{names[1]},3\n{names[2]},3.0\n')
    assert import_labels(opened(place), references).added == 3


def test_references_that_a_rule_cannot_use_are_refused(tmp_path: Path) -> None:
    place = copy_of(waiting_for_references, tmp_path, scorer="numeric(0.1)")
    project = opened(place)
    step = OpenStep(project, only_testset(project), ())
    with pytest.raises(UsageError, match="are not numbers"):
        step.require_answer(LabelState.LABEL, "about three")
    references = place.folder / "references.csv"
    name = min(sealed_ids(place.repository))
    references.write_text(f"id,label\n{name},about three\n")
    with pytest.raises(Exception, match=f"are not numbers, at id {name}"):
        import_labels(opened(place), references)


def test_a_reference_that_waits_for_its_score_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the scorer cannot run, the session asks for nothing that it has."""
    from easeci.errors import InfrastructureError
    from easeci.service.scoring import program

    place = copy_of(waiting_for_references, tmp_path, scorer="./score.py")

    def broken(*arguments: object, **more: object) -> None:
        raise InfrastructureError("no sandbox works here")

    names = sorted(sealed_ids(place.repository))
    references = place.folder / "references.csv"
    write_references(references, names)
    with monkeypatch.context() as patch:
        patch.setattr(program, "run_scorer", broken)
        done = import_labels(opened(place), references)
        assert done.wanted == 0
        assert done.answered == ()
        assert any("scorer cannot run now" in words for words in done.warnings)
        asking = TerminalSession(opened(place), "ada")
        assert asking.question is None
        asking.close()
    assert label_all(place).question is None
    assert only_step(opened(place)).passed
