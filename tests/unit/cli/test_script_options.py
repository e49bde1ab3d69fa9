"""The options of a script: declared once, the same for every command that takes one."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperOption

from easeci.cli.commands import load_command
from easeci.cli.script_options import ScriptOptions
from easeci.errors import UsageError
from easeci.script import Estimator


def _options(command: str) -> dict[str, TyperOption]:
    loaded = load_command(command)
    assert isinstance(loaded, TyperCommand)
    return {
        option.name: option
        for option in loaded.params
        if isinstance(option, TyperOption) and option.name is not None
    }


@pytest.mark.parametrize("command", ["plan", "check", "simulate"])
def test_every_command_has_every_option(command: str) -> None:
    options = _options(command)
    for field in dataclasses.fields(ScriptOptions):
        assert f"--{field.name}" in options[field.name].opts
        assert options[field.name].help == _options("plan")[field.name].help


def test_the_help_names_every_estimator() -> None:
    assert _options("plan")["estimator"].help == f"{', '.join(Estimator)}."


def test_options_come_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "script.yml"
    file.write_text(
        "ml: {condition: n > 0.8 +/- 0.1, reliability: 0.9, mode: fp-free, adaptivity: full, steps: 4}"
    )
    request = ScriptOptions(script=file, steps="7").request()
    assert (request.script.steps, request.source, request.defaults) == (7, str(file), {})


def test_a_condition_takes_defaults_for_what_is_not_given() -> None:
    request = ScriptOptions(condition="n > 0.8 +/- 0.1", steps="7").request()
    assert request.defaults_in_words == "reliability 0.9999, mode fp-free, adaptivity full"


def test_a_condition_and_a_file_exclude_each_other() -> None:
    with pytest.raises(UsageError, match="not both"):
        ScriptOptions(script=Path("x.yml"), condition="n > 0.8 +/- 0.1").request()
