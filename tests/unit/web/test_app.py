"""The table of routes: what is open to whom, and how much may be sent."""

from __future__ import annotations

import re

from easeci.service.access.tokens import Role
from easeci.web.app import MOST_UPLOADED, ROUTES, NumberConvertor


def test_only_signing_in_is_open_to_everyone() -> None:
    open_paths = {route.path for route in ROUTES if not route.roles}
    assert open_paths == {"/sign-in", "/enter/{code}"}


def test_a_developer_changes_nothing_but_the_own_session() -> None:
    forms = {r.path for r in ROUTES if r.method == "POST" and Role.DEVELOPER in r.roles}
    assert forms == {"/sign-out"}


def test_only_the_owner_sends_files_and_only_files_are_large() -> None:
    for route in ROUTES:
        assert route.files == (route.most_bytes == MOST_UPLOADED)
        assert not route.files or route.roles == {Role.OWNER}


def test_numbers_in_paths_are_short_and_have_digits_only() -> None:
    convertor = NumberConvertor()
    fits = [bool(re.fullmatch(convertor.regex, text)) for text in ("7", "123456789", "1" * 10)]
    assert fits == [True, True, False]
    assert not re.fullmatch(convertor.regex, "-1")
    assert convertor.convert(convertor.to_string(42)) == 42
