"""A plan, and one verdict from files. Neither needs a repository, and no steps are counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from easeci.errors import UsageError
from easeci.script import Adaptivity, Estimator, Mode, Script

if TYPE_CHECKING:
    import polars as pl

    from easeci.plan import Plan
    from easeci.tables.source import Source
    from easeci.verdict.result import Verdict


def make_plan(script: Script, commits: str = "mixed") -> Plan:
    """How many examples and labels a script needs, if commits are like those of a named mix."""
    from easeci.plan import plan
    from easeci.plan.commit_mix import MIXES

    return plan(script, MIXES[commits])


@dataclass(frozen=True)
class Checked:
    """A verdict from files, and the ids of the examples to label if it waits for labels.

    ``exact_is_apt``: every label is there and ``auto`` decided, so that ``exact`` would have been
    the more decisive choice for a user who had all labels beforehand.
    """

    verdict: Verdict
    wanted_ids: pl.Series
    exact_is_apt: bool = False

    def __str__(self) -> str:
        """The answer, the reason and one line for each clause."""
        return str(self.verdict)

    def __repr__(self) -> str:
        """Short, because the verdict itself has many fields."""
        return f"<Checked {str(self).splitlines()[0]}>"


def check(
    script: Script,
    *,
    new: Source,
    old: Source | None = None,
    labels: Source | None = None,
    history: str | None = None,
    seed: str = "",
) -> Checked:
    """One verdict from predictions and labels. The caller counts the steps.

    ``old`` may be left out if the condition has neither o nor d, ``labels`` if it is on d alone.
    ``history`` holds the answers that this testset has given so far, such as "PFF"; without it
    every step has the published level. ``seed`` keys the order in which examples are looked at.

    With estimator ``auto`` the ``sequential`` estimator decides, whatever labels are there; all of
    them are at hand. Another estimator for a file with all labels would be a second chance.
    ``exact`` is for a user who had all labels before the first answer.
    """
    # Here and not above, because a plan needs no polars.
    from easeci.evidence.cells import unlabelled
    from easeci.tables.align import align
    from easeci.tables.column import ColumnRole
    from easeci.tables.source import load_column
    from easeci.verdict.decide import decide

    if script.needs_old_model and old is None:
        raise UsageError(
            "the condition compares with the old model, so its predictions are needed too",
            hint="Give them as --old (old=…).",
        )
    _require_history(script, history)
    for source in (old, labels):
        # Also if the condition does not need the file: a wrong name is a mistake anyway.
        if isinstance(source, str | Path) and not Path(source).exists():
            raise UsageError(f"there is no file {source}")
    testset = align(
        load_column(new, ColumnRole.NEW),
        load_column(old, ColumnRole.OLD) if old is not None and script.needs_old_model else None,
        load_column(labels, ColumnRole.LABELS)
        if labels is not None and script.needs_labels
        else None,
    )
    complete = not testset.lacks_labels(script.clauses)
    by_default = script.estimator is Estimator.AUTO
    if by_default:
        script = replace(script, estimator=Estimator.SEQUENTIAL)
    if script.estimator is Estimator.SEQUENTIAL or not complete:
        testset = testset.ordered(seed)
    verdict = decide(script, testset.codes, history, at_hand=~unlabelled(testset.codes))
    apt = by_default and complete and script.needs_labels
    return Checked(verdict, testset.ids_at(verdict.wanted), apt)


def _require_history(script: Script, history: str | None) -> None:
    if history is None:
        return
    if set(history) - {"P", "F"}:
        raise UsageError(
            "a history consists of the letters P and F",
            hint="Write the answers so far in their order, such as PFF.",
        )
    if len(history) >= script.steps:
        raise UsageError(
            f"all {script.steps:,} steps of this testset are used up",
            hint="A new testset is needed, or a script with more steps.",
        )
    change = "P" if script.mode is Mode.FP_FREE else "F"
    if script.adaptivity is Adaptivity.FIRST_CHANGE and change in history:
        raise UsageError(
            "under firstChange a testset is retired at its first change",
            hint="A new testset is needed.",
        )


def write_ids(path: Path, ids: pl.Series) -> None:
    """Write the ids to label, one a row, in the order in which labels are wanted."""
    import polars as pl

    try:
        with path.open("wb") as file:
            pl.DataFrame({"id": ids}).write_csv(file)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from None
