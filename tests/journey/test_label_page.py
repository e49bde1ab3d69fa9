"""Labelling in a real browser: any examples, any keys, and labellers who come and go."""

from __future__ import annotations

import csv
import json
import struct
import time
import wave
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from easeci.service.project import open_project
from easeci.vault.journal import Journal
from easeci.views.readable import visible
from tests.browsers import Person
from tests.repositories import Workplace, write_examples
from tests.sites import (
    Running,
    serving,
    serving_here,
    start_server,
    token,
    visitor,
    waiting_project,
)
from tests.waiting import PATIENCE, wait_until

HACK = "window.hacked=1"
HOSTILE = (
    f"<script>{HACK}</script>",
    f"<img src=x onerror={HACK}>",
    f'"><svg onload={HACK}>',
    f"javascript:{HACK}",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "\u202eright to left\u202c \u2066isolated",
    "\x00\x07\x1b[31m",
    "a" * 30_000,
    "null",
    "",
)
CLASSES = (
    "low",
    "high",
    f"<img src=x onerror={HACK}>",
    f"</button><script>{HACK}</script>",
    *(f"class {number}" for number in range(5, 13)),
)
NEVER = "0.99999999"
UNDECIDABLE = {"condition": "n > 0.94 +/- 0.01", "reliability": NEVER, "sensitivity": NEVER}
"""In the middle of the zone if labels are right: with few examples, all of them are asked for."""
WHATEVER_IS_SAID = UNDECIDABLE | {"condition": "n > 0.5 +/- 0.01"}
"""Not even if they are wrong: it would take more than 25 that all say the same."""
SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="120" height="120"><rect width="120" '
    'height="120" fill="#0a0"/><script>window.hacked=1; fetch("/hacked");'
    'document.documentElement.setAttribute("hacked", "1")</script></svg>'
)


@pytest.fixture(autouse=True)
def _nobody_stays(browser: Browser) -> Iterator[None]:
    """A test that fails must not keep examples from the next one."""
    yield
    for context in browser.contexts:
        for page in context.pages:
            close_tab(page)
        context.close()


def close_tab(page: Page) -> None:
    """As somebody does: the page learns of it."""
    with page.expect_event("close"):
        page.close(run_before_unload=True)


def png(shade: int) -> bytes:
    """A picture of 120 by 120 grey dots."""
    rows = (b"\x00" + bytes([shade]) * 120) * 120
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", 120, 120, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    chunks = [
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


# -- examples that would like to be programs


@dataclass
class Hostile:
    place: Workplace
    running: Running


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hostile]:
    """Files of every kind, and markup wherever somebody can write something."""
    classes = ", ".join(f"'{name}'" for name in CLASSES)
    place = Workplace.make(
        tmp_path_factory.mktemp("hostile"), classes=f"[{classes}]", **UNDECIDABLE
    )
    files = place.folder / "files"
    files.mkdir()
    examples = place.folder / f'<img src=x onerror={HACK}> ".jsonl'
    with examples.open("w", encoding="utf-8") as file:
        for n in range(80):
            picture = f"{n}.svg" if n % 4 == 0 else f"{n}.png"
            if n % 4 == 0:
                (files / picture).write_text(SVG.replace("#0a0", f"#0a{n % 10}"))
            else:
                (files / picture).write_bytes(png(3 * n))
            with wave.open(str(files / f"{n}.wav"), "wb") as sound:
                sound.setparams((1, 1, 8000, 0, "NONE", "not compressed"))
                sound.writeframes(bytes([100 + n] * 800))
            (files / f"{n}.html").write_text(f"<script>{HACK}</script>{n}")
            row = {
                "id": f"e{n}",
                "x": (n * 0.618) % 1.0,
                f"<b onclick={HACK}>name</b>": HOSTILE[n % len(HOSTILE)],
                "nothing": None if n % 2 else "something",
                "picture": picture,
                "sound": f"{n}.wav",
                "other": f"{n}.html",
            }
            file.write(json.dumps(row) + "\n")
    place.git("checkout", "--quiet", "-b", f'"><svg/onload={HACK}>')
    place.write("model.py", "")
    place.write(
        "test_model.py",
        f"print('<script>{HACK}</script>')\n" + (place.repository / "test_model.py").read_text(),
    )
    place.commit_cut(0.55, f"<script>{HACK}</script>")
    place.easeci("testset", "add", str(examples), "--files", str(files), "--allow-smaller", code=0)
    place.easeci("run", code=3)
    with serving(place.repository) as running:
        yield Hostile(place, running)


