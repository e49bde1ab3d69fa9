"""Uploads: how large they may be, what becomes of their names, and that none is left."""

from __future__ import annotations

import socket

import pytest

from tests.integration.web.uploads import LIMIT, Uploading, as_csv, labels

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


@pytest.mark.parametrize("name", HOSTILE)
def test_a_files_name_is_only_words(waiting: Uploading, name: str) -> None:
    """Whatever a browser says that a file is called, it is read, and lies nowhere else."""
    answer = waiting.send(name, as_csv(labels(waiting.place, 5, 6)))
    assert answer.status_code == 200, answer.text
    assert "<script>alert" not in answer.text
    assert "<svg onload" not in answer.text
    assert not waiting.left
    assert not (waiting.scratch.parent / "labels.csv").exists()


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
