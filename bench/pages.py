"""The web pages: from a key to the next example, four labellers at once, a large testset."""

from __future__ import annotations

import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Page
from tests.browsers import Person, chromium
from tests.repositories import Workplace, write_examples
from tests.sites import Running, Visit, serving, token, visitor

from bench.page import Figure, Section, broken_promises, table
from bench.progress import tell
from bench.ratio import Ratio, ratio

KEYS = 100
LABELLERS, LABELS = 4, 1000
SMALL, MIDDLE, LARGE = 1_000, 10_000, 1_000_000
ROUNDS = 25
SCRIPT = {
    "condition": "n > 0.9 +/- 0.01",  # the model is in the middle of the zone: labels are wanted
    "reliability": "0.9999",
    "sensitivity": "0.9999",
    "steps": "32",
    "classes": "[low, high]",
}
CUT = 0.59
PAUSE_SECONDS = 0.15
"""The least time that a labeller looks at an example."""
OPENING = """\
## The pages

The real server on one machine, with a real browser or clients of its own protocol. A key is pressed
on the labelling page, and the next example is drawn: it was loaded ahead, so that this does not
wait for the answer to reach the disk and come back, which is what it is measured against."""
WATCH = """() => {
  window.times = [];
  let pressed = 0;
  document.addEventListener("keydown", () => { pressed = performance.now(); }, true);
  document.addEventListener("example-shown", () => {
    const key = pressed;
    requestAnimationFrame(() => setTimeout(() => window.times.push(performance.now() - key)));
  });
}"""


def section() -> Section:
    ratios: list[Ratio] = []
    words: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        places = {size: make_place(Path(folder, str(size)), size) for size in (MIDDLE, SMALL)}
        with serving(places[MIDDLE].repository) as running:
            key = measure_keys(running, places[MIDDLE])
            team = measure_team(running, places[MIDDLE])
        ratios += [key.ratio]
        words += [key.words, team.words]
        tell(f"  a testset of {LARGE:,} examples")
        places[LARGE] = make_place(Path(folder, str(LARGE)), LARGE)
        ratios += measure_sizes(places[LARGE], places[SMALL])
    rows = ([row.what, row.against, row.shown(".2f"), row.promise] for row in ratios)
    shown = table(["what", "measured against", "ratio", "at most"], rows, left=2)
    text = f"{OPENING}\n\n{shown}\n" + "\n".join(words)
    return Section(text, broken=broken_promises([*ratios, team.twice]))


def make_place(folder: Path, size: int) -> Workplace:
    """A project with a commit that waits for labels."""
    place = Workplace.make(folder, **SCRIPT)
    write_examples(place.examples, place.labels, size=size)
    place.commit_cut(CUT, "a model")
    place.add_testset("--allow-smaller", labelled=False)
    place.easeci("run", code=3)
    return place


@dataclass(frozen=True)
class Keys:
    ratio: Ratio
    words: str


def measure_keys(running: Running, place: Workplace) -> Keys:
    """Measure the time from a key to the next example, and the round trip of the answer."""
    tell(f"  {KEYS} keys in a browser")
    with chromium() as browser:
        person = Person(browser, running)
        person.sign_in(token(place.repository, "labeller", "keys"))
        person.page.locator("#example dd").wait_for()
        person.page.evaluate(WATCH)
        trips: list[float] = []
        person.page.on("requestfinished", lambda request: _record_trip(request, trips))
        for _ in range(KEYS):
            person.page.keyboard.press(_right_key(person.page))
            time.sleep(PAUSE_SECONDS)
        shown = [float(t) for t in person.page.evaluate("window.times")][-KEYS:]
        person.close()
    assert len(shown) == KEYS, len(shown)
    middle, late = statistics.median(shown), statistics.quantiles(shown, n=20)[-1]
    trip = statistics.median(trips)
    words = (
        f"From key to picture: {middle:.0f} ms in the median, {late:.0f} ms at the 95th percentile "
        f"of {KEYS} keys; the answer's own way to the disk and back {trip:.0f} ms.\n"
    )
    return Keys(
        Ratio("from a key to the next example", middle / trip, 1.0, "the answer's round trip"),
        words,
    )


