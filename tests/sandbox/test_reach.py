"""What a hostile program tries to reach, and does not.

Every attack is run twice: in each sandbox, where it must fail, and without one, where it must
succeed. The second keeps the first honest: an attack that fails everywhere shows nothing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from easeci.build.bubblewrap import Bubblewrap
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.sandbox import Sandbox
from easeci.build.workspace import NORMAL_TIME
from easeci.errors import InfrastructureError
from tests.sandbox.attacks import ATTACKS, HARNESS
from tests.sandbox.building import KINDS, Site, usable


@pytest.fixture
def mounted(site: Site) -> Iterator[Path]:
    """A folder for ``mounts:``, with a socket and a pipe in it that anybody may use."""
    folder = Path(os.environ["TMPDIR"]) / "mounted"
    (folder / "deep").mkdir(parents=True, mode=0o755)
    (folder / "weights").write_text("weights")
    server = listen(folder / "deep" / "socket")
    os.mkfifo(folder / "deep" / "pipe")
    (folder / "deep" / "pipe").chmod(0o777)
    reader = os.open(folder / "deep" / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    yield folder
    server.close()
    os.close(reader)


def listen(path: Path) -> socket.socket:
    """A local socket that accepts everybody."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    path.chmod(0o777)
    return server


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[tuple[int, str]]:
    """A TCP port and a local socket that accept everybody."""
    path = tmp_path / "socket"
    servers = [socket.create_server(("127.0.0.1", 0)), listen(path)]
    yield servers[0].getsockname()[1], str(path)
    for server in servers:
        server.close()


@pytest.fixture
def victim() -> Iterator[int]:
    """The process that starts the build, as a fork: it may be signalled and looked into."""
    ready, told = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        os.write(told, b"x")
        while True:
            signal.pause()
    os.read(ready, 1)
    yield pid
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    os.close(ready)
    os.close(told)


@pytest.fixture
def targets(site: Site, mounted: Path, listening: tuple[int, str], victim: int) -> str:
    private = site.root / "private"
    private.write_text("secret")
    private.chmod(0o600)
    return json.dumps(
        {
            "vault": str(site.vault),
            "repository": str(site.repository),
            "private": str(private),
            "mounted": str(mounted),
            "port": listening[0],
            "socket": listening[1],
            "pid": victim,
        }
    )


def attacked(site: Site, sandbox: Sandbox, targets: str, attack: str) -> str:
    program = HARNESS.format(attack=textwrap.dedent(attack))
    mounted = json.loads(targets).get("mounted")
    mounts = () if mounted is None else (mounted,)
    built = site.build(sandbox, mounts=mounts, program__py=program, targets__json=targets)
    return built.predictions.read_text().splitlines()[1].split(",")[1]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_program_does_not_reach(attack: str, site: Site, sandbox: Sandbox, targets: str) -> None:
    """In a sandbox the attack fails, and the program still makes its predictions."""
    assert attacked(site, sandbox, targets, ATTACKS[attack]) == "stopped", site.log


@pytest.mark.long
@pytest.mark.parametrize("attack", ATTACKS)
def test_without_a_sandbox_it_would(attack: str, site: Site, targets: str) -> None:
    """The attack is a real one: nothing but the sandbox stops it."""
    assert attacked(site, Unsandboxed(), targets, ATTACKS[attack]) == "reached", site.log


@pytest.mark.parametrize("sandbox", KINDS, ids=lambda kind: kind.name)
def test_names_are_not_looked_up(site: Site, sandbox: Sandbox) -> None:
    """No DNS: neither a packet to a server nor a name of this machine's network."""
    attack = """
    import socket
    def attack():
        packet = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        packet.connect(("192.0.2.1", 53))
        return packet.send(b"example.org")
    """
    assert attacked(site, sandbox, "{}", attack) == "stopped"


def test_sockets_of_other_kinds_are_refused_and_not_only_absent(
    site: Site, sandbox: Sandbox
) -> None:
    """Also those that this kernel does not have: the next one may. The same holds for pairs."""
    attack = """
    import ctypes, errno
    def attack():
        libc, pair = ctypes.CDLL(None, use_errno=True), (ctypes.c_int * 2)()
        found = set()
        for family in range(3, 64):
            if family not in (10, 16):
                assert libc.socket(family, 1, 0) < 0
                found.add(ctypes.get_errno())
        for family in range(2, 64):
            assert libc.socketpair(family, 1, 0, pair) < 0
            found.add(ctypes.get_errno())
        print(found)
        return found == {errno.EACCES}
    """
    assert attacked(site, sandbox, "{}", attack) == "reached", site.log
    assert attacked(site, Unsandboxed(), "{}", attack) == "stopped", site.log


def test_sockets_inside_the_sandbox_work(site: Site) -> None:
    """Programs talk to themselves, by pairs of sockets, by name and over the loopback device."""
    attack = """
    import socket
    def attack():
        a, b = socket.socketpair()
        a.send(b"x")
        assert b.recv(1) == b"x"
        for family, place in ((socket.AF_UNIX, "name"), (socket.AF_INET, ("127.0.0.1", 0))):
            server = socket.socket(family)
            server.bind(place)
            server.listen()
            socket.socket(family).connect(server.getsockname())
        socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)
        return True
    """
    assert attacked(site, usable(Bubblewrap()), "{}", attack) == "reached", site.log


