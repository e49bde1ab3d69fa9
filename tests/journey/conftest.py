"""One browser for all journeys that need one, and two accounts for each that needs them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.accounts import Account, two_accounts
from tests.browsers import chromium


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def accounts() -> Iterator[tuple[Path, Account, Account]]:
    with two_accounts() as found:
        yield found
