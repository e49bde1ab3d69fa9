"""``easeci run``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import (
    ProjectOption,
    StoreOption,
    UnsandboxedOption,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json, show_warnings, working

if TYPE_CHECKING:
    from easeci.service.commits.answer import RunAnswer


def run(
    commit: Annotated[str, typer.Argument(help="Commit, branch or tag to test.")] = "HEAD",
    store: StoreOption = None,
    project: ProjectOption = None,
    unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Build a commit, test it on the testset and give its signal."""
    from easeci.service.commits.answer import answer_document
    from easeci.service.commits.submit import run as run_commit

    found = opened(store, project)
    if commit == "HEAD" and found.repository.is_dirty():
        show_warnings(("the work tree has changes that are not committed: they are not tested",))
    with working("building and testing"):
        answer = run_commit(found, commit, unsandboxed=unsandboxed, waiting=say_waiting)
    if as_json:
        print_json(answer_document(answer))
    else:
        show_answer(answer)
    raise typer.Exit(answer.row.signal.exit_code)


def show_answer(answer: RunAnswer) -> None:
    """Print the signal, the reason, and how many steps are left."""
    row, console = answer.row, output()
    subject = f" ({escape(row.subject)})" if row.subject else ""
    signal = f"[bold {row.signal.style}]{row.signal.word.upper()}[/]"
    console.print(f"{signal}  commit {row.commit[:10]}{subject}")
    console.print(f"  {_why(answer)}")
    left = answer.steps - answer.steps_used
    console.print(
        f"  [dim]testset {row.testset}: {answer.steps_used:,} of {answer.steps:,} steps used, "
        f"{left:,} left[/]"
    )


def _why(answer: RunAnswer) -> str:
    from easeci.ledger.signals import Signal

    row = answer.row
    match row.signal:
        case Signal.BUILD_ERROR:
            return (
                f"{escape(answer.failure or '')}; no step was spent.\n"
                "  `easeci try --examples FILE` shows what it prints, on a public sample;\n"
                f"  the owner reads it with `easeci log --owner --build {row.submission}`."
            )
        case Signal.BASELINE:
            return "It is the baseline, or predicts the same as it; no step was spent."
        case Signal.PENDING:
            return (
                "Its signal waits for labels (the owner: `easeci label`, or `easeci labels export "
                "FILE`), or for the next tick."
            )
        case Signal.SUPERSEDED:
            return "A newer commit took its place while it waited; no step was spent."
        case Signal.DROPPED:
            return "The testset was retired before this commit was decided."
        case Signal.ACCEPTED if answer.charged:
            return f"Step {row.step:,}. The verdict goes to the address in the script."
        case Signal.ACCEPTED:
            return "It was accepted before; no step was spent."
        case _ if answer.charged:
            return f"Step {row.step:,}."
        case _:
            return f"It was tested before, as step {row.step:,}; no step was spent."
