"""Files that bring scores with them: tables with a column of scores, and logs of eval tools."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from easeci.script.scorer import MAIN_SCORE

if TYPE_CHECKING:
    from easeci.tables.column import ColumnRole
    from easeci.tables.logs import EvalLog, LogChoice
    from easeci.tables.outputs import Outputs
    from easeci.tables.source import Source


@dataclass(frozen=True)
class ScoredOutputs:
    """The outputs of a model with their scores; ``log`` if an eval tool logged them."""

    outputs: Outputs
    log: EvalLog | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scores that a condition can have."""
        return tuple(self.outputs.scores)


def load_if_scored(
    source: Source | ScoredOutputs, role: ColumnRole, choice: LogChoice | None = None
) -> ScoredOutputs | None:
    """The outputs of a file that brings scores with them; None if it has none.

    ``choice`` says what to take of a log that holds several metrics or models.
    """
    from easeci.tables.logs import LogChoice, is_log, load_log
    from easeci.tables.outputs import load_outputs, score_names

    if isinstance(source, ScoredOutputs):
        return source
    path = Path(source) if isinstance(source, str | Path) else None
    if path is not None and path.is_file() and is_log(path):
        log = load_log(path, choice or LogChoice())
        return ScoredOutputs(outputs_of_log(log, role), log)
    if path is not None and not path.is_file():
        return None
    if not score_names(source):
        return None
    return ScoredOutputs(load_outputs(source, role, with_scores=True))


def outputs_of_log(log: EvalLog, role: ColumnRole) -> Outputs:
    """The outputs of a log. Its chosen metric is the main score; others keep their names."""
    from easeci.tables.logs.eval_log import SCORE
    from easeci.tables.outputs import load_outputs

    frame = log.rows.drop("input")
    if log.metric is not None:
        frame = frame.with_columns(frame[SCORE + log.metric].alias(MAIN_SCORE))
    words = {SCORE + name for name in log.metrics if name.isidentifier() and name != MAIN_SCORE}
    others = [c for c in frame.columns if c.startswith(SCORE) and c not in words]
    return load_outputs(frame.drop(others), role, with_scores=True, name=log.name)
