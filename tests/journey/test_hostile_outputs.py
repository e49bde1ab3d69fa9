"""Outputs that would like to be programs: in a browser and in a terminal they are text."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Dialog, expect

from tests.browsers import Person
from tests.hostile_outputs import HUGE, SEEN, hostile_project
from tests.journey.test_page_looks import problems, unfocused
from tests.projects import opened, run_on
from tests.repositories import Workplace
from tests.scored_projects import add_scored, commit_share, only_testset, scored_place
from tests.sites import Here, serving_here, token

pytestmark = pytest.mark.long
MOST_BYTES = 1_000_000
TALLEST = 520
"""Of a box in dots: 20 lines and its edges."""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workplace, Here]]:
    place = hostile_project(tmp_path_factory.mktemp("hostile"))
    with serving_here(place.repository) as here:
        yield place, here


def test_hostile_outputs_are_shown_and_do_nothing(
    browser: Browser, hostile: tuple[Workplace, Here]
) -> None:
    """No script runs, nothing is loaded, the page is small and fits a phone, boxes scroll inside,
    and the text around is where it belongs."""
    place, here = hostile
    person = Person(browser, here)
    dialogs: list[str] = []

    def hear(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    person.page.on("dialog", hear)
    person.sign_in(token(place.repository, "owner"))
    answer = person.page.goto("/commits/1")
    assert answer is not None
    assert len(answer.body()) < MOST_BYTES
    page = person.page
    expect(page.get_by_role("heading", name="Outputs", exact=True)).to_be_visible()
    assert page.get_by_text(SEEN).count() >= 5
    assert page.get_by_text(f"… {HUGE - 4_000:,} more characters").count() == 1
    assert page.locator(".compared").count() == 20
    assert page.locator("main script, main img, main style").count() == 0
    heights = page.locator(".output").evaluate_all("all => all.map((n) => n.offsetHeight)")
    assert max(heights) <= TALLEST
    assert problems(page) == []
    assert unfocused(page) == []
    assert page.evaluate("window.hacked") is None
    assert dialogs == []
    person.close()


def test_references_are_typed_in_several_lines(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Sent by a click or by Ctrl-Enter; what is taken back is there to be changed."""
    place = scored_place(tmp_path_factory.mktemp("references"))
    add_scored(place, labelled=False, scorer="exact")
    commit_share(place, 0.9)
    run_on(place)
    with serving_here(place.repository) as here:
        person = Person(browser, here)
        person.sign_in(token(place.repository, "labeller", "ada"))
        page = person.page
        page.goto("/label")
        box = page.get_by_label("Reference")
        expect(box).to_be_visible()
        assert problems(page) == []
        box.fill("first\nsecond")
        page.get_by_role("button", name="Use this reference").click()
        expect(page.get_by_text("Label 2 of this session")).to_be_visible()
        expect(box).to_have_value("")
        box.fill("c s u 1\n<b>")
        box.press("Control+Enter")
        expect(page.get_by_text("Label 3 of this session")).to_be_visible()
        page.get_by_role("button", name="Undo").click()
        expect(box).to_have_value("c s u 1\n<b>")
        box.fill("x" * 20_000)
        page.get_by_role("button", name="Use this reference").click()
        expect(page.get_by_text("Label 3 of this session")).to_be_visible()
        expect(page.locator("#labelling")).to_have_attribute("data-unsent", "0")
        with here.site.acting() as project:
            testset = only_testset(project)
            known = project.sealed(testset).labels.values(testset.label_files)
        assert set(known.drop_nulls().to_list()) == {"first\nsecond", "x" * 20_000}
        person.close()


@pytest.mark.parametrize(
    "command",
    ["log --owner", "log --owner --build 1", "status --owner", "try"],
)
def test_hostile_outputs_do_not_reach_the_terminal(
    hostile: tuple[Workplace, Here], command: str
) -> None:
    """No escape sequence and no control character is printed, whatever models wrote."""
    place, _ = hostile
    done = place.easeci(*command.split(), code=0)
    printed = done.stdout + done.stderr
    assert len(printed) < 20_000
    assert all(c.isprintable() or c == "\n" for c in printed)


def test_try_shows_hostile_outputs_as_text(tmp_path_factory: pytest.TempPathFactory) -> None:
    """On the public sample, whose outputs it prints."""
    place = scored_place(tmp_path_factory.mktemp("try"))
    add_scored(place, scorer="exact")
    assert opened(place).require_active().terms.is_scored
    more = "outputs = lambda row: ['\\x1b[31m\\x07\\u202e[bold]' + 'x' * 1000000]\n"
    commit_share(place, 0.5, more=more)
    printed = place.easeci("try", code=0).stdout
    assert "[bold]" in printed
    assert len(printed) < 5_000
    assert all(c.isprintable() or c == "\n" for c in printed)
