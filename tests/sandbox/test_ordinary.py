"""The sandboxes of an ordinary user, who owns the vault: no file mode protects it from a program.

Run by root, the other tests build as a user of its own, so much is forbidden to their programs
anyway. Here whatever is forbidden, the sandbox forbids.
"""

from __future__ import annotations

import shutil

import pytest

from easeci.build.sandbox import Sandbox
from tests.sandbox import attacks
from tests.sandbox.accounts import AccountSite, account_site
from tests.sandbox.building import KINDS, usable

DRIVER = """
import json, os, signal, socket, sys, time
from pathlib import Path
from easeci.build.bubblewrap import Bubblewrap
from easeci.build.landlock import Landlock, Unsandboxed
from easeci.build.fetch import FetchedCommits
from easeci.build.program import Program, make_predictions
from easeci.build.repository import Repository
from easeci.build.sandbox import Limits
root, kind = Path(sys.argv[1]), sys.argv[2]
servers = [socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX)]
servers[1].bind(str(root / "socket"))
servers[1].listen()
servers.append(socket.socket(socket.AF_UNIX))
deep = root / "mounted" / "deep"
deep.mkdir()
servers[2].bind(str(deep / "socket"))
servers[2].listen()
os.mkfifo(deep / "pipe")
reader = os.open(deep / "pipe", os.O_RDONLY | os.O_NONBLOCK)
targets = {
    "mounted": str(root / "mounted"),
    "vault": str(root / "vault"), "repository": str(root / "repository"),
    "private": str(root / "private"), "port": servers[0].getsockname()[1],
    "socket": str(root / "socket"), "pid": os.fork(),
}
if targets["pid"] == 0:
    signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    time.sleep(600)
    os._exit(0)
(root / "mounted" / "targets.json").write_text(json.dumps(targets))
repository = Repository.find(root / "repository")
sandbox = {"bubblewrap": Bubblewrap(), "landlock": Landlock(), "none": Unsandboxed()}[kind]
try:
    built = make_predictions(
        FetchedCommits(root / "vault" / "commits").fetch(repository, repository.resolve("HEAD")),
        Program(sys.executable + " program.py", Limits(seconds=30), (str(root / "mounted"),)),
        root / "vault" / "examples", root / "into", (sandbox,),
        repository=repository, hidden=(root / "vault",),
    )
finally:
    os.kill(targets["pid"], signal.SIGKILL)
print(built.predictions.read_text())
print((root / "into" / "build.log").read_text(), file=sys.stderr)
assert list(Path(os.environ["TMPDIR"]).iterdir()) == []
"""
PROGRAM = """
import json, os, sys, textwrap
sys.path.insert(0, MOUNTED)
from attacks import ATTACKS
results = []
for name, text in ATTACKS.items():
    pid = os.fork()  # one may end itself
    if pid == 0:
        known = {"os": os, "targets": json.load(open(MOUNTED + "/targets.json"))}
        try:
            exec(textwrap.dedent(text), known)
            reached = bool(known["attack"]())
        except BaseException as error:
            print(name, type(error).__name__, error, flush=True)
            reached = False
        os._exit(reached)
    results.append((name, "reached" if os.waitpid(pid, 0)[1] else "stopped"))
with open(os.environ["EASECI_PREDICTIONS"], "w") as file:
    file.writelines(f"{result}: {name}\\n" for name, result in results)
"""


def attacked(site: AccountSite, kind: str) -> set[str]:
    """What a program reaches that an ordinary user builds."""
    shutil.copy(attacks.__file__, site.root / "mounted" / "attacks.py")
    site.commit(f"MOUNTED = {str(site.root / 'mounted')!r}\n{PROGRAM}")
    done = site.drive(DRIVER, kind)
    results = [line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line]
    assert [name for _, name in results] == list(attacks.ATTACKS), done.stderr
    return {name for result, name in results if result == "reached"}


@pytest.mark.parametrize("sandbox", KINDS, ids=lambda kind: kind.name)
def test_ordinary_users_are_protected(sandbox: Sandbox) -> None:
    """All attacks fail, and the build succeeds and leaves nothing."""
    usable(sandbox)
    with account_site("ordinary") as site:
        assert attacked(site, sandbox.name) == set()


def test_without_a_sandbox_they_would_not_be() -> None:
    """All attacks are real ones for an ordinary user, too; debuggers some systems forbid."""
    with account_site("ordinary") as site:
        reached = attacked(site, "none")
    assert set(attacks.ATTACKS) - reached <= {
        "the process that builds, as a debugger",
        "the memory of the process that builds",
        "a user namespace of its own",
    }
