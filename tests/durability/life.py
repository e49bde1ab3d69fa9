"""The life of a project as a list of commands, each of which may be given again after a crash.

Run as a program, ``python -m tests.durability.life FOLDER [COMMANDS]``, it ends that life once at
every place where it can be killed: right before and right after each transaction of the ledger.
There the process stands still while its folder is copied, which is all that a kill would leave: no
lock, no handler, nothing of its memory. In every copy a new process gives the same commands again:
the one that was under way and the next, and in every eighth copy all that are left. At the last
place the process is killed for real, by SIGKILL, and the next process goes on in its own folder.
Processes are forked from one that has everything loaded and nothing started.

With COMMANDS, only so many commands are given, and predictions are written directly.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

from easeci.ledger.chain import Head, Record
from easeci.ledger.disclosure import disclosed_rows
from easeci.service.commits.submit import run
from easeci.service.custody.verify import verify
from easeci.service.labelling.files import import_labels
from easeci.service.project import open_project
from easeci.service.testsets.add import Offer, add_testset
from easeci.store.store import AlsoWrite, Store
from tests.predictions import written_directly
from tests.projects import ON_SEALED
from tests.repositories import Workplace, write_examples

NEXT = "next"
BROKEN = "raise SystemExit(1)\n"
LOADED_WHEN_NEEDED = (
    "alembic.command",
    "alembic.config",
    "alembic.script",
    "scipy.special",
    "sqlalchemy.dialects.sqlite",
)
"""What no import above brings along, and every process would have to load for itself."""


def prepare(folder: Path) -> Workplace:
    """Commits c1 to c6 beside a main branch without a program, and two testsets.

    They are a first model, a worse, a broken, a better and a bad one, and one that fails on
    sealed examples.
    """
    place = Workplace.make(folder, steps="3")
    place.git("add", ".easeci.yml")
    place.git("commit", "--quiet", "--message", "script")
    place.git("checkout", "--quiet", "--detach")
    models: tuple[float | str, ...] = (0.7, 0.75, BROKEN, 0.52, 0.8, ON_SEALED)
    for number, model in enumerate(models, start=1):
        if isinstance(model, str):
            place.write("model.py", model)
            place.commit(f"model {number}")
        else:
            place.commit_cut(model)
        place.git("tag", f"c{number}")
    write_examples(place.folder / f"{NEXT}.csv", place.folder / f"{NEXT}-labels.csv", start=9000)
    return place


def live(
    place: Workplace, most: int | None = None, *, last: int | None = None
) -> dict[str, list[Any]]:
    """Give the commands that have not ended yet, the one that was killed first; so many at most,
    and none after the command with the last number.

    Returns the log after each of them, by its number.
    """

    def add(number: int, examples: Path, labels: Path | None) -> None:
        project = open_project(place.repository, create=True)
        if number not in project.state.testsets:
            script = place.repository / ".easeci.yml"
            add_testset(project, Offer(examples, labels=labels, script=script))

    def test(name: str) -> None:
        test_on_main(place, name)

    def test_broken() -> None:  # a commit that did not build is built again, with an own row
        rows = disclosed_rows(open_project(place.repository).state)
        if not any(row.signal == "build error" for row in rows):
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
        lambda: test("c6"),
    ]
    ended = place.folder / "ended"
    begun = int(ended.read_text()) if ended.exists() else 0
    logs = {}
    for number, command in list(enumerate(commands, start=1))[begun:last][:most]:
        command()
        ended.write_text(str(number))
        rows = disclosed_rows(open_project(place.repository).state)
        logs[str(number)] = [[row.commit, str(row.signal), row.testset, row.step] for row in rows]
    return logs


def test_on_main(place: Workplace, name: str) -> None:
    """Test a commit, which is the tip of the main branch now."""
    place.git("update-ref", "refs/heads/main", name)
    run(open_project(place.repository), name)


def be_killed_after(folder: str, name: str, kind: str) -> None:
    """Test a commit, and be killed as soon as an event of a kind is recorded."""

    def kill_at(kinds: list[str]) -> None:
        if kind in kinds:
            os.kill(os.getpid(), signal.SIGKILL)

    with written_directly(), at_every_append(after=kill_at):
        test_on_main(Workplace(Path(folder)), name)


@contextmanager
def at_every_append(
    *,
    before: Callable[[], None] = lambda: None,
    after: Callable[[list[str]], None] = lambda _: None,
) -> Iterator[None]:
    """Do something around every transaction of this process; ``after`` is told what it recorded."""
    append = Store.append

    def watched(
        self: Store,
        name: str,
        head: Head,
        records: Sequence[Record],
        also: AlsoWrite | None = None,
    ) -> None:
        before()
        append(self, name, head, records, also)
        after([record.kind for record in records])

    with mock.patch.object(Store, "append", watched):
        yield


def die(place: Workplace, copies: Path, last_append: int, last: int | None) -> None:
    """Live, leaving a copy wherever the folder is another one; be killed after the last append."""
    left: dict[str, bytes] = {}
    appends = 0

    def stand_still() -> None:
        nonlocal left
        found = content(place.folder)
        if found != left:
            shutil.copytree(
                place.folder, copies / f"{len(list(copies.iterdir())):03}", symlinks=True
            )
        left = found

    def recorded(kinds: list[str]) -> None:
        nonlocal appends
        appends += 1
        (place.folder / "after.json").write_text(json.dumps(kinds))
        if appends == last_append:
            os.kill(os.getpid(), signal.SIGKILL)
        stand_still()

    with at_every_append(before=stand_still, after=recorded):
        live(place, last=last)


def content(folder: Path) -> dict[str, bytes]:
    """What every file of a folder holds."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


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


