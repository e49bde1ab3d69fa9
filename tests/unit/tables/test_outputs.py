"""Outputs of a model: any text, JSON value or number, with trials, and scores beside them."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from easeci.errors import DataError
from easeci.tables import outputs as module
from easeci.tables.column import ColumnRole
from easeci.tables.json_text import EXACT_DECODER, json_text
from easeci.tables.outputs import Outputs, load_outputs, score_names
from tests.unit.vault.making import write, written

TEXTS = [
    "",
    "plain",
    'a,b\n"c"',
    "\x1b[31mred\x07",
    "<b>&amp;</b>",
    "nan",
    "ü😀\u202e",
    "x" * 20_000,
]


def load(source: Any, **options: Any) -> Outputs:
    return load_outputs(source, ColumnRole.NEW, **options)


def lines(path: Path, *rows: Any) -> Path:
    return write(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def refuse(source: Any, *fragments: str, **options: Any) -> None:
    with pytest.raises(DataError) as caught:
        load(source, **options)
    for fragment in fragments:
        assert fragment in str(caught.value)


# -- values


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("column", ["output", "prediction"])
def test_texts_are_kept_byte_for_byte(tmp_path: Path, ending: str, column: str) -> None:
    """In every kind of file, under either name; an empty text is an output."""
    path = written(tmp_path / f"p.{ending}", {"id": range(len(TEXTS)), column: TEXTS})
    made = load(path)
    assert made.values.to_list() == TEXTS
    assert (made.trials, made.scores, made.positional) == (1, {}, False)


def test_an_empty_cell_of_a_csv_file_is_an_empty_output(tmp_path: Path) -> None:
    """Python's csv module writes an empty text in this way."""
    assert load(write(tmp_path / "p.csv", "id,output\n1,\n2,x\n")).values.to_list() == ["", "x"]


def test_rows_may_have_different_kinds_of_json_values(tmp_path: Path) -> None:
    """Each is spelt as JSON with sorted keys; no digit of a number is lost."""
    rows = [
        ('{"b": [1, null], "a": "ü"}', '{"a": "ü", "b": [1, null]}'),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.1234567890123456789", "0.1234567890123456789"),
        ("1.50", "1.5"),
        ("-0.0", "0.0"),
        ("1e400", "1e400"),
        ("true", "true"),
        ('"text"', "text"),
        ('"null"', "null"),
        ("[]", "[]"),
        ("9" * 5000, "9" * 5000),
        (
            '[0.30000000000000001, {"b": 1, "a": "\\u0000\\n"}]',
            '[0.30000000000000001, {"a": "\\u0000\\n", "b": 1}]',
        ),
    ]
    text = "".join(f'{{"id": {n}, "output": {raw}}}\n' for n, (raw, _) in enumerate(rows))
    assert load(write(tmp_path / "p.jsonl", text)).values.to_list() == [spelt for _, spelt in rows]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(value=JSON)
def test_a_json_value_is_spelt_as_json(value: Any) -> None:
    """What is spelt is the value, the spelling is always the same, and texts stay as they are."""
    read = EXACT_DECODER.decode(json.dumps(value))
    spelt = json_text(read)
    if isinstance(value, str):
        assert spelt == value
    else:
        assert json.loads(spelt) == value
        assert json_text(EXACT_DECODER.decode(spelt)) == spelt == json_text(value)


