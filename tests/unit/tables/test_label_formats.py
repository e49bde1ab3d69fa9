"""Labels in the formats of labelling tools, and answers of several labellers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from easeci.errors import DataError
from easeci.tables.answers import Answers
from easeci.tables.label_formats import (
    CANNOT_TELL_CHOICE,
    LabelFormat,
    guess_format,
    load_answers,
    studio_config,
    write_tasks,
)

SECRET = "topsecretlabel"
ROWS: list[dict[str, Any]] = [
    {"id": 1, "text": "one, two", "more": {"a": [1]}},
    {"id": 2, "text": 'say "three"', "more": None},
]


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def said(answers: Answers) -> list[tuple[Any, ...]]:
    return list(answers.frame.select("id", "label", "state", "by").iter_rows())


def annotation(choice: str | None, who: Any, **more: Any) -> dict[str, Any]:
    """As Label Studio exports it."""
    region = {
        "type": "choices",
        "from_name": "label",
        "to_name": "c0",
        "value": {"choices": [choice]},
    }
    result = [] if choice is None else [region]
    return {
        "id": 7,
        "result": result,
        "was_cancelled": False,
        "completed_by": who,
        "created_at": "2026-01-02T03:04:05Z",
        **more,
    }


def task(name: Any, *annotations: dict[str, Any]) -> dict[str, Any]:
    return {"id": 900, "data": {"text": "x", "easeci_id": name}, "annotations": list(annotations)}


def test_label_studio_answers(tmp_path: Path) -> None:
    """Users as numbers or in full; a cancelled or empty annotation is skipped."""
    tasks = [
        task("e1", annotation("a", 3), annotation("b", {"id": 4, "email": "b@x.org"})),
        task("e2", annotation("a", 3, was_cancelled=True)),
        task("e3", annotation(None, 3)),
        task("e4", annotation(CANNOT_TELL_CHOICE, 3)),
        task("e5"),
        {
            "id": 901,
            "data": {},
            "meta": {"easeci_id": "e6"},
            "annotations": [annotation("b", None)],
        },
    ]
    path = write(tmp_path / "export.json", tasks)
    assert guess_format(path) is LabelFormat.LABEL_STUDIO
    answers = load_answers(path, by="me", at="now")
    assert said(answers) == [
        ("e1", "a", "label", "3"),
        ("e1", "b", "label", "b@x.org"),
        ("e2", None, "skipped", "3"),
        ("e3", None, "skipped", "3"),
        ("e4", None, "cannot tell", "3"),
        ("e6", "b", "label", "me"),
    ]
    assert answers.frame["at"][0] == "2026-01-02T03:04:05Z"


def test_prodigy_answers(tmp_path: Path) -> None:
    """Choices and binary tasks; what was ignored or rejected is skipped."""
    lines = [
        {"easeci_id": 1, "text": "x", "accept": ["a"], "answer": "accept", "_annotator_id": "p-ada", "_timestamp": 1707211049},
        {"easeci_id": 2, "text": "x", "accept": ["a"], "answer": "ignore"},
        {"easeci_id": 3, "text": "x", "label": "b", "answer": "accept"},
        {"easeci_id": 4, "text": "x", "label": "b", "answer": "reject"},
        {"easeci_id": 5, "text": "x", "accept": [CANNOT_TELL_CHOICE], "answer": "accept"},
    ]  # fmt: skip
    path = write(tmp_path / "out.jsonl", "\n".join(json.dumps(line) for line in lines))
    assert guess_format(path) is LabelFormat.PRODIGY
    answers = load_answers(path, by="me")
    assert said(answers) == [
        (1, "a", "label", "p-ada"),
        (2, None, "skipped", "me"),
        (3, "b", "label", "me"),
        (4, None, "skipped", "me"),
        (5, None, "cannot tell", "me"),
    ]
    assert answers.frame["at"][0] == "2024-02-06T09:17:29Z"


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("a.csv", "id,label\n1,a\n", LabelFormat.CSV),
        ("a.jsonl", '{"id": 1, "label": "a"}\n', LabelFormat.JSONL),
        ("a.json", "[]", LabelFormat.LABEL_STUDIO),
    ],
)
def test_formats_are_guessed(tmp_path: Path, name: str, text: str, form: LabelFormat) -> None:
    assert guess_format(write(tmp_path / name, text)) is form


def test_tables_may_say_who_and_when(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.csv", "id,label,state,by\n1,a,,ada\n1,b,,bob\n2,,cannot tell,\n3,,,\n"
    )
    answers = load_answers(path, by="me")
    assert answers.repeats
    assert said(answers) == [
        (str(i) if isinstance(i, int) else i, label, state, by)
        for i, label, state, by in [
            ("1", "a", "label", "ada"),
            ("1", "b", "label", "bob"),
            ("2", None, "cannot tell", "me"),
        ]
    ]
    assert answers.labellers == ("ada", "bob", "me")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        (
            "a.json",
            [task("e1", annotation(SECRET, 1, result=[{"value": {"choices": [SECRET, "b"]}}]))],
        ),
        ("a.json", [{"data": {"x": SECRET}}]),
        ("a.json", {"data": SECRET}),
        ("a.json", f"[{SECRET}"),
        ("a.jsonl", json.dumps({"easeci_id": 1, "accept": [SECRET, "b"], "answer": "accept"})),
        ("a.jsonl", json.dumps({"text": SECRET, "answer": "accept"})),
        ("a.csv", f"id,label,state\n1,{SECRET},{SECRET}\n"),
    ],
)
def test_what_cannot_be_read_is_said_without_a_label(
    tmp_path: Path, name: str, content: Any
) -> None:
    with pytest.raises(DataError) as caught:
        load_answers(write(tmp_path / name, content))
    assert SECRET not in str(caught.value)


def test_tasks_go_out_and_come_back(tmp_path: Path) -> None:
    """What each format writes holds every column, and the id where answers bring it back."""
    for form, name in [
        (LabelFormat.CSV, "t.csv"),
        (LabelFormat.JSONL, "t.jsonl"),
        (LabelFormat.LABEL_STUDIO, "t.json"),
        (LabelFormat.PRODIGY, "p.jsonl"),
    ]:
        write_tasks(tmp_path / name, form, ROWS, ["a", "b"])
    assert (tmp_path / "t.csv").read_text().splitlines()[:2] == [
        "id,label,text,more",
        '1,,"one, two","{""a"": [1]}"',
    ]
    assert json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0]) == {
        "id": 1, "label": None, "text": "one, two", "more": {"a": [1]},
    }  # fmt: skip
    studio = json.loads((tmp_path / "t.json").read_text())
    assert studio[1] == {
        "data": {"text": 'say "three"', "more": None, "easeci_id": 2},
        "meta": {"easeci_id": 2},
    }
    studio[1]["annotations"] = [annotation("a", 1)]
    assert said(load_answers(write(tmp_path / "t.json", studio))) == [(2, "a", "label", "1")]
    prodigy = json.loads((tmp_path / "p.jsonl").read_text().splitlines()[0])
    assert prodigy["text"] == "one, two"
    assert [option["id"] for option in prodigy["options"]] == ["a", "b", CANNOT_TELL_CHOICE]
    config = studio_config(["text"], ["a", '"<b>"'])
    assert '<Text name="c0" value="$text"/>' in config
    assert "&lt;b&gt;" in config
