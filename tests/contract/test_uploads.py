"""Files that the owner's browser sends: what becomes of them, and that nothing else does."""

from __future__ import annotations

import csv
import io
import json
import socket
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import pytest

from easeci.ledger.state import Testset
from easeci.service.project import open_project
from easeci.web import app
from tests.repositories import Workplace, write_examples
from tests.sites import Here, Visit, serving_here, visitor, waiting_project

LIMIT = 64 * 1024
"""What this server takes at once, so that more than that is still little."""
HOSTILE = (
    "../../etc/labels.csv",
    "..\\..\\labels.csv",
    "/etc/passwd/labels.csv",
    "labels\x00.csv",
    "<script>alert(1)</script>.csv",
    '"><svg onload=alert(1)>.csv',
    "….csv",
    "$(touch hacked).csv",
    "-rf.csv",
    "漢" * 90 + ".csv",
    "🜚" * 300 + ".csv",
    "a" * 3000 + ".csv",
)


@dataclass
class Uploading:
    """The owner at a server that keeps what it is sent in a folder of its own."""

    place: Workplace
    here: Here
    owner: Visit
    scratch: Path

    @property
    def left(self) -> list[str]:
        return sorted(path.name for path in self.scratch.iterdir())

    @property
    def testset(self) -> Testset:
        testset = open_project(self.place.repository).state.latest_testset
        assert testset is not None
        return testset

    def send(
        self, name: str, content: bytes, path: str = "/testsets/1/labels", **fields: str
    ) -> httpx.Response:
        field = "examples" if path == "/testsets" else "labels"
        return self.owner.send(path, files={field: (name, content)}, **fields)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    return waiting_project(tmp_path_factory.mktemp("waiting"), classes="[low, high]")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory, place: Workplace) -> Iterator[Path]:
    """Small limits, and a folder for temporary files that only the server uses from here on."""
    assert place.repository.exists()  # making it needs temporary files too
    scratch = tmp_path_factory.mktemp("scratch")
    routes = tuple(
        replace(route, most_bytes=LIMIT) if route.most_bytes == app.MOST_UPLOADED else route
        for route in app.ROUTES
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "ROUTES", routes)
        patch.setattr(tempfile, "tempdir", str(scratch))
        yield scratch


@pytest.fixture(scope="module")
def waiting(place: Workplace, small: Path) -> Iterator[Uploading]:
    with serving_here(place.repository) as here:
        yield Uploading(place, here, visitor(here, place.repository, "owner", "olga"), small)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Iterator[Uploading]:
    place = Workplace.make(tmp_path_factory.mktemp("fresh"))
    place.commit_cut(0.7)
    with serving_here(place.repository) as here:
        yield Uploading(place, here, visitor(here, place.repository, "owner"), small)


def labels(place: Workplace, first: int, last: int) -> list[tuple[str, str]]:
    rows = list(csv.reader(place.labels.read_text().splitlines()))[1:]
    return [(name, label) for name, label in rows[first:last]]


def as_csv(rows: list[tuple[str, str]]) -> bytes:
    return "\n".join(["id,label", *(",".join(row) for row in rows), ""]).encode()


def as_jsonl(rows: list[tuple[str, str]]) -> bytes:
    return "".join(json.dumps({"id": i, "label": label}) + "\n" for i, label in rows).encode()


def test_labels_count_and_are_the_senders(waiting: Uploading) -> None:
    """CSV and JSONL; what is known already changes only if that is said."""
    before = waiting.testset.labels
    answer = waiting.send("some.csv", as_csv(labels(waiting.place, 0, 3)))
    assert "Labels: 3 added." in answer.text
    answer = waiting.send("more.JSONL", as_jsonl(labels(waiting.place, 2, 5)))
    assert "Labels: 2 added, 1 known before." in answer.text
    assert waiting.testset.labels == before + 5
    name, label = labels(waiting.place, 0, 1)[0]
    other = as_csv([(name, "high" if label == "low" else "low")])
    refused = waiting.send("other.csv", other)
    assert refused.status_code == 400
    assert waiting.testset.corrected == 0
    assert "1 corrected" in waiting.send("other.csv", other, correct="yes").text
    assert waiting.testset.corrected == 1
    testset = waiting.testset
    frame = (
        open_project(waiting.place.repository)
        .sealed(testset)
        .files.load_table(testset.label_files[0])
    )
    assert set(frame["by"]) == {"olga"}
    assert not waiting.left


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("labels.csv", b"", "labels.csv"),
        ("labels.csv", b"id,label\ne1,low\ne1,high\n", "more than once"),
        ("labels.csv", b"id,label\nnobody,low\n", "id"),
        ("labels.csv", b"id,label\ne9,purple\n", "classes"),
        ("labels.csv", b"name,value\ne1,low\n", "id"),
        ("labels.jsonl", b"{not json\n", "labels.jsonl"),
        ("labels.parquet", b"PAR1 no PAR1", "labels.parquet"),
        ("labels.exe", b"id,label\ne1,low\n", "labels.exe: unknown kind"),
        ("labels.csv", b"\xff\xfe\x00\x00" * 9, "labels.csv"),
        ("....", b"id,label\n", "The file has no name"),
    ],
)
def test_a_wrong_file_is_explained_and_leaves_nothing(
    waiting: Uploading, name: str, content: bytes, words: str
) -> None:
    files = waiting.testset.label_files
    answer = waiting.send(name, content)
    assert answer.status_code == 400
    alert = answer.text.partition('role="alert">')[2].partition("</div>")[0]
    assert words in alert
    assert not any(where in alert for where in ("Traceback", str(waiting.scratch), "purple"))
    assert waiting.testset.label_files == files
    assert not waiting.left


