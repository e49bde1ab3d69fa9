"""Mail addresses: which are accepted, and how they go out."""

from __future__ import annotations

import pytest

from easeci.errors import UsageError
from easeci.notify import parse_address
from tests.cases import each_case


@each_case(
    "text",
    ["", "a", "@b.org", "a@", "a b@c.org", "a@b c.org", "<a@b.org>", "a@b.org,c@d.org", '"a"@b.org',
     "a@b@c.org", "a..b@c.org", ".a@c.org", "a@-b.org", "a@b..org", f"{'a' * 65}@b.org",
     f"a@{'b' * 64}.org", "a(c)@b.org", "a@[127.0.0.1]", "\udc80@b.org", "a\u202e@b.org"],
)  # fmt: skip
def test_what_is_no_plain_address_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no mail can be sent"):
        parse_address(text)


def test_domains_go_out_in_ascii_and_local_parts_as_they_are() -> None:
    assert parse_address("o'neil+ci@Example.org") == "o'neil+ci@Example.org"
    assert parse_address("owner@müller.example") == "owner@xn--mller-kva.example"
    assert parse_address("jörg@müller.example") == "jörg@xn--mller-kva.example"
    assert parse_address("root@localhost") == "root@localhost"
