"""The labelling page's requests, in whatever order they arrive."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from easeci.errors import DataError
from easeci.service.labelling.questions import OpenQuestions, Question
from easeci.service.testsets.add import Offer, add_testset
from easeci.web.labelling import LONGEST_TEXT, _field
from tests.projects import opened, run_on
from tests.repositories import Workplace
from tests.sites import serving_here, visitor, waiting_project
from tests.waiting import PATIENCE


def test_messages_count_in_the_order_in_which_a_tab_sent_them(tmp_path: Path) -> None:
    """Another connection can be faster."""
    place = waiting_project(tmp_path)
    with serving_here(place.repository) as here:
        ada = visitor(here, place.repository, "labeller", "ada")
        bob = visitor(here, place.repository, "labeller", "bob")
        (shown, *_) = ada.label("take", "tabofada", message="3")["questions"]
        ada.label("leave", "tabofada", message="2")  # of the page before a reload
        assert shown not in bob.label("take", "tabofbob", message="1")["questions"]
        ada.label("leave", "tabofada", message="9")
        late = ada.label("answer", "tabofada", message="8", ticket=shown["ticket"], state="skipped")
        assert (late["given"], late["questions"]) == ("stored", [])
        late = ada.label("undo", "tabofada", message="10", undone=shown["ticket"])
        assert (late["undone"], late["questions"][0]) == (True, shown)


def test_a_tab_that_is_closed_while_examples_are_taken_for_it_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tab's last message comes after the server has begun to take examples for it."""
    place = waiting_project(tmp_path)
    take = OpenQuestions.take
    leaving: list[threading.Thread] = []
    with serving_here(place.repository) as here:
        ada = visitor(here, place.repository, "labeller", "ada")
        bob = visitor(here, place.repository, "labeller", "bob")

        def closed_meanwhile(
            self: OpenQuestions, holder: str, by: str, count: int, **options: Any
        ) -> list[Question]:
            if by == "ada":
                leave = here.site.label_session.leave
                leaving.append(threading.Thread(target=leave, args=(holder, 4)))
                leaving[0].start()
                leaving[0].join(0.1)  # long enough, if anything let it in
            return take(self, holder, by, count, **options)

        monkeypatch.setattr(OpenQuestions, "take", closed_meanwhile)
        (first, *_) = ada.label("take", "tabofada", message="3")["questions"]
        leaving[0].join(PATIENCE)
        assert bob.label("take", "tabofbob", message="3")["questions"][0] == first


def test_nobody_answers_under_the_name_of_somebody_who_signed_in_later(tmp_path: Path) -> None:
    """A page is open as ada; in another tab of the same browser, bob signs in."""
    place = waiting_project(tmp_path)
    with serving_here(place.repository) as here:
        ada = visitor(here, place.repository, "labeller", "ada")
        bob = visitor(here, place.repository, "labeller", "bob")
        (shown, *_) = ada.label("take", "tabofada")["questions"]
        ada.client.cookies = bob.client.cookies
        fields = {"by": "ada", "tab": "tabofada", "ticket": shown["ticket"], "state": "skipped"}
        for path in ("take", "answer", "undo", "leave"):
            answer = ada.post(f"/label/{path}", **fields)
            assert answer.status_code == 401, "the page is loaded again"
            assert "signed in as somebody else" in answer.text
        assert here.site.label_session.unrecorded == 0
        given = bob.label("answer", "tabofbob", ticket=shown["ticket"], state="skipped")
        assert given["given"] == "stored"


LONG_TEXTS = (*("x" * size for size in (255, 256, 999, 5_000)), "ü" * 200, "a\0b", "x/" * 2_000)


def test_texts_that_no_path_can_have_are_shown(tmp_path: Path) -> None:
    """A testset with files may have columns of texts too; a name of a file has 255 bytes at most."""
    place = Workplace.make(tmp_path)
    rows = [line.split(",") for line in place.examples.read_text("utf-8").splitlines()[1:]]
    (tmp_path / "pictures").mkdir()
    examples = tmp_path / "examples.jsonl"
    with examples.open("w", encoding="utf-8") as file:
        for number, (name, x) in enumerate(rows):
            (tmp_path / "pictures" / f"{name}.txt").write_text(x, "utf-8")
            text = LONG_TEXTS[number % len(LONG_TEXTS)]
            row = {"id": name, "x": x, "picture": f"{name}.txt", "text": text}
            file.write(json.dumps(row) + "\n")
    place.commit_cut(0.7)
    offer = Offer(examples, script=place.repository / ".easeci.yml", files=tmp_path / "pictures")
    add_testset(opened(place), offer)
    run_on(place)
    place.commit_cut(0.52)
    run_on(place)
    unseen = {text.replace("\0", "�") for text in LONG_TEXTS}
    with serving_here(place.repository) as here:
        ada = visitor(here, place.repository, "labeller", "ada")
        assert ada.get("/label").status_code == 200
        while unseen:
            shown = ada.label("take", "tabofada")["questions"][0]
            fields = {field["name"]: field for field in shown["fields"]}
            unseen.discard(fields["text"]["text"])
            ada.label("answer", "tabofada", ticket=shown["ticket"], state="skipped")


HUGE = "a\x1b\u202e" + "x" * 10_000_000


def test_a_huge_text_breaks_no_page() -> None:
    """It is cut, with the number of characters that are left out, and hides nothing."""
    shown = _field("text", HUGE, is_file=False)
    assert shown["text"] == "a��" + "x" * (LONGEST_TEXT - 3)
    assert (shown["kind"], shown["cut"]) == ("text", len(HUGE) - LONGEST_TEXT)
    assert _field("n", 10**400, is_file=False)["kind"] == "number"
    assert _field("flag", True, is_file=False) == {
        "name": "flag",
        "kind": "text",
        "text": "true",
        "cut": 0,
    }
    assert _field("j", {"a": [1]}, is_file=False)["text"] == '{\n  "a": [\n    1\n  ]\n}'


def test_texts_that_are_not_unicode_are_refused_when_they_are_added(tmp_path: Path) -> None:
    """Half a character (a surrogate) could never be shown."""
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    examples = tmp_path / "examples.jsonl"
    examples.write_text('{"id": 1, "x": "0.5", "text": "\\ud800"}\n', "utf-8")
    with pytest.raises(DataError, match="cannot be written as JSON"):
        add_testset(opened(place), Offer(examples, script=place.repository / ".easeci.yml"))
