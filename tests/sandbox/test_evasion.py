"""Programs that hide what they use: from the limits on memory, files, processes and time.

Each attack is also run with limits that it does not exceed, and succeeds: so it is a real one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

import pytest

from easeci.build.landlock import Landlock
from easeci.build.sandbox import Sandbox
from tests.sandbox.accounts import ACCOUNTS, AccountSite, account_site
from tests.sandbox.building import GOOD, MOSTLY_THE_BEST, QUICK, usable
from tests.sandbox.test_limits import processes_with

MIB = 2**20
SMALL = replace(QUICK, memory_bytes=64 * MIB, output_bytes=8 * MIB)
LARGE = replace(QUICK, memory_bytes=1024 * MIB, output_bytes=512 * MIB)
BLOCKS = 160
"""How many MiB each attack tries to hold: more than either small limit, less than the large."""


@pytest.fixture(params=ACCOUNTS)
def place(request: pytest.FixtureRequest) -> Iterator[AccountSite]:
    """A site of the account that runs the tests, and one of an ordinary account."""
    with account_site(request.param) as site:
        yield site


def program(attack: str, *, hold: bool) -> str:
    """The attack; then it holds on to what it got for ever, or predicts and ends."""
    after = "time.sleep(600)" if hold else GOOD
    start = (
        f"import array, ctypes, mmap, os, socket, tempfile, threading, time\nBLOCKS = {BLOCKS}\n"
    )
    return f"{start}{attack}\n{after}"


MEMORY = {
    "files in memory that are not mapped": """
for _ in range(BLOCKS):
    os.write(os.memfd_create("held"), b"x" * 2**20)
""",
    "of a process that hides what it holds": """
ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)
for _ in range(BLOCKS):
    os.write(os.memfd_create("held"), b"x" * 2**20)
""",
    "half of it mapped, half not": """
