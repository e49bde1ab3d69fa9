"""The owner's side of the drop box: take each push in its turn, test it, leave its signal.

An entry is removed only when its result is there. If a watcher is killed, the next one takes the
entry up again, and a signal that is recorded by then is given again at no cost. An entry that kills
every watcher is set aside after a few tries (:mod:`easeci.service.pushes.attempts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from easeci.build.repository import Repository
from easeci.errors import EaseciError, InfrastructureError, NoTestsetError, UsageError
from easeci.files import explained
from easeci.ledger.signals import Signal
from easeci.ledger.turns import overdue_runs
from easeci.service.commits.advance import catch_up
from easeci.service.commits.answer import RunAnswer, answer_of, public_log
from easeci.service.commits.sealed_run import finish_runs
from easeci.service.commits.submit import RunOptions, run
from easeci.service.project import Project, open_project, utc_now
from easeci.service.public_sample import publish_sample
from easeci.service.pushes.attempts import MOST_TRIES, AttemptRecord
from easeci.service.pushes.dropbox import DropBox, DroppedPush, Refused
from easeci.service.pushes.hooks import may_spend
from easeci.service.pushes.permissions import require_closed
from easeci.service.pushes.results import NotTested, PushResult, in_short

SET_ASIDE = f"set aside after {MOST_TRIES} unfinished tries; `easeci watch --retry` tries it again"


@dataclass
class Watcher:
    """A watcher of one repository; it remembers what it need not read or say again."""

    repository: Repository
    store: Path | None
    name: str | None
    unsandboxed: bool = False
    project: Project | None = None
    said: set[tuple[str, str]] = field(default_factory=set)

    @staticmethod
    def start(folder: Path, store: Path | None, name: str | None, *, unsandboxed: bool) -> Watcher:
        """A watcher of the bare repository that ``folder`` is in."""
        repository = Repository.find(folder)
        if not DropBox.of(repository.git_dir).drop_box.is_dir():
            raise UsageError(
                f"{repository.git_dir} has no drop box",
                hint="Run `easeci hook install` in a bare repository that others may push to "
                "(git init --bare --shared). If they push as this account, the hook tests at once.",
            )
        require_closed(repository.git_dir)
        return Watcher(repository, store, name, unsandboxed)

    def retry(self) -> list[str]:
        """Let commits that were set aside be tried again; a line about each, for the owner."""
        with explained("the tries cannot be removed"):
            commits = DropBox.of(self.repository.git_dir).attempts.retry()
        return [f"{commit[:10]} is tried again" for commit in commits]

    def round(self, ended: Callable[[], bool]) -> Iterator[str]:
        """Go once through everything that has arrived; a line about each, for the owner."""
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
            yield from self._catch_up(dropbox)
        except EaseciError as error:  # such as a full disk: the next round tries again
            yield from self._once("", error.message)

    def _take(self, dropbox: DropBox, push: DroppedPush) -> Iterator[str]:
        """Test a push, unless its commit was tried too often or another watcher is at it."""
        about = f"{push.commit[:10]} on {push.branch} from uid {push.uid}"
        try:
            with dropbox.attempts.record(push.commit) as record:
                if record is not None and record.is_due:
                    yield f"{about}: {self._try(dropbox, push, record)}"
                elif record is not None and record.count.is_set_aside:
                    yield from self._once(push.name, f"{about}: {SET_ASIDE}")
        except Exception as error:  # noqa: BLE001 - ours to mend: the entry waits, others go on
            what = error.message if isinstance(error, EaseciError) else type(error).__name__
            yield from self._once(push.name, f"{about}: not tested yet: {what}")

    def _try(self, dropbox: DropBox, push: DroppedPush, record: AttemptRecord) -> str:
        """Publish the result of a push, and say in short what it is.

        A try that fails for a reason around us, such as a full disk, sets nothing aside: it is
        tried again, later each time. Any other error counts like the death of the watcher.
        """
        record.begin()
        try:
            result = self._result(push)
            if result is not None:
                with explained("its result cannot be written"):
                    dropbox.publish(push.commit, result)
        except InfrastructureError:
            record.fail_outside()
            raise
        dropbox.remove(push.name)
        record.remove()
        return "refused: not on that branch" if result is None else in_short(result)

    def _result(self, push: DroppedPush) -> PushResult | None:
        """What developers are told of a push; None if the repository knows of no such push."""
        branches = self.repository.branches()
        if not branches.containing(push.commit, [push.branch]):
            return None
        try:
            project = self._project()
            if not may_spend(project, push.branch):
                recorded = _recorded(project, push.commit)
                return recorded or NotTested(f"branch {push.branch} spends no steps")
            options = RunOptions(unsandboxed=self.unsandboxed, later=True)
            return run(project, push.commit, options=options)
        except InfrastructureError:
            raise
        except EaseciError as error:
            return NotTested(error.message, error.hint)

    def _catch_up(self, dropbox: DropBox) -> Iterator[str]:
        """Go on with what waited for labels, for a tick or for a mail server; publish signals."""
        try:
            project = self._project()
        except NoTestsetError:
            return
        with project.exclusive():
            self._finish_runs(project, overdue=True)
            catch_up(project)
            publish_sample(project)
        yield from self._publish_signals(dropbox, project)
        with project.exclusive():
            ran = self._finish_runs(project, overdue=False)
            catch_up(project)
        if ran:
            yield from self._publish_signals(dropbox, project)

    def _finish_runs(self, project: Project, *, overdue: bool) -> bool:
        """Run programs on sealed examples that have not ended yet; whether there were any.

        What is ``overdue`` comes first: at its tick it would be answered as Unknown. Others come
        one a round, so that signals do not wait for all of them.
        """
        state, testset = project.state, project.state.active_testset
        if testset is None:
            return False
        late = overdue_runs(state, testset, utc_now())
        waiting = late if overdue else state.interrupted(testset)[:1]
        finish_runs(project, testset, waiting, unsandboxed=self.unsandboxed)
        return bool(waiting)

    def _publish_signals(self, dropbox: DropBox, project: Project) -> Iterator[str]:
        """Publish the signals of pushes that were pending."""
        for path in sorted(dropbox.results.glob("[0-9a-f]*")):
            before = dropbox.result(path.name)
            if not isinstance(before, RunAnswer) or before.row.signal is not Signal.PENDING:
                continue
            now = _recorded(project, path.name)
            if now is not None and now.row.signal is not before.row.signal:
                dropbox.publish(path.name, now)
                yield f"{path.name[:10]}: {in_short(now)}"

    def _project(self) -> Project:
        """The project as it is now; opened once, because it remembers how far it has caught up."""
        if self.project is None:
            self.project = open_project(self.repository.folder, store=self.store, name=self.name)
        else:
            self.project.refresh()
        return self.project

    def _once(self, name: str, line: str) -> Iterator[str]:
        if (name, line) not in self.said:
            self.said.add((name, line))
            yield line


def _recorded(project: Project, commit: str) -> RunAnswer | None:
    """What is disclosed of a commit that was submitted before."""
    for submission in reversed(project.state.submissions):
        if submission.commit == commit:
            return answer_of(project.state, submission, log=public_log(project, submission))
    return None