def assert_harmless(person: Person) -> None:
    assert person.page.evaluate("window.hacked") is None
    assert not [url for url in person.requests if "hacked" in urlsplit(url).path]


def tickets_loaded(person: Person, column: str) -> set[str]:
    """Of which examples the browser has asked for a file."""
    found = set()
    for url in person.requests:
        split = urlsplit(url)
        if split.path.startswith("/label/files/") and parse_qs(split.query)["column"] == [column]:
            found.add(split.path.rpartition("/")[2])
    return found


def shown_ticket(page: Page) -> str:
    expect(page.locator("#example dl")).to_be_visible()
    return page.locator("#example").get_attribute("data-ticket") or ""


def sent(page: Page) -> None:
    """Every answer has arrived, and what came back is on the screen."""
    expect(page.locator("#labelling")).to_have_attribute("data-unsent", "0")


def right_key(page: Page) -> str:
    """The number of the right class: wrong ones could decide the commit before a test is over."""
    return "1" if float(page.locator("#example dd").first.inner_text()) < 0.5 else "2"


def test_examples_are_shown_and_never_run(browser: Browser, hostile: Hostile) -> None:
    """Every hostile text appears letter by letter, but for characters that would command a screen,
    in examples, names of columns and of classes; pictures of the next example are there before the key; keys of many classes end with Enter."""
    person = Person(browser, hostile.running)
    page = person.page
    person.sign_in(token(hostile.place.repository, "labeller", "ada"))
    seen: set[str] = set()
    for turn in range(24):
        ticket = shown_ticket(page)
        names = page.locator("#example dt").all_inner_texts()
        assert f"<b onclick={HACK}>name</b>" in names
        text = page.locator("#example dd").nth(1).evaluate("node => node.textContent")
        seen.add(text)
        picture = page.locator("#example img")
        expect(picture).to_be_visible()
        page.wait_for_function("() => document.querySelector('#example img').complete")
        assert picture.evaluate("image => image.naturalWidth") == 120
        assert page.locator("#example audio").evaluate("sound => sound.controls")
        assert picture.get_attribute("alt") == "picture of this example"
        sent(page)
        # HELD examples are loaded: this one, and the two that come next.
        before = tickets_loaded(person, "picture")
        assert ticket in before
        key = page.get_by_role("button", name=CLASSES[turn % 12])
        expect(key.first).to_be_visible()
        if turn == 0:
            page.keyboard.press("1")
            page.keyboard.press("9")
            expect(page.locator("#said")).to_have_text("Class 19 … Enter")
            page.keyboard.press("Backspace")
            page.keyboard.press("2")
        elif turn == 1:
            page.keyboard.press("4")
            page.keyboard.press("0")
            page.keyboard.press("Enter")
            expect(page.locator("#said")).to_have_text("There is no class with this number.")
            assert shown_ticket(page) == ticket
            page.keyboard.press("3")
        else:
            page.keyboard.press(right_key(page))
        page.keyboard.press("Enter")
        assert shown_ticket(page) in before, "the next example was not loaded ahead"
    sent(page)
    said = answers(hostile.place)
    assert {label for _, label, _ in said.values()} == {"low", "high", CLASSES[11], CLASSES[2]}
    assert len(said) == 24
    cut = f"{'a' * 20_000}… (10,000 more characters)"
    assert seen <= {cut, *map(visible, HOSTILE)}
    assert len(seen) >= 7
    assert_harmless(person)
    person.close()


