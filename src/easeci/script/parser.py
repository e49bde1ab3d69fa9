"""From the text of a condition to its tree, with errors that point at the place."""

from __future__ import annotations

from easeci.script.problem import Problem, locate
from easeci.script.syntax import Condition, Expression, Negation, Operation, Span, unparse

LONGEST_TEXT = 50_000
LONGEST_CONDITION = 4_000
"""In its canonical spelling, so that what was parsed once can be parsed again."""
DEEPEST_NESTING = 60


def parse_condition(text: str) -> Condition:
    """Parse a condition into its tree. Raises :class:`ScriptError` and nothing else."""
    try:
        return parse_unlocated(text)
    except Problem as problem:
        raise locate(problem, text) from None


def parse_unlocated(text: str) -> Condition:
    """Like :func:`parse_condition`, but raises :class:`Problem`: the caller knows the place."""
    if len(text) > LONGEST_TEXT:
        raise _too_long()
    if not text.strip():
        raise Problem(
            "the condition is empty", Span(0, 1), "Write one such as n - o > 0.02 +/- 0.01."
        )
    # Here and not above: lark is slow to load, and most commands parse no condition.
    from easeci.script.grammar import parse_tree

    condition = parse_tree(text)
    _require_shallow(condition)
    if len(unparse(condition)) > LONGEST_CONDITION:
        raise _too_long()
    return condition


def _too_long() -> Problem:
    return Problem(f"the condition is longer than {LONGEST_CONDITION:,} characters", Span(0, 1))


def _require_shallow(condition: Condition) -> None:
    """Refuse trees so deep that recursion could exhaust the stack. This check is a loop."""
    pending: list[tuple[Expression, int]] = []
    for clause in condition.clauses:
        pending += [(clause.left, 1), (clause.right, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > DEEPEST_NESTING:
            raise Problem(f"more than {DEEPEST_NESTING} operations in one expression", node.span)
        match node:
            case Negation():
                pending.append((node.operand, depth + 1))
            case Operation():
                pending += [(node.left, depth + 1), (node.right, depth + 1)]