@given(number=st.decimals(allow_nan=False, allow_infinity=False))
def test_a_decimal_number_is_never_rounded(number: Decimal) -> None:
    assert Decimal(json_text(EXACT_DECODER.decode(f"[{number}]"))[1:-1]) == number


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1, 2], ["1", "2"]),
        ([1.5, -0.0], ["1.5", "0.0"]),
        ([True, False], ["true", "false"]),
        ([[1, 2], []], ["[1, 2]", "[]"]),
        (
            [{"b": 1, "a": "x"}, {"b": None, "a": "y"}],
            ['{"a": "x", "b": 1}', '{"a": "y", "b": null}'],
        ),
    ],
)
def test_columns_of_numbers_lists_and_structs(
    tmp_path: Path, values: list[Any], texts: list[str]
) -> None:
    """In Parquet, in DataFrames of polars and pandas, in mappings and lists."""
    frame = {"id": ["a", "b"], "output": values}
    assert load(written(tmp_path / "p.parquet", frame)).values.to_list() == texts
    assert load(pl.DataFrame(frame)).values.to_list() == texts
    assert load(pd.DataFrame(frame)).values.to_list() == texts
    assert load(dict(zip("ab", values, strict=True))).values.to_list() == texts
    listed = load(values)
    assert (listed.values.to_list(), listed.positional) == (texts, True)


def test_mixed_values_in_memory() -> None:
    values: list[Any] = [{"a": [1]}, "x", 3, 2.5, None]
    assert load(values[:4]).values.to_list() == ['{"a": [1]}', "x", "3", "2.5"]
    assert (
        load(pd.DataFrame({"id": range(4), "output": values[:4]})).values.to_list()[0]
        == '{"a": [1]}'
    )
    refuse(values, "outputs that are missing: 1, at id 4")
    refuse([{"a": float("nan")}], "data row 1 cannot be written as JSON")
    refuse([object(), 1], "cannot be written as JSON")


@pytest.mark.parametrize(
    ("content", "fragments"),
    [
        ('{"id": 1, "output": null}', ["outputs that are missing: 1, at id 1"]),
        ('{"id": 1, "output": "a"}\n{"id": 2}', ["outputs that are missing: 1, at id 2"]),
        ('{"id": 1, "outputs": "a"}', ["no column 'output'", "it has id, outputs"]),
        ('{"output": "a"}', ["no column 'id'"]),
        ('{"id": 1, "output": "a", "prediction": "a"}', ["has both 'output' and 'prediction'"]),
        ('{"id": 1, "output": "a"}\n{"id": 2, "prediction": "a"}', ["has both"]),
        ('{"id": 1, "output": "a"}\n{"id": "2", "output": "a"}', ["ids of mixed types"]),
        ('{"id": 1, "output": "\\ud800"}', ["data row 1 is not valid Unicode"]),
        ('{"id": "\\ud800", "output": "a"}', ["an id is not valid Unicode"]),
        ('{"id": 1, "output": NaN}', ["line 1, is not JSON"]),
        ('{"id": 1, "output": "a"', ["line 1, is not JSON"]),
        ('{"id": 1, "output": ' + "[" * 90_000 + "]" * 90_000 + "}", ["line 1, is not JSON"]),
        ("[1]", ["line 1, is not a JSON object"]),
        ("\n", ["is empty"]),
    ],
)
def test_what_is_wrong_with_a_jsonl_file(
    tmp_path: Path, content: str, fragments: list[str]
) -> None:
    refuse(write(tmp_path / "p.jsonl", content), *fragments)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_bytes_that_are_not_utf_8_are_refused(tmp_path: Path, ending: str) -> None:
    """As for classes: the file is named, and nothing of it is quoted."""
    text = {"csv": "id,output\n1,a?\n", "jsonl": '{"id": 1, "output": "a?"}\n'}[ending]
    path = write(tmp_path / f"p.{ending}", text.encode().replace(b"?", b"\xff"))
    refuse(path, {"csv": "is not UTF-8 text", "jsonl": "line 1, is not JSON"}[ending])
    refuse(write(path, text.encode("utf-16")), "is UTF-16 text")


def test_other_problems(tmp_path: Path) -> None:
    refuse(write(tmp_path / "p.csv", "id;output\n1;a\n"), "separates its columns by commas")
    refuse(write(tmp_path / "p.csv", "id,output,output\n1,a,b\n"), "two columns 'output'")
    refuse(write(tmp_path / "p.csv", "id,output\n"), "has no rows")
    refuse(tmp_path / "gone.csv", "there is no file")
    refuse(write(tmp_path / "p.txt", "x"), "unknown kind of file")
    refuse(written(tmp_path / "p.parquet", {"id": [1], "output": [float("inf")]}), "not finite")
    refuse(pl.DataFrame({"id": [1], "output": [b"a"]}), "not binary")