def main(folder: Path, last: int | None) -> None:
    """End a life at every place, go on in each copy, and print what became of them."""
    for name in LOADED_WHEN_NEEDED:
        import_module(name)
    template, copies = prepare(folder / "template"), folder / "copies"
    copies.mkdir()
    whole, doomed = Workplace(folder / "whole"), Workplace(folder / "doomed")
    for place in (whole, doomed):
        shutil.copytree(template.folder, place.folder, symlinks=True)

    def undisturbed() -> None:
        appends: list[list[str]] = []
        with at_every_append(after=appends.append):
            logs = live(whole, last=last)
        report(whole, {"calls": len(appends), "logs": logs})

    def resumed(place: Workplace, most: int | None) -> None:
        logs = live(place, most, last=last)
        report(place, {"logs": logs, "damage": verify(open_project(place.repository))})

    assert in_child(undisturbed) == 0
    expected = reported(whole)
    killed = in_child(lambda: die(doomed, copies, expected["calls"], last))
    lives = []
    for number, place in enumerate((*map(Workplace, sorted(copies.iterdir())), doomed)):
        after = place.folder / "after.json"
        kinds = json.loads(after.read_text()) if after.exists() else []
        most = None if number % 8 == 0 or place is doomed else 2
        ended = in_child(lambda place=place, most=most: resumed(place, most))
        lives.append({"in": place.folder.name, "after": kinds, "ended": ended, **reported(place)})
        shutil.rmtree(place.folder)
    print(json.dumps({"killed": killed, "lives": lives, "whole": expected}))


def report(place: Workplace, found: dict[str, Any]) -> None:
    """Leave what a life came to in its folder."""
    (place.folder / "report.json").write_text(json.dumps(found))


def reported(place: Workplace) -> dict[str, Any]:
    """What the life in a folder came to; nothing if it did not come to an end."""
    path = place.folder / "report.json"
    found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return found


if __name__ == "__main__":
    if len(sys.argv) > 2:
        with written_directly():
            main(Path(sys.argv[1]), int(sys.argv[2]))
    else:
        main(Path(sys.argv[1]), None)
