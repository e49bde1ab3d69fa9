"""How much the files of a build have grown, seen from outside."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path


class DiskUse:
    """How much folders have grown, asked of ``du`` now and then.

    A process of its own, because a tree may be large; and ``du``, because a program can make a
    tree too deep for recursion.
    """

    EVERY_SECONDS = 0.5

    def __init__(self, folders: tuple[Path, ...]) -> None:
        self._command = ["du", "-s", "--block-size=1", "--", *map(str, folders)]
        self._asked = time.monotonic()
        self._running: subprocess.Popen[bytes] | None = self._ask()
        self._first: int | None = None
        self._latest = 0
        self._pause = self.EVERY_SECONDS

    def grown_bytes(self) -> int:
        """By the last answer; never waits."""
        now = time.monotonic()
        if self._running is None:
            if now - self._asked >= self._pause:
                self._asked, self._running = now, self._ask()
        elif self._running.poll() is not None:
            self._take(self._running, now)
        return self._latest - (self._first or 0)

    def stop(self) -> None:
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None

    def _ask(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603 - no shell
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def _take(self, done: subprocess.Popen[bytes], now: float) -> None:
        output, _ = done.communicate()
        numbers = [int(line.split(b"\t")[0]) for line in output.splitlines() if b"\t" in line]
        self._latest = sum(numbers)
        self._first = self._latest if self._first is None else self._first
        # Large trees take long to walk: look less often, so that looking stays cheap.
        self._pause = max(self.EVERY_SECONDS, 10 * (now - self._asked))
        self._running = None