def test_files_are_only_for_the_tab_that_holds_the_example(
    browser: Browser, hostile: Hostile
) -> None:
    """And they are shown, not run, even at their own address."""
    person = Person(browser, hostile.running)
    page = person.page
    person.sign_in(token(hostile.place.repository, "labeller", "bea"))
    while not page.locator("#example img").is_visible() or not svg_shown(person):
        before = shown_ticket(page)
        page.keyboard.press(right_key(page))
        page.keyboard.press("Enter")
        expect(page.locator("#example")).not_to_have_attribute("data-ticket", before)
        sent(page)
    address = page.locator("#example img").evaluate("image => image.src")
    link = page.locator("#example a").get_attribute("href") or ""
    other = visitor(hostile.running, hostile.place.repository, "labeller", "cid")
    split = urlsplit(address)
    assert other.get(f"{split.path}?{split.query}").status_code == 400
    tab = parse_qs(split.query)["tab"][0]
    ticket = split.path.rpartition("/")[2]
    mine = httpx.Client(
        base_url=hostile.running.address,
        cookies={cookie["name"]: cookie["value"] for cookie in person.context.cookies()},
    )
    with mine:
        fine = mine.get(f"{split.path}?{split.query}")
        assert fine.status_code == 200
        assert fine.headers["content-security-policy"] == "default-src 'none'; sandbox"
        html = mine.get(link)
        assert html.headers["content-disposition"] == "attachment"
        assert html.headers["content-type"] == "application/octet-stream"
        for query in (
            {"tab": tab, "column": "../../../key"},
            {"tab": tab, "column": "x"},
            {"tab": tab, "column": "id"},
            {"tab": tab, "column": ""},
            {"tab": "0" * 32, "column": "picture"},
            {"tab": "../" * 8, "column": "picture"},
            {"column": "picture"},
        ):
            assert mine.get(split.path, params=query).status_code == 400, query
        for path in (
            "../../../../etc/passwd",
            "..%2f..%2fkey",
            "%2e%2e/key",
            "0" * 16,
            ticket[:-1],
        ):
            refused = mine.get(f"/label/files/{path}", params={"tab": tab, "column": "picture"})
            assert refused.status_code in (303, 400, 404), path
    assert_harmless(person)

    opened = person.context.new_page()
    opened.on("request", lambda request: person.requests.append(request.url))
    opened.goto(address)
    assert "<rect" in opened.content()
    assert 'hacked="1"' not in opened.content()
    assert not [url for url in person.requests if "hacked" in urlsplit(url).path]
    person.close()


def svg_shown(person: Person) -> bool:
    source = person.page.locator("#example img").evaluate("image => image.src")
    kind = person.page.request.get(source).headers["content-type"]
    return kind.startswith("image/svg")


def test_names_on_the_owners_pages_are_only_words(browser: Browser, hostile: Hostile) -> None:
    """A commit's subject, its branch, the testset's file and what a build printed."""
    person = Person(browser, hostile.running)
    page = person.page
    person.sign_in(token(hostile.place.repository, "owner"))
    subject, branch = f"<script>{HACK}</script>", f'"><svg/onload={HACK}>'
    file = f'<img src=x onerror={HACK}> ".jsonl'
    for path, texts in (
        ("/", (subject, branch, file)),
        ("/commits/1", (subject, branch)),
        ("/commits/1/log", (subject,)),
        ("/testsets", (file,)),
    ):
        page.goto(path)
        for text in texts:
            expect(page.get_by_text(text).first).to_be_visible()
        assert_harmless(person)
    person.close()


# -- keys, and those who press them


@dataclass
class Plain:
    """Examples that are one number; whose classes nobody has declared."""

    place: Workplace
    running: Running
    xs: dict[str, str] = field(default_factory=dict)
    """Ids by what is shown."""

    @property
    def port(self) -> str:
        return str(httpx.URL(self.running.address).port)


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plain]:
    place = Workplace.make(tmp_path_factory.mktemp("plain"), sample="0", **WHATEVER_IS_SAID)
    write_examples(place.examples, size=150)
    place.labels.write_text("id,label\ne0,low\ne1,high\n")
    place.commit_cut(0.55)
    place.add_testset("--allow-smaller")
    place.easeci("run", code=3)
    rows = list(csv.reader(place.examples.read_text().splitlines()))[1:]
    plain = Plain(place, start_server(place.repository), {x: name for name, x in rows})
    yield plain
    assert "unexpected" not in plain.running.stop()


@pytest.fixture
def plain(lasting: Plain) -> Plain:
    """With its server, even if the test before ended while there was none."""
    if lasting.running.process.poll() is not None:
        lasting.running = start_server(lasting.place.repository, "--port", lasting.port)
    return lasting