def test_a_script_may_name_a_socket_itself(site: Site, mounted: Path) -> None:
    """Its folder hides it; a mount of its own shows it again."""
    attack = f"""
    import socket
    def attack():
        connection = socket.socket(socket.AF_UNIX)
        connection.connect("{mounted}/deep/socket")
        return True
    """
    program = HARNESS.format(attack=textwrap.dedent(attack))
    for more, found in (((), "stopped"), ((str(mounted / "deep" / "socket"),), "reached")):
        built = site.build(
            usable(Bubblewrap()),
            mounts=(str(mounted), *more),
            program__py=program,
            targets__json="{}",
        )
        assert found in built.predictions.read_text(), site.log


@pytest.mark.parametrize("sandbox", KINDS, ids=lambda kind: kind.name)
def test_secrets_of_the_environment_are_gone(
    site: Site, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what a program needs is set: no passwords, and nobody's home."""
    monkeypatch.setenv("EASECI_SMTP_URL", "smtp://user:password@localhost")
    monkeypatch.setenv("PYTHONPATH", str(site.vault))
    attack = """
    def attack():
        print(sorted(os.environ))
        known = {"PATH", "HOME", "TMPDIR", "USER", "LOGNAME", "LANG", "LC_CTYPE", "PWD",
                 "EASECI_EXAMPLES", "EASECI_PREDICTIONS", "VIRTUAL_ENV", "CONDA_PREFIX"}
        return set(os.environ) - known or os.listdir(os.environ["HOME"])
    """
    assert attacked(site, sandbox, "{}", attack) == "stopped", site.log


def test_no_descriptors_are_passed_on(site: Site, sandbox: Sandbox) -> None:
    """A program has its three standard streams and nothing that was open before."""
    attack = """
    def attack():
        return [fd for fd in range(3, 256) if os.path.exists("/proc/self/fd/%d" % fd)]
    """
    assert attacked(site, sandbox, "{}", attack) == "stopped", site.log


def test_examples_are_all_of_one_time(site: Site, sandbox: Sandbox) -> None:
    """When an example was written tells nothing."""
    attack = """
    def attack():
        folder = os.environ["EASECI_EXAMPLES"]
        times = {os.stat(place).st_mtime for place in (folder, folder + "/examples.csv")}
        return times != {315532800}
    """
    assert attacked(site, sandbox, "{}", attack) == "stopped", site.log


LABELLED = """
def attack():
    folder = targets["examples"] or os.environ["EASECI_EXAMPLES"]
    told = []
    for name in sorted(os.listdir(folder)):
        about = os.stat(folder + "/" + name)
        if (about.st_atime, about.st_mtime) != (315532800, 315532800):
            told.append((name, about.st_atime, about.st_mtime))
        if about.st_ino in targets["inodes"] or about.st_nlink != 1:
            told.append((name, about.st_ino, about.st_nlink))
    print(told)
    return told
"""


def test_examples_do_not_tell_which_were_labelled(site: Site, sandbox: Sandbox) -> None:
    """Somebody reads files of the vault between two builds, and no program can tell.

    The control has hard links of the vault's files instead, and there the times tell.
    """
    examples = site.vault / "examples"
    for name in ("1.png", "2.png", "3.png"):
        (examples / name).write_bytes(b"png")
    for path in examples.iterdir():
        path.chmod(0o644)
        os.utime(path, (NORMAL_TIME, NORMAL_TIME))
    linked = site.root / "linked"
    shutil.copytree(examples, linked, copy_function=os.link)
    about = {"examples": None, "inodes": [path.stat().st_ino for path in examples.iterdir()]}
    assert attacked(site, sandbox, json.dumps(about), LABELLED) == "stopped", site.log
    os.utime(examples / "2.png", (NORMAL_TIME + 1000, NORMAL_TIME))
    assert attacked(site, sandbox, json.dumps(about), LABELLED) == "stopped", site.log
    control = json.dumps({"examples": str(linked), "inodes": []})
    assert attacked(site, Unsandboxed(), control, LABELLED) == "reached"


def test_a_secret_folder_inside_a_mounted_one_is_hidden(site: Site) -> None:
    """``mounts:`` may name a folder that the vault happens to lie in; the vault stays unseen."""
    shared = site.root / "shared"
    (shared / "store").mkdir(parents=True)
    (shared / "store" / "labels.csv").write_text("SECRET")
    (shared / "weights").write_text("weights")
    (shared / "secrets.db").write_text("SECRET")
    (site.root / "alias").symlink_to(shared)
    site.root.chmod(0o755)
    attack = f"""
    def attack():
        for place in ("{shared}", "{site.root}/alias"):
            assert open(place + "/weights").read() == "weights"
            assert os.listdir(place + "/store") == []
            assert open(place + "/secrets.db").read() == ""
        return open("{shared}/store/x", "w")
    """
    program = HARNESS.format(attack=textwrap.dedent(attack))
    mounts = (str(shared), str(site.root / "alias"))
    hidden = (shared / "store", shared / "secrets.db")
    built = site.build(
        usable(Bubblewrap()), mounts=mounts, hidden=hidden, program__py=program, targets__json="{}"
    )
    assert "stopped" in built.predictions.read_text()
    assert "AssertionError" not in site.log
    with pytest.raises(InfrastructureError, match="lies in"):
        site.build(
            usable(Landlock()),
            mounts=mounts,
            hidden=hidden,
            program__py=program,
            targets__json="{}",
        )