def test_an_output_has_at_most_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_OUTPUT", 1 << 20)
    assert len(load(["é" * (1 << 19)])) == 1
    refuse(["a", "é" * (1 << 19) + "a"], "outputs longer than 1 MiB: 1, at id 1")


# -- trials


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_trials_follow_one_another(tmp_path: Path, ending: str) -> None:
    """By their numbers, whatever these are; examples stay in the order in which they appear."""
    columns = {
        "id": ["b", "a", "a", "b", "b", "a"],
        "trial": [7, 2, -1, 3, 100, 0],
        "output": ["b7", "a2", "a-1", "b3", "b100", "a0"],
    }
    path = written(tmp_path / f"p.{ending}", columns)
    for trials in (None, 3):
        made = load(path, trials=trials)
        assert (made.ids.to_list(), made.trials) == (["b", "a"], 3)
        assert made.values.to_list() == ["b3", "b7", "b100", "a-1", "a0", "a2"]
    assert made.gather(pl.Series([1, 0])).to_list() == ["a-1", "a0", "a2", "b3", "b7", "b100"]
    refuse(path, "every example needs 2 outputs, which 0 of 2 have: 2 with 3, at id b, a", trials=2)


def test_every_example_has_as_many_trials(tmp_path: Path) -> None:
    """The error says how many have how many, and names some."""
    rows = [{"id": i, "trial": t, "output": "x"} for i in range(10) for t in range(3)]
    path = lines(tmp_path / "p.jsonl", *rows[:-1], {"id": 0, "trial": 9, "output": "x"})
    expected = (
        "every example needs 3 outputs, which 8 of 10 have: 1 with 4, at id 0; 1 with 2, at id 9"
    )
    refuse(path, expected)
    refuse(path, expected, trials=3)
    refuse(
        lines(path, *rows[::3]),
        "which 0 of 10 have: 10 with 1, at id 0, 1, 2 and 7 more",
        "'trial'",
        trials=3,
    )


@pytest.mark.parametrize(
    ("text", "fragment"),
    [
        ("1,1,a\n1,1,b\n", "trials that occur more than once: 2, at id 1"),
        ("1,1,a\n1,,b\n", "trials that are not whole numbers: 1, at id 1"),
        ("1,1.5,a\n", "trials that are not whole numbers"),
        ("1,99999999999999999999,a\n", "trials that are not whole numbers"),
    ],
)
def test_trials_are_different_whole_numbers(tmp_path: Path, text: str, fragment: str) -> None:
    refuse(write(tmp_path / "p.csv", f"id,trial,output\n{text}"), fragment)


def test_without_trials_an_id_occurs_once(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "id,output\n1,a\n1,b\n")
    refuse(path, "ids that occur more than once: 1, at id 1", "column 'trial'")


# -- scores


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_scores_in_the_same_file(tmp_path: Path, ending: str) -> None:
    """By name, the main one first, null where one is unsettled; in the order of the outputs."""
    columns = {
        "id": [1, 1, 2, 2],
        "trial": [2, 1, 1, 2],
        "score.faithful": [0.25, 1.0, None, 0.5],
        "score": [1, 0, 1, None],
        "output": list("abcd"),
        "confidence": [5, 5, 5, 5],
    }
    path = written(tmp_path / f"p.{ending}", columns)
    made = load(path, with_scores=True)
    assert made.values.to_list() == list("bacd")
    assert {name: score.to_list() for name, score in made.scores.items()} == {
        "score": [0.0, 1.0, 1.0, None],
        "faithful": [1.0, 0.25, None, 0.5],
    }
    assert list(made.scores) == ["score", "faithful"] == list(score_names(path))
    assert all(score.dtype == pl.Float64 for score in made.scores.values())
    assert load(path).scores == {}


