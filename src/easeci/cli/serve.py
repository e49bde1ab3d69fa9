"""``easeci serve``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from easeci.cli.project_options import ProjectOption, StoreOption, login_name
from easeci.cli.terminal import output
from easeci.errors import UsageError


def serve(
    host: Annotated[
        str, typer.Option("--host", help="Where to listen; anything but loopback needs tokens.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="0 takes any free port.")
    ] = 8000,
    url: Annotated[
        str | None,
        typer.Option("--url", help="The address that browsers use, if a proxy is in front."),
    ] = None,
    proxy: Annotated[
        list[str] | None,
        typer.Option(
            "--proxy",
            metavar="ADDRESS",
            help="A proxy, or its network, whose X-Forwarded-For counts; again for more.",
        ),
    ] = None,
    certificate: Annotated[
        Path | None, typer.Option("--certificate", help="PEM file, for https; needs --key.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", help="PEM file of its key.")] = None,
    store: StoreOption = None,
    project: ProjectOption = None,
) -> None:
    """Show the project in a browser: overview, labelling, testsets, and a plan to play with."""
    try:
        from easeci.web.addresses import parse_proxies
        from easeci.web.served_project import ServedProject
        from easeci.web.server import Listening, Server
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "easeci":
            raise
        raise UsageError(
            "pages need the extra: pip install 'easeci[server]'",
            hint="Everything else works without it.",
        ) from None
    place = ServedProject(Path(), store=store, name=project)
    listening = Listening(host, port, url, certificate, key, parse_proxies(proxy or ()))
    server = Server.bind(place, listening, login_name())
    console = output()
    console.print(f"Serving [bold]{server.site.name}[/] at {server.address}", soft_wrap=True)
    if listening.loopback:
        console.print("Sign in by this link, once, or with a token (`easeci token add`):")
        print(f"{server.address}/enter/{server.site.visitors.new_code()}", flush=True)
    else:
        console.print(
            "It can be reached from other machines: every visitor needs a token "
            "(`easeci token add`)."
        )
        if not listening.encrypted:
            console.print(
                "[bold yellow]Nothing is encrypted.[/] Give --certificate and --key, or let a "
                "proxy do it and give --url."
            )
    console.print("[dim]Ctrl-C ends it; answers of labellers are safe at any time.[/]")
    server.run()
