"""The owner's scorer is tried on outputs of the baseline while a testset is sealed.

Scores never change, and what a scorer cannot score is 0. So a scorer with a mistake in it would
spoil a testset. If it cannot score any of the baseline's first outputs, nothing is sealed, and the
owner reads what it printed.
"""

from __future__ import annotations

from collections.abc import Sequence

from easeci.errors import BuildError
from easeci.ledger.events import BaselineBuilt, Event
from easeci.ledger.state import Testset
from easeci.script.scorer import ScorerKind
from easeci.service.project import Project
from easeci.service.scoring.record import needed_names
from easeci.vault.missing_scores import UnscoredOutputs, unscored_outputs
from easeci.vault.testset import SealedTestset

TRIED = 8
"""How many outputs it is tried on, if so many have a reference."""
SHOWN_LINES = 30


def try_scorer(
    project: Project, testset: Testset, label_files: Sequence[str], events: Sequence[Event]
) -> None:
    """Run the scorer on outputs of the baseline, which ``events`` are about to record.

    BuildError if it can score none of them. Does nothing if the scorer is no program, or if no
    output has a reference yet.
    """
    scorer = testset.script.scorer
    built = next((event for event in events if isinstance(event, BaselineBuilt)), None)
    if scorer is None or scorer.kind is not ScorerKind.PROGRAM or built is None:
        return
    files = testset.files | {built.file: built.digest}
    sealed = SealedTestset(project.vault, testset.number, files)
    names = needed_names(testset.script)
    outputs = unscored_outputs(sealed, testset.script, [built.file], names, label_files, [])
    tried = UnscoredOutputs(outputs.table.head(TRIED))
    if not len(tried):
        return
    from easeci.service.scoring.program import ProgramScorer

    trial = ProgramScorer(project, sealed, testset.script, tried, names)
    done = trial.run(lambda _: None)
    if done.found:
        return
    printed = trial.printed.decode("utf-8", "replace").rstrip().splitlines()
    raise BuildError(
        f"nothing was sealed: the scorer can score none of the baseline's first {len(tried):,} "
        f"outputs: {next(iter(done.failed.values()), 'it took too long')}",
        hint="\n".join(
            [
                "Mend it: a score that is recorded never changes.",
                *(["It printed:"] if printed else []),
                *(f"| {line}" for line in printed[-SHOWN_LINES:]),
            ]
        ),
    )
