"""A letter as it goes out: read back by the parser that every mail program has."""

from __future__ import annotations

from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from easeci.errors import UsageError
from easeci.notify import Letter
from tests.cases import each_case
from tests.letters import DATE, RECIPIENT, SENDER, a_letter, an_email

HEADERS = {
    "Message-ID", "From", "To", "Subject", "Date", "Auto-Submitted", "MIME-Version", "Content-Type"
}  # fmt: skip
INJECTIONS = [
    "a\nBcc: x@example.org",
    "a\r\n\r\nbody",
    "a\rX: y",
    "a\x00b",
    "a\x0bX: y",
    "a\u2028X: y",
]


def read_back(email: EmailMessage) -> EmailMessage:
    parsed = message_from_bytes(email.as_bytes(), policy=default)
    assert isinstance(parsed, EmailMessage)
    return parsed


def part(email: EmailMessage, kind: str) -> str:
    body = email.get_body((kind,))
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


def test_it_has_text_and_html_and_says_that_a_program_wrote_it() -> None:
    email = read_back(an_email())
    assert email.get_content_type() == "multipart/alternative"
    assert part(email, "plain") == "Passed.\n"
    assert part(email, "html") == "<p>Passed.</p>\n"
    assert email["Auto-Submitted"] == "auto-generated"
    assert email["Date"].datetime == DATE
    assert email["From"].addresses[0].addr_spec == SENDER
    assert email["To"].addresses[0].addr_spec == RECIPIENT


def test_the_same_letter_is_the_same_message_from_wherever_it_is_sent() -> None:
    """A receiver can drop what comes twice, even if the sender's settings were changed between."""
    first = a_letter().as_email(SENDER, DATE)
    again = a_letter().as_email("other@example.net", datetime(2025, 1, 1, tzinfo=UTC))
    assert first["Message-ID"] == again["Message-ID"]
    assert an_email().as_bytes() == first.as_bytes()


def test_other_letters_and_other_recipients_have_other_ids() -> None:
    ids = {str(an_email(n, to)["Message-ID"]) for n in (1, 2) for to in (RECIPIENT, SENDER)}
    assert len(ids) == 4


@settings(max_examples=40)
@given(st.text(), st.text(), st.text())
def test_any_subject_and_body_can_be_sent(number: str, subject: str, body: str) -> None:
    email = Letter(number, RECIPIENT, subject, body, body).as_email(SENDER, DATE)
    content = email.as_bytes()
    content.decode("ascii")
    assert all(len(line) <= 78 for line in content.splitlines())
    read = read_back(email)
    assert set(read.keys()) == HEADERS
    assert not read.defects


def test_unicode_comes_back_as_it_was() -> None:
    subject, text = "Größer als 2 % – 模型 👍", "Δ ≥ 0.02\n.\nFrom here\nein Wort: Maßstab\n"
    email = read_back(
        Letter("1", RECIPIENT, subject, text, f"<p>{text}</p>\n").as_email(SENDER, DATE)
    )
    assert email["Subject"] == subject
    assert part(email, "plain") == text
    assert part(email, "html") == f"<p>{text}</p>\n"


@each_case("text", INJECTIONS)
def test_a_subject_stays_in_its_header(text: str) -> None:
    email = read_back(Letter("1", RECIPIENT, text, "text", "html").as_email(SENDER, DATE))
    assert set(email.keys()) == HEADERS
    assert part(email, "plain").strip() == "text"


@pytest.mark.parametrize("text", INJECTIONS)
def test_an_address_with_more_in_it_is_refused(text: str) -> None:
    for address in (f"{text}@example.org", f"a@example.org{text[1:]}"):
        with pytest.raises(UsageError):
            a_letter(recipient=address)
        with pytest.raises(UsageError):
            a_letter().as_email(address, DATE)


def test_a_long_subject_is_cut() -> None:
    email = read_back(Letter("1", RECIPIENT, "x" * 5000, "", "").as_email(SENDER, DATE))
    assert len(email["Subject"]) == 150
