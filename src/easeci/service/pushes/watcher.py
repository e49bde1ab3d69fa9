"""The owner's side of the spool: take each push in its turn, test it, leave its signal.

An entry is removed only when its result is there, so one that was being worked on when its
watcher was killed is taken up again; what is recorded by then is given again and costs nothing.
Two watchers wait for each other at the project's lock, and the later one finds the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from easeci.build.repository import Repository
from easeci.errors import EaseciError, InfrastructureError, NoTestsetError, UsageError
from easeci.files import explained
from easeci.ledger.chain import Head
from easeci.ledger.disclosure import DisclosedRow, disclosed_row, steps_used
from easeci.ledger.signals import Signal
from easeci.service.commits.advance import resume
from easeci.service.commits.submit import RunAnswer, run
from easeci.service.project import Project, open_project
from easeci.service.pushes.dropbox import DropBox, DroppedPush, Refused
from easeci.service.pushes.hooks import may_spend
from easeci.service.pushes.permissions import require_closed


@dataclass
class Watcher:
    """A watcher of one repository; it remembers what it need not look at or say again."""

    repository: Repository
    store: Path | None
    name: str | None
    unsandboxed: bool = False
    seen: Head | None = None
    complained: set[tuple[str, str]] = field(default_factory=set)

    @staticmethod
    def start(folder: Path, store: Path | None, name: str | None, *, unsandboxed: bool) -> Watcher:
        repository = Repository.find(folder)
        if not DropBox.of(repository.git_dir).drop_box.is_dir():
            raise UsageError(
                f"nothing can be handed over in {repository.git_dir}",
                hint="Run `easeci hook install` in a bare repository that others may push to "
                "(git init --bare --shared). Where they push as this account, it tests at once.",
            )
        require_closed(repository.git_dir)
        return Watcher(repository, store, name, unsandboxed)

    def round(self, ended: Callable[[], bool]) -> Iterator[str]:
        """Go once through all that has arrived; a line about each, for the owner."""
        require_closed(self.repository.git_dir)
        dropbox = DropBox.of(self.repository.git_dir)
        for found in dropbox.arrived():
            if ended():
                return
            if isinstance(found, Refused):
                removed = dropbox.remove(found.name)
                more = "" if removed else "; remove it by hand"
                yield from self._once(
                    found.name, f"refused from uid {found.uid}: {found.why}{more}"
                )
            else:
                yield from self._take(dropbox, found)
        try:
            yield from self._go_on(dropbox)
        except EaseciError as error:  # such as a full disk: the next round tries again
            yield from self._once("", error.message)

    def _take(self, dropbox: DropBox, entry: DroppedPush) -> Iterator[str]:
        about = f"{entry.commit[:10]} on {entry.branch} from uid {entry.uid}"
        try:
            result = self._result(entry)
            if result is not None:
                with explained("its result cannot be written"):
                    dropbox.publish(entry.commit, result)
        except Exception as error:  # noqa: BLE001 - ours to mend: the entry waits, others go on
            what = error.message if isinstance(error, EaseciError) else type(error).__name__
            yield from self._once(entry.name, f"{about}: not tested yet: {what}")
            return
        dropbox.remove(entry.name)
        said = "refused: not on that branch" if result is None else told(result)
        yield f"{about}: {said}"

    def _result(self, entry: DroppedPush) -> dict[str, Any] | None:
        """What developers are told of a push; None if there was no such push."""
        if not self.repository.has(entry.commit) or not self.repository.branches_with(
            entry.commit, [entry.branch]
        ):
            return None
        try:
            project = self._project()
            if not may_spend(project, entry.branch):
                return _recorded(project, entry.commit) or untested(
                    f"branch {entry.branch} spends no steps"
                )
            return as_result(run(project, entry.commit, unsandboxed=self.unsandboxed))
        except InfrastructureError:
            raise
        except EaseciError as error:
            return untested(error.message, error.hint)

    def _go_on(self, dropbox: DropBox) -> Iterator[str]:
        """Disclose what waited for labels, if anything has happened since the last look."""
        try:
            project = self._project()
        except NoTestsetError:
            return
        if project.head == self.seen:
            return
        with project.exclusive():
            resume(project)
        self.seen = project.head
        for path in sorted(dropbox.results.glob("[0-9a-f]*")):
            before = dropbox.result(path.name)
            if before is None or before.get("signal") != Signal.PENDING:
                continue
            now = _recorded(project, path.name)
            if now is not None and now["signal"] != before["signal"]:
                dropbox.publish(path.name, now)
                yield f"{path.name[:10]}: {told(now)}"

    def _project(self) -> Project:
        return open_project(self.repository.folder, store=self.store, name=self.name)

    def _once(self, name: str, line: str) -> Iterator[str]:
        if (name, line) not in self.complained:
            self.complained.add((name, line))
            yield line


def as_result(answer: RunAnswer) -> dict[str, Any]:
    """An answer as developers read it; the same as ``run --json``."""
    return asdict(answer.row) | {
        "steps": answer.steps,
        "steps_used": answer.steps_used,
        "charged": answer.charged,
        "failure": answer.failure,
    }


def as_answer(result: dict[str, Any]) -> RunAnswer:
    more = {name: result[name] for name in ("steps", "steps_used", "charged", "failure")}
    row = {name: value for name, value in result.items() if name not in more}
    return RunAnswer(row=DisclosedRow(**row | {"signal": Signal(row["signal"])}), **more)


def untested(why: str, hint: str | None = None) -> dict[str, Any]:
    return {"signal": None, "untested": why, "hint": hint}


def told(result: dict[str, Any]) -> str:
    """In a few words."""
    return result["signal"] or f"not tested: {result['untested']}"


def _recorded(project: Project, commit: str) -> dict[str, Any] | None:
    """What is disclosed of a commit that was submitted before."""
    for submission in reversed(project.state.submissions):
        if submission.commit == commit:
            testset = project.state.testsets[submission.testset]
            row = disclosed_row(project.state, submission)
            used = steps_used(project.state, testset)
            charged = row.step is not None and submission.repeats is None
            answer = RunAnswer(row, testset.script.steps, used, charged, submission.failure)
            return as_result(answer)
    return None