def answers(place: Workplace) -> dict[str, tuple[str, str | None, str]]:
    """State, label and labeller by id: what is recorded, and what is in the journal."""
    project = open_project(place.repository)
    testset = project.state.testsets[1]
    sealed = project.sealed(testset)
    found: dict[str, tuple[str, str | None, str]] = {}
    for name in testset.label_files:
        for row in sealed.files.load_table(name).iter_rows(named=True):
            if row.get("by"):
                assert row["id"] not in found
                found[row["id"]] = (row["state"], row["label"], row["by"])
    path = sealed.labels_folder / "open.jsonl"
    given: dict[int, dict[str, str]] = {}
    for line in path.read_text().splitlines() if path.exists() else ():
        entry = json.loads(line)
        if "undo" in entry:
            del given[entry["position"]]
        else:
            assert entry["position"] not in given
            given[entry["position"]] = entry
    for entry in given.values():
        assert entry["id"] not in found
        found[entry["id"]] = (entry["state"], entry["label"], entry["by"])
    return found


def stored_leases(place: Workplace) -> str:
    """The leases as the server stores them."""
    project = open_project(place.repository)
    folder = project.sealed(project.state.testsets[1]).labels_folder
    try:
        return (folder / "held.json").read_text()
    except FileNotFoundError:
        return ""


class Labeller(Person):
    """Somebody at the page of labelling, and what they have said."""

    def __init__(self, browser: Browser, plain: Plain, name: str) -> None:
        super().__init__(browser, plain.running)
        self.plain, self.name = plain, name
        self.sign_in(token(plain.place.repository, "labeller", name))
        self.said: dict[str, tuple[str, str | None, str]] = {}

    @property
    def x(self) -> str:
        return self.page.locator("#example dd").inner_text()

    def answer(self, act: Callable[[], None], state: str, label: str | None = None) -> str:
        """Do something that answers the example that is shown; which one that was."""
        x = self.x
        self.said[self.plain.xs[x]] = (state, label, self.name)
        act()
        expect(self.page.locator("#example dd")).not_to_have_text(x)
        return x

    def press(self, key: str, state: str, label: str | None = None) -> str:
        return self.answer(lambda: self.page.keyboard.press(key), state, label)

    def check(self) -> None:
        """What this labeller has said is what is kept under this name."""
        sent(self.page)
        kept = answers(self.plain.place)
        assert {name: said for name, said in kept.items() if said[2] == self.name} == self.said

    def leave(self, *expected: str) -> None:
        """With no complaint but those that the test has asked for."""
        self.complaints = [c for c in self.complaints if not any(e in c for e in expected)]
        if not self.page.is_closed():
            tab, place = self.page.evaluate("state.tab"), self.plain.place
            before = stored_leases(place).count(tab)
            close_tab(self.page)
            wait_until(lambda: stored_leases(place).count(tab) < max(before, 1))
        self.close()


def test_every_way_to_answer(browser: Browser, plain: Plain) -> None:
    """Keys, buttons, undo, a class by its name; no key counts while somebody types."""
    ada = Labeller(browser, plain, "ada")
    page = ada.page
    ada.press("2", "label", "low")  # no classes are declared: numbers first, then by name
    ada.press("1", "label", "high")
    ada.press("c", "cannot tell")
    ada.press("s", "skipped")
    ada.answer(page.get_by_role("button", name="low").click, "label", "low")
    ada.answer(page.get_by_role("button", name="Skip").click, "skipped")
    page.keyboard.press("7")
    expect(page.locator("#said")).to_have_text("There is no class with this number.")
    sent(page)

    first = ada.press("1", "label", "high")
    sent(page)
    page.keyboard.press("u")
    expect(page.locator("#example dd")).to_have_text(first)
    ada.press("2", "label", "low")
    ada.check()

    field, heard = page.get_by_label("Another class"), list[str]()

    def refuse(dialog: Dialog) -> None:
        heard.append(dialog.message)
        dialog.dismiss()

    page.once("dialog", refuse)
    x = ada.x
    field.press_sequentially("1csu2")
    assert ada.x == x
    field.fill("<b>middle</b>")
    field.press("Enter")
    assert heard == ["A new class “<b>middle</b>”?"]
    assert ada.x == x
    page.once("dialog", lambda dialog: dialog.accept())
    ada.answer(lambda: field.press("Enter"), "label", "<b>middle</b>")
    expect(page.locator("#classes button")).to_have_text(["1high", "2low", "3<b>middle</b>"])
    ada.press("3", "label", "<b>middle</b>")
    field.fill("low")
    ada.answer(lambda: field.press("Enter"), "label", "low")  # known: nothing is asked
    ada.check()
    ada.leave()


