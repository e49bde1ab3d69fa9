"""The process that reads predictions outlives nobody. What it reads is tested in test_untrusted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.waiting import wait_until

CHILD = """
import os, time
from easeci.tables.reading_process import end_with
end_with(os.getppid())
print(os.getpid(), flush=True)
time.sleep(600)
"""
PARENT = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {CHILD!r}])"


def test_it_ends_with_the_process_that_started_it() -> None:
    """Also if that is killed, and could not say a word to it."""
    with subprocess.Popen(
        [sys.executable, "-c", PARENT], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert Path(f"/proc/{child}").exists()
        parent.kill()
    wait_until(lambda: not _is_alive(child))


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
