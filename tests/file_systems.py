"""A small file system of a test's own, seen by one program only: read-only, or full."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

UNWRITABLE = {
    "read-only": "mount -o remount,ro tmpfs {place}",
    "full": "cat /dev/zero > {place}/filler 2>/dev/null || true",
}
"""What makes it impossible to write."""


def in_small_file_system(store: Path, place: Path, then: str, program: str) -> str:
    """What a program prints with a copy of a store on a small file system, after a command."""
    place.mkdir()
    script = f"""
mount -t tmpfs -o size=1m tmpfs {place}
cp -a {store} {place}
{then.format(place=place)}
exec "$@"
"""
    ordinary = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    command = ["unshare", *ordinary, "--mount", "sh", "-ec", script, "sh"]
    done = subprocess.run(
        [*command, sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
