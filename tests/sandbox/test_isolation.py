"""Two builds share nothing: what a program leaves, no later one finds.

The first program leaves a mark in every way that we know, and the second one looks for each. Without
a sandbox it finds most of them, which shows that the marks are real.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import signal
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.sandbox import Sandbox
from tests.sandbox import marks
from tests.sandbox.accounts import AccountSite, account_site
from tests.sandbox.building import KINDS, Site, usable
from tests.sandbox.marks import LASTING, NOT_EVERYWHERE, PROGRAM, READING

TEXT = Path(marks.__file__).read_text("utf-8")
LEAVE, LOOK = 0, 1
DRIVER = """
import json, os, signal, sys, time
from pathlib import Path
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.program import Program, TreeSource, make_predictions
from easeci.build.repository import Repository
from easeci.build.sandbox import Limits
root, kind, targets = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])
sandbox = {"bubblewrap": Bubblewrap(), "landlock": Landlock(), "none": Unsandboxed()}[kind]
targets["pid"] = os.fork()
if targets["pid"] == 0:
    time.sleep(600)
    os._exit(0)
try:
    for targets["act"] in (0, 1):
        (root / "tree" / "targets.json").write_text(json.dumps(targets))
        built = make_predictions(
            TreeSource(root / "tree"),
            Program(sys.executable + " program.py", Limits(seconds=60), (str(root / "mounted"),)),
            root / "vault" / "examples", root / "into", (sandbox,),
            repository=Repository.find(root / "repository"), hidden=(root / "vault",),
        )
        print((root / "into" / "build.log").read_text(), file=sys.stderr)
finally:
    os.kill(targets["pid"], signal.SIGKILL)
print(built.predictions.read_text())
"""


@pytest.fixture
def token() -> Iterator[str]:
    """A name for marks. If a test fails, what it left is removed here."""
    token = f"easeci-mark-{secrets.token_hex(8)}"
    yield token
    for folder in ("/tmp", "/var/tmp", "/dev/shm"):
        with suppress(FileNotFoundError):
            Path(folder, token).unlink()


@pytest.fixture
def lasting_process() -> Iterator[int]:
    """A process of the account that builds, which goes on between builds."""
    pid = os.fork()
    if pid == 0:
        while True:
            signal.pause()
    yield pid
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def fill(mounted: Path) -> None:
    """Files to leave marks on; one was not read for a long time."""
    mounted.mkdir(exist_ok=True)
    (mounted / "weights").write_text("weights")
    (mounted / "module.py").write_text("answer = 42\n")
    (mounted / "old").write_text("old")
    os.utime(mounted / "old", (1_000_000, 1_000_000))


def condition(mounted: Path, vault: Path) -> list[object]:
    """All that a mark could change of them, seen from outside."""
    seen: list[object] = [sorted(path.name for path in mounted.iterdir())]
    for path in (mounted / "weights", vault):
        about = path.stat()
        seen += [about.st_mode, about.st_mtime, about.st_nlink, os.listxattr(path)]
    with (mounted / "weights").open("rb") as file, suppress(OSError):
        seen.append(struct.unpack("l", fcntl.ioctl(file, 0x80086601, bytes(8))))
    return seen


def known(token: str, root: Path, mounted: Path) -> dict[str, object]:
    """What both programs know."""
    places = {name: str(root / name) for name in ("vault", "repository")}
    return {"token": token, "number": secrets.randbits(30), "mounted": str(mounted), **places}


def found_by(site: Site, sandbox: Sandbox, targets: dict[str, object]) -> set[str]:
    """Which marks of one build another one finds."""
    for act in (LEAVE, LOOK):
        built = site.build(
            sandbox,
            mounts=(str(targets["mounted"]),),
            program__py=PROGRAM,
            marks__py=TEXT,
            targets__json=json.dumps(targets | {"act": act}),
        )
    return set(json.loads(built.predictions.read_text()))


def found_as_ordinary_account(site: AccountSite, kind: str, token: str) -> set[str]:
    """Which marks of one build another one finds, both built by an ordinary account."""
    root = site.root
    fill(root / "mounted")
    (root / "tree").mkdir()
    (root / "tree" / "program.py").write_text(PROGRAM)
    (root / "tree" / "marks.py").write_text(TEXT)
    site.commit(PROGRAM)
    before = condition(root / "mounted", root / "vault")
    targets = known(token, root, root / "mounted")
    done = site.drive(DRIVER, kind, json.dumps(targets))
    assert kind == "none" or condition(root / "mounted", root / "vault") == before
    return set(json.loads(done.stdout))


def allowed_for(sandbox: Sandbox) -> set[str]:
    """The marks that a sandbox is known not to prevent."""
    return {READING} if isinstance(sandbox, Landlock) else set()


def test_a_build_finds_nothing_of_an_earlier_one(
    site: Site, sandbox: Sandbox, token: str, lasting_process: int
) -> None:
    """Nor has anything of the vault or of mounted folders changed."""
    mounted = Path(os.environ["TMPDIR"]) / "mounted"
    fill(mounted)
    before = condition(mounted, site.vault)
    targets = known(token, site.root, mounted) | {"pid": lasting_process}
    assert found_by(site, sandbox, targets) <= allowed_for(sandbox), site.log
    assert condition(mounted, site.vault) == before


def test_without_a_sandbox_it_would(site: Site, token: str, lasting_process: int) -> None:
    """Only what its own folders hold is private even then."""
    mounted = Path(os.environ["TMPDIR"]) / "mounted"
    fill(mounted)
    targets = known(token, site.root, mounted) | {"pid": lasting_process}
    found = found_by(site, Unsandboxed(), targets)
    assert set(LASTING) - NOT_EVERYWHERE <= found <= {*LASTING, READING}, site.log


@pytest.mark.parametrize("sandbox", KINDS, ids=lambda kind: kind.name)
def test_builds_of_an_ordinary_account_share_nothing(sandbox: Sandbox, token: str) -> None:
    """Although both programs run as the same user, who owns the vault and the mounted folder."""
    usable(sandbox)
    with account_site("ordinary") as site:
        found = found_as_ordinary_account(site, sandbox.name, token)
    assert found <= allowed_for(sandbox)


def test_without_a_sandbox_they_would(token: str) -> None:
    """The marks are real ones for an ordinary account, too."""
    with account_site("ordinary") as site:
        found = found_as_ordinary_account(site, "none", token)
    assert set(LASTING) - NOT_EVERYWHERE <= found <= {*LASTING, READING}
