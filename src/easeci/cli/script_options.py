"""The options that say what is asked for, shared by the commands that take a script."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from easeci.errors import UsageError

if TYPE_CHECKING:
    from easeci.script import Entry, Script

ScriptOption = Annotated[
    Path | None,
    typer.Option("--script", help="YAML file with an ml: section; default: this folder's."),
]


@dataclass(frozen=True)
class ScriptOptions:
    """What a command was told about the script. Options that were not given are None."""

    script: ScriptOption = None
    condition: Annotated[
        str | None,
        typer.Option("-c", "--condition", help='Condition, such as "n - o > 0.02 +/- 0.01".'),
    ] = None
    reliability: Annotated[
        str | None,
        typer.Option("-r", "--reliability", help="Probability that no answer is wrong."),
    ] = None
    steps: Annotated[
        str | None, typer.Option("--steps", help="How many commits one testset must serve.")
    ] = None
    adaptivity: Annotated[
        str | None, typer.Option("--adaptivity", help="none, full or firstChange.")
    ] = None
    mode: Annotated[str | None, typer.Option("--mode", help="fp-free or fn-free.")] = None
    sensitivity: Annotated[
        str | None,
        typer.Option("--sensitivity", help="Probability that no clearly good commit fails."),
    ] = None
    difference: Annotated[
        str | None,
        typer.Option("--difference", help="Largest d expected of a commit; sizes the testset."),
    ] = None
    expected: Annotated[
        str | None,
        typer.Option(
            "--expected", help='Expected shares of classes, "fraud: 2%"; size the testset.'
        ),
    ] = None
    scorer: Annotated[
        str | None,
        typer.Option("--scorer", help="exact, contains, regex, numeric(1e-3): scores of outputs."),
    ] = None
    trials: Annotated[
        str | None, typer.Option("--trials", help="How many outputs each example has.")
    ] = None
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            help="auto, hoeffding, pattern1, pattern1-active, pattern2, pattern3, exact, "
            "sequential.",
        ),
    ] = None

    def request(
        self,
        defaults: dict[str, str] | None = None,
        known: Mapping[str, Sequence[str]] | None = None,
    ) -> Request:
        """The script that is asked for: a condition with options, or a file with options over it.

        ``defaults`` are the keys of a condition without a script that no option gives. ``known``
        are texts of keys that files with scores have told; a script with a scorer ignores them.
        """
        # Here and not above, because --help needs no parsers.
        from easeci.script import Entry, assemble
        from easeci.service.scripts import DEFAULTS, find_script, load_entries

        entries = {
            name: Entry.option(f"--{name}", text)
            for name, text in vars(self).items()
            if name != "script" and text is not None
        }
        if self.condition is None:
            path = self.script or find_script(Path())
            entries = {**load_entries(path), **entries}
            told = _told(entries, known)
            return Request(assemble({**entries, **told}, str(path)), str(path), {})
        if self.script is not None:
            raise UsageError("give either --condition or --script, not both")
        filled = {n: text for n, text in (defaults or DEFAULTS).items() if n not in entries}
        for name, text in filled.items():
            entries[name] = Entry.option(f"--{name}", text)
        entries |= _told(entries, known)
        return Request(assemble(entries, "the options"), "-c", filled)


def _told(
    entries: Mapping[str, Entry], known: Mapping[str, Sequence[str]] | None
) -> dict[str, Entry]:
    """What files tell about their scores, as far as no key says it and no scorer decides."""
    from easeci.script import Entry

    if "scorer" in entries:
        return {}
    return {
        name: Entry.options(name, list(texts))
        for name, texts in (known or {}).items()
        if name not in entries
    }


@dataclass(frozen=True)
class Request:
    """The script that was asked for, where it came from, and which defaults were filled in."""

    script: Script
    source: str
    defaults: dict[str, str]

    @property
    def defaults_in_words(self) -> str:
        """The defaults in one line: "reliability 0.9999, steps 32"."""
        return ", ".join(f"{name} {value}" for name, value in self.defaults.items())


def takes_script_options(command: Callable[..., None]) -> Callable[..., None]:
    """Replace the parameter ``options: ScriptOptions`` of a command by one for each option.

    Typer reads the signature that this sets, so the options appear where the parameter stood.
    """
    signature = inspect.signature(command, eval_str=True)
    annotations = get_type_hints(ScriptOptions, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if parameter.annotation is ScriptOptions:
            parameters += [
                parameter.replace(name=name, annotation=annotation, default=None)
                for name, annotation in annotations.items()
            ]
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        told = {field.name: given.pop(field.name) for field in fields(ScriptOptions)}
        command(options=ScriptOptions(**told), **given)

    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return with_options
