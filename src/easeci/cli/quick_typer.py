"""Typer commands that convert a value only if there is something to convert.

Typer converts every value of every option with pydantic, also of options that were not given.
Loading pydantic takes as long as loading typer itself, and most commands can do without.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import typer
import typer.main
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

if TYPE_CHECKING:
    from typer._click import Context, Parameter
    from typer._coercion import RuntimeParam


class QuickCommand(TyperCommand):
    """A command of typer's."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """The parameters, with ``--help``."""
        return [_quick(parameter) for parameter in super().get_params(ctx)]


class QuickGroup(TyperGroup):
    """A group of commands of typer's."""

    def get_params(self, ctx: Context) -> list[Parameter]:
        """The parameters, with ``--help``."""
        return [_quick(parameter) for parameter in super().get_params(ctx)]


def quick_command(name: str, function: Callable[..., None]) -> QuickCommand:
    """The command that calls a function."""
    app = typer.Typer(add_completion=False)
    app.command(name, cls=QuickCommand)(function)
    command = typer.main.get_command(app)
    assert isinstance(command, QuickCommand)
    return command


def quick_group(name: str, app: typer.Typer) -> QuickGroup:
    """The command that has the commands of an app."""
    app.info.cls = QuickGroup
    for command in app.registered_commands:
        command.cls = QuickCommand
    group = typer.main.get_group(app)
    assert isinstance(group, QuickGroup)
    group.name = name
    return group


def _quick(parameter: Parameter) -> Parameter:
    if isinstance(parameter, TyperOption | TyperArgument):
        by_typer = partial(type(parameter).get_runtime_param, parameter)
        quick = partial(_Conversion, parameter, by_typer)
        parameter.get_runtime_param = quick  # type: ignore[method-assign, assignment]
    return parameter


@dataclass(frozen=True)
class _Conversion:
    """What typer calls to convert the value of one parameter."""

    parameter: TyperOption | TyperArgument
    by_typer: Callable[[], RuntimeParam]

    def coerce(self, value: Any, param: Any, ctx: Context) -> Any:
        single = self.parameter.nargs == 1 and not self.parameter.multiple
        is_text = isinstance(value, str) and self.parameter.type_descriptor.annotation is str
        if single and (value is None or is_text):
            return value
        return self.by_typer().coerce(value, param, ctx)
