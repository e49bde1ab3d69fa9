"""What a developer's token shows: signals, and nothing that labels or verdicts could change."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from easeci.web import sign_in
from easeci.web.app import ROUTES
from tests.hostile_outputs import SEEN, hostile_project
from tests.repositories import Workplace
from tests.sites import Visit, serving_here, visitor, waiting_project

SECRET = re.compile(
    r"label|interval|estimate|outcome|result|unknown|evidence|wealth|example|baseline changed",
    re.IGNORECASE,
)
"""Words of the owner's pages. What is said of the promise and the script is said to everybody."""


def everything(visit: Visit) -> dict[str, tuple[int, dict[str, str], str]]:
    """Every answer that a developer can get: status, headers and body, by route."""
    shown = {}
    for route in ROUTES:
        if route.path in ("/sign-out", "/enter/{code}") or route.endpoint is sign_in.sign_in:
            continue  # whoever guesses too often has to wait
        for number in ("1", "2", "3", "99") if "{number" in route.path else ("1",):
            path = route.path.replace("{number:number}", number).replace("{ticket}", "0" * 32)
            if route.method == "GET":
                answer = visit.get(path)
            else:
                answer = visit.post(path, tab="0123456789abcdef")
            headers = {k: v for k, v in answer.headers.items() if k != "date"}
            shown[f"{route.method} {path}"] = (answer.status_code, headers, answer.text)
    for name in ("style.css", "live.js", "label.js", "plan.js", "mark.svg"):
        answer = visit.get(f"/static/{name}")
        headers = {k: v for k, v in answer.headers.items() if k != "date"}
        shown[name] = (answer.status_code, headers, answer.text)
    return shown


@contextmanager
def watched(place: Workplace) -> Iterator[tuple[Visit, Visit]]:
    with serving_here(place.repository) as running:
        yield (
            visitor(running, place.repository, "developer"),
            visitor(running, place.repository, "owner"),
        )


def part_of_labels(place: Workplace, folder: Path, count: int) -> Path:
    """The labels of some of the examples that are wanted first."""
    wanted = folder / "wanted.csv"
    place.easeci("labels", "export", str(wanted), code=0)
    known = dict(csv.reader(place.labels.read_text().splitlines()))
    ids = [row["id"] for row in csv.DictReader(wanted.read_text().splitlines())][:count]
    path = folder / "some.csv"
    path.write_text("\n".join(["id,label", *(f"{i},{known[i]}" for i in ids), ""]))
    return path


def test_labels_leave_no_trace_until_the_signal_is_there(tmp_path: Path) -> None:
    """While a commit waits, the developer's answers are the same byte for byte whatever was
    labelled, looked at or tried; then they differ by the signal."""
    place = waiting_project(tmp_path / "w")
    with watched(place) as (developer, owner):
        before = everything(developer)
        some = part_of_labels(place, tmp_path, 5)
        with some.open("rb") as file:
            answer = owner.send("/testsets/1/labels", files={"labels": ("some.csv", file)})
        assert answer.status_code == 200, answer.text
        assert "5 added" in answer.text
        held = owner.label("take", tab="0123456789abcdef")
        owner.label(
            "answer",
            tab="0123456789abcdef",
            ticket=held["questions"][0]["ticket"],
            state="label",
            label="low",
        )
        for path in ("/", "/commits/2", "/testsets", "/label"):
            owner.get(path)
        Visit(owner.address).sign_in("easeci_wrong")
        for command in ("token add --role labeller --name ada", "token remove ada", "log --audit"):
            place.easeci(*command.split(), code=0)
        assert everything(developer) == before
        place.easeci("labels", "import", str(place.labels), code=0)
        after = everything(developer)
    changed = {route for route in before if before[route] != after[route]}
    assert changed == {"GET /", "GET /commits/2"}
    waits = (
        "1 commit waits for labels, or for the next tick if the script has <code>disclose:</code>."
    )
    assert waits in before["GET /"][2]
    assert "for the next tick" not in after["GET /"][2]
    was, now = before["GET /commits/2"][2], after["GET /commits/2"][2]
    assert now.replace("pass", "pending") == was.replace("pass", "pending")


