"""What a hostile program tries to use up, leave behind or pass off as predictions."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from easeci.build.sandbox import Sandbox
from easeci.errors import BuildError
from tests.sandbox.building import GOOD, QUICK, Site, commit_files
from tests.waiting import PATIENCE, wait_until

MIB = 2**20


def workspaces() -> list[Path]:
    """What builds have left; every test has a place of its own for them."""
    return list(Path(os.environ["TMPDIR"]).glob("easeci-*"))


def processes_with(mark: str) -> list[str]:
    """Command lines of running processes that hold a mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                line = (
                    (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
                )
            except OSError:
                continue
            if mark in line:
                found.append(line)
    return found


def mark_of(site: Site) -> str:
    """A word for command lines that no other test uses."""
    return f"mark-{site.root.name}-{os.getpid()}"


def refused(site: Site, sandbox: Sandbox, program: str, reason: str, **limits: int) -> None:
    """The build is an error for that reason, and not because it took too long."""
    with pytest.raises(BuildError, match=reason):
        site.build(sandbox, limits=replace(QUICK, **limits), program__py=program)


def test_time_is_limited(site: Site, sandbox: Sandbox) -> None:
    """A program that sleeps for ever is ended, with what it started."""
    mark = mark_of(site)
    program = f"""
    import subprocess, time
    subprocess.Popen(["sh", "-c", "sleep 600; : {mark}"], start_new_session=True)
    print("begun", flush=True)
    time.sleep(600)
    """
    refused(site, sandbox, program, "ran longer than 2s", seconds=2)
    assert site.log == "begun\n"
    assert processes_with(mark) == []


def test_memory_is_limited(site: Site, sandbox: Sandbox) -> None:
    """Memory is added up over all processes."""
    program = f"""
    import os, time
    for _ in range(3):
        if os.fork() == 0:
            hog = bytearray(os.urandom(1)) * {60 * MIB}
            time.sleep(600)
    time.sleep(600)
    """
    refused(site, sandbox, program, "more than 128 MiB of memory", memory_bytes=128 * MIB)


def test_shared_memory_counts_once(site: Site, sandbox: Sandbox) -> None:
    """Forked workers share what their parent loaded; that is no reason to end them."""
    program = f"""
    import os, time
    model = bytearray(b"x") * {80 * MIB}
    children = []
    for _ in range(4):
        pid = os.fork()
        if pid == 0:
            time.sleep(0.4)
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)
    {GOOD.replace(chr(10), chr(10) + "    ")}
    """
    site.build(sandbox, limits=replace(QUICK, memory_bytes=200 * MIB), program__py=program)


def test_fork_bombs_run_dry(site: Site, sandbox: Sandbox) -> None:
    """There is a number of processes that a program can't exceed, and an end to them all."""
    mark = mark_of(site)
    bomb = f": {mark}; bomb() {{ bomb | bomb & }}; bomb; sleep 600"
    program = f"""
    import os
    os.execvp("sh", ["sh", "-c", {bomb!r}])
    """
    with pytest.raises(BuildError):
        site.build(sandbox, limits=replace(QUICK, seconds=1), program__py=program)
    assert processes_with(mark) == []


def test_processes_are_counted(site: Site, sandbox: Sandbox) -> None:
    """More than the limit can't be started, or are ended as soon as they are seen."""
    program = f"""
    import os, time
    try:
        for number in range(400):
            if os.fork() == 0:
                time.sleep(600)
        time.sleep(600)
    except OSError:
        assert 20 <= number <= {QUICK.processes}
    {GOOD.replace(chr(10), chr(10) + "    ")}
    """
    try:
        site.build(sandbox, program__py=program)
    except BuildError as error:
        assert "started more than 64 processes" in error.message


def test_output_is_cut(site: Site, sandbox: Sandbox) -> None:
    """Endless printing fills neither a pipe nor memory; the beginning and the end are kept."""
    program = f"""
    print("the beginning")
    for _ in range(200_000):
        print("x" * 100)
    print("the end")
    {GOOD.replace(chr(10), chr(10) + "    ")}
    """
    site.build(sandbox, limits=replace(QUICK, log_bytes=1000), program__py=program)
    assert site.log.startswith("the beginning\n")
    assert site.log.endswith("the end\n")
    assert re.search(r"\[easeci: 2019\d{4} bytes are left out here\]", site.log)
    assert len(site.log) < 1100


def test_files_are_limited(site: Site, sandbox: Sandbox) -> None:
    """One file too large is not written, whether or not the program cares for the error."""
    program = """
    import os
    with open(os.environ["EASECI_PREDICTIONS"], "wb") as file:
        file.truncate(10 * 2**30)
    """
    refused(site, sandbox, program, "ended with exit code 1")
    assert "File too large" in site.log
    program = """
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    open("/tmp/large" if __import__("os").environ["TMPDIR"] == "/tmp" else "large", "wb").truncate(10 * 2**30)
    """
    refused(site, sandbox, program, "larger than 16 MiB")


def test_many_files_are_limited(site: Site, sandbox: Sandbox) -> None:
    """The limit holds for all files together, too."""
    program = f"""
    import os, time
    for number in range(30):
        with open(os.environ["TMPDIR"] + "/%d" % number, "wb") as file:
            file.write(os.urandom({MIB}))
    time.sleep(600)
    """
    refused(site, sandbox, program, "more than 16 MiB of files")


def test_daemons_die_with_their_build(site: Site, sandbox: Sandbox) -> None:
    """A process that leaves its family is dead when the build ends well."""
    mark = mark_of(site)
    program = f"""
    import os, time
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp("sh", ["sh", "-c", "trap '' TERM HUP INT; : {mark}; > $TMPDIR/begun; while :; do sleep 1; done"])
        os._exit(0)
    while not os.path.exists(os.environ["TMPDIR"] + "/begun"):
        time.sleep(0.01)
    {GOOD.replace(chr(10), chr(10) + "    ")}
    """
    site.build(sandbox, program__py=program)
    assert processes_with(mark) == []


def test_no_core_dumps(site: Site, sandbox: Sandbox) -> None:
    """A crash leaves no picture of memory, and its signal is named."""
    program = """
    import os, resource
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (2**20, 2**20))
    except ValueError:
        print("no core", flush=True)
    os.abort()
    """
    refused(site, sandbox, program, r"exit code 134 \(SIGABRT\)")
    assert "no core" in site.log


PRETENCES = {
    "nothing": ("pass", "wrote no predictions"),
    "an empty file": ("open(path, 'w')", "wrote nothing into predictions.csv"),
    "a link": ("os.symlink('/etc/passwd', path)", "not as a regular file"),
    "a pipe": ("os.mkfifo(path)", "not as a regular file"),
    "a folder": ("os.mkdir(path)", "not as a regular file"),
    "two files": (
        "open(path, 'w').write('x'); open(path[:-3] + 'parquet', 'w').write('x')",
        "wrote predictions.csv and predictions.parquet",
    ),
    "an error": ("open(path, 'w').write('x'); sys.exit(3)", "ended with exit code 3"),
}


@pytest.mark.parametrize("pretence", PRETENCES)
def test_only_a_file_is_a_file_of_predictions(pretence: str, site: Site, sandbox: Sandbox) -> None:
    """Whatever else is left there is a build error, and a predictions file with an error too."""
    action, reason = PRETENCES[pretence]
    program = f"""
    import os, sys
    path = os.environ["EASECI_PREDICTIONS"]
    {action}
    """
    refused(site, sandbox, program, reason)
    assert not list(site.into.glob("predictions*"))


def test_other_forms_may_be_written_beside(site: Site, sandbox: Sandbox) -> None:
    """predictions.jsonl and predictions.parquet are taken, too, and keep their names."""
    program = """
    import os
    path = os.environ["EASECI_PREDICTIONS"]
    open(path[:-3] + "jsonl", "w").write('{"id": 1, "prediction": "cat"}')
    """
    built = site.build(sandbox, program__py=program)
    assert built.predictions.name == "predictions.jsonl"
    assert built.predictions.stat().st_mode & 0o777 == 0o600
    assert built.predictions.stat().st_uid == os.geteuid()


def test_nothing_is_left_on_disk(site: Site, sandbox: Sandbox) -> None:
    """Folders too deep to walk or closed to their owner are removed like all others."""
    program = f"""
    import os
    os.mkdir("closed"); open("closed/file", "w").close(); os.chmod("closed", 0)
    for _ in range(1100):
        os.mkdir("deep"); os.chdir("deep")
    {GOOD.replace(chr(10), chr(10) + "    ")}
    """
    site.build(sandbox, program__py=program)
    assert workspaces() == []


DRIVER = """
import sys
from pathlib import Path
from tests.sandbox.building import Site, QUICK
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.landlock import Landlock
kind = {{"bubblewrap": Bubblewrap(), "landlock": Landlock()}}[{kind!r}]
Site(Path({root!r})).build(kind)
"""


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["Ctrl-C", "kill -9"])
def test_a_build_dies_with_who_started_it(site: Site, sandbox: Sandbox, sent: int) -> None:
    """Interrupted or killed: no process survives, and the next build clears what is left."""
    mark = mark_of(site)
    program = f"""
    import os
    if os.fork() == 0:
        os.setsid()
    os.execvp("sh", ["sh", "-c", "trap '' INT TERM HUP; : {mark}; while :; do sleep 1; done"])
    """
    commit_files(site.repository, program__py=program)
    driver = DRIVER.format(kind=sandbox.name, root=str(site.root))
    easeci = subprocess.Popen(
        [sys.executable, "-c", driver],
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parent.parent.parent,
    )
    wait_until(lambda: len(processes_with(mark)) >= 2)
    easeci.send_signal(sent)
    easeci.wait(PATIENCE)
    wait_until(lambda: processes_with(mark) == [])
    if sent == signal.SIGINT:
        assert easeci.returncode not in (0, None)
        assert workspaces() == []
    site.build(sandbox, program__py=GOOD)
    assert workspaces() == []
