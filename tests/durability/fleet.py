"""Many commands at once, each in a process of its own.

Run as a program in a repository: ``python -m tests.durability.fleet run,c1 run,c2``. The processes
are forked from one that has everything loaded and nothing started, so they begin at one moment,
and the machine is busy with what they do rather than with loading. Prints their exit codes.
"""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module

from easeci.cli.main import run
from tests.durability.life import LOADED_WHEN_NEEDED


def start(arguments: list[str]) -> int:
    """Fork, and give a command in the child."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = run(arguments)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return child


def main() -> None:
    """Load everything, start all commands, and print their exit codes."""
    for name in LOADED_WHEN_NEEDED:
        import_module(name)
    children = [start(command.split(",")) for command in sys.argv[1:]]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    print(json.dumps(codes))


if __name__ == "__main__":
    main()