@pytest.mark.parametrize("name", HOSTILE)
def test_a_files_name_is_only_words(waiting: Uploading, name: str) -> None:
    """Whatever a browser says that a file is called, it is read, and lies nowhere else."""
    answer = waiting.send(name, as_csv(labels(waiting.place, 5, 6)))
    assert answer.status_code == 200, answer.text
    assert "<script>alert" not in answer.text
    assert "<svg onload" not in answer.text
    assert not waiting.left
    assert not (waiting.scratch.parent / "labels.csv").exists()


def test_a_form_is_answered_on_a_page_that_can_be_loaded_again(waiting: Uploading) -> None:
    """Once, to the session that sent it, on the page that it leads to, and with a plain address."""
    place, other = waiting.place, visitor(waiting.here, waiting.place.repository, "owner")
    sent = waiting.owner.post(
        "/testsets/1/labels", files={"labels": ("some.csv", as_csv(labels(place, 6, 7)))}
    )
    assert (sent.status_code, sent.headers["location"]) == (303, "/testsets")
    assert "set-cookie" not in sent.headers
    assert sent.content == b""
    said = "Labels: 1 added."
    assert said not in other.get("/testsets").text
    assert said not in waiting.owner.get("/").text
    assert waiting.owner.client.head("/testsets").status_code == 200
    assert said in waiting.owner.get("/testsets").text
    assert said not in waiting.owner.get("/testsets").text


def test_a_refused_form_is_as_it_was_filled_in(waiting: Uploading) -> None:
    unsure = waiting.owner.post("/testsets/1/retire", reason='"too" old')
    assert unsure.status_code == 400
    assert "Tick that you are sure" in unsure.text
    assert 'value="&#34;too&#34; old"' in unsure.text
    wrong = waiting.send("labels.csv", b"", correct="yes")
    assert 'name="correct" value="yes" checked' in wrong.text
    assert 'name="correct" value="yes">' in waiting.owner.get("/testsets").text


def test_no_file_is_said(waiting: Uploading) -> None:
    for path in ("/testsets/1/labels", "/testsets"):
        answer = waiting.owner.post(path, files={"other": ("", b"")})
        assert answer.status_code == 400
        assert "No file was chosen" in answer.text


def raw(uploading: Uploading, headers: dict[str, str], body: bytes = b"") -> str:
    """A request that need not be a whole one; the answer to it."""
    address = uploading.owner.client.base_url
    cookie = "; ".join(f"{name}={value}" for name, value in uploading.owner.client.cookies.items())
    kind = "multipart/form-data; boundary=line"
    given = {"Host": f"{address.host}:{address.port}", "Cookie": cookie, "Content-Type": kind}
    given["Sec-Fetch-Site"] = "same-origin"
    lines = [f"{name}: {value}\r\n" for name, value in (given | headers).items()]
    head = "".join(["POST /testsets/1/labels HTTP/1.1\r\n", *lines, "\r\n"])
    assert address.port is not None
    with socket.create_connection((address.host, address.port), timeout=60) as connection:
        connection.sendall(head.encode() + body)
        answer = b""
        while b"</html>" not in answer and (part := connection.recv(65536)):
            answer += part
    return answer.decode()


def test_what_says_that_it_is_too_large_is_not_even_read(waiting: Uploading) -> None:
    answer = raw(waiting, {"Content-Length": str(LIMIT + 1)})
    assert answer.startswith("HTTP/1.1 413")
    assert "more than 64 KiB at once" in answer
    assert "easeci labels import" in answer
    assert not waiting.left


def test_what_is_too_large_without_saying_so_is_cut_off(waiting: Uploading) -> None:
    """In parts of unknown length, and under a length that is a lie."""
    files = waiting.testset.label_files
    form = b'--line\r\nContent-Disposition: form-data; name="labels"; filename="labels.csv"\r\n\r\n'
    part = b"id,label\n" + b"e1,low\n" * 2000
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in (form, *[part] * 5))
    answer = raw(waiting, {"Transfer-Encoding": "chunked"}, chunks)
    assert answer.startswith("HTTP/1.1 413")
    assert waiting.testset.label_files == files
    assert not waiting.left


