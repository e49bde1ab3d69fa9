"""The life of a project as a list of commands, each of which may be given again after a crash.

Run as a program it lives that life once for every place where it can be killed: right before or
right after each transaction of the ledger. The process is killed for real, by SIGKILL, and the same
commands are given again to a new process. Processes are forked from one that has everything loaded
and nothing started.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from easeci.ledger.chain import Head, Record
from easeci.service.labelling import import_labels
from easeci.service.project import open_project
from easeci.service.runs import run
from easeci.service.testsets import Offer, add_testset
from easeci.service.views import log, verify
from easeci.store import Store
from tests.repositories import Workplace, write_examples

NEXT = "next"
LOADED_WHEN_NEEDED = (
    "alembic.command",
    "alembic.config",
    "alembic.script",
    "scipy.special",
    "sqlalchemy.dialects.sqlite",
)
"""What no import above brings along, and every process would have to load for itself."""


def prepare(folder: Path) -> Workplace:
    """A repository with four commits: a first, a worse, a broken and a better one, and two testsets."""
    place = Workplace.make(folder, steps="2")
    for number, cut in enumerate((0.7, 0.75, None, 0.52, 0.8), start=1):
        if cut is None:
            place.write("model.py", "raise SystemExit(1)\n")
            place.commit("broken")
        else:
            place.commit_cut(cut)
        place.git("tag", f"c{number}")
    write_examples(place.folder / f"{NEXT}.csv", place.folder / f"{NEXT}-labels.csv", start=9000)
    return place


def live(place: Workplace) -> list[list[Any]]:
    """Give the commands that have not ended yet, the one that was killed first. Returns the log."""

    def add(number: int, examples: Path, labels: Path | None) -> None:
        project = open_project(place.repository, create=True)
        if number not in project.state.testsets:
            script = place.repository / ".easeci.yml"
            add_testset(project, Offer(examples, labels=labels, script=script))

    def test(name: str) -> None:
        run(open_project(place.repository), name)

    def test_broken() -> None:
        if not any(row.signal == "build error" for row in log(open_project(place.repository))):
            test("c3")

    commands: list[Callable[[], object]] = [
        lambda: add(1, place.examples, None),
        lambda: test("c1"),
        lambda: test("c2"),
        test_broken,
        lambda: test("c4"),
        lambda: import_labels(open_project(place.repository), place.labels),
        lambda: add(2, place.folder / f"{NEXT}.csv", place.folder / f"{NEXT}-labels.csv"),
        lambda: test("c5"),
    ]
    ended = place.folder / "ended"
    for number, command in enumerate(commands):
        if number >= (int(ended.read_text()) if ended.exists() else 0):
            command()
            ended.write_text(str(number + 1))
    return [
        [row.commit, str(row.signal), row.testset, row.step]
        for row in log(open_project(place.repository))
    ]


def count_appends(place: Workplace) -> int:
    """In how many transactions this life is recorded."""
    calls = 0
    append = Store.append

    def counted(self: Store, name: str, head: Head, records: Sequence[Record]) -> None:
        nonlocal calls
        calls += 1
        append(self, name, head, records)

    Store.append = counted  # type: ignore[method-assign]
    live(place)
    Store.append = append  # type: ignore[method-assign]
    return calls


def die(when: str, at: int) -> None:
    """Arrange for this process to be killed before or after its so-many-th transaction."""
    append = Store.append
    calls = 0

    def deadly(self: Store, name: str, head: Head, records: Sequence[Record]) -> None:
        nonlocal calls
        calls += 1
        if calls == at and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        append(self, name, head, records)
        if calls == at and when == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    Store.append = deadly  # type: ignore[method-assign]


def in_child(action: Any) -> int:
    """Do something in a process of its own; how that process ended."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            action()
            code = 0
        except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it
            traceback.print_exc()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(folder: Path, when: str) -> None:
    for name in LOADED_WHEN_NEEDED:
        import_module(name)
    template = prepare(folder / "template")
    results: dict[str, Any] = {"when": when, "lives": []}

    def undisturbed() -> None:
        shutil.copytree(template.folder, folder / "whole", symlinks=True)
        place = Workplace(folder / "whole")
        calls = count_appends(place)
        (folder / "whole.json").write_text(json.dumps({"calls": calls, "log": live(place)}))

    assert in_child(undisturbed) == 0
    whole = json.loads((folder / "whole.json").read_text())
    for at in range(1, whole["calls"] + 1):
        place = Workplace(folder / f"life-{at}")
        shutil.copytree(template.folder, place.folder, symlinks=True)

        def doomed(at: int = at, place: Workplace = place) -> None:
            die(when, at)
            live(place)

        killed = in_child(doomed)

        def again(place: Workplace = place) -> None:
            found = live(place)
            wrong = verify(open_project(place.repository))
            (place.folder / "life.json").write_text(json.dumps({"log": found, "damage": wrong}))

        ended = in_child(again)
        report = place.folder / "life.json"
        life = json.loads(report.read_text()) if report.exists() else {}
        results["lives"].append({"at": at, "killed": killed, "ended": ended, **life})
        shutil.rmtree(place.folder)
    print(json.dumps(results | {"whole": whole}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
