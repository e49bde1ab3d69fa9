"""Logs of promptfoo: one provider with one prompt, ids from vars, and failed calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from easeci.errors import DataError
from easeci.tables.logs import LogChoice, load_log
from tests.cases import each_case
from tests.unit.tables.logs.making import FIXTURES, by_key, promptfoo_json, result, scores

SEVERAL = ("promptfoo.json", "promptfoo.jsonl")


@each_case("name", SEVERAL)
def test_a_log_that_promptfoo_wrote(name: str) -> None:
    """A provider is chosen by its id or its label, and its prompt by its number."""
    for provider in ("parrot#2", "echo#2"):
        log = load_log(FIXTURES / name, LogChoice(provider=provider, metric="score"))
        assert (log.format, log.task, log.model) == ("promptfoo", None, "parrot")
        rows = by_key(log)
        assert rows["id"].to_list() == ["blue", "red"]
        assert rows["output"].to_list() == ["Repeat blue please", "Repeat red please"]
        assert scores(log, "score") == [1, 0.5]
        assert scores(log, "named") == [1, 1]
        assert "Only parrot#2 was taken, of 4 columns." in log.notes


@each_case("name", SEVERAL)
def test_failed_calls_stay_unsettled(name: str) -> None:
    """An output that failed an assertion also has an error, but it has its score."""
    log = load_log(FIXTURES / name, LogChoice(provider="counter#1", metric="score"))
    assert scores(log, "score") == [None, 0]
    assert by_key(log)["output"].to_list() == ["", '{"first": "S", "letters": 7}']
    assert any(note.startswith("Calls that failed: 1.") for note in log.notes)


@each_case("name", SEVERAL)
def test_several_columns_are_named_in_the_error(name: str) -> None:
    listed = (
        r"parrot#1 \(Say {{word}}\), parrot#2 \(Repeat {{word}} please\), counter#1 .*counter#2"
    )
    with pytest.raises(DataError, match=f"several providers or prompts: {listed}"):
        load_log(FIXTURES / name)
    with pytest.raises(DataError, match=r"'echo' has several prompts: parrot#1 .*\n.*'parrot#1'"):
        load_log(FIXTURES / name, LogChoice(provider="echo"))
    for unknown in ("gpt", "parrot#3", "parrot#0", "parrot#x", "#1"):
        with pytest.raises(DataError, match=rf"no provider '{unknown}'\nIt has parrot#1"):
            load_log(FIXTURES / name, LogChoice(provider=unknown))


def test_a_named_score_that_some_tests_lack_is_not_a_score() -> None:
    """Those tests have no such assertion; that says nothing about the output."""
    choice = LogChoice(provider="parrot#1", metric="said")
    with pytest.raises(DataError, match="'said' is not a score: it has no value for 1 of 2"):
        load_log(FIXTURES / "promptfoo.json", choice)


def test_repeats_are_trials() -> None:
    """The id of several vars is their JSON."""
    log = load_log(FIXTURES / "promptfoo-repeat.json")
    assert log.rows["id"].to_list() == ['{"a": 1, "b": 2}'] * 2 + ['{"a": 2, "b": 2}'] * 2
    assert log.rows["trial"].to_list() == [1, 2, 1, 2]
    assert scores(log, "score") == [1, 1, 0, 0]


def test_repeats_count_in_the_order_of_the_tests(tmp_path: Path) -> None:
    """Calls run at the same time, so the file has them in any order."""
    made = [result("red", index, testIdx=index) for index in (1, 0)]
    path = promptfoo_json(tmp_path / "r.json", *made, config={"evaluateOptions": {"repeat": 2}})
    assert scores(load_log(path), "score") == [0, 1]


def test_declared_vars_are_the_id() -> None:
    path = FIXTURES / "promptfoo-repeat.json"
    log = load_log(path, LogChoice(id_vars=("a",)))
    assert log.rows["id"].to_list() == ["1", "1", "2", "2"]
    with pytest.raises(
        DataError, match=r"same values of the vars b, which are the id: 1, such as 2"
    ):
        load_log(path, LogChoice(id_vars=("b",)))
    with pytest.raises(DataError, match=r"no var 'c' for its id\nIt has a, b"):
        load_log(path, LogChoice(id_vars=("c",)))


def test_old_files() -> None:
    """Version 2 has no reason of a failure: a failed call is one that was not graded."""
    log = load_log(FIXTURES / "hand-written-promptfoo-v2.json")
    assert log.model == "openai:gpt-4"
    assert log.rows["id"].to_list() == ["red", "blue", "green"]
    assert log.rows["score.score"].to_list() == [1, 0, None]


def test_old_files_tell_columns_apart_by_prompts(tmp_path: Path) -> None:
    other = {"raw": "Shout red", "label": "Shout {{word}}"}
    made = [result("red", promptIdx=None), result("red", promptIdx=None, prompt=other)]
    path = promptfoo_json(tmp_path / "results.json", *made)
    with pytest.raises(DataError, match=r"echo#1 \(Say {{word}}\), echo#2 \(Shout {{word}}\)"):
        load_log(path)
    assert len(load_log(path, LogChoice(provider="echo#2")).rows) == 1


@each_case(
    "output, text",
    [("plain", "plain"), (None, ""), (3, "3"), (3.0, "3"), (True, "true"),
     ({"b": "é", "a": [1]}, '{"a": [1], "b": "é"}')],
)  # fmt: skip
def test_outputs_are_text(tmp_path: Path, output: Any, text: str) -> None:
    made = result("red", response={"output": output})
    log = load_log(promptfoo_json(tmp_path / "results.json", made))
    assert log.rows["output"].to_list() == [text]


def test_half_a_surrogate_pair_is_replaced(tmp_path: Path) -> None:
    """JavaScript writes one if it cuts a text inside an emoji."""
    made = result("red", response={"output": "cut \ud83d"})
    log = load_log(promptfoo_json(tmp_path / "results.json", made))
    assert log.rows["output"].to_list() == ["cut ?"]


def test_vars_that_promptfoo_adds_are_not_the_id(tmp_path: Path) -> None:
    made = result("red", vars={"word": "red", "_conversation": [], "__repeatIndex": 0})
    assert load_log(promptfoo_json(tmp_path / "r.json", made)).rows["id"].to_list() == ["red"]


def test_a_named_score_may_be_called_score(tmp_path: Path) -> None:
    path = promptfoo_json(tmp_path / "r.json", result("red", 1, namedScores={"score": 0.5}))
    log = load_log(path, scored=False)
    assert (log.metrics, log.metric) == (("score", "namedScores.score"), None)
    assert scores(log, "score") == [1]


@each_case(
    "results, message",
    [
        ([result("red"), result("red")], "same values of their vars, which are the id: 1, such as red"),
        ([result("red", vars={})], "a test has no vars, so it has no id"),
        ([], "has no results"),
        ([result("red", 7)], "'score' has 1 values outside 0 to 1"),
    ],
)  # fmt: skip
def test_results_that_cannot_be_used(tmp_path: Path, results: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_log(promptfoo_json(tmp_path / "results.json", *results))


def test_a_file_without_results_says_how_to_write_it_again(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text('{"results": {"version": 2, "table": {}}}')
    with pytest.raises(DataError, match="no list of results\nWrite it again"):
        load_log(path)
