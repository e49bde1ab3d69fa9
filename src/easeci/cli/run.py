"""``easeci run``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import (
    PredictionsOption,
    ProjectOption,
    StoreOption,
    UnsandboxedOption,
    opened,
    predictions_file,
    say_not_read,
    say_waiting,
)
from easeci.cli.terminal import (
    JsonOption,
    output,
    print_hanging,
    print_json,
    program_output,
    show_warnings,
    working,
)

if TYPE_CHECKING:
    from easeci.service.commits.answer import RunAnswer


def run(
    commit: Annotated[str, typer.Argument(help="Commit, branch or tag to test.")] = "HEAD",
    store: StoreOption = None,
    project: ProjectOption = None,
    test: Annotated[
        bool,
        typer.Option(
            "--test",
            help="Test also if it predicts what the baseline does on the sample, or was compared "
            "with an earlier baseline.",
        ),
    ] = False,
    predictions: PredictionsOption = None,
    unsandboxed: UnsandboxedOption = False,
    as_json: JsonOption = False,
) -> None:
    """Build a commit, test it on the testset and give its signal."""
    from easeci.service.commits.answer import answer_document
    from easeci.service.commits.submit import RunOptions
    from easeci.service.commits.submit import run as run_commit

    found = opened(store, project)
    if commit == "HEAD" and found.repository.is_dirty():
        show_warnings(("the work tree has changes that are not committed: they are not tested",))
    options = RunOptions(
        test,
        unsandboxed,
        warn=lambda warning: show_warnings((warning,)),
        predictions=predictions_file(predictions),
    )
    with working("building and testing" if predictions is None else "testing"):
        answer = run_commit(found, commit, options=options, waiting=say_waiting)
    say_not_read(predictions, answer.file_read)
    if as_json:
        print_json(answer_document(answer))
    else:
        show_answer(answer)
    raise typer.Exit(answer.row.signal.exit_code)


def show_answer(answer: RunAnswer, again: str | None = None) -> None:
    """Print the signal, the reason, and how many steps are left.

    ``again`` says how to ask again, where that is not by ``easeci run``.
    """
    row, console = answer.row, output()
    subject = f" ({escape(row.subject)})" if row.subject else ""
    signal = f"[bold {row.signal.style}]{row.signal.word.upper()}[/]"
    console.print(f"{signal}  commit {row.commit[:10]}{subject}")
    for line in _why(answer, again or f"`easeci run {row.commit[:10]}` asks again").splitlines():
        print_hanging("  ", line)
    if answer.log is not None:
        console.print("  What was printed on the public sample:")
        for line in program_output(answer.log).splitlines():
            print(f"  | {line}")  # not by rich, which would wrap a traceback
    used = f"testset {row.testset}: {answer.steps_used:,} of {answer.steps:,} steps used"
    if answer.ended is None:
        console.print(f"  [dim]{used}, {answer.steps - answer.steps_used:,} left[/]")
        return
    console.print(f"  [dim]{used}[/]")
    console.print(
        f"  Testset {row.testset} has ended: {escape(answer.ended)}.\n"
        "  A new one is needed before another commit is tested."
    )


def _why(answer: RunAnswer, again: str) -> str:
    from easeci.ledger.signals import Signal

    row = answer.row
    match row.signal:
        case Signal.BUILD_ERROR if answer.log is not None:
            return f"{answer.failure or 'it was not built'}; no step was spent."
        case Signal.BUILD_ERROR:
            return (
                f"{answer.failure or 'it was not built'}; no step was spent.\n"
                "`easeci try` shows what it prints, on a public sample;\n"
                f"the owner reads it with `easeci log --owner --build {row.submission}`."
            )
        case Signal.UNCHANGED:
            most = 100 * (1 - 0.05 ** (1 / max(answer.sample, 1)))
            return (
                f"None of the {answer.sample:,} public examples differ from the baseline: d is "
                f"below {most:.2g}%\n(with 95% confidence). It is not tested, and no step was "
                f"spent.\n`easeci run --test {row.commit[:10]}` tests it all the same."
            )
        case Signal.BASELINE if row.step is not None:
            return f"Step {row.step:,}. It is the first model that runs, and so the baseline."
        case Signal.BASELINE:
            return "It is the model of the baseline; no step was spent."
        case Signal.PENDING:
            # The same words whatever it waits for: that would tell of labels and examples.
            return (
                "It waits for labels or scores, or for the next tick if the script has disclose:.\n"
                "The owner labels with `easeci label` or `easeci labels export FILE`, and\n"
                "`easeci scores export FILE` writes outputs that wait for a score;\n"
                f"{again}."
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
