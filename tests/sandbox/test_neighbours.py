"""What another account of the machine can be told while a program runs, and that it ends with it.

This is a limit of both sandboxes, and docs/security.md says so. The kernel shows every account the
command lines of all processes (``ps``) and the locks of all files (``/proc/locks``). Programs of
several processes need both. If a channel below is closed one day, change that page.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from easeci.build.sandbox import Limits, Sandbox
from tests.sandbox.accounts import ACCOUNTS, USER, account_site
from tests.sandbox.building import KINDS, SYSTEM_PYTHON, usable
from tests.waiting import PATIENCE

NEIGHBOUR = USER - 1
SHARED = "/usr/bin/env"
TITLE, OWN_LOCK, SHARED_LOCK = "a title", "a lock of its own file", "a lock of a shared file"
PROGRAM = """
import fcntl, os, struct, subprocess, sys, time
def lock(path, mode, start):
    file = os.open(path, mode, 0o600)
    fcntl.fcntl(file, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, start, 1, 0))
lock(SHARED, os.O_RDONLY, NUMBER)
lock(os.environ["TMPDIR"] + "/own", os.O_RDWR | os.O_CREAT, NUMBER + 1)
titled = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", TOKEN])
while not os.path.exists(MOUNTED + "/seen"):
    time.sleep(0.01)
titled.kill()
with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
    file.write("id,prediction\\n1,cat\\n")
"""
LOOK = """
import fcntl, json, os, struct, sys, time
from contextlib import suppress
token, number = os.environ["TOKEN"], int(os.environ["NUMBER"])
shared, seconds = os.open(os.environ["SHARED"], os.O_RDONLY), float(os.environ["SECONDS"])
def look():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{pid}/cmdline") as file:
            if token in file.read():
                yield "a title"
    with open("/proc/locks") as file:
        if f" {number + 1} {number + 1}\\n" in file.read():
            yield "a lock of its own file"
    asked = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, number, 1, 0)
    if struct.unpack("hhqqi4x", fcntl.fcntl(shared, fcntl.F_GETLK, asked))[0] != fcntl.F_UNLCK:
        yield "a lock of a shared file"
end = time.monotonic() + seconds
while len(seen := set(look())) < int(os.environ["WANTED"]) and time.monotonic() < end:
    time.sleep(0.05)
print(json.dumps(sorted(seen)))
"""


class Neighbour:
    """Another account, where root runs the tests, that knows what the program will use."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(16)
        self.number = secrets.randbits(60)
        closed = self._run("import os; print(not os.access('/proc/1/cmdline', os.R_OK))")
        self.channels = {OWN_LOCK, SHARED_LOCK} | ({TITLE} if closed == "False" else set())

    def sees(self, seconds: float) -> set[str]:
        """Look until it has seen all that it can see, or for so long."""
        return set(json.loads(self._run(LOOK, SECONDS=str(seconds))))

    def _run(self, script: str, **more: str) -> str:
        known = {"TOKEN": self.token, "NUMBER": str(self.number), "SHARED": SHARED}
        user = NEIGHBOUR if os.geteuid() == 0 else None
        done = subprocess.run(
            [SYSTEM_PYTHON, "-c", script],
            env={**known, "WANTED": str(len(getattr(self, "channels", ()))), **more},
            user=user,
            group=user,
            extra_groups=None if user is None else [],
            cwd="/",
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        return done.stdout.strip()


def told(account: str, kind: str) -> None:
    """Build a program that tells its neighbour something in every way below."""
    neighbour = Neighbour()
    with account_site(account) as site, ThreadPoolExecutor() as pool:
        places = {"MOUNTED": str(site.root / "mounted"), "SHARED": SHARED}
        known = {**places, "TOKEN": neighbour.token, "NUMBER": neighbour.number}
        settings = "".join(f"{name} = {value!r}\n" for name, value in known.items())
        building = pool.submit(site.build, kind, settings + PROGRAM, Limits(seconds=300))
        try:
            seen = neighbour.sees(PATIENCE)
        finally:
            (site.root / "mounted" / "seen").touch()
        assert building.result().said == "", building.result().log
        assert seen == neighbour.channels
        assert neighbour.sees(0) == set()


@pytest.mark.parametrize("account", ACCOUNTS)
@pytest.mark.parametrize("sandbox", KINDS, ids=lambda kind: kind.name)
def test_what_a_neighbour_is_told_ends_with_the_build(sandbox: Sandbox, account: str) -> None:
    """While the program runs, a neighbour sees locks and titles; afterwards, nothing is left."""
    usable(sandbox)
    told(account, sandbox.name)


@pytest.mark.parametrize("account", ACCOUNTS)
def test_without_a_sandbox_it_is_the_same(account: str) -> None:
    """The channels are the kernel's, and no sandbox adds one."""
    told(account, "none")
