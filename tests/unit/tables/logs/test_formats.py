"""Guessing the tool that wrote a log, and what happens to files that no tool wrote."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from easeci.errors import DataError, EaseciError, UsageError
from easeci.tables.logs import LogChoice, is_log, load_log
from easeci.tables.logs.eval_log import LogFormat
from easeci.tables.logs.formats import guess_format, top_keys
from tests.cases import each_case
from tests.unit.tables.logs.making import FIXTURES, inspect_json, sample

LOGS = sorted(
    path
    for path in FIXTURES.iterdir()
    if path.suffix in (".eval", ".json", ".jsonl") and not path.name.startswith("results_")
)


@each_case("path", LOGS)
def test_every_fixture_is_recognized(path: Path) -> None:
    expected = {"inspect": LogFormat.INSPECT, "promptfoo": LogFormat.PROMPTFOO}
    named = path.name.removeprefix("hand-written-").split(".")[0].split("-")[0]
    assert guess_format(path) == expected.get(named, LogFormat.LM_EVAL)
    assert is_log(path)


ORDINARY = {
    "p.csv": "id,prediction\n1,a\n",
    "p.jsonl": '{"id": 1, "prediction": "a"}\n',
    "l.jsonl": '{"id": 1, "label": "a", "latencyMs": 1, "testIdx": 2, "promptIdx": 3}\n',
    "d.jsonl": '{"doc_id": 1, "doc": "x", "prediction": "a"}\n',
    "nested.jsonl": '{"id": 1, "x": {"doc_id": 1, "doc": 2, "filtered_resps": 3}}\n',
    "p.json": '{"id": [1], "prediction": ["a"]}',
    "list.json": '[{"eval": {}, "status": "success"}]',
    "text.json": '"eval": {}, "results": {}',
    "empty.jsonl": "",
    "p.parquet": "PAR1",
}


@each_case("name", ORDINARY)
def test_tables_of_predictions_are_not_logs(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text(ORDINARY[name])
    assert not is_log(path)
    with pytest.raises(DataError):
        load_log(path)


def test_what_is_not_there_is_not_a_log(tmp_path: Path) -> None:
    assert not is_log(tmp_path / "log.eval")
    assert not is_log(tmp_path)
    with pytest.raises(DataError, match="there is no file"):
        load_log(tmp_path / "log.eval")


def test_a_log_may_have_any_order_of_keys(tmp_path: Path) -> None:
    path = inspect_json(tmp_path / "log.json", sample(1))
    log = json.loads(path.read_text())
    path.write_text("\ufeff" + json.dumps(dict(reversed(log.items()))))
    assert guess_format(path) is LogFormat.INSPECT


def test_top_keys_are_those_of_the_first_object() -> None:
    """As far as the text goes, and not those inside of texts or inner objects."""
    text = rb'{"a\"}": 1, "b": {"c": [{"d": 1}]}, "e" : "\"f\": 2", "g": {"h'
    assert top_keys(text) == {rb"a\"}", b"b", b"e", b"g"}
    assert top_keys(b'{"a": 1} {"b": 2}') == {b"a"}


@each_case(
    "choice, name",
    [
        (LogChoice(provider="echo"), "inspect.json"),
        (LogChoice(filter="none"), "inspect.json"),
        (LogChoice(id_vars=("a",)), "hand-written-lm-eval-old.jsonl"),
        (LogChoice(filter="none"), "promptfoo-repeat.json"),
    ],
)
def test_choices_that_a_tool_does_not_offer_are_refused(choice: LogChoice, name: str) -> None:
    with pytest.raises(DataError, match=r"does not have .*\nOnly logs of"):
        load_log(FIXTURES / name, choice)


@each_case("name, package", [("inspect.json", "msgspec"), ("inspect.eval", "zstandard")])
def test_missing_packages_are_named(name: str, package: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, package, None)
        with pytest.raises(UsageError, match=r"pip install 'easeci\[logs\]'"):
            load_log(FIXTURES / name, scored=False)


@each_case("depth", [100, 400, 900, 5_000, 100_000])
def test_deep_values_give_messages_and_no_crashes(tmp_path: Path, depth: int) -> None:
    deep = "[" * depth + "]" * depth
    path = inspect_json(tmp_path / "log.json", sample(1, input="DEEP"))
    path.write_text(path.read_text().replace('"DEEP"', deep))
    if depth == 100:
        assert load_log(path).rows["input"].null_count() == 0
        return
    try:
        load_log(path)
    except DataError as error:
        assert str(path) in error.message


@pytest.mark.parametrize("path", LOGS, ids=lambda path: path.name)
def test_damaged_files_give_messages_and_no_crashes(tmp_path: Path, path: Path) -> None:
    """Whatever bytes are changed or cut off, it is read or refused with a message."""
    chance = random.Random(path.name)
    content = path.read_bytes()
    damaged = tmp_path / path.name
    refused = 0
    for _ in range(60):
        changed = bytearray(content[: chance.randrange(1, len(content))])
        if chance.random() < 0.7:
            changed = bytearray(content)
            for _ in range(3):
                changed[chance.randrange(len(content))] = chance.randrange(256)
        damaged.write_bytes(changed)
        try:
            load_log(damaged, scored=False)
        except EaseciError as error:
            refused += 1
            assert error.message
    assert refused > 10
