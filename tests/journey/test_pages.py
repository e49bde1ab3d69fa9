"""The pages in a real browser, with a real server, repository and push."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from easeci.service.project import open_project
from tests.browsers import Person
from tests.repositories import Workplace
from tests.sites import serving, token


def truth(page: Page) -> str:
    """The key of the right class of the example that is shown."""
    return "1" if float(page.locator("#example dd").inner_text()) < 0.5 else "2"


def label_all(page: Page) -> int:
    """Label with the keyboard until nothing is wanted; how many keys that took.

    A person looks at an example before the next key; by then the answer to the last one is back.
    """
    keys, done = 0, page.get_by_text("No labels are wanted")
    expect(page.locator("#example dd").or_(done)).to_be_visible()
    while page.locator("#example dd").is_visible():
        page.keyboard.press(truth(page))
        keys += 1
        expect(page.locator("#labelling")).to_have_attribute("data-unsent", "0")
    expect(done).to_be_visible()
    return keys


@pytest.mark.long
def test_from_a_plan_to_a_signal(browser: Browser, tmp_path: Path) -> None:
    """The owner explores a plan and adds a testset without labels; a commit is pushed and waits;
    labels are given by keys; the signal appears, and the chart shows it. At the same moment the
    developer sees the signal and nothing else."""
    place = Workplace.make(tmp_path, classes="[low, high]")
    place.commit_cut(0.7, "the first model")
    place.easeci("hook", "install", code=0)
    with serving(place.repository) as running:
        assert running.link is not None
        owner = Person(browser, running)
        page = owner.page
        page.goto(running.link)
        expect(page.get_by_role("heading", name="Begin with a plan")).to_be_visible()

        page.get_by_role("link", name="Explore a plan").click()
        page.get_by_label("Condition").fill("n - o > 0.02 +/- 0.05")
        page.get_by_label("Reliability").fill("0.95")
        page.get_by_label("Steps").fill("4")
        page.get_by_label("Sensitivity").fill("0.9")
        page.get_by_label("Expected difference").fill("0.2")
        expect(page.locator("#script-text")).to_contain_text("reliability")
        expect(page.locator("#script-text")).to_contain_text("0.95")
        sequential = page.get_by_role("row", name=re.compile("^sequential"))
        expect(sequential).to_have_class("chosen")
        expect(page.locator("figure .wide svg")).to_have_count(3)
        expect(page.get_by_role("heading", name="Labels, by the tolerance")).to_be_visible()
        expect(page.get_by_role("heading", name="A pass, by the truth")).to_be_visible()
        expect(page.locator("#meaning")).to_contain_text("n - o: passes (90%) from +12.0 points")
        page.get_by_label("Commits").select_option("bold")
        expect(page.locator("#assumed")).to_contain_text("commits bring new models")
        page.get_by_text("How these numbers are computed").click()
        expect(page.get_by_role("heading", name=re.compile("^sequential: "))).to_be_visible()

        owner.go("Testsets")
        page.get_by_label("Examples", exact=True).set_input_files(place.examples)
        page.get_by_label("Even if it is smaller than planned").check()
        page.get_by_role("button", name="Seal the testset").click()
        expect(page.get_by_role("status")).to_contain_text("Testset 1 is sealed: 1,520 examples")
        page.reload()  # which sends nothing again
        expect(page.get_by_role("heading", name="Testset 1")).to_be_visible()
        expect(page.get_by_role("main").get_by_role("status")).to_have_count(0)

        place.easeci("run", code=0)
        place.commit_cut(0.52, "a better model")  # the hook tests it
        owner.go("Overview")
        row = page.get_by_role("row", name=re.compile("a better model"))
        expect(row).to_contain_text("pending")
        developer = Person(browser, running)
        developer.sign_in(token(place.repository, "developer"))
        expect(developer.page.get_by_role("row", name=re.compile("a better"))).to_contain_text(
            "pending"
        )

        page.get_by_role("link", name="Label what waits").click()
        keys = label_all(page)
        owner.go("Overview")
        expect(row).to_contain_text("pass")
        expect(page.locator("figure svg").first).to_be_visible()
        expect(page.get_by_role("img", name=re.compile("Over 1 step")).first).to_be_visible()
        page.get_by_role("link", name=re.compile("^[0-9a-f]{10}$")).first.click()
        expect(page.get_by_text("Labels used")).to_be_visible()
        expect(page.get_by_text(re.compile("^Pass: shown to be better by more"))).to_be_visible()
        expect(page.get_by_role("img", name=re.compile("interval holds at every"))).to_be_visible()
        expect(page.get_by_role("heading", name="Evidence")).to_be_visible()

        state = open_project(place.repository).state
        verdict = state.testsets[1].steps[0].verdict
        assert verdict is not None
        assert keys == verdict.labels

        # The developer's page has followed by itself.
        shown = developer.page.get_by_role("row", name=re.compile("a better"))
        expect(shown).to_contain_text("pass")
        assert developer.page.locator("figure").count() == 0
        words = developer.page.locator("main").inner_text()
        assert not re.search(r"labels?\b|interval|outcome|estimate", words, re.IGNORECASE)
        developer.page.goto("/label")
        expect(developer.page.get_by_role("alert")).to_contain_text("not for a developer")
        developer.complaints = [c for c in developer.complaints if "403" not in c]
        developer.close()
        owner.close()