def test_scores_without_outputs(tmp_path: Path) -> None:
    """Enough for a check, where they are asked for; otherwise outputs are missing."""
    path = write(tmp_path / "p.csv", "id,score\na,true\nb,\nc,False\n")
    made = load(path, with_scores=True)
    assert made.scores["score"].to_list() == [1.0, None, 0.0]
    assert made.values.dtype == pl.String
    assert made.values.null_count() == 3
    refuse(path, "no column 'output'")
    refuse(write(path, "id,x\na,1\n"), "no column 'output'", with_scores=True)


def test_an_object_of_scores(tmp_path: Path) -> None:
    """In JSONL, beside the main score or with it inside; rows may lack some."""
    rows = [
        {"id": 1, "output": "a", "score": True, "scores": {"faithful": 0.5}},
        {"id": 2, "output": "b", "scores": {"score": 0, "brief": 1}},
        {"id": 3, "output": "c", "scores": None},
    ]
    path = lines(tmp_path / "p.jsonl", *rows)
    made = load(path, with_scores=True)
    assert {name: score.to_list() for name, score in made.scores.items()} == {
        "score": [1.0, 0.0, None],
        "faithful": [0.5, None, None],
        "brief": [None, 1.0, None],
    }
    assert score_names(path) == ("score", "faithful", "brief")
    refuse(
        lines(path, {"id": 1, "score": 1, "scores": {"score": 1}}),
        "the score 'score' twice",
        with_scores=True,
    )
    refuse(
        lines(path, {"id": 1, "output": "a", "scores": [1]}),
        "'scores' is not an object",
        with_scores=True,
    )


@pytest.mark.parametrize(
    ("score", "fragment"),
    [
        ("1.01", "scores 'score' outside 0 to 1: 1, at id b"),
        ("-1e-9", "scores 'score' outside 0 to 1: 1, at id b"),
        ("inf", "outside 0 to 1"),
        ("nan", "scores 'score' that are NaN: 1, at id b"),
        ("good", "scores 'score' that are not numbers: 1, at id b"),
        ("0,5", "not numbers"),
    ],
)
def test_a_score_is_a_number_from_0_to_1(tmp_path: Path, score: str, fragment: str) -> None:
    path = write(tmp_path / "p.csv", f'id,score\na,1\nb,"{score}"\n')
    refuse(path, fragment, with_scores=True)
    raw = json.dumps(score)
    refuse(
        write(tmp_path / "p.jsonl", f'{{"id": "a", "score": 1}}\n{{"id": "b", "score": {raw}}}\n'),
        fragment,
        with_scores=True,
    )


def test_names_of_scores(tmp_path: Path) -> None:
    path = write(tmp_path / "p.csv", "id,score.not a word\n1,1\n")
    refuse(path, "'not a word' cannot be the name of a score", with_scores=True)
    assert score_names(write(path, "id,output,scored\n1,a,1\n")) == ()
    assert score_names({"a": 1}) == score_names([1]) == ()
    assert score_names(pl.DataFrame({"id": [1], "score.b": [1]})) == ("b",)
    assert score_names(pd.DataFrame({"id": [1], "score": [1]})) == ("score",)
    assert score_names(write(tmp_path / "bad.jsonl", "no json")) == ()
    with pytest.raises(DataError, match="there is no file"):
        score_names(tmp_path / "gone.jsonl")


def test_many_outputs_are_read_quickly(tmp_path: Path) -> None:
    """50,000 rows take about 0.4 s of a processor; ten times as much is a mistake."""
    rows = ({"id": f"e{i}", "output": ["x" * 300, {"a": [i, 0.5]}][i % 2]} for i in range(50_000))
    path = lines(tmp_path / "p.jsonl", *rows)
    began = time.process_time()
    assert len(load(path)) == 50_000
    assert time.process_time() - began < 4.0
