"""Every command and option that a message, a docstring or a page names in backticks exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup

from easeci.cli.commands import COMMANDS, load_command

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "easeci"
PAGES = [ROOT / "README.md", *ROOT.glob("docs/*.md")]
ANYWHERE = {"-h", "--help"}
TOP = {*ANYWHERE, "--version"}
NAMED = re.compile(r"`(easeci [^`]+|--[a-z][^`]*)`|<code>(easeci [^<]+|--[a-z][^<]*)</code>")
STAND_IN = re.compile(r"[A-Z]+")
"""A word for something that the user fills in, such as COMMAND."""


def options_of(command: TyperCommand | TyperGroup) -> set[str]:
    return ANYWHERE | {form for parameter in command.params for form in parameter.opts}


def all_options() -> set[str]:
    found = set(TOP)
    for name in COMMANDS:
        command = load_command(name)
        inner = command.commands.values() if isinstance(command, TyperGroup) else [command]
        for one in inner:
            assert isinstance(one, TyperCommand | TyperGroup)
            found |= options_of(one)
    return found


def problem(text: str) -> str | None:
    """What is wrong with a command line, or with an option that stands alone."""
    words = text.split()
    if words[0].startswith("--"):
        return _unknown(words[:1], all_options())
    words = words[1:]
    if words[0].startswith("-"):
        return _unknown(words, TOP)
    if STAND_IN.fullmatch(words[0]):
        return _unknown(words[1:], ANYWHERE)
    if words[0] not in COMMANDS:
        return f"there is no command {words[0]}"
    command: object = load_command(words.pop(0))
    if isinstance(command, TyperGroup) and words and not words[0].startswith("-"):
        name = words.pop(0)
        command = command.commands.get(name)
        if command is None:
            return f"there is no command {name}"
    assert isinstance(command, TyperCommand | TyperGroup)
    return _unknown(words, options_of(command))


def _unknown(words: list[str], options: set[str]) -> str | None:
    given = [word.split("=")[0].rstrip(".,;:") for word in words if word.startswith("-")]
    wrong = [word for word in given if word not in options]
    return f"there is no option {wrong[0]}" if wrong else None


def texts(path: Path) -> Iterator[str]:
    """The strings of a module, with a word for each value that is filled in; else the whole."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        yield text
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            parts = [p.value if isinstance(p, ast.Constant) else "VALUE" for p in node.values]
            yield "".join(str(part) for part in parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


def named(text: str) -> Iterator[str]:
    """Command lines and options between backticks or in <code>; those of other tools are not."""
    for found in NAMED.finditer(text.replace("``", "`")):
        yield " ".join((found[1] or found[2]).split())


def test_the_check_finds_mistakes() -> None:
    assert problem("easeci log --owner --build baseline") is None
    assert problem("easeci COMMAND --help") is None
    assert problem("--store FOLDER") is None
    assert problem("easeci log --baseline") == "there is no option --baseline"
    assert problem("easeci testset simple") == "there is no command simple"
    assert problem("easeci forecast") == "there is no command forecast"
    assert problem("--nothing") == "there is no option --nothing"
    assert list(named("see ``easeci plan`` or `--json`, not `git log --all`")) == [
        "easeci plan",
        "--json",
    ]


@pytest.mark.parametrize("kind", ["py", "html", "js", "md"])
def test_what_is_named_exists(kind: str) -> None:
    paths = PAGES if kind == "md" else sorted(SOURCE.rglob(f"*.{kind}"))
    assert paths
    wrong = {
        f"{path.relative_to(ROOT)}: {line}": found
        for path in paths
        for text in texts(path)
        for line in named(text)
        if (found := problem(line)) is not None
    }
    assert wrong == {}
