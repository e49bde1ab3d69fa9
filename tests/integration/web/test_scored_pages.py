"""Pages of a project with a scorer: what the owner sees, and what nobody else does."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from easeci.service.project import open_project
from tests.hostile_outputs import SEEN, hostile_project
from tests.projects import opened, run_on
from tests.repositories import Workplace
from tests.scored_projects import add_scored, commit_share, only_step, only_testset, scored_place
from tests.sites import Here, Visit, serving_here, visitor
from tests.waiting import wait_until

MOST_BYTES = 1_000_000
WORDS = ("Scores</h2>", "Outputs</h2>", "more characters", "e0", SEEN, "could not be scored")
TAB = "0123456789abcdef"


@dataclass
class Scored:
    place: Workplace
    here: Here

    def visit(self, role: str) -> Visit:
        return visitor(self.here, self.place.repository, role)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scored]:
    place = hostile_project(tmp_path_factory.mktemp("hostile"))
    with serving_here(place.repository) as here:
        yield Scored(place, here)


def test_the_owner_sees_scores_and_outputs(hostile: Scored) -> None:
    """With means and comparisons in words; the page is small, and the look is recorded."""
    owner = hostile.visit("owner")
    answer = owner.get("/commits/1")
    assert answer.status_code == 200
    assert len(answer.content) < MOST_BYTES
    page = answer.text
    assert all(word in page for word in WORDS[:3])
    assert re.search(r"The mean is 0\.\d{3} for the new model and 0\.\d{3} for the old model", page)
    assert re.search(r"\d+ score higher, \d+ lower, and \d+ the same", page)
    assert page.count('class="compared"') == 20
    assert page.count("9,996,000 more characters") == 1
    wait_until(lambda: bool(open_project(hostile.place.repository).state.looks))
    assert "commit" in {view for _, view in open_project(hostile.place.repository).state.looks}


def test_outputs_are_text_and_nothing_else(hostile: Scored) -> None:
    page = hostile.visit("owner").get("/commits/1").text
    outputs = page[page.index('id="outputs"') :]
    assert not re.search(r"<(script|img|style|i)\b", outputs)
    assert "&lt;/pre&gt;&lt;script&gt;window.hacked=1" in outputs
    assert not any(c in page for c in "\x00\x07\x08\x1b\x7f\x9b\u202e\u2066\ufeff\u200b")
    assert "{\n  &#34;name&#34;: &#34;easeci-was-here&#34;" in outputs
    assert "{{7*7}}" in outputs


def test_others_see_none_of_it(hostile: Scored) -> None:
    """A developer gets the signal on the same address, and a labeller is refused."""
    developer, labeller = hostile.visit("developer"), hostile.visit("labeller")
    page = developer.get("/commits/1")
    assert page.status_code == 200
    main = re.sub(r"<time.*?</time>|[0-9a-f]{10,}", "", page.text[page.text.index("<main") :])
    assert not [word for word in WORDS if word in main]
    assert not re.search(r"score|mean|output", re.sub(r"hostile outputs", "", main))
    assert labeller.get("/commits/1").status_code == 403
    for visit in (developer, labeller):
        for path in ("/", "/label", "/testsets", "/commits/1/log"):
            assert SEEN not in visit.get(path).text


def waits(folder: Path, **keys: str) -> Workplace:
    """A project whose only commit waits for references or scores."""
    place = scored_place(folder, scorer="score = lambda row: 0.5")
    add_scored(place, labelled=False, **keys)
    commit_share(place, 0.9)
    run_on(place)
    return place


@pytest.mark.long
def test_labels_are_references_of_several_lines(tmp_path: Path) -> None:
    """The page has no classes; a text is stored as it was typed, and one for a class is refused."""
    place = waits(tmp_path, scorer="exact")
    with serving_here(place.repository) as here:
        ada = visitor(here, place.repository, "labeller", "ada")
        assert 'id="reference-text"' in ada.get("/label").text
        first = ada.label("take", TAB)
        assert (first["references"], first["classes"]) == (True, [])
        ticket = first["questions"][0]["ticket"]
        text = "two\nlines <b>\t🙂"
        given = ada.label("answer", TAB, ticket=ticket, state="label", label=text)
        assert given["given"] == "stored"
        assert given["classes"] == [], "others do not see it"
        assert given["questions"][0]["ticket"] != ticket
        empty = given["questions"][0]["ticket"]
        fields = {"by": "ada", "tab": TAB, "ticket": empty, "state": "label", "label": ""}
        assert ada.post("/label/answer", **fields).status_code == 400
        with here.site.acting() as project:
            testset = only_testset(project)
            known = project.sealed(testset).labels.values(testset.label_files)
        assert known.drop_nulls().to_list() == [text]


@pytest.mark.long
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"scorer": "external"}, "writes what needs a score next"),
        ({"scorer": "./score.py", "labels": "none"}, "needs no references"),
    ],
)
def test_where_scores_are_needed_the_label_page_says_so(
    tmp_path: Path, keys: dict[str, str], words: str
) -> None:
    place = waits(tmp_path, **keys)
    with serving_here(place.repository) as here:
        for role in ("owner", "labeller"):
            page = visitor(here, place.repository, role).get("/label").text
            assert "Scores are needed, not labels" in page
            assert "easeci scores export" in page
            assert words in page
            assert "reference-text" not in page
        page = visitor(here, place.repository, "owner").get("/commits/1").text
        undecided = only_step(opened(place)).passed is None
        assert ("What it waits for" in page) is undecided