@pytest.mark.long
def test_the_first_class_is_asked_for_in_words(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Where the script declares none and no label is known, there is nothing that another could be
    besides; from then on it is a key."""
    place = waiting_project(tmp_path_factory.mktemp("first"))
    with serving_here(place.repository) as here:
        ida = Person(browser, here)
        ida.sign_in(token(place.repository, "labeller", "ida"))
        ida.page.on("dialog", lambda dialog: dialog.accept())
        box = ida.page.get_by_label("The first class, in your own words")
        box.fill("low")
        box.press("Enter")
        expect(ida.page.get_by_role("button", name="1 low")).to_be_visible()
        expect(ida.page.get_by_label("Another class")).to_be_visible()
        sent(ida.page)
        close_tab(ida.page)
        ida.close()


def test_after_undo_the_next_key_is_for_what_was_taken_back(browser: Browser, plain: Plain) -> None:
    """However slow the line is: a key that comes before the example is back answers nothing."""
    bea = Labeller(browser, plain, "bea")
    page = bea.page
    taken_back = bea.press("c", "cannot tell")
    sent(page)
    bea.context.set_offline(True)
    page.keyboard.press("u")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Not connected")).to_be_visible()
    bea.context.set_offline(False)
    sent(page)
    expect(page.locator("#example dd")).to_have_text(taken_back)
    bea.press("s", "skipped")
    bea.check()
    bea.leave("ERR_INTERNET_DISCONNECTED")


def test_two_labellers_share_nothing_and_a_closed_tab_gives_back(
    browser: Browser, plain: Plain
) -> None:
    """Nobody is shown what another was; a reload changes nothing; a closed tab's examples are free."""
    cid, dee = (Labeller(browser, plain, name) for name in ("cid", "dee"))
    shown: dict[str, set[str]] = {"cid": set(), "dee": set()}
    for _ in range(5):
        for labeller in (cid, dee, cid):
            shown[labeller.name].add(labeller.press("s", "skipped"))
            shown[labeller.name].add(labeller.x)
    assert not shown["cid"] & shown["dee"]
    for labeller in (cid, dee):
        labeller.check()
        x = labeller.x
        labeller.page.reload()
        expect(labeller.page.locator("#example dd")).to_have_text(x)
    left = shown_ticket(cid.page)
    close_tab(cid.page)
    other = visitor(plain.running, plain.place.repository, "labeller", "eve")
    end, number = time.monotonic() + PATIENCE, 0
    while True:
        tab = f"{number:016d}"
        if left in [question["ticket"] for question in other.label("take", tab)["questions"]]:
            break
        assert time.monotonic() < end, "it was not given back"
        other.label("leave", tab)
        number += 1
    other.label("leave", tab)
    cid.leave()
    dee.leave()


def test_a_tab_that_is_duplicated_has_a_place_of_its_own(browser: Browser, plain: Plain) -> None:
    """A browser copies what the tab keeps. Two at one place would be asked the same, and the one
    that is closed would give away what the other shows."""
    jan = Labeller(browser, plain, "jan")
    shown = jan.x
    with jan.page.expect_popup() as opened:
        jan.page.evaluate("window.open('/label')")
    twin = opened.value
    expect(twin.locator("#example dd")).not_to_have_text("")
    assert twin.locator("#example dd").inner_text() != shown
    place, tab = plain.place, twin.evaluate("state.tab")
    close_tab(twin)
    wait_until(lambda: tab not in stored_leases(place))
    other = visitor(plain.running, plain.place.repository, "labeller", "kim")
    questions = other.label("take", "tabofkim")["questions"]
    other.label("leave", "tabofkim")
    assert shown not in [question["fields"][0]["text"] for question in questions]
    jan.page.reload()
    jan.press("c", "cannot tell")
    jan.check()
    jan.leave()


@pytest.mark.long
def test_a_tab_that_was_duplicated_elsewhere_has_one_too(browser: Browser, plain: Plain) -> None:
    """What it keeps when it leaves the page of labelling is for a reload, and for nothing else."""
    owner = Person(browser, plain.running)
    owner.sign_in(token(plain.place.repository, "owner"))
    owner.go("Label")
    expect(owner.page.locator("#example dd")).not_to_have_text("")
    owner.go("Overview")
    with owner.page.expect_popup() as opened:
        owner.page.evaluate("window.open('/label')")
    owner.go("Label")
    pages = (owner.page, opened.value)
    shown = [page.locator("#example dd").inner_text() for page in pages]
    tabs = [page.evaluate("state.tab") for page in pages]
    for page in pages:
        close_tab(page)
    wait_until(lambda: not any(tab in stored_leases(plain.place) for tab in tabs))
    owner.close()
    assert shown[0] != shown[1]


@pytest.mark.long
def test_a_tab_that_is_closed_while_it_asks_gives_back(browser: Browser, plain: Plain) -> None:
    lea = Labeller(browser, plain, "lea")
    assert lea.x
    lea.page.route("**/label/take", lambda _route: None)  # it will not be answered
    with lea.page.expect_request("**/label/take"):
        lea.page.evaluate("ask()")
    lea.leave()


@pytest.mark.parametrize("way", ["killed", pytest.param("stopped", marks=pytest.mark.long)])
def test_a_server_that_comes_back(browser: Browser, plain: Plain, way: str) -> None:
    """The page says that it is alone, goes on by itself, and what was pressed meanwhile counts once;
    what it showed stays its own."""
    name = f"fay {way}"
    fay = Labeller(browser, plain, name)
    page = fay.page
    fay.press("c", "cannot tell")
    sent(page)
    port = plain.port
    if way == "killed":
        plain.running.kill()
    else:
        assert plain.running.stop() == ""
    fay.press("s", "skipped")
    expect(page.get_by_role("heading", name="Not connected")).to_be_visible()
    expect(page.locator("#labelling")).to_have_attribute("data-unsent", "1")
    x = fay.x
    plain.running = start_server(plain.place.repository, "--port", port)
    expect(page.get_by_role("heading", name="Not connected")).to_be_hidden()
    sent(page)
    assert fay.x == x
    fay.press("s", "skipped")
    fay.check()
    fay.leave("ERR_CONNECTION", "ERR_EMPTY_RESPONSE")


@pytest.mark.long
def test_answers_wait_while_somebody_labels_in_a_terminal(browser: Browser, plain: Plain) -> None:
    """A server that comes back may find the journal taken: an answer is no less one for that."""
    hal = Labeller(browser, plain, "hal")
    page = hal.page
    hal.press("c", "cannot tell")
    sent(page)
    port = plain.port
    plain.running.kill()
    hal.press("s", "skipped")
    project = open_project(plain.place.repository)
    journal = Journal(project.sealed(project.state.testsets[1]).labels_folder)
    plain.running = start_server(plain.place.repository, "--port", port)
    expect(page.get_by_role("heading", name="Not just now")).to_be_visible()
    expect(page.locator("#labelling")).to_have_attribute("data-unsent", "1")
    journal.close()
    expect(page.get_by_role("heading", name="Not just now")).to_be_hidden()
    hal.check()
    hal.leave("ERR_CONNECTION", "ERR_EMPTY_RESPONSE", "503")


@pytest.mark.long
def test_a_labeller_who_is_signed_out_signs_in_again_and_loses_nothing(
    browser: Browser, plain: Plain
) -> None:
    """The page leads there and back without a question; the answer that was under way counts."""
    gus = Labeller(browser, plain, "gus")
    page = gus.page
    dialogs: list[str] = []

    def accept(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.accept()

    page.on("dialog", accept)
    gus.press("c", "cannot tell")
    sent(page)
    gus.said[plain.xs[gus.x]] = ("skipped", None, "gus")
    gus.context.set_offline(True)  # nothing that the page asks for by itself comes first
    page.keyboard.press("s")
    shown = gus.x
    plain.place.easeci("token", "remove", "gus", code=0)
    gus.context.set_offline(False)
    page.wait_for_url("**/sign-in?next=/label")
    page.get_by_label("Your token").fill(token(plain.place.repository, "labeller", "gus"))
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/label")
    gus.check()
    assert gus.x == shown
    assert dialogs == []
    gus.leave("401", "ERR_INTERNET_DISCONNECTED")
