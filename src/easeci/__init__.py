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
    from easeci.service.checks import Checked, check, make_plan
    from easeci.service.scripts import load_script, make_script
    from easeci.verdict.logic import Result
    from easeci.verdict.result import Verdict

__version__ = "0.1.0"

_HOMES = {
    "easeci.errors": ("DataError", "EaseciError", "ScriptError", "UsageError"),
    "easeci.plan": ("Estimate", "Plan"),
    "easeci.script": ("Script", "parse_script"),
    "easeci.service.checks": ("Checked", "check", "make_plan"),
    "easeci.service.scripts": ("load_script", "make_script"),
    "easeci.verdict.logic": ("Result",),
    "easeci.verdict.result": ("Verdict",),
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
    """Load a name when it is first used: a plan needs no tables, and never waits for them."""
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'easeci' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
