"""A real pseudo-terminal with the installed command in it."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

from tests.commands import COMMAND, plain_environment
from tests.waiting import PATIENCE

CLEAR = "\x1b[2J\x1b[H"


def _take_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a test in the background ignores it


class Terminal:
    """``easeci`` in a terminal of 80 columns and 24 rows."""

    def __init__(self, *arguments: str, folder: Path) -> None:
        self.end, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=folder,
            env=plain_environment() | {"TERM": "xterm", "LOGNAME": "ada"},
            stdin=inside,
            stdout=inside,
            stderr=inside,
            start_new_session=True,
            preexec_fn=_take_terminal,  # noqa: PLW1509 - no threads
        )
        os.close(inside)
        self.text = ""

    def send(self, keys: str) -> None:
        """Press keys."""
        os.write(self.end, keys.encode())

    def screen(self, number: int, prompt: str = "> ") -> str:
        """What is shown once the screen was drawn so often, and ends with the prompt."""
        self._until(lambda: self.text.count(CLEAR) >= number and self.last.endswith(prompt))
        return self.last

    def closed(self) -> str:
        """Everything after the last screen, once the command has ended."""
        self._until(lambda: False)
        os.close(self.end)
        self.process.wait(timeout=PATIENCE)
        return self.last

    @property
    def drawn(self) -> int:
        """How often the screen was drawn."""
        return self.text.count(CLEAR)

    @property
    def last(self) -> str:
        """What the last screen shows."""
        return self.text.rpartition(CLEAR)[2].replace("\r\n", "\n")

    def _until(self, reached: object) -> None:
        assert callable(reached)
        deadline = time.monotonic() + PATIENCE
        while not reached():
            assert time.monotonic() < deadline, self.text[-2000:]
            if not select.select([self.end], [], [], 1.0)[0]:
                continue
            try:
                found = os.read(self.end, 65536)
            except OSError:  # how a terminal says that nobody is there any more
                return
            if not found:
                return
            self.text += found.decode("utf-8", errors="replace")
