"""Pictures of the pages for the docs: a made-up project, a real server, a real browser.

Run by ``make screenshots``. Texts are combined from a few words. Each model is wrong on a fixed
share of them, so that the history is known beforehand.
"""

from __future__ import annotations

import csv
import itertools
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from playwright.sync_api import Browser, Page
from tests.browsers import Person, chromium
from tests.repositories import Workplace
from tests.sites import Running, serving, token

IMAGES = Path(__file__).parent.parent / "docs" / "images"
THINGS = """
headphones kettle backpack lamp keyboard tent stroller blender monitor jacket watch sofa printer
bicycle camera mattress drone speaker router toaster"""
PARTS = """
battery finish handle instructions packaging sound strap weight colour price delivery support
screen zip cable"""
VERDICTS = {
    "positive": ("is better than I hoped", "won me over at once", "has never let me down"),
    "negative": ("broke within a week", "is a disappointment", "was not worth the money"),
    "neutral": ("is what you would expect", "does its job, no more", "is neither good nor bad"),
}
OPENINGS = ("", "Six months in: ", "Bought it for my sister. ", "Second one we own. ")
PROGRAM = """\
import csv, json, os, zlib
from model import WRONG, LUCK

WORDS = {words}

def predict(row):
    right = next(k for k, v in WORDS.items() if any(w in row["review"] for w in v))
    others = [k for k in WORDS if k != right]
    draw = zlib.crc32(row["review"].encode()) % 10_000 / 10_000
    other = zlib.crc32((LUCK + row["review"]).encode()) % 10_000 / 10_000
    if draw < WRONG or other < 0.02:
        return others[zlib.crc32(row["review"].encode()) % 2]
    return right

with open(os.path.join(os.environ["EASECI_EXAMPLES"], "examples.jsonl")) as file:
    rows = [json.loads(line) for line in file]
with open(os.environ["EASECI_PREDICTIONS"], "w", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "prediction"])
    writer.writerows([row["id"], predict(row)] for row in rows)
"""
COMMITS = (
    (0.22, "Bag of words, logistic regression"),
    (0.215, "Lower-case everything"),
    (0.15, "Word pairs"),
    (0.155, "Stop words out"),
    (0.148, "Character n-grams"),
    (0.09, "Small transformer, frozen"),
    (0.12, "Half the layers"),
    (0.088, "Longer warm-up"),
    (0.035, "Fine-tune all layers"),
    (0.034, "Label smoothing"),
    (0.006, "Ensemble of three seeds"),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        place = make_project(Path(folder))
        with serving(place.repository) as running:
            take(browser, running, place)


def make_project(folder: Path) -> Workplace:
    place = Workplace.make(
        folder / "sentiment",
        condition=r"n - o > 0.02 +/- 0.02 /\ d < 0.3 +/- 0.05",
        reliability="0.999",
        sensitivity="0.95",
        difference="0.15",
        steps="24",
        classes="[negative, neutral, positive]",
    )
    place.repository.rename(place.folder / "reviews")
    place = Reviews(place.folder)
    write_reviews(place.examples, place.labels)
    place.write("test_model.py", PROGRAM.replace("{words}", repr(VERDICTS)))
    for number, (wrong, message) in enumerate(COMMITS):
        place.write("model.py", f"WRONG, LUCK = {wrong}, 'v{number}'\n")
        place.commit(message)
        if number == 0:
            place.add_testset("--allow-smaller", labelled=False)
        last = number == len(COMMITS) - 1
        answer_all(place, first_only=last)
    return place


class Reviews(Workplace):
    """A repository with a name of its own."""

    @property
    def repository(self) -> Path:
        return self.folder / "reviews"


def write_reviews(examples: Path, labels: Path) -> None:
    texts = [
        (f"{opening}The {part} of this {thing} {words}.", kind)
        for opening, part, thing, (kind, choice) in itertools.product(
            OPENINGS, PARTS.split(), THINGS.split(), VERDICTS.items()
        )
        for words in choice
    ]
    rows = [(f"r{number * 7919 % len(texts):05d}", *text) for number, text in enumerate(texts)]
    for path, names, columns in ((examples, "id,review", (0, 1)), (labels, "id,label", (0, 2))):
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(names.split(","))
            writer.writerows([row[column] for column in columns] for row in sorted(rows))


def answer_all(place: Workplace, *, first_only: bool) -> None:
    """Test the last commit and give the labels it asks for; with ``first_only``, stop before."""
    known = dict(csv.reader(place.labels.open()))
    wanted, given = place.folder / "wanted.csv", place.folder / "given.csv"
    done = place.easeci("run")
    while done.returncode == 3:
        place.easeci("labels", "export", str(wanted), code=0)
        ids = [row["id"] for row in csv.DictReader(wanted.open())]
        given.write_text("\n".join(["id,label", *(f"{i},{known[i]}" for i in ids), ""]))
        if first_only:
            return
        place.easeci("labels", "import", str(given), code=0)
        done = place.easeci("run")


def take(browser: Browser, running: Running, place: Workplace) -> None:
    owner = person(browser, running, place, "owner", "ines", "light")
    picture(owner.page, "/", "overview", height=1000)
    picture(owner.page, "/commits/9", "commit", height=1130)
    picture(
        owner.page,
        "/plan?condition=n+-+o+%3E+0.02+%2B%2F-+0.01&difference=0.1&effect=0.03",
        "plan-explorer",
        height=1400,
    )
    owner.page.goto("/testsets")  # so that nobody labels meanwhile
    labeller = person(browser, running, place, "labeller", "ada", "dark")
    labeller.page.goto("/label")
    labeller.page.locator("#example dd").wait_for()
    picture(labeller.page, None, "label", height=560)
    phone = browser.new_context(
        base_url=running.address,
        viewport={"width": 390, "height": 844},
        color_scheme="dark",
        device_scale_factor=2,
    )
    phone.add_cookies(owner.context.cookies())
    picture(phone.new_page(), "/", "overview-phone", height=844)


def person(
    browser: Browser, running: Running, place: Workplace, role: str, name: str, scheme: str
) -> Person:
    someone = Person(browser, running, color_scheme=scheme, viewport={"width": 1200, "height": 900})
    someone.sign_in(token(place.repository, role, name))
    return someone


def picture(page: Page, path: str | None, name: str, height: int) -> None:
    if path is not None:
        page.goto(path)
    page.wait_for_load_state("networkidle")
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": size["width"], "height": height})
    page.screenshot(path=IMAGES / f"{name}.png")


if __name__ == "__main__":
    main()