def _record_trip(request: Any, trips: list[float]) -> None:
    if request.url.endswith("/label/answer"):
        trips.append(float(request.timing["responseEnd"]))


def _right_key(page: Page) -> str:
    return "1" if float(page.locator("#example dd").inner_text()) < 0.5 else "2"


@dataclass
class Team:
    """The questions that the labellers got, and how long each answer took."""

    asked: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    whole: float = 0.0

    @property
    def twice(self) -> Figure:
        return Figure("examples asked twice", len(self.asked) - len(set(self.asked)), 0)

    @property
    def words(self) -> str:
        middle, late = statistics.median(self.seconds), statistics.quantiles(self.seconds, n=20)[-1]
        return (
            f"{LABELLERS} labellers at once, as fast as they could: {len(self.seconds):,} labels "
            f"in {self.whole:.1f} s; an answer took {1000 * middle:.0f} ms in the median and "
            f"{1000 * late:.0f} ms at the 95th percentile; examples asked twice: "
            f"{int(self.twice.value)}.\n"
        )


def measure_team(running: Running, place: Workplace) -> Team:
    tell(f"  {LABELLERS} labellers, {LABELS:,} labels")
    team = Team()
    visits = [
        visitor(running, place.repository, "labeller", f"labeller {n}") for n in range(LABELLERS)
    ]
    threads = [
        threading.Thread(target=_label, args=(visit, f"{number:016d}", team))
        for number, visit in enumerate(visits)
    ]
    begun = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    team.whole = time.perf_counter() - begun
    assert len(team.seconds) >= LABELS, "fewer labels were wanted than were to be measured"
    return team


def _label(visit: Visit, tab: str, team: Team) -> None:
    document = visit.label("take", tab)
    while document["questions"]:
        question = document["questions"][0]
        right = "low" if float(question["fields"][0]["text"]) < 0.5 else "high"
        begun = time.perf_counter()
        document = visit.label("answer", tab, ticket=question["ticket"], state="label", label=right)
        with team.lock:
            team.seconds.append(time.perf_counter() - begun)
            team.asked.append(question["ticket"])
            if len(team.seconds) >= LABELS:
                return


def measure_sizes(large: Workplace, small: Workplace) -> list[Ratio]:
    """Times of pages and answers, against a testset a thousandth of the size; both warmed up."""
    with serving(large.repository) as one, serving(small.repository) as other:
        people = [
            Seat(visitor(running, place.repository, "owner", "sizes"))
            for running, place in ((one, large), (other, small))
        ]
        what: dict[str, Callable[[Seat], object]] = {
            "the overview": lambda person: person.page("/"),
            "the labelling page, with its examples": Seat.take,
            "an answer and the next example": Seat.answer,
        }
        return [
            ratio(
                f"{name}, {LARGE:,} examples",
                lambda act=act: act(people[0]),  # type: ignore[misc]
                f"the same of {SMALL:,}",
                lambda act=act: act(people[1]),  # type: ignore[misc]
                promised=1.5,
                rounds=ROUNDS,
            )
            for name, act in what.items()
        ]


@dataclass
class Seat:
    visit: Visit
    name: str = "0123456789abcdef"
    held: list[dict[str, Any]] = field(default_factory=list)

    def page(self, path: str) -> None:
        answer: httpx.Response = self.visit.get(path)
        assert answer.status_code == 200

    def take(self) -> None:
        self.page("/label")
        self.held = self.visit.label("take", self.name)["questions"]
        assert self.held

    def answer(self) -> None:
        question = self.held[0]
        right = "low" if float(question["fields"][0]["text"]) < 0.5 else "high"
        fields = {"ticket": question["ticket"], "state": "label", "label": right}
        self.held = self.visit.label("answer", self.name, **fields)["questions"]
        assert self.held