mapped = mmap.mmap(-1, BLOCKS // 4 * 2**20)
for number in range(BLOCKS // 4):
    os.write(os.memfd_create("held"), b"x" * 2**20)
    mapped.write(b"x" * 2**20)
""",
}
FILES = {
    "deleted files that are kept open": """
kept = []
for _ in range(BLOCKS):
    kept.append(tempfile.TemporaryFile(buffering=0))
    kept[-1].write(b"x" * 2**20)
""",
    "deleted files of a thread": """
def write():
    for _ in range(BLOCKS):
        kept.append(tempfile.TemporaryFile(buffering=0))
        kept[-1].write(b"x" * 2**20)
kept = []
thread = threading.Thread(target=write)
thread.start()
thread.join()
assert len(kept) == BLOCKS
""",
    "very many files": """
for number in range(70 * BLOCKS):
    os.close(os.open(f"{number}", os.O_CREAT))
""",
}
UNSEEN_FILES = {
    "deleted files that are mapped": """
libc = ctypes.CDLL(None)  # Python's own mapping would keep the file open
for _ in range(BLOCKS):
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(b"x" * 2**20)
        assert libc.mmap(None, 4096, 1, 1, file.fileno(), 0) != -1
""",
    "deleted files on their way between processes": """
here, there = socket.socketpair()
for _ in range(BLOCKS // 4):
    with tempfile.TemporaryFile(buffering=0) as file:
        file.write(b"x" * 2**20)
        socket.send_fds(here, [b"x"], [file.fileno()])
""",
}
"""No account but root can see these, and root only the first; only a room holds them all."""


def stopped(place: AccountSite, kind: str, attack: str, reason: str) -> None:
    """With small limits the attack ends for that reason, with large ones it succeeds.

    Files without a name are gone with the program, so only the program itself saw the reason.
    """
    tried = place.build(kind, program(attack, hold=True), SMALL)
    assert reason in tried.said or "No space left on device" in tried.log, tried
    tried = place.build(kind, program(attack, hold=False), LARGE)
    assert tried.said == "", tried


@pytest.mark.parametrize("sandbox", MOSTLY_THE_BEST, ids=lambda kind: kind.name)
@pytest.mark.parametrize("attack", MEMORY)
def test_memory_cannot_be_hidden(attack: str, sandbox: Sandbox, place: AccountSite) -> None:
    """Memory counts whether or not it is mapped."""
    usable(sandbox)
    tried = place.build(sandbox.name, program(MEMORY[attack], hold=True), SMALL)
    assert "more than 64 MiB of memory" in tried.said or "hid files" in tried.said, tried
    if "hides" not in attack:
        assert "hid files" not in tried.said
        tried = place.build(sandbox.name, program(MEMORY[attack], hold=False), LARGE)
        assert tried.said == "", tried


@pytest.mark.parametrize("sandbox", MOSTLY_THE_BEST, ids=lambda kind: kind.name)
@pytest.mark.parametrize("attack", FILES)
def test_files_cannot_be_hidden(attack: str, sandbox: Sandbox, place: AccountSite) -> None:
    """Files count whether or not they have a name, and empty ones, too."""
    usable(sandbox)
    stopped(place, sandbox.name, FILES[attack], "more than 8 MiB of files")


CLOSED = """
os.mkdir("closed")
for number in range(BLOCKS):
    with open(f"closed/{number}", "wb") as file:
        file.write(b"x" * 2**20)
        os.fsync(file.fileno())
    if number == 0:
        os.fchmod(os.open("closed", os.O_RDONLY), 0o300)
"""


@pytest.mark.parametrize("sandbox", MOSTLY_THE_BEST, ids=lambda kind: kind.name)
def test_closed_folders_hide_nothing(sandbox: Sandbox, place: AccountSite) -> None:
    """A folder that its own user can't list does not hide files."""
    usable(sandbox)
    tried = place.build(sandbox.name, program(CLOSED, hold=True), SMALL)
    assert "8 MiB of files" in tried.said or "hid files" in tried.said, tried


@pytest.mark.parametrize("attack", UNSEEN_FILES)
def test_files_that_cannot_be_seen_have_a_limit(attack: str, place: AccountSite) -> None:
    """Under bubblewrap the file system has a size, so nothing has to be seen."""
    stopped(place, "bubblewrap", UNSEEN_FILES[attack], "more than 8 MiB of files")


@pytest.mark.root
def test_root_sees_what_is_mapped() -> None:
    """So under Landlock, where nothing has a size, mapped files count at least for root."""
    usable(Landlock())
    mapped = UNSEEN_FILES["deleted files that are mapped"]
    with account_site("root") as site:
        stopped(site, "landlock", mapped, "more than 8 MiB of files")


CROWD = """
import os, time
held = bytearray(b"x") * (100 * 2**20)
for _ in range({number}):
    if os.fork() == 0:
        time.sleep(600)
time.sleep(600)
"""


@pytest.mark.long
@pytest.mark.parametrize("sandbox", MOSTLY_THE_BEST, ids=lambda kind: kind.name)
def test_a_crowd_ends_in_time(sandbox: Sandbox, place: AccountSite) -> None:
    """Many processes take long to look at, but not to end: time is limited all the same.

    The best of three, because a busy machine may need long to start and to end so many.
    """
    usable(sandbox)
    limits = replace(LARGE, seconds=2, processes=300)
    alone = place.build(sandbox.name, CROWD.format(number=0), limits)
    crowds = [place.build(sandbox.name, CROWD.format(number=150), limits) for _ in range(3)]
    assert {tried.said for tried in (alone, *crowds)} == {"the program ran longer than 2s"}
    assert min(crowd.seconds for crowd in crowds) < 3 * alone.seconds


HOPPERS = """
import os
for _ in range(12):
    if os.fork() == 0:
        os.setsid()
        while True:
            try:
                if os.fork():
                    os._exit(0)
                if os.fork() == 0:
                    os.setsid()
            except OSError:
                pass
"""


@pytest.mark.parametrize("sandbox", MOSTLY_THE_BEST, ids=lambda kind: kind.name)
def test_nothing_of_a_fork_bomb_is_left(sandbox: Sandbox, place: AccountSite) -> None:
    """Processes that leave their parent and session as fast as they can are ended all the same."""
    usable(sandbox)
    mark = f"mark-{place.root.name}"
    bomb = (
        f"import os, sys\nos.execv(sys.executable, [sys.executable, '-c', {HOPPERS!r}, {mark!r}])"
    )
    tried = place.build(sandbox.name, bomb, replace(QUICK, seconds=1))
    assert processes_with(mark) == []
    assert tried.said != "", tried


TIMES = """
import os
names = os.listdir(MOUNTED)
read = [open(MOUNTED + "/" + name).read() for name in names]
"""


def test_reading_leaves_no_trace_for_another_build(place: AccountSite) -> None:
    """A file that a build has read tells the next build nothing; without a sandbox it does."""
    file = place.root / "mounted" / "shared"
    file.write_text("a model")
    read = f"MOUNTED = {str(file.parent)!r}{TIMES}{GOOD}"
    os.utime(file, (1, 2))  # so old that the next read would be noted
    assert place.build("bubblewrap", read, QUICK).said == ""
    assert file.stat().st_atime == 1
    assert place.build("none", read, QUICK).said == ""
    if not os.statvfs(file).f_flag & os.ST_NOATIME:
        assert file.stat().st_atime > 2
