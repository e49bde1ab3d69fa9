"""Commands convert only the values that need it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Annotated

import pytest
import typer

from easeci.cli.quick_typer import quick_command, quick_group


def given_to(*arguments: str) -> list[object]:
    """What a command's function gets for these arguments."""
    got: list[object] = []

    def command(
        name: str,
        count: Annotated[int, typer.Option("--count")] = 3,
        path: Annotated[Path | None, typer.Option("--path")] = None,
        more: Annotated[list[str] | None, typer.Option("--more")] = None,
    ) -> None:
        got.extend([name, count, path, more])

    quick_command("try", command).main(list(arguments), standalone_mode=False)
    return got


def test_values_have_the_types_of_their_options() -> None:
    """Whether typer converts them or we leave them as they are."""
    assert given_to("7")[:3] == ["7", 3, None]
    assert given_to("a", "--count", "5", "--path", "b", "--more", "x", "--more", "y") == [
        "a",
        5,
        Path("b"),
        ["x", "y"],
    ]


def test_a_value_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="valid integer"):
        given_to("a", "--count", "many")


def test_commands_of_a_group_are_quick_too() -> None:
    app, got = typer.Typer(), []

    @app.command("one")
    def one(name: str) -> None:
        got.append(name)

    @app.command("two")
    def two() -> None:
        got.append("two")

    group = quick_group("both", app)
    group.main(["one", "x"], standalone_mode=False)
    assert (group.name, got) == ("both", ["x"])


def test_texts_and_options_that_are_left_out_load_no_pydantic() -> None:
    program = (
        "import sys\n"
        "from easeci.cli.quick_typer import quick_command\n"
        "def command(name: str, other: str | None = None) -> None: pass\n"
        "quick_command('try', command).main(['x'], standalone_mode=False)\n"
        "sys.exit('pydantic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
