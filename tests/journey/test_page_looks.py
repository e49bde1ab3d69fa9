"""How pages look to those who look otherwise: on a phone, in the dark, by keyboard, with a screen
reader, without JavaScript."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browsers import Person
from tests.projects import sealed_ids
from tests.repositories import PROGRAM, Workplace
from tests.sites import Here, serving_here, token, waiting_project

SIZES = ((1200, 900), (390, 844))
CHECKS = """
(dark) => {
  const problems = [];
  const visible = (node) => node.checkVisibility() && node.getClientRects().length > 0
    && !node.closest(".hidden, .skip, .symbols");
  const named = (node) => `${node.tagName} ${node.id || node.className} "${node.textContent.trim().slice(0, 40)}"`;
  const all = (selector) => [...document.querySelectorAll(selector)];

  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) problems.push(`wider than the window: ${root.scrollWidth}`);

  for (const node of all("body *").filter(visible)) {  // what a program wrote may scroll by itself
    const scrolls = ["auto", "scroll"].includes(getComputedStyle(node).overflowX);
    if (scrolls && node.tagName !== "PRE" && node.scrollWidth > node.clientWidth) problems.push(`has to be scrolled: ${named(node)}`);
  }
  for (const svg of all("figure svg").filter(visible)) {
    const box = svg.getBoundingClientRect();
    if (box.left < 0 || box.right > root.clientWidth) problems.push(`a chart is cut: ${named(svg)}`);
    if (box.width / svg.viewBox.baseVal.width < 0.9) problems.push(`a chart is too small to read: ${named(svg)}`);
    for (const text of svg.querySelectorAll("text")) {
      const words = text.getBoundingClientRect();
      if (words.left < box.left || words.right > box.right) problems.push(`beyond its chart: "${text.textContent}"`);
    }
  }

  for (const node of all("input:not([type=hidden]), select, textarea, button, audio").filter(visible)) {
    const labels = [...(node.labels || [])].map((label) => label.textContent).join("");
    const name = node.getAttribute("aria-label") || labels || (node.tagName === "BUTTON" && node.textContent);
    if (!name || !name.trim()) problems.push(`no name: ${named(node)}`);
  }
  for (const node of all("a[href]").filter(visible)) if (!node.textContent.trim()) problems.push(`no name: ${named(node)}`);
  for (const node of all("img")) if (!node.hasAttribute("alt")) problems.push(`no alt: ${node.src}`);
  for (const node of all("[role=img], [role=region]")) if (!node.getAttribute("aria-label")) problems.push(`no name: ${named(node)}`);
  for (const node of all("figure").filter(visible)) if (!node.querySelector("[role=img][aria-label]")) problems.push(`no name: ${named(node)}`);
  for (const node of all("main svg").filter(visible)) {
    if (!node.closest("[role=img][aria-label], [aria-hidden=true]")) problems.push(`no name: ${node.outerHTML.slice(0, 80)}`);
  }

  let last = 0;
  const headings = all("h1, h2, h3, h4, h5, h6").filter((node) => node.checkVisibility());
  for (const node of headings) {
    const level = Number(node.tagName[1]);
    if (level > last + 1) problems.push(`skips to ${named(node)}`);
    if (level === 1 && node !== headings[0]) problems.push(`a second h1: ${named(node)}`);
    last = level;
  }
  if (!headings.length) problems.push("no heading");

  const parts = (text) => { const [r, g, b, a = 1] = text.match(/[0-9.]+/g).map(Number); return [r, g, b, a]; };
  const over = (front, back) => front.slice(0, 3).map((part, i) => part * front[3] + back[i] * (1 - front[3]));
  const behind = (node) => {
    if (!node) return dark ? [0, 0, 0] : [255, 255, 255];
    const colour = parts(getComputedStyle(node).backgroundColor);
    return colour[3] === 1 ? colour.slice(0, 3) : over(colour, behind(node.parentElement));
  };
  const light = (colour) => colour
    .map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const check = (node, text, colour, style) => {
    const back = behind(node);
    let opacity = 1;
    for (let up = node; up; up = up.parentElement) opacity *= Number(getComputedStyle(up).opacity);
    const front = over([...colour.slice(0, 3), colour[3] * opacity], back);
    const [a, b] = [light(front), light(back)].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (large ? 3 : 4.5)) problems.push(`contrast ${ratio.toFixed(2)}: ${named(node)} "${text.slice(0, 40)}" ${front} on ${back}`);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim(), node = walker.currentNode.parentElement;
    if (!text || !visible(node) || node.closest(":disabled, noscript, script")) continue;
    const style = getComputedStyle(node);
    check(node, text, parts(node.closest("svg") ? style.fill : style.color), style);
  }
  for (const node of all("input[placeholder]").filter(visible)) {
    if (node.placeholder && !node.value) {
      const style = getComputedStyle(node, "::placeholder");
      const colour = parts(style.color);
      check(node, node.placeholder, [...colour.slice(0, 3), colour[3] * Number(style.opacity)], getComputedStyle(node));
    }
  }

  if (dark) {
    for (const kind of ["fill", "stroke"]) for (const node of all(`figure [${kind}^="#"]`)) {
      const hex = node.getAttribute(kind), drawn = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
      if (String(parts(getComputedStyle(node)[kind]).slice(0, 3)) === String(drawn)) problems.push(`${kind} ${hex} stays in the dark`);
    }
  }
  return [...new Set(problems)];
}
"""
STOPS = """
() => {
  const kinds = "a[href], button:not(:disabled), input:not([type=hidden]):not(:disabled), select, summary, [tabindex='0']";
  const stops = [...document.querySelectorAll(kinds)].filter((node) => node.checkVisibility());
  stops.forEach((node, number) => { node.dataset.stop = number; });
  return stops.map((node) => node.outerHTML.slice(0, 120));
}
"""
FOCUS = """
() => {
  const node = document.activeElement, style = getComputedStyle(node);
  const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
  return [node.dataset.stop === undefined ? -1 : Number(node.dataset.stop), shown && node.getBoundingClientRect().left >= 0];
}
"""


@dataclass
class Sites:
    """A project with a past, and one that has not begun."""

    old: Workplace
    old_here: Here
    new: Workplace
    new_here: Here

    def visitor(self, browser: Browser, role: str, *, begun: bool, **options: object) -> Person:
        place, here = (self.old, self.old_here) if begun else (self.new, self.new_here)
        person = Person(browser, here, **options)
        if role:
            person.sign_in(token(place.repository, role))
        return person


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    """A commit that passed, one whose program breaks, and one that waits for labels."""
    old = waiting_project(tmp_path_factory.mktemp("old"), classes="[low, high]")
    rows = csv.DictReader(old.examples.read_text().splitlines())
    upper = [f"{row['id']},high" for row in rows if float(row["x"]) >= 0.51]
    some = old.folder / "some.csv"
    some.write_text("\n".join(["id,label", *upper, ""]))
    old.easeci("labels", "import", str(some), code=0)
    old.write("test_model.py", "raise SystemExit('no model ' + 'here ' * 99)\n")
    old.commit("a broken program with a name that goes on and on " + "and on " * 20)
    old.easeci("run", code=5)
    old.write("test_model.py", PROGRAM)
    old.commit_cut(0.3, "another_model_" + "x" * 100)
    old.easeci("run", code=3)
    new = Workplace.make(tmp_path_factory.mktemp("new"))
    new.commit_cut(0.7)
    with serving_here(old.repository) as old_here, serving_here(new.repository) as new_here:
        yield Sites(old, old_here, new, new_here)


def problems(page: Page) -> list[str]:
    """At every size, in light and dark."""
    found = []
    for width, height in SIZES:
        for scheme in ("light", "dark"):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(
                color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
            )
            for problem in page.evaluate(CHECKS, scheme == "dark"):
                found.append(f"{page.url} {width} {scheme}: {problem}")
    return found


def unfocused(page: Page) -> list[str]:
    """What Tab does not reach, or reaches without a sign."""
    stops = page.evaluate(STOPS)
    reached: dict[int, bool] = {}
    for _ in range(2 * len(stops) + 4):
        page.keyboard.press("Tab")
        number, shown = page.evaluate(FOCUS)
        if number in reached and len(reached) >= len(stops):
            break
        reached[number] = shown
    return [f"{page.url}: {stop}" for n, stop in enumerate(stops) if not reached.get(n)]


PAGES = {
    "owner": (
        "/",
        "/commits/2",
        "/commits/3",
        "/commits/3/log",
        "/label",
        "/testsets",
        "/plan",
        "/plan?condition=n+>&true_gain=x",
    ),
    "developer": ("/", "/commits/2", "/testsets"),
    "": ("/sign-in", "/nowhere"),
}
EMPTY_PAGES = {"owner": ("/", "/testsets", "/label", "/commits/9"), "developer": ("/",)}


@pytest.mark.parametrize(
    ("begun", "role"),
    [
        pytest.param(True, "owner", marks=pytest.mark.long),
        (True, "developer"),
        (True, ""),
        pytest.param(False, "owner", marks=pytest.mark.long),
        pytest.param(False, "developer", marks=pytest.mark.long),
    ],
)
def test_every_page_fits_can_be_read_and_has_names(
    browser: Browser, sites: Sites, begun: bool, role: str
) -> None:
    """Nothing is wider than the window, every text stands out from what is behind it, controls and
    figures have names, headings are in order, Tab reaches everything and shows where it is."""
    person = sites.visitor(browser, role, begun=begun)
    page, found = person.page, []
    for path in (PAGES if begun else EMPTY_PAGES)[role]:
        page.goto(path)
        if path == "/label" and begun:
            expect(
                page.locator("#example dl, #nothing, #trouble").locator("visible=true").first
            ).to_be_visible()
        for details in page.locator("details").all():
            details.evaluate("node => { node.open = true; }")
        found += problems(page)
        found += unfocused(page)
    assert not found, "\n".join(found)
    person.complaints = [c for c in person.complaints if "the server responded with" not in c]
    person.close()


def test_on_a_phone_tables_are_still_tables_and_each_chart_is_there_once(
    browser: Browser, sites: Sites
) -> None:
    """Rows have their cells below each other; a screen reader finds headings and cells as ever."""
    person = sites.visitor(browser, "owner", begun=True, viewport={"width": 390, "height": 844})
    page = person.page
    commits = page.get_by_role("table")
    headings = commits.get_by_role("columnheader")
    assert headings.all_text_contents()[-3:] == ["Submitted (UTC)", "Result", "Labels"]
    row = commits.get_by_role("row", name="a better model")
    assert row.get_by_role("cell").count() == headings.count()
    subject, signal = row.locator(".whole").bounding_box(), row.locator(".signal").bounding_box()
    assert subject is not None
    assert signal is not None
    assert subject["y"] > signal["y"] + signal["height"] / 2
    for figure in page.locator("figure").all():
        assert figure.locator("svg").count() == 2
        assert figure.locator("svg").locator("visible=true").count() == 1
    person.close()


def test_a_report_fits_a_phone(browser: Browser, sites: Sites) -> None:
    path = sites.old.folder / "report.html"
    sites.old.easeci("report", "--owner", "--output", str(path), code=0)
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.goto(path.as_uri())
    found = page.evaluate(CHECKS, False)
    page.close()
    assert not found


@pytest.mark.long
def test_a_released_testset_fits_can_be_read_and_has_names(
    browser: Browser, tmp_path: Path
) -> None:
    """On its page, and as a file."""
    place = waiting_project(tmp_path, classes="[low, high]")
    place.easeci("labels", "import", str(place.labels), code=0)
    place.easeci("testset", "retire", code=0)
    place.easeci("testset", "release", "--to", str(tmp_path / "out"), code=0)
    file = tmp_path / "released.html"
    place.easeci("report", "--released", "-o", str(file), code=0)
    with serving_here(place.repository) as here:
        person = Person(browser, here)
        person.sign_in(token(place.repository, "owner"))
        person.go("Testsets")
        person.page.get_by_role("link", name="See it by class and slice").click()
        expect(person.page.get_by_role("heading", name="Slices")).to_be_visible()
        found = [*problems(person.page), *unfocused(person.page)]
        person.close()
    page = browser.new_page()
    page.goto(file.as_uri())
    found += problems(page)
    page.close()
    assert not found, "\n".join(found)


@pytest.mark.long
def test_a_page_that_follows_leaves_the_keyboard_where_it_was(
    browser: Browser, sites: Sites
) -> None:
    """New labels appear by themselves, and the link that had the focus keeps it."""
    person = sites.visitor(browser, "owner", begun=True)
    page = person.page
    known = page.locator(".tiles > div", has_text="Labels known").locator("dd")
    before = known.text_content() or ""
    link = page.get_by_role("row", name="a better model").get_by_role("link")
    link.focus()
    sealed = sealed_ids(sites.old.repository)
    rows = csv.DictReader(sites.old.examples.read_text().splitlines())
    example = next(row["id"] for row in rows if row["id"] in sealed and float(row["x"]) < 0.5)
    one = sites.old.folder / "one.csv"
    one.write_text(f"id,label\n{example},low\n")
    sites.old.easeci("labels", "import", str(one), code=0)
    expect(known).not_to_have_text(before)
    expect(link).to_be_focused()
    person.close()


def test_a_plan_that_fails_is_shown_as_its_own_page(browser: Browser, sites: Sites) -> None:
    """While somebody types, the server may answer with an error: it is shown, and nothing else."""
    person = sites.visitor(browser, "owner", begun=True)
    page = person.page
    page.goto("/plan")
    page.route(
        "**/plan?*", lambda route: route.fulfill(status=500, body="<p>That did not work</p>")
    )
    page.get_by_label("Steps").fill("8")
    expect(page.get_by_text("That did not work")).to_be_visible()
    person.complaints = [c for c in person.complaints if "500" not in c]
    person.close()


def test_pages_can_be_read_without_javascript(browser: Browser, sites: Sites) -> None:
    """Overview, commit and plan are whole; labelling says what to do instead."""
    person = sites.visitor(browser, "owner", begun=True, java_script_enabled=False)
    page = person.page
    expect(page.locator("figure svg").first).to_be_visible()
    page.get_by_role("row", name="a better model").get_by_role("link").click()
    expect(page.get_by_role("heading", name="a better model")).to_be_visible()
    expect(page.locator("figure svg").first).to_be_visible()
    person.go("Plan")
    page.get_by_label("Condition").fill("n > 0.9 +/- 0.02")
    page.get_by_label("Steps").fill("7")
    page.get_by_role("button", name="Calculate").click()
    expect(page.locator("#script-text")).to_contain_text("n > 0.9 +/- 0.02")
    expect(page.locator("#script-text")).to_contain_text("steps: 7")
    expect(page.get_by_label("Steps")).to_have_value("7")
    person.go("Label")
    instead = page.locator("noscript .notice")
    expect(instead).to_be_visible()
    assert "needs JavaScript" in instead.inner_text()
    assert "easeci label in a terminal" in instead.inner_text()
    expect(page.locator("#labelling")).to_be_hidden()
    assert not problems(page)
    person.close()


@pytest.mark.long
def test_a_testset_can_be_added_without_javascript(browser: Browser, tmp_path: Path) -> None:
    place = Workplace.make(tmp_path)
    place.commit_cut(0.7)
    with serving_here(place.repository) as here:
        person = Person(browser, here, java_script_enabled=False)
        person.sign_in(token(place.repository, "owner"))
        page = person.page
        person.go("Testsets")
        page.get_by_label("Examples", exact=True).set_input_files(place.examples)
        page.get_by_label("Labels, if there are any").set_input_files(place.labels)
        page.get_by_label("Even if it is smaller than planned").check()
        page.get_by_role("button", name="Seal the testset").click()
        expect(page.get_by_role("status")).to_contain_text("1,520 examples, 1,520 labels")
        person.close()
