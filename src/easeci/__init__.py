"""Continuous integration for machine-learning models, with a statistical guarantee.

>>> import easeci
>>> script = easeci.make_script("n > 0.8 +/- 0.05", reliability=0.99, steps=1)
>>> easeci.make_plan(script).recommended
<Estimator.SEQUENTIAL: 'sequential'>
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from easeci.errors import DataError, EaseciError, ScriptError, UsageError
    from easeci.plan import Estimate, Plan
    from easeci.script import Script, parse_script
    from easeci.service import Checked, check, load_script, make_plan, make_script
    from easeci.verdict import Result, Verdict

__version__ = "0.1.0"

_HOMES = {
    "Checked": "easeci.service",
    "DataError": "easeci.errors",
    "EaseciError": "easeci.errors",
    "Estimate": "easeci.plan",
    "Result": "easeci.verdict",
    "Plan": "easeci.plan",
    "Script": "easeci.script",
    "ScriptError": "easeci.errors",
    "UsageError": "easeci.errors",
    "Verdict": "easeci.verdict",
    "check": "easeci.service",
    "load_script": "easeci.service",
    "make_plan": "easeci.service",
    "parse_script": "easeci.script",
    "make_script": "easeci.service",
}

__all__ = [
    "Checked",
    "DataError",
    "EaseciError",
    "Estimate",
    "Plan",
    "Result",
    "Script",
    "ScriptError",
    "UsageError",
    "Verdict",
    "check",
    "load_script",
    "make_plan",
    "make_script",
    "parse_script",
]


def __getattr__(name: str) -> Any:
    """Names are loaded when first used, so that planning never waits for tables."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'easeci' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
