"""Readers of the logs that evaluation tools write: Inspect, lm-evaluation-harness, promptfoo.

Each format has a module that declares the fields it needs. ``load_log`` guesses the format, and
returns the outputs and scores of one model on one task.
"""

from __future__ import annotations

from easeci.tables.logs.eval_log import EvalLog, LogChoice, require_same_task
from easeci.tables.logs.formats import is_log, load_log

__all__ = ["EvalLog", "LogChoice", "is_log", "load_log", "require_same_task"]