def test_under_none_nothing_ever_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not with labels, and not with what they lead to: a good and a bad commit look alike."""
    monkeypatch.setenv("EASECI_SMTP_URL", f"mbox://{tmp_path}/letters")
    shown = []
    for cut, name in ((0.52, "good"), (0.71, "bad")):
        place = Workplace.make(tmp_path / name, adaptivity="none -> owner@example.org")
        place.commit_cut(0.7, "the first model")
        place.add_testset("--allow-smaller", labelled=False)
        place.easeci("run", code=0)
        place.commit_cut(cut, "another model")
        place.easeci("run", code=0)
        with watched(place) as (developer, _):
            before = everything(developer)
            place.easeci("labels", "import", str(place.labels), code=0)
            assert everything(developer) == before
            shown.append(without_names(before["GET /"][2]))
    assert shown[0] == shown[1]


def without_names(page: str) -> str:
    """Commits, times and proofs of sessions differ from project to project."""
    page = re.sub(r"[0-9a-f]{64}|[0-9a-f]{10}", "…", page)
    return re.sub(r"<time.*?</time>", "…", page)


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    place = waiting_project(tmp_path_factory.mktemp("decided"))
    place.easeci("labels", "import", str(place.labels), code=0)
    place.write("test_model.py", "raise SystemExit('the examples are ' + 'e7')\n")
    place.commit("a broken program")
    place.easeci("run", code=5)
    return place


def test_no_word_of_the_owners(decided: Workplace) -> None:
    """Nothing but the promise speaks of labels or examples, and no number is of either."""
    with watched(decided) as (developer, owner):
        verdict = owner.get("/commits/2").text
        labels = re.search(r"Labels used</dt><dd>([0-9,]+)", verdict)
        assert labels is not None
        for route, (status, headers, body) in everything(developer).items():
            if not route.startswith("GET") or status != 200 or route.startswith("GET /sign-in"):
                continue
            main = re.sub(r"<time.*?</time>", "", body[body.index("<main") :])
            said = re.sub(r"<ul>.*?</ul>|What a commit must show.*?</p>", "", main, flags=re.S)
            # The day of the month can be the number of labels by chance.
            said = re.sub(r"<time.*?</time>|<[^>]*>|[0-9a-f]{10,}", " ", said, flags=re.S)
            assert not SECRET.search(said), (route, SECRET.search(said))
            assert not re.search(rf"\b{labels.group(1)}\b|1,?500|e7", said), route
            assert "etag" not in headers
            assert "last-modified" not in headers


def test_errors_say_the_same_to_a_developer_whatever_is_there(decided: Workplace) -> None:
    with watched(decided) as (developer, _):
        shown = everything(developer)
        for refused in ("/label", "/testsets", "/plan"):
            status, _, body = shown[f"GET {refused}"]
            assert status == 403
            assert "not for a developer&#39;s token" in body
        assert shown["GET /commits/1/log"][2] == shown["GET /commits/99/log"][2]
        assert shown["GET /commits/99"][0] == 404
        broken = decided.repository / ".easeci" / "ledger" / "ledger.db"
        content = broken.read_bytes()
        broken.write_bytes(b"label" * 1000)
        try:
            answer = developer.get("/")
            assert answer.status_code == 500
            assert "label" not in answer.text
            assert "ledger" not in answer.text
        finally:
            broken.write_bytes(content)


def test_no_output_score_or_example_reaches_a_developer(tmp_path: Path) -> None:
    """Of a project with a scorer, whose owner sees all three on the page of the commit."""
    place = hostile_project(tmp_path)
    with watched(place) as (developer, owner):
        page = owner.get("/commits/1").text
        assert SEEN in page
        for route, (_, _, body) in everything(developer).items():
            if route.endswith((".css", ".js", ".svg")):
                continue
            said = re.sub(r"<ul>.*?</ul>|What a commit must show.*?</p>", "", body, flags=re.S)
            said = re.sub(r"<time.*?</time>|<[^>]*>|hostile outputs", " ", said, flags=re.S)
            assert SEEN not in body, route
            assert not re.search(r"\boutput|\bmean\b|\be[0-9]{1,3}\b|What is", said), route
