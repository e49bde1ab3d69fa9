"""Commits and pushes start the tests: real hooks, real pushes, and two real accounts."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from easeci.build.repository import Repository
from easeci.ledger.signals import Signal
from easeci.service.commits.answer import RunAnswer
from easeci.service.project import open_project
from easeci.service.pushes.dropbox import DropBox
from easeci.service.pushes.hooks import install, uninstall
from easeci.service.pushes.watcher import Watcher
from tests.accounts import Account
from tests.commands import COMMAND, easeci_here, plain_environment
from tests.journey.sharing import share
from tests.repositories import MODEL, Workplace
from tests.waiting import PATIENCE, wait_until


@dataclass(frozen=True)
class Hosted:
    """A developer's clone, and the bare repository of the owner that it pushes to."""

    place: Workplace

    @property
    def bare(self) -> Path:
        return self.place.folder / "hosted.git"

    @staticmethod
    def make(
        folder: Path,
        *options: str,
        labelled: bool = True,
        first: float | None = None,
        **keys: str,
    ) -> Hosted:
        """A testset and hooks; with a ``first`` cut, a model that is there before the testset."""
        place = Workplace.make(folder, **keys)
        hosted = Hosted(place)
        place.git("init", "--quiet", "--bare", "--initial-branch=main", str(hosted.bare))
        place.git("remote", "add", "origin", str(hosted.bare))
        if first is not None:
            place.commit_cut(first)
            hosted.push("main")
        script = ["--script", str(place.repository / ".easeci.yml")]
        labels = ["--labels", str(place.labels)] if labelled else []
        hosted.easeci("testset", "add", str(place.examples), *labels, *script)
        hosted.easeci("hook", "install", *options)
        return hosted

    def easeci(self, *arguments: str) -> str:
        done = easeci_here(*arguments, folder=self.bare)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def push(self, *arguments: str, code: int = 0) -> str:
        """What a developer reads after ``git push``."""
        done = subprocess.run(
            ["git", "push", "origin", *arguments],
            cwd=self.place.repository,
            env=plain_environment() | {"HOME": str(self.place.folder)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stderr

    @property
    def signals(self) -> list[str]:
        return [str(s.signal) for s in open_project(self.bare).state.submissions]

    @property
    def steps(self) -> int:
        return open_project(self.bare).state.testsets[1].steps_used


@pytest.mark.long
def test_a_commit_is_tested_where_it_is_made(tmp_path: Path) -> None:
    """It never fails the commit; other branches and detached heads spend nothing."""
    place = Workplace.make(tmp_path)
    said = place.easeci("hook", "install", code=0).stdout
    assert "Nothing is hidden here" in said
    place.commit_cut(0.7)  # there is no testset yet, and the commit is made all the same
    place.add_testset()
    place.commit_cut(0.7, "again")
    place.git("checkout", "--quiet", "-b", "elsewhere")
    place.commit_cut(0.6)
    place.git("checkout", "--quiet", "--detach")
    place.commit_cut(0.61)
    place.git("checkout", "--quiet", "main")
    place.commit_cut(0.52)
    signals = [s.signal for s in open_project(place.repository).state.submissions]
    assert signals == ["baseline", "pass"]


def test_a_push_is_answered_in_its_output(tmp_path: Path) -> None:
    """One step for the tip, however many commits; none for tags, deletions, other branches. The
    first model is adopted as the baseline, and spends a step as well."""
    hosted = Hosted.make(tmp_path, timeout="10s")
    place = hosted.place
    place.commit_cut(0.7)
    said = hosted.push("main")
    assert "remote: BASELINE" in said
    assert "Step 1. It is the first model that runs, and so the baseline." in said
    for cut in (0.69, 0.6, 0.52):
        tip = place.commit_cut(cut)
    said = hosted.push("main")
    assert f"remote: PASS  commit {tip[:10]}" in said
    assert "2 of 4 steps used" in said
    place.git("tag", "v1")
    place.commit_cut(0.51)
    for what in ("v1", "HEAD:refs/heads/elsewhere", ":elsewhere"):
        assert "remote:" not in hosted.push(what)
    place.git("reset", "--quiet", "--hard", "HEAD~2")
    place.write("model.py", f"import time\ntime.sleep(0.6)\n{MODEL.format(cut=0.66)}")
    place.commit("slow")
    said = hosted.push("--force", "main")
    assert "remote: FAIL" in said
    assert "at this pace the testset takes" in said
    assert hosted.signals == ["baseline", "pass", "fail"]
    assert hosted.steps == 3
    assert (hosted.bare / ".easeci").stat().st_mode & 0o777 == 0o700


@pytest.mark.long
def test_pushes_of_branches_that_a_pattern_takes_are_tested(tmp_path: Path) -> None:
    """Pull requests too. They never move the baseline, and refs that match nothing stay alone."""
    hosted = Hosted.make(tmp_path, branches="['feature/*', 'refs/pull/*']")
    place = hosted.place
    first = place.commit_cut(0.7)
    hosted.push("main")
    place.commit_cut(0.52)
    assert "remote: PASS" in hosted.push("HEAD:refs/pull/7/head")
    assert "It was tested before" in hosted.push("HEAD:refs/heads/feature/a/b")
    place.commit_cut(0.66)
    for ref in ("refs/heads/other", "refs/heads/refs/pull/8/head", "refs/merge-requests/1/head"):
        assert "remote:" not in hosted.push(f"HEAD:{ref}")
    assert "remote: FAIL" in hosted.push("HEAD:refs/heads/feature-x", "HEAD:refs/heads/feature/c")
    state = open_project(hosted.bare).state
    assert [s.branch for s in state.submissions] == ["main", "refs/pull/7/head", "feature/c"]
    assert state.baseline == first


@pytest.mark.long
def test_a_gate_refuses_what_fails(tmp_path: Path) -> None:
    """The branch does not move, and the step is spent; build errors are refused as well."""
    hosted = Hosted.make(tmp_path, "--gate")
    place = hosted.place
    first = place.commit_cut(0.7)
    assert "BASELINE" in hosted.push("main")
    failing = place.commit_cut(0.72)
    said = hosted.push("main", code=1)
    assert f"remote: FAIL  commit {failing[:10]}" in said
    assert "push refused" in said
    assert "It was tested before" in hosted.push("main", code=1)
    place.write("model.py", "raise SystemExit(3)\n")
    place.commit("broken")
    said = hosted.push("main", code=1)
    assert "BUILD ERROR" in said
    assert "easeci: the program ended with exit code 3" in said
    assert place.git("ls-remote", "origin", "main").split()[0] == first
    place.git("reset", "--quiet", "--hard", first)
    hosted.push("main:elsewhere")
    passing = place.commit_cut(0.52)
    assert "PASS" in hosted.push("main")
    assert place.git("ls-remote", "origin", "main").split()[0] == passing
    assert hosted.steps == 3
    assert open_project(hosted.bare).state.baseline == passing


@pytest.mark.long
def test_a_gate_keeps_what_waits_for_labels(tmp_path: Path) -> None:
    """Git throws a refused push away; if it passes later, it is the baseline, and must be there."""
    hosted = Hosted.make(tmp_path, "--gate", labelled=False)
    place = hosted.place
    place.commit_cut(0.7)
    hosted.push("main")
    waiting = place.commit_cut(0.52)
    said = hosted.push("main", code=1)
    assert "PENDING" in said
    assert "push again when it has its signal" in said
    place.git("--git-dir", str(hosted.bare), "-c", "gc.pruneExpire=now", "gc", "--quiet")
    hosted.easeci("labels", "import", str(place.labels))
    assert open_project(hosted.bare).state.baseline == waiting
    assert "PASS" in hosted.push("main")
    assert hosted.steps == 2


@pytest.mark.long
def test_a_watcher_tells_what_waited_for_labels(tmp_path: Path) -> None:
    """Entries are taken in order and once; a second watcher, or a second try, costs nothing."""
    hosted = Hosted.make(tmp_path, labelled=False)
    place = hosted.place
    commits = [place.commit_cut(0.7), place.commit_cut(0.52)]
    uninstall(Repository.find(hosted.bare))
    hosted.push("main")
    place.git("--git-dir", str(hosted.bare), "init", "--quiet", "--shared=group")
    for folder in (hosted.bare, hosted.bare / "objects", hosted.bare / "refs"):
        folder.chmod(0o2775)
    install(Repository.find(hosted.bare), [COMMAND], [])
    dropbox = DropBox.of(hosted.bare)
    watches = [Watcher.start(hosted.bare, None, None, unsandboxed=False) for _ in range(2)]
    for commit in commits:
        dropbox.drop("main", commit)
    assert list(watches[0].round(lambda: True)) == []  # it was told to end
    said = list(watches[0].round(lambda: False))
    assert [line.rpartition(": ")[2] for line in said] == ["baseline", "pending"]
    dropbox.drop("main", commits[1])
    (line,) = watches[1].round(lambda: False)
    assert line.endswith("pending")
    assert hosted.steps == 2
    hosted.easeci("labels", "import", str(place.labels))
    assert [line[12:] for line in watches[0].round(lambda: False)] == ["pass"]
    assert list(watches[0].round(lambda: False)) == []
    result = dropbox.result(commits[1])
    assert isinstance(result, RunAnswer)
    assert result.row.signal is Signal.PASS


# Two accounts ------------------------------------------------------------------------------------

ATTACKS = """
import json, os, sys, time
bare, pid, result, secret = sys.argv[1:5]
drop, results = bare + "/easeci/drop/", bare + "/easeci/results/"

def read(path):
    return lambda: open(path, "rb").read(1)

def write(path):
    def attack():
        with open(path, "ab") as file: file.write(b"\\n")
        return True
    return attack

def replace(path, other):
    def attack():
        os.rename(other, path)
        return True
    return attack

def move(path):
    def attack():
        os.rename(path, path + "-moved")
        os.rename(path + "-moved", path)
        return True
    return attack

def below(name):
    return lambda: [os.path.join(a, f) for a, _, fs in os.walk(bare + "/.easeci") for f in fs if name in f]

READ = {
    "the store": lambda: os.listdir(bare + "/.easeci"),
    "the key": read(bare + "/.easeci/key"),
    "the ledger": read(bare + "/.easeci/ledger/ledger.db"),
    "labels": below("0001.parquet"),
    "the vault": lambda: os.listdir(bare + "/.easeci/vault"),
    "entries of others": lambda: [os.listdir(drop)],
    "the watcher's environment": read(f"/proc/{pid}/environ"),
    "the watcher's files": lambda: os.listdir(f"/proc/{pid}/fd"),
    "the watcher's memory": read(f"/proc/{pid}/maps"),
    "the owner's home": lambda: os.listdir(secret),
    "a result to overwrite": write(results + result),
    "results to add to": write(results + "0" * 40),
    "the hook": write(bare + "/hooks/post-receive"),
    "the hooks": write(bare + "/hooks/update"),
    "the settings": write(bare + "/config"),
    "the default branch": write(bare + "/HEAD"),
    "what history means": write(bare + "/info/grafts"),
    "other objects": write(bare + "/objects/info/alternates"),
    "the hooks' folder": move(bare + "/hooks"),
    "the store's folder": move(bare + "/.easeci"),
    "the results' folder": move(bare + "/easeci"),
}
reached = []
for name, attack in READ.items():
    try:
        if attack(): reached.append(name)
    except OSError as error:
        pass
print(json.dumps(reached))
"""
FORGERIES = """
import json, os, sys
bare, unpushed, older, key = sys.argv[1:5]
drop = bare + "/easeci/drop/"
names = iter("%032x" % n for n in range(100))

def put(content):
    with open(drop + next(names), "w") as file:
        file.write(content)

put(json.dumps({"branch": "main", "commit": unpushed}))
put(json.dumps({"branch": "nowhere", "commit": older}))
put(json.dumps({"branch": "--all", "commit": older}))
put(json.dumps({"branch": "main", "commit": "HEAD"}))
put(json.dumps({"branch": "main", "commit": older, "passed": True}))
put("[" * 1000)
put("x" * 5_000_000)
os.symlink("/etc/shadow", drop + next(names))
os.symlink(key, drop + next(names))
os.mkfifo(drop + next(names))
os.mkdir(drop + next(names))
put(""); os.chmod(drop + "%032x" % 11, 0)
# What would lead the owner's git to a repository of ours, and to the programs that it names.
for name in ("commondir", ".git"):
    with open(bare + "/" + name, "w") as file:
        file.write(("gitdir: " if name == ".git" else "") + os.environ["HOME"] + "/evil.git")
"""


@pytest.mark.root
@pytest.mark.long
def test_another_account_pushes_and_learns_its_signal_only(
    accounts: tuple[Path, Account, Account],
) -> None:
    """Hidden are vault, labels, verdicts, others' entries, and the watcher; forgeries do nothing."""
    folder, owner, developer = accounts
    shared = share(folder, owner, developer)
    assert "remote: PENDING" in shared.push("main", wait=0)
    owner.easeci("watch", "--once", folder=shared.bare)
    first = shared.log()[0]["commit"]
    result = json.loads((shared.bare / "easeci" / "results" / str(first)).read_text())
    assert result["signal"] == "baseline"
    passing, unpushed = shared.commit(0.52), ""
    with shared.watching() as watcher:
        assert f"remote: PASS  commit {passing[:10]}" in shared.push("main")
        assert "remote: BASELINE" in shared.push(f"{first}:refs/heads/elsewhere")
        found = [sys.executable, "-c", ATTACKS, str(shared.bare), str(watcher.pid), passing]
        reached = developer.run(*found, str(owner.home), folder=folder)
        assert json.loads(reached) == []
        unpushed = shared.commit(0.51)
        forged = (str(shared.bare), unpushed, str(first), str(shared.bare / ".easeci" / "key"))
        developer.run(sys.executable, "-c", FORGERIES, *forged, folder=folder)
        wait_until(lambda: not any((shared.bare / "easeci" / "drop").iterdir()))
        watcher.send_signal(signal.SIGTERM)
        said, _ = watcher.communicate(timeout=PATIENCE)
        assert watcher.returncode == 0
    assert not any((shared.bare / "easeci" / "drop").iterdir()), said
    assert said.count("refused from uid 64102") == 10, said
    assert said.count("refused: not on that branch") == 2, said
    assert [row["signal"] for row in shared.log()] == ["baseline", "pass"]
    for name in ("commondir", ".git"):
        (shared.bare / name).unlink()
    # All of these are real: the owner can do each.
    pid = owner.start("sleep", "600", folder=folder)
    found = [sys.executable, "-c", ATTACKS, str(shared.bare), str(pid.pid), passing]
    assert len(json.loads(owner.run(*found, str(owner.home), folder=folder))) == 21
    pid.kill()
    pid.communicate()


@pytest.mark.long
@pytest.mark.root
def test_another_account_reads_the_public_sample_and_cannot_change_it(
    accounts: tuple[Path, Account, Account],
) -> None:
    """It lies beside the signals: the developer writes it to a folder and tries a program on it."""
    folder, owner, developer = accounts
    shared = share(folder, owner, developer)
    shared.push("main", wait=0)
    owner.easeci("watch", "--once", folder=shared.bare)
    said = developer.easeci("testset", "sample", "--to", "mine", folder=shared.clone)
    assert "The public sample of testset 1: 80 examples and 80 labels are in mine." in said
    shared.commit(0.52)
    tried = developer.easeci("try", "--unsandboxed", folder=shared.clone)
    assert "80 predictions" in tried
    assert "on the 80 examples with known labels" in tried
    assert "against the baseline" in tried
    sample = shared.bare / "easeci" / "sample"
    paths = [str(path) for path in (sample, *sample.rglob("*"))]
    tests = "import os, sys; print([p for p in sys.argv[1:] if os.access(p, os.W_OK)])"
    assert developer.run(sys.executable, "-c", tests, *paths, folder=folder).strip() == "[]"
    readable = tests.replace("W_OK", "R_OK")
    assert str(sample / "about.json") in developer.run(
        sys.executable, "-c", readable, *paths, folder=folder
    )


@pytest.mark.long
@pytest.mark.root
def test_under_none_other_accounts_read_accepted(
    accounts: tuple[Path, Account, Account],
) -> None:
    """A commit that fails is accepted; a killed watcher's entry costs no second step."""
    folder, owner, developer = accounts
    shared = share(folder, owner, developer, adaptivity="none -> owner@example.org")
    shared.push("main", wait=0)
    failing = shared.commit(0.72)
    shared.push("main", wait=0)
    drop, results = shared.bare / "easeci" / "drop", shared.bare / "easeci" / "results"
    entry = max(drop.iterdir(), key=lambda path: path.stat().st_ctime_ns)
    content = entry.read_text()
    said = owner.easeci("watch", "--once", folder=shared.bare)
    assert said.count("accepted") + said.count("baseline") == 2
    before = json.loads((results / failing).read_text())
    assert before["signal"] == "accepted"
    assert before["charged"]
    put = 'printf %s "$1" > "$2"'
    developer.run("sh", "-c", put, "sh", content, str(entry), folder=folder)
    owner.easeci("watch", "--once", folder=shared.bare)
    again = json.loads((results / failing).read_text())
    assert again["steps_used"] == before["steps_used"]
    assert not again["charged"]
    assert "fail" not in (results / failing).read_text().replace('"failure": null', "")
