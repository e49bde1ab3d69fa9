"""What the owner writes: the condition language and the script around it."""

from easeci.script.document import (
    assemble,
    compile_condition,
    parse_entries,
    parse_option,
    parse_script,
)
from easeci.script.entries import Entry
from easeci.script.keys import KEYS, ScriptKey, parse_difference, parse_effect
from easeci.script.normal import NormalClause, expand_slices
from easeci.script.outcomes import Cell
from easeci.script.parser import parse_condition
from easeci.script.score import Score
from easeci.script.script import Adaptivity, Estimator, Mode, Script, Unchanged
from easeci.script.syntax import Clause, Comparison, Condition, Slice, SliceTest, unparse

__all__ = [
    "KEYS",
    "Adaptivity",
    "Cell",
    "Clause",
    "Comparison",
    "Condition",
    "Entry",
    "Estimator",
    "Mode",
    "NormalClause",
    "Score",
    "Script",
    "ScriptKey",
    "Slice",
    "SliceTest",
    "Unchanged",
    "assemble",
    "compile_condition",
    "expand_slices",
    "parse_condition",
    "parse_difference",
    "parse_effect",
    "parse_entries",
    "parse_option",
    "parse_script",
    "unparse",
]
