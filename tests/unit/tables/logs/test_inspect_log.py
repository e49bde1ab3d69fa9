"""Logs of Inspect: every layout gives the same rows, and every value the score that it means."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import pytest

from easeci.errors import DataError
from easeci.tables.logs import LogChoice, load_log
from tests.cases import each_case
from tests.unit.tables.logs.making import (
    FIXTURES,
    by_key,
    inspect_json,
    inspect_zip,
    sample,
    scores,
)

LAYOUTS = ("inspect.eval", "inspect-deflated.eval", "inspect-chunked.eval")


@each_case("name", LAYOUTS)
def test_a_log_that_inspect_wrote(name: str) -> None:
    """Ids, epochs as trials, outputs, and one metric for each scorer or named value."""
    log = load_log(FIXTURES / name, LogChoice(metric="graded"))
    assert (log.format, log.task, log.model) == ("Inspect", "arithmetic", "mockllm/model")
    assert log.metrics == ("match", "graded", "style.brief", "style.polite")
    rows = by_key(log)
    assert rows["id"].to_list() == ["1", "1", "long", "long", "two", "two"]
    assert rows["trial"].to_list() == [1, 2] * 3
    assert rows["output"].to_list()[::2][::2] == ["2", "three"]
    assert rows["output"][2].startswith("It has 150 letters: Count the letters")
    assert scores(log, "match") == [1, 1, 0, 0, 0, None]
    assert scores(log, "graded") == [1, 1, 0.5, 0.5, 0, None]
    assert scores(log, "style.brief") == [1, 1, 0, 0, 1, None]


def test_what_is_converted_or_left_out_is_said() -> None:
    log = load_log(FIXTURES / "inspect.eval", LogChoice(metric="graded"))
    crashed, unscored, length = log.notes
    assert "ended with an error and have no score: 1" in crashed
    assert "1 sample without a value of 'graded'" in unscored
    assert "'length' was left out: it has 3 values outside 0 to 1" in length
    assert log.summary == (
        "Inspect log: task arithmetic, model mockllm/model, metric graded, 3 examples, 2 trials"
    )


def test_all_layouts_have_the_same_rows() -> None:
    """The chunked layout refers to long inputs and outputs by numbers, and to the same texts."""
    first, *others = (by_key(load_log(FIXTURES / name, scored=False)) for name in LAYOUTS)
    assert first["input"].n_unique() == 3
    for other in others:
        assert other.equals(first)


def test_json_has_the_inputs_and_outputs_of_the_zip_file() -> None:
    found = by_key(load_log(FIXTURES / "inspect.json"))
    zipped = by_key(load_log(FIXTURES / "inspect.eval", scored=False)).filter(trial=1)
    assert found["input"].to_list() == zipped["input"].to_list()
    assert found["output"].to_list() == zipped["output"].to_list()
    assert found["score.match"].to_list() == zipped["score.match"].to_list()


def test_a_header_without_samples_is_refused() -> None:
    with pytest.raises(DataError, match="no samples, only the header"):
        load_log(FIXTURES / "inspect-header.json")


VALUES: dict[str, tuple[list[Any], list[float]]] = {
    "letters": (["C", "P", "I", "N"], [1, 0.5, 0, 0]),
    "words": (["yes", "No", "true", "FALSE"], [1, 0, 1, 0]),
    "booleans and numbers": ([True, False, 1, 0.25], [1, 0, 1, 0.25]),
    "texts of numbers": (["0.5", "1", "0", "1e-1"], [0.5, 1, 0, 0.1]),
    "NaN and null": ([float("nan"), None, 1, "NaN"], [0, 0, 1, 0]),
    "minus zero": ([-0.0, 1, 1, 1], [0, 1, 1, 1]),
}


@each_case("name", VALUES)
def test_values_as_scores(tmp_path: Path, name: str) -> None:
    values, expected = VALUES[name]
    samples = [sample(index, value) for index, value in enumerate(values)]
    log = load_log(inspect_json(tmp_path / "log.json", *samples))
    assert [str(score) for score in scores(log, "match")] == [str(float(x)) for x in expected]


@each_case(
    "value, why",
    [
        (2, "has 1 values outside 0 to 1"),
        (-0.5, "has 1 values outside 0 to 1"),
        (float("inf"), "has 1 values outside 0 to 1"),
        ([1, 0], "has lists as values"),
        ("secret", "has values that are not numbers"),
    ],
)
def test_what_is_not_a_score_is_refused_by_name(tmp_path: Path, value: Any, why: str) -> None:
    """Whether it is asked for or the only metric there is. The value itself is not quoted."""
    path = inspect_json(tmp_path / "log.json", sample(1), sample(2, value))
    for choice in (LogChoice(), LogChoice(metric="match")):
        with pytest.raises(DataError) as caught:
            load_log(path, choice)
        assert "'match'" in str(caught.value)
        assert why in str(caught.value)
        assert "secret" not in str(caught.value)
    assert load_log(path, scored=False).metrics == ()


def test_an_output_that_a_scorer_of_named_values_could_not_score_scores_0(tmp_path: Path) -> None:
    """Its single NaN stands for all names, and is not a metric of its own."""
    path = inspect_json(tmp_path / "log.json", sample(1, {"a": 1, "b": 1}), sample(2, float("nan")))
    log = load_log(path, LogChoice(metric="match.a"))
    assert log.metrics == ("match.a", "match.b")
    assert scores(log, "match.a") == [1, 0]


def test_old_logs_have_one_score_without_a_name(tmp_path: Path) -> None:
    made = sample(1, scores=None, score={"value": "P"})
    log = load_log(inspect_json(tmp_path / "log.json", made))
    assert (log.metric, scores(log, "score")) == ("score", [0.5])


def test_two_scorers_may_have_names_with_dots(tmp_path: Path) -> None:
    both = {"scores": {"a": {"value": 1}, "a.b": {"value": 0}}}
    path = inspect_json(tmp_path / "log.json", sample(1, **both))
    assert load_log(path, scored=False).metrics == ("a", "a.b")


def test_failed_and_invalid_samples_stay_unsettled(tmp_path: Path) -> None:
    """A sample that crashed but was scored nevertheless has its score."""
    path = inspect_json(
        tmp_path / "log.json",
        sample(1, error={"message": "out of reach"}, scores=None),
        sample(2, error={"message": "out of reach"}),
        sample(3, invalidation={"author": "me"}),
        sample(4),
    )
    log = load_log(path)
    assert scores(log, "match") == [None, 1, None, 1]
    assert [note.split(":")[0] for note in log.notes] == [
        "Samples that ended with an error and have no score",
        "Samples that were marked as invalid",
    ]


def test_a_sample_without_a_score_scores_0_if_others_have_one(tmp_path: Path) -> None:
    log = load_log(inspect_json(tmp_path / "log.json", sample(1), sample(2, scores={})))
    assert scores(log, "match") == [1, 0]
    assert "1 sample without a value of 'match'" in log.notes[0]


@each_case("status", ["started", "error", "cancelled"])
def test_logs_that_did_not_end_well_are_taken_with_a_note(tmp_path: Path, status: str) -> None:
    path = inspect_json(tmp_path / "log.json", sample(1), status=status)
    assert f"status '{status}'" in load_log(path).notes[0]


def test_a_log_that_is_still_written_has_a_start_and_no_header(tmp_path: Path) -> None:
    start = {"version": 2, "eval": {"task": "t", "model": "m"}}
    path = inspect_zip(
        tmp_path / "log.eval", {"_journal/start.json": start, "samples/a_epoch_1.json": sample("a")}
    )
    assert load_log(path).task == "arithmetic"
    with zipfile.ZipFile(path) as archive:
        kept = {n: archive.read(n) for n in archive.namelist() if n != "header.json"}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in kept.items():
            archive.writestr(name, content)
    log = load_log(path)
    assert (log.task, log.model) == ("t", "m")
    assert "status 'started'" in log.notes[0]


MESSAGES = [
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": "first"},
    {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "last"}]},
]  # fmt: skip


@each_case(
    "written, output",
    [
        ({"completion": "", "choices": [{"message": {"content": "chosen"}}]}, "chosen"),
        ({"choices": [{"message": MESSAGES[2]}, {"message": MESSAGES[1]}]}, "last"),
        ({}, "last"),
        (None, "last"),
        ({"completion": "attachment://0a"}, "a long text"),
        ({"completion": "attachment://unknown"}, "attachment://unknown"),
    ],
)
def test_outputs_of_other_writers(tmp_path: Path, written: Any, output: str) -> None:
    """Without a completion, the text is that of the first choice or the last answer."""
    made = sample(1, output=written, messages=MESSAGES, attachments={"0a": "a long text"})
    log = load_log(inspect_json(tmp_path / "log.json", made))
    assert log.rows["output"].to_list() == [output]


def test_inputs_are_compared_by_what_was_asked(tmp_path: Path) -> None:
    """The ids of messages differ from run to run; their roles and contents count."""

    def digest(name: str, asked: Any) -> str:
        made = sample(1, input=asked, attachments={"0a": "what?"})
        (found,) = load_log(inspect_json(tmp_path / name, made)).rows["input"]
        return str(found)

    first = digest("1.json", [{"role": "user", "content": "what?", "id": "x"}])
    assert first == digest("2.json", [{"role": "user", "content": "what?", "id": "y"}])
    assert first == digest("3.json", [{"role": "user", "content": "attachment://0a"}])
    assert first != digest("4.json", [{"role": "system", "content": "what?"}])
    assert first != digest("5.json", "what?")


def test_ids_with_slashes_are_samples_too(tmp_path: Path) -> None:
    """And parts of a chunked sample are not."""
    path = inspect_zip(
        tmp_path / "log.eval",
        {
            "samples/a/b_epoch_1.json": sample("a/b"),
            "samples/c_epoch_1/sample.json": sample("c", input="attachment://1"),
            "samples/c_epoch_1/attachments/0.json": ["x"],
            "samples/c_epoch_1/attachments/1.json": ["question c"],
            "samples/c_epoch_1/events/0.json": [],
        },
    )
    log = load_log(path)
    assert by_key(log)["id"].to_list() == ["a/b", "c"]
    whole = load_log(inspect_json(tmp_path / "log.json", sample("c")))
    assert by_key(log)["input"][1] == whole.rows["input"][0]


@each_case(
    "samples, message",
    [
        ([sample(1), sample(1)], "occur more than once in the same trial: 1"),
        ([sample(1), sample("1")], "occur more than once in the same trial: 1"),
        ([sample(None)], "a sample without an id"),
        ([sample("")], "1 sample without an id"),
        ([sample(1, epoch=0)], "trials must count from 1"),
        ([sample(1, scores=None)], "has no scores\nScore it first: inspect score log.json"),
        ([sample(1, id=[])], r"not as expected: .*at `\$.samples\[0\].id`"),
    ],
)
def test_samples_that_cannot_be_used(tmp_path: Path, samples: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_log(inspect_json(tmp_path / "log.json", *samples))
