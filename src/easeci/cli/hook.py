"""``easeci hook``: install, uninstall, and what the hooks themselves run."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from easeci.cli.project_options import ProjectOption, StoreOption, UnsandboxedOption, say_waiting
from easeci.cli.run import show_answer
from easeci.cli.terminal import output, show_error, show_warnings
from easeci.errors import EaseciError, ExitCode, UsageError

if TYPE_CHECKING:
    from easeci.service.project import Project
    from easeci.service.pushes.hooks import Installed, Push
    from easeci.service.pushes.results import PushResult

WAIT_VARIABLE = "EASECI_WAIT"
WAIT_SECONDS = 60.0

hook = typer.Typer(help="Let git start the tests: by commits, or by pushes.", no_args_is_help=True)


@hook.command()
def install(
    gate: Annotated[
        bool,
        typer.Option("--gate", help="Refuse pushes whose commit fails, waits or cannot be built."),
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    unsandboxed: UnsandboxedOption = False,
) -> None:
    """Test every commit of this repository; of a bare one, the tip of every push."""
    from easeci.build.repository import Repository
    from easeci.service.project import store_folder
    from easeci.service.pushes.hooks import install as install_hook

    repository = Repository.find(Path())
    where = store_folder(repository, store).absolute()
    options = ["--store", str(where)]
    options += [] if project is None else ["--project", project]
    options += ["--unsandboxed"] if unsandboxed else []
    command = _command()
    done = install_hook(repository, command, options, gate=gate)
    console = output()
    console.print(f"Installed {done.path}", soft_wrap=True, markup=False)
    if done.before is not None:
        console.print(f"  The hook that was there runs first: {done.before.name}", markup=False)
    console.print(_who_can_read(done), soft_wrap=True, markup=False)
    if done.dropbox is not None and not _open_to_all(Path(command[0])):
        show_warnings((f"other accounts cannot run {command[0]}: their pushes are not tested",))


@hook.command()
def uninstall() -> None:
    """Remove the hooks of easeci, and put back what was there before."""
    from easeci.build.repository import Repository
    from easeci.service.pushes.hooks import uninstall as uninstall_hook

    removed = uninstall_hook(Repository.find(Path()))
    for path in removed:
        output().print(f"Removed {path}", soft_wrap=True, markup=False)
    if not removed:
        output().print("There was no hook of easeci.")


@hook.command(name="run", hidden=True)
def run_hook(
    name: str,
    # As text, because the account that pushes may not be allowed to read the path.
    store_text: Annotated[str, typer.Option("--store")],
    project: ProjectOption = None,
    unsandboxed: UnsandboxedOption = False,
) -> None:
    """Do what an installed hook must do; only the hooks call this."""
    from easeci.service.pushes.hooks import COMMIT, GATE, pushes

    store = Path(store_text)
    if name == COMMIT:
        code = _committed(store, project, unsandboxed)
    else:
        told = sys.stdin.buffer.read().decode(errors="surrogateescape")
        found = pushes(told.split("\n"))
        gate = name == GATE
        if not found:
            code = ExitCode.PASS
        elif _is_ours(store):
            code = _at_once(found, store, project, unsandboxed, gate=gate)
        elif gate:
            print("easeci: only the owner's account may push here, because of the gate")
            code = ExitCode.USAGE
        else:
            code = _hand_over(found)
        code = min(code, 1) if gate else ExitCode.PASS
    raise typer.Exit(code)


def _committed(store: Path, name: str | None, unsandboxed: bool) -> int:
    """Test HEAD. The commit is made already, whatever its signal is."""
    try:
        opened = _open(store, name)
        branch = opened.repository.head_branch()
        if branch is not None:  # during a rebase, HEAD is on no branch
            _test(opened, "HEAD", branch, unsandboxed)
    except EaseciError as error:
        show_error(error)
    return ExitCode.PASS


def _at_once(
    found: list[Push], store: Path, name: str | None, unsandboxed: bool, *, gate: bool
) -> int:
    """Test the tip of each push. A gate refuses the push at the first tip that does not pass."""
    for push in found:
        try:
            opened = _open(store, name)
            opened.repository = opened.repository.receiving(os.environ.get("GIT_QUARANTINE_PATH"))
            code = _test(opened, push.commit, push.branch, unsandboxed)
        except EaseciError as error:
            show_error(error)
            code = error.exit_code
        if gate and code:
            advice = {
                ExitCode.WAITING_FOR_LABELS: "push again when it has its signal",
                ExitCode.NEW_TESTSET_NEEDED: "push again when the owner has added a testset",
            }
            why = advice.get(ExitCode(code), "commits that fail are not let in")
            print(f"easeci: push refused; {why}", flush=True)
            return code
    return ExitCode.PASS


def _test(opened: Project, commit: str, branch: str, unsandboxed: bool) -> int:
    from easeci.service.commits.submit import RunOptions, run
    from easeci.service.pushes.hooks import may_spend

    if not may_spend(opened, branch):
        return ExitCode.PASS
    options = RunOptions(unsandboxed=unsandboxed, warn=lambda warning: show_warnings((warning,)))
    answer = run(opened, commit, branch=branch, options=options, waiting=say_waiting)
    show_answer(answer)
    return answer.row.signal.exit_code


def _hand_over(found: list[Push]) -> int:
    """Put the pushes into the drop box of the owner, and wait a while for their signals."""
    from easeci.ledger.signals import Signal
    from easeci.service.pushes.dropbox import DropBox

    dropbox = DropBox.of(Path().absolute())
    until = time.monotonic() + _patience()
    try:
        dropped = [(dropbox.drop(push.branch, push.commit), push) for push in found]
    except OSError:
        print("easeci: nothing was tested; the owner has to run `easeci hook install` again")
        return ExitCode.PASS
    for name, push in dropped:
        result = dropbox.wait(name, push.commit, until)
        if result is None and (dropbox.drop_box / name).exists():
            print(f"{Signal.PENDING.word.upper()}  commit {push.commit[:10]}")
            print(f"  Its signal will be in {dropbox.results / push.commit}", flush=True)
        else:
            _show_result(push, result, f"its signal will be in {dropbox.results / push.commit}")
    return ExitCode.PASS


def _show_result(push: Push, result: PushResult | None, again: str) -> None:
    from easeci.service.pushes.results import NotTested

    if result is None:
        print(f"easeci: commit {push.commit[:10]} was refused: it is not on {push.branch}")
    elif isinstance(result, NotTested):
        print(f"easeci: commit {push.commit[:10]} was not tested: {result.reason}")
        if result.hint:
            print(result.hint)
    else:
        if result.charged and result.warning is not None:  # the watcher cannot show it before
            show_warnings((result.warning,))
        show_answer(result, again)


def _patience() -> float:
    try:
        return float(os.environ.get(WAIT_VARIABLE, WAIT_SECONDS))
    except ValueError:
        return WAIT_SECONDS


def _open(store: Path, name: str | None) -> Project:
    from easeci.service.project import open_project

    return open_project(Path(), store=store, name=name)


def _is_ours(store: Path) -> bool:
    """Whether this account owns the store. It does not own a store that it cannot see."""
    try:
        return store.stat().st_uid == os.geteuid()
    except FileNotFoundError:  # not made yet; the owner of the repository will make it
        return Path().stat().st_uid == os.geteuid()
    except PermissionError:
        return False


def _who_can_read(done: Installed) -> str:
    from easeci.service.pushes.hooks import COMMIT, GATE

    if done.name == COMMIT:
        return (
            "Every commit on a branch that spends steps is tested. Nothing is hidden here: anyone "
            "who can commit can read labels and verdicts. Decisions should rest on the signals."
        )
    if done.dropbox is not None:
        return (
            "Pushes of other accounts are handed to this one: let `easeci watch` run here. They "
            "can read neither vault nor verdicts."
        )
    what = "is tested at once"
    if done.name == GATE:
        what = "must pass, or change nothing on the public sample, to get in"
    return (
        f"The tip of every push {what}. Pushes run as this account: anyone who can do more with it "
        "than push can read labels and verdicts."
    )


def _command() -> list[str]:
    """The command that starts this installation of easeci, by its absolute path."""
    beside = Path(sys.executable).with_name("easeci")
    if beside.is_file():
        return [str(beside.absolute())]
    if not sys.executable:
        raise UsageError("easeci cannot find the Python that runs it")
    return [sys.executable, "-m", "easeci"]


def _open_to_all(program: Path) -> bool:
    real = (program, program.resolve(), Path(sys.executable).resolve())
    return all(step.stat().st_mode & 0o001 for path in real for step in (path, *path.parents))
