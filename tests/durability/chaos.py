"""Commands, a watcher, a server with labellers, imports and backups at once; each may be killed.

Every actor is a thread that starts real processes and starts them again when they are killed. It
notes what was acknowledged: a signal that was printed, an answer that the server confirmed, an
import or a backup that ended well.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from easeci.build.repository import Repository
from easeci.service.labelling.questions import Given
from easeci.service.pushes.dropbox import DropBox
from tests.commands import COMMAND, easeci_here, plain_environment
from tests.projects import sealed_ids
from tests.repositories import Workplace
from tests.sites import Visit

COMMITS = 150
AT_ONCE = 3
"""So many labels are imported at once."""
ACTORS = ("run", "watch", "serve", "import", "backup")
RARELY = ("serve", "watch", "run")
"""Killed a third as often as others: they run all the time, and must get to work in between."""


@dataclass
class Chaos:
    """A shared repository with many commits, who works on it, and what was acknowledged."""

    place: Workplace
    chosen: random.Random
    lock: threading.Lock = field(default_factory=threading.Lock)
    running: dict[int, tuple[str, subprocess.Popen[str]]] = field(default_factory=dict)
    ended: threading.Event = field(default_factory=threading.Event)
    problems: list[str] = field(default_factory=list)
    kills: dict[str, int] = field(default_factory=dict)
    signals: dict[str, str] = field(default_factory=dict)
    dropped: list[str] = field(default_factory=list)
    imported: dict[str, str] = field(default_factory=dict)
    confirmed: dict[str, str] = field(default_factory=dict)
    backups: list[Path] = field(default_factory=list)

    @property
    def bare(self) -> Path:
        """The repository, in which all commands are given."""
        return self.place.folder / "hosted.git"

    @staticmethod
    def make(folder: Path, seed: int) -> Chaos:
        """Models from 70% to 90%; the condition needs no baseline, so no commit is tested twice."""
        place = Workplace.make(
            folder,
            condition="n > 0.8 +/- 0.05",
            reliability="0.9999",
            steps="1000",
            classes="[low, high]",
        )
        chaos = Chaos(place, random.Random(seed))
        place.git(
            "init", "--quiet", "--bare", "--shared=all", "--initial-branch=main", "../hosted.git"
        )
        for _ in range(COMMITS):
            place.commit_cut(0.6 + chaos.chosen.randrange(2000) / 10_000)
        place.git("push", "--quiet", str(chaos.bare), "main")
        script = str(place.repository / ".easeci.yml")
        chaos.give("testset", "add", str(place.examples), "--script", script, "--allow-smaller")
        chaos.give("hook", "install")
        return chaos

    def give(self, *arguments: str) -> str:
        """A command that nobody kills."""
        done = easeci_here(*arguments, folder=self.bare)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def commits(self) -> list[str]:
        """All commits, the oldest first."""
        return self.place.git("rev-list", "--reverse", "main").splitlines()

    def start(self, actor: str, *arguments: str) -> subprocess.Popen[str]:
        """Start a command that may be killed."""
        process = subprocess.Popen(
            [COMMAND, *arguments],
            cwd=self.bare,
            env=plain_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with self.lock:
            self.running[process.pid] = (actor, process)
        return process

    def wait(self, process: subprocess.Popen[str]) -> tuple[int, str]:
        """How a command ended, and what it printed."""
        said, errors = process.communicate()
        with self.lock:
            self.running.pop(process.pid, None)
        if "unexpected" in errors or "Traceback" in errors:
            self.problems.append(errors)
        return process.returncode, said or errors

    def kill_one(self) -> None:
        """Kill one of the processes that run now, by chance."""
        with self.lock:
            if not self.running:
                return
            running = sorted(self.running.values(), key=str)
            weights = [1 if actor in RARELY else 3 for actor, _ in running]
            ((actor, process),) = self.chosen.choices(running, weights)
            self.kills[actor] = self.kills.get(actor, 0) + 1
        process.kill()

    def did_enough(self) -> bool:
        """Whether every actor was killed, and all have been told that something was done."""
        told = (self.signals, self.imported, self.confirmed)
        everybody = len(self.kills) == len(ACTORS)
        return everybody and bool(self.backups) and all(len(known) > 10 for known in told)

    @contextmanager
    def everybody(self, *actors: Callable[[], None]) -> Iterator[None]:
        """All actors at work; at the end they finish what they have begun."""

        def guarded(actor: Callable[[], None]) -> None:
            try:
                actor()
            except BaseException as error:
                self.problems.append(f"{actor}: {error!r}")
                raise

        threads = [threading.Thread(target=guarded, args=(actor,)) for actor in actors]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()


def run_commits(chaos: Chaos, commits: list[str]) -> None:
    """``easeci run``, again for the same commit after a kill, until it is answered."""
    for commit in commits:
        code = -signal.SIGKILL
        while code == -signal.SIGKILL:
            if chaos.ended.is_set():
                return
            code, said = chaos.wait(chaos.start("run", "run", commit, "--json"))
        if code not in (0, 1, 3):
            chaos.problems.append(f"run ended with {code}: {said}")
            return
        chaos.signals[commit] = json.loads(said)["signal"]


def watch(chaos: Chaos) -> None:
    """``easeci watch``, started again whenever it is killed."""
    while not chaos.ended.is_set():
        process = chaos.start("watch", "watch", "--interval", "0.2")
        while process.poll() is None and not chaos.ended.is_set():
            time.sleep(0.05)
        process.terminate()
        code, said = chaos.wait(process)
        if code not in (0, -signal.SIGKILL, -signal.SIGTERM):
            chaos.problems.append(f"watch ended with {code}: {said}")
            return


def drop_pushes(chaos: Chaos, commits: list[str]) -> None:
    """Pushes of other accounts, now and then."""
    box = DropBox.of(Repository.find(chaos.bare).git_dir)
    for commit in commits:
        if chaos.ended.wait(1.5):
            return
        box.drop("main", commit)
        chaos.dropped.append(commit)


def serve(chaos: Chaos, port: int) -> None:
    """``easeci serve``, started again at the same port whenever it is killed."""
    while not chaos.ended.is_set():
        process = chaos.start("serve", "serve", "--port", str(port))
        while process.poll() is None and not chaos.ended.is_set():
            time.sleep(0.05)
        with suppress(ProcessLookupError):
            process.send_signal(signal.SIGINT)
        chaos.wait(process)


def label(chaos: Chaos, visit: Visit, number: int) -> None:
    """A labeller with a browser tab, who answers rightly and sends again what was not confirmed."""
    tab = f"{number:016d}"
    while not chaos.ended.is_set():
        document = _patient(chaos, visit, "take", tab)
        for question in document.get("questions", [])[:1]:
            value = question["fields"][0]["text"]
            right = "low" if float(value) < 0.5 else "high"
            ticket = question["ticket"]
            given = _patient(chaos, visit, "answer", tab, ticket=ticket, state="label", label=right)
            if given.get("given") in (*Given,):
                chaos.confirmed[value] = right
        time.sleep(0.02)


def _patient(chaos: Chaos, visit: Visit, path: str, tab: str, **fields: str) -> dict[str, Any]:
    while not chaos.ended.is_set():
        try:
            answer = visit.post(f"/label/{path}", by=visit.name, tab=tab, **fields)
        except httpx.TransportError:
            time.sleep(0.05)
            continue
        if answer.status_code == 200:
            document: dict[str, Any] = json.loads(answer.text)
            return document
        if answer.status_code != 503:  # the page too sends it again after this one
            return {}
        time.sleep(0.05)
    return {}


def import_labels(chaos: Chaos) -> None:
    """``easeci labels import`` of a few labels, now and then."""
    sealed = sealed_ids(chaos.bare)
    lines = chaos.place.labels.read_text().splitlines()[1:]
    rows = [line for line in lines if line.split(",")[0] in sealed]
    xs = dict(line.split(",") for line in chaos.place.examples.read_text().splitlines()[1:])
    file = chaos.place.folder / "some.csv"
    while not chaos.ended.wait(1.0):
        some = chaos.chosen.sample(rows, AT_ONCE)
        file.write_text("\n".join(["id,label", *some, ""]))
        code, said = chaos.wait(chaos.start("import", "labels", "import", str(file)))
        if code == 0:
            chaos.imported.update({xs[row.split(",")[0]]: row.split(",")[1] for row in some})
        elif code not in (-signal.SIGKILL, 2):  # 2: all of them were known already
            chaos.problems.append(f"import ended with {code}: {said}")


def back_up(chaos: Chaos) -> None:
    """``easeci backup``, now and then, always to the same file."""
    file, kept = chaos.place.folder / "backup.tar", chaos.place.folder / "kept"
    kept.mkdir()
    while not chaos.ended.wait(2.0):
        code, said = chaos.wait(chaos.start("backup", "backup", str(file)))
        if code == 0:
            target = kept / f"{len(chaos.backups)}.tar"
            target.write_bytes(file.read_bytes())
            chaos.backups.append(target)
        elif code != -signal.SIGKILL:
            chaos.problems.append(f"backup ended with {code}: {said}")
