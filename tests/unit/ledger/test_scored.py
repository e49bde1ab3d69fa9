"""Scores in the ledger: their files are counted, and steps keep those of their time."""

from __future__ import annotations

from easeci.ledger.disclosure import disclosed_rows, disclosed_status
from easeci.ledger.events import (
    LABELLING,
    Decided,
    Scored,
    ScoresExported,
    TurnCame,
    event_text,
    parse_event,
)
from easeci.views.status import rests_on
from tests.histories import History


def scored(number: int, **more: int | str) -> Scored:
    return Scored(1, f"scores/{number}", "1" * 64, "s" * 64, "o" * 64, 10, **more)  # type: ignore[arg-type]


def test_scores_are_counted_and_their_files_kept_in_order() -> None:
    history = History.begun()
    history.add(scored(1, failed=2), scored(2, unsettled=3), scored(3, settled=2))
    testset = history.state.testsets[1]
    assert testset.score_files == ["scores/1", "scores/2", "scores/3"]
    assert testset.files["scores/2"] == "1" * 64
    assert (testset.scored, testset.failed_scores, testset.unsettled_scores) == (30, 2, 1)


def test_the_log_of_the_scorer_is_a_file_of_the_testset() -> None:
    history = History.begun()
    history.add(scored(1, log="logs/scorer.txt", log_digest="2" * 64))
    testset = history.state.testsets[1]
    assert testset.scorer_log == "logs/scorer.txt"
    assert testset.files["logs/scorer.txt"] == "2" * 64


def test_a_step_keeps_the_files_that_it_was_decided_with() -> None:
    """Scores that come later do not count for it."""
    history = History.begun().commit("1", True)
    history.add(scored(1), scored(2))
    step = history.state.testsets[1].steps[0]
    assert (step.scores_at_hand, step.score_files) == (0, 0)
    last = history.events[-1]
    assert parse_event("Scored", 1, event_text(last)) == last


def test_older_records_have_no_scores() -> None:
    """Events of a version without scorers are read as before."""
    turn = parse_event("TurnCame", 1, '{"testset":1,"step":1,"baseline":null,"label_files":2}')
    assert isinstance(turn, TurnCame)
    assert turn.score_files == 0
    text = '{"testset":1,"step":1,"passed":true,"verdict":null,"at_tick":false}'
    decided = parse_event("Decided", 1, text)
    assert isinstance(decided, Decided)
    assert decided.failed_scores == 0


def test_developers_see_nothing_of_scores() -> None:
    """Neither rows nor status nor what the guarantee rests on change with scores and exports."""
    history = History.begun().commit("1", True)
    before = history.state
    shown = disclosed_rows(before), disclosed_status(before), rests_on(before, before.testsets[1])
    history.add(scored(1, failed=3), ScoresExported(1, 5, "csv", "ada"))
    after = history.state
    assert after.looks[-1][1] == LABELLING
    assert shown == (
        disclosed_rows(after),
        disclosed_status(after),
        rests_on(after, after.testsets[1]),
    )
