"""What the owner writes: the condition language and the script around it."""

from easeci.script.cells import Cell, Score
from easeci.script.document import assemble, parse_entries, parse_option, parse_script
from easeci.script.entries import Entry
from easeci.script.keys import KEYS, ScriptKey, parse_difference, parse_effect
from easeci.script.linear import LinearClause, compile_condition
from easeci.script.parser import parse_condition
from easeci.script.script import Adaptivity, Estimator, Mode, Script, Unchanged
from easeci.script.syntax import Clause, Comparison, Condition, unparse

__all__ = [
    "KEYS",
    "Adaptivity",
    "Cell",
    "Clause",
    "Comparison",
    "Condition",
    "Entry",
    "Estimator",
    "LinearClause",
    "Mode",
    "Score",
    "Script",
    "ScriptKey",
    "Unchanged",
    "assemble",
    "compile_condition",
    "parse_condition",
    "parse_difference",
    "parse_effect",
    "parse_entries",
    "parse_option",
    "parse_script",
    "unparse",
]
