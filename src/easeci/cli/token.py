"""``easeci token``: add, list, remove, sign-out."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer
from rich.markup import escape

from easeci.cli.project_options import (
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_json

token = typer.Typer(
    help="Who may sign in to the pages of `easeci serve`: add, list, remove, sign-out.",
    no_args_is_help=True,
)


@token.command()
def add(
    role: Annotated[str, typer.Option("--role", help="owner, labeller or developer.")],
    name: Annotated[
        str | None, typer.Option("--name", help="Whose it is; labels are recorded under it.")
    ] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a token and show it, once: the store keeps only its digest."""
    from easeci.service.access.tokens import add_token

    found = opened(store, project, create=True)
    made = add_token(found, role, name, login=login_name(), waiting=say_waiting)
    if as_json:
        print_json({"name": made.name, "role": made.role, "token": made.text})
        return
    output().print(f"Token of [bold]{escape(made.name)}[/], {made.role}:")
    print(made.text)
    output().print("[dim]Hand it over privately: it is not shown again.[/]")


@token.command(name="list")
def list_(
    store: StoreOption = None, project: ProjectOption = None, as_json: JsonOption = False
) -> None:
    """List all tokens: name, role, and the day each was made."""
    from easeci.service.access.tokens import tokens

    found = tokens(opened(store, project))
    if as_json:
        print_json([asdict(row) for row in found])
        return
    console = output()
    for row in found:
        console.print(f"{row.role:<10} {row.at[:10]}  {escape(row.name)}")
    if not found:
        console.print("No token yet: `easeci token add --role owner` makes one.")


@token.command()
def remove(
    name: Annotated[str, typer.Argument(help="The name that `easeci token list` shows.")],
    store: StoreOption = None,
    project: ProjectOption = None,
) -> None:
    """Remove a token, and end the sessions that were opened with it, at once.

    If another command works on the project, the token is gone already, and
    this command waits to record that. If you stop it, the next command that
    writes to the project records the removal.
    """
    from easeci.service.access.tokens import remove_token

    def waiting() -> None:
        print(f"The token of {name} is gone. It remains to record that.", file=sys.stderr)
        say_waiting()

    remove_token(opened(store, project), name, by=login_name(), waiting=waiting)
    output().print(f"The token of {escape(name)} is gone.")


@token.command(name="sign-out")
def sign_out(
    name: Annotated[str | None, typer.Argument(help="Only the sessions of this name.")] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
) -> None:
    """End all sessions at once, also those opened by the link of `easeci serve`; tokens stay."""
    from easeci.service.access.tokens import sign_out_everywhere

    ended = sign_out_everywhere(opened(store, project), name)
    output().print(f"Sessions that were ended: {ended:,}.")
