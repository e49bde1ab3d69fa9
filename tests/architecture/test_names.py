"""One class name means one thing."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parent.parent.parent / "src" / "easeci"


def test_no_two_public_classes_share_a_name() -> None:
    found = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(str(path.relative_to(SOURCE)))
    assert len(found) > 100
    assert {name: paths for name, paths in found.items() if len(paths) > 1} == {}