def test_an_upload_that_breaks_off_leaves_nothing(
    waiting: Uploading, capfd: pytest.CaptureFixture[str]
) -> None:
    """A browser that is closed while it sends: no file is left, and the server's log has no line."""
    files = waiting.testset.label_files
    address = waiting.owner.client.base_url
    cookie = "; ".join(f"{name}={value}" for name, value in waiting.owner.client.cookies.items())
    assert address.port is not None
    with socket.create_connection((address.host, address.port), timeout=60) as connection:
        connection.sendall(
            f"POST /testsets/1/labels HTTP/1.1\r\nHost: {address.host}:{address.port}\r\n"
            f"Cookie: {cookie}\r\nContent-Length: 9999\r\nSec-Fetch-Site: same-origin\r\n"
            "Content-Type: multipart/form-data; boundary=line\r\n\r\n--line\r\n".encode()
        )
    assert "in use" in waiting.owner.get("/testsets").text
    assert waiting.testset.label_files == files
    assert not waiting.left
    assert capfd.readouterr().err == ""


def test_a_form_that_is_none_gets_a_page(waiting: Uploading) -> None:
    """What can't be read as a form is said as every other mistake is, and to scripts as JSON."""
    kind = {"Content-Type": "multipart/form-data"}
    page, document = (
        waiting.owner.client.post(path, content=b"-", headers=kind)
        for path in ("/testsets/1/labels", "/label/take")
    )
    assert (page.status_code, document.status_code) == (400, 415)  # no files are asked for there
    assert "That did not work" in page.text
    assert "cannot read this as a form" in document.json()["error"]


def test_a_testset_by_upload_its_end_and_its_release(fresh: Uploading, tmp_path: Path) -> None:
    """Too small a one is refused with the reason; then with labels, retired, released as a zip that
    holds what the command writes; the next one is without labels."""
    place = fresh.place
    examples = place.examples.read_bytes()
    few = b"\n".join(examples.split(b"\n")[:40])
    refused = fresh.send("few.csv", few, "/testsets")
    assert refused.status_code == 400
    assert "The testset is too small: it has 39 examples, the plan needs" in refused.text
    named = examples.replace(b"id,x", b"id,label", 1)
    revealing = fresh.send("e.csv", named, "/testsets", allow_smaller="yes")
    assert revealing.status_code == 400
    assert "The examples have a column &#39;label&#39;, and models would see it" in revealing.text
    assert "name it as “Or the column that holds them”" in revealing.text
    assert "“Even if models see a column that is called label”" in revealing.text
    assert 'name="allow_smaller" value="yes" checked' in revealing.text
    files = {"examples": ("e.csv", examples), "labels": ("l.csv", place.labels.read_bytes())}
    added = fresh.owner.send("/testsets", files=files, allow_smaller="yes")
    assert "Testset 1 is sealed: 1,500 examples, 1,500 labels." in added.text
    assert (fresh.testset.name, fresh.testset.labels) == ("e.csv", 1500)
    again = fresh.owner.post("/testsets", files=files, allow_smaller="yes")
    assert again.status_code == 400
    assert "still in use" in again.text

    early = fresh.owner.post("/testsets/1/release")
    assert early.status_code == 400
    assert "still in use" in early.text
    assert fresh.owner.post("/testsets/1/retire", reason="<b>old</b>").status_code == 400
    assert fresh.testset.retired is None
    retired = fresh.owner.send("/testsets/1/retire", reason="<b>old</b>", sure="yes")
    assert "Testset 1 is retired." in retired.text
    assert "<b>old" not in retired.text
    assert "&lt;b&gt;old" in retired.text

    released = fresh.owner.post("/testsets/1/release")
    assert released.headers["content-type"] == "application/zip"
    assert 'filename="testset-1.zip"' in released.headers["content-disposition"]
    place.easeci("testset", "release", "--to", str(tmp_path / "command"), code=0)
    written = {
        path.relative_to(tmp_path / "command").as_posix(): path.read_bytes()
        for path in (tmp_path / "command").rglob("*")
        if path.is_file()
    }
    with zipfile.ZipFile(io.BytesIO(released.content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == written
    assert "labels.csv" in written

    overlapping = fresh.send("e.csv", examples, "/testsets", allow_smaller="yes")
    assert overlapping.status_code == 400
    assert "examples of testset 1 again" in overlapping.text
    write_examples(tmp_path / "next.csv", start=5000)
    columns = (tmp_path / "next.csv").read_bytes().replace(b"id,x", b"id,label", 1)
    ticks = {"allow_smaller": "yes", "keep_label_column": "yes"}
    next_one = fresh.send("next.csv", columns, "/testsets", **ticks)
    assert "Testset 2 is sealed: 1,500 examples, 0 labels." in next_one.text
    assert not fresh.left

    # A page that was open all the while, at a testset whose ids may be called the same.
    stale = fresh.owner.post("/testsets/1/retire", sure="yes")
    other = fresh.send("l.csv", b"id,label\ne5000,low\n", "/testsets/1/labels")
    for answer in (stale, other):
        assert answer.status_code == 400
        assert "meant for testset 1, but the testset is 2 now" in answer.text
    assert (fresh.testset.number, fresh.testset.retired, fresh.testset.labels) == (2, None, 0)
    assert "Testset 2 is retired." in fresh.owner.send("/testsets/2/retire", sure="yes").text
    again = fresh.owner.post("/testsets/2/retire", sure="yes", reason="sent twice")
    assert again.status_code == 400
    assert "A new testset is needed: testset 2 is retired" in again.text
