"""Files that the owner's browser sends: what becomes of them, and that nothing else does."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeci.service.project import open_project
from tests.integration.web.uploads import Uploading, as_csv, labels
from tests.projects import sealed_ids
from tests.repositories import EXAMPLES, SEALED, Workplace, write_examples
from tests.sites import serving_here, visitor


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, small: Path) -> Iterator[Uploading]:
    place = Workplace.make(tmp_path_factory.mktemp("fresh"))
    place.commit_cut(0.7)
    with serving_here(place.repository) as here:
        yield Uploading(place, here, visitor(here, place.repository, "owner"), small)


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
        ("labels.csv", b"id,label\nsealed,low\nsealed,high\n", "more than once"),
        ("labels.csv", b"id,label\nnobody,low\n", "id"),
        (
            "labels.csv",
            b"id,label\nsealed,purple\n",
            "none of the script&#39;s classes: &#39;purple&#39;",
        ),
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
    sealed = min(sealed_ids(waiting.place.repository)).encode()
    answer = waiting.send(name, content.replace(b"sealed", sealed))
    assert answer.status_code == 400
    alert = answer.text.partition('role="alert">')[2].partition("</div>")[0]
    assert words in alert
    assert not any(where in alert for where in ("Traceback", str(waiting.scratch)))
    assert waiting.testset.label_files == files
    assert not waiting.left


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


def test_a_testset_by_upload_its_end_and_its_release(fresh: Uploading, tmp_path: Path) -> None:
    """Too small a one is refused with the reason; then with labels, retired, released as a zip that
    holds what the command writes; the next one is without labels."""
    place = fresh.place
    examples = place.examples.read_bytes()
    few = b"\n".join(examples.split(b"\n")[:40])
    refused = fresh.send("few.csv", few, "/testsets")
    assert refused.status_code == 400
    assert "The testset is too small: the plan needs 1,429 sealed examples" in refused.text
    assert "38 are left of 39, 1 of them for the public sample" in refused.text
    page = fresh.owner.get("/testsets").text
    assert "<b>1,504</b> examples, 1,429 to be sealed and 75 for the public sample" in page
    unknown = fresh.send("e.csv", examples, "/testsets", baseline="nonsense")
    assert "There is no commit &#39;nonsense&#39;" in unknown.text
    assert 'name="baseline" maxlength="200" value="nonsense"' in unknown.text
    named = examples.replace(b"id,x", b"id,label", 1)
    revealing = fresh.send("e.csv", named, "/testsets", allow_smaller="yes")
    assert revealing.status_code == 400
    assert "The examples have a column &#39;label&#39;, and models would see it" in revealing.text
    assert "name it as “Or the column that holds them”" in revealing.text
    assert "“Even if models see a column that is called label”" in revealing.text
    assert 'name="allow_smaller" value="yes" checked' in revealing.text
    files = {"examples": ("e.csv", examples), "labels": ("l.csv", place.labels.read_bytes())}
    added = fresh.owner.send("/testsets", files=files, allow_smaller="yes")
    assert "Testset 1 is sealed: 1,520 examples, 1,520 labels." in added.text
    assert "80 more were set aside as the public sample" in added.text
    assert "<code>classes: [high, low]</code>" in added.text
    assert (fresh.testset.name, fresh.testset.labels) == ("e.csv", SEALED)
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
    ended = fresh.owner.get("/").text
    assert "Steps left" not in ended
    assert "the testset has ended" in ended

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
    assert "All 1,600 examples were in testset 1" in overlapping.text
    write_examples(tmp_path / "next.csv", start=EXAMPLES - 10)
    columns = (tmp_path / "next.csv").read_bytes().replace(b"\n", b",kept\n")
    columns = columns.replace(b"id,x,kept", b"id,x,label", 1)
    ticks = {"allow_smaller": "yes", "keep_label_column": "yes"}
    next_one = fresh.send("next.csv", columns, "/testsets", **ticks)
    assert "Testset 2 is sealed: 1,511 examples, 0 labels." in next_one.text
    assert "Left out: 10 examples that were in testset 1." in next_one.text
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
