"""The options that say what is asked for, shared by the commands that take a script."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from easeci.errors import UsageError
from easeci.script import Entry, Estimator, Script, assemble
from easeci.service.scripts import DEFAULTS, find_script, load_entries

ScriptOption = Annotated[
    Path | None,
    typer.Option("--script", help="YAML file with an ml: section; default: this folder's."),
]
ConditionOption = Annotated[
    str | None,
    typer.Option("-c", "--condition", help='Condition, such as "n - o > 0.02 +/- 0.01".'),
]
ReliabilityOption = Annotated[
    str | None,
    typer.Option("-r", "--reliability", help="Probability that no answer is wrong."),
]
StepsOption = Annotated[
    str | None, typer.Option("--steps", help="How many commits one testset must serve.")
]
AdaptivityOption = Annotated[
    str | None, typer.Option("--adaptivity", help="none, full or firstChange.")
]
ModeOption = Annotated[str | None, typer.Option("--mode", help="fp-free or fn-free.")]
SensitivityOption = Annotated[
    str | None,
    typer.Option("--sensitivity", help="Probability that no clearly good commit fails."),
]
DifferenceOption = Annotated[
    str | None,
    typer.Option("--difference", help="Largest d expected of a commit; sizes the testset."),
]
EstimatorOption = Annotated[
    str | None,
    typer.Option(
        "--estimator",
        help=f"{', '.join(Estimator)}.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print a JSON document instead.")]


@dataclass(frozen=True)
class Request:
    """A script as asked for, where it came from, and which defaults were filled in."""

    script: Script
    source: str
    defaults: dict[str, str]

    @property
    def defaults_in_words(self) -> str:
        return ", ".join(f"{name} {value}" for name, value in self.defaults.items())


def read_request(
    script: Path | None,
    condition: str | None,
    defaults: dict[str, str] | None = None,
    **options: str | None,
) -> Request:
    """The script of a command: a condition with options, or a file with options over it."""
    entries = {
        name: Entry.option(f"--{name}", text) for name, text in options.items() if text is not None
    }
    if condition is None:
        path = script or find_script(Path())
        return Request(assemble({**load_entries(path), **entries}, str(path)), str(path), {})
    if script is not None:
        raise UsageError("give either --condition or --script, not both")
    entries["condition"] = Entry.option("--condition", condition)
    filled = {name: text for name, text in (defaults or DEFAULTS).items() if name not in entries}
    for name, text in filled.items():
        entries[name] = Entry.option(f"--{name}", text)
    return Request(assemble(entries, "the options"), "-c", filled)
