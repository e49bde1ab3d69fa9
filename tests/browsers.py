"""A real browser: Debian's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.sites import Here, Running
from tests.waiting import PATIENCE


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window, closed at the end."""
    path = shutil.which("chromium")
    assert path is not None, "there is no chromium: `make test-packages` installs it, as root"
    with sync_playwright() as playwright:
        expect.set_options(timeout=1000 * PATIENCE)
        # Its own sandbox does not work as root, which these tests may run as.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


class Person:
    """Somebody with a browser of their own. Whatever the page complains of is an error."""

    def __init__(self, browser: Browser, running: Running | Here, **options: object) -> None:
        self.address = running.address
        self.context: BrowserContext = browser.new_context(
            base_url=running.address,
            **options,  # type: ignore[arg-type]
        )
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._hear)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _hear(self, message: object) -> None:
        if getattr(message, "type", "") in ("error", "warning"):
            self.complaints.append(str(getattr(message, "text", message)))

    def sign_in(self, token: str) -> None:
        """Sign in with a token."""
        self.page.goto("/sign-in")
        self.page.get_by_label("Your token").fill(token)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.get_by_role("button", name="Sign out").wait_for()

    def go(self, name: str) -> None:
        """By the bar on top."""
        self.page.get_by_role("navigation").get_by_role("link", name=name).click()

    def close(self) -> None:
        """Nothing was complained of, and nothing was asked of anybody else."""
        elsewhere = [url for url in self.requests if not url.startswith(self.address)]
        self.context.close()
        assert not self.complaints
        assert not elsewhere
