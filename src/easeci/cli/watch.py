"""``easeci watch``."""

from __future__ import annotations

import signal
import time
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from easeci.cli.project_options import ProjectOption, StoreOption, UnsandboxedOption
from easeci.errors import ExitCode


def watch(
    once: Annotated[bool, typer.Option("--once", help="Take what has arrived, then end.")] = False,
    interval: Annotated[
        float, typer.Option("--interval", min=0.1, help="Seconds between two looks.")
    ] = 5.0,
    retry: Annotated[
        bool, typer.Option("--retry", help="Try again what was set aside or postponed.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    unsandboxed: UnsandboxedOption = False,
) -> None:
    """Test what other accounts have pushed to this bare repository, and leave them the signals."""
    from easeci.service.pushes.watcher import Watcher

    received: list[int] = []

    def end(number: int, _: FrameType | None) -> None:
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)  # a test that has begun is finished first
    watching = Watcher.start(Path(), store, project, unsandboxed=unsandboxed)
    for line in watching.retry() if retry else ():
        _say(line)
    while not received:
        for line in watching.round(lambda: bool(received)):
            _say(line)
        if once:
            break
        until = time.monotonic() + interval
        while not received and time.monotonic() < until:
            time.sleep(0.1)
    raise typer.Exit(ExitCode.INTERRUPTED if signal.SIGINT in received else ExitCode.PASS)


def _say(line: str) -> None:
    now = datetime.now().astimezone().strftime("%H:%M:%S")
    print(f"{now}  {line}", flush=True)
