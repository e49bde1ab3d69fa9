"""Write the parts of the docs that come from the code: commands, script keys and pictures."""

from __future__ import annotations

import io
import os
import tempfile
from contextlib import chdir, redirect_stdout
from pathlib import Path
from unittest import mock

import polars as pl
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text
from typer.core import TyperGroup

from easeci.cli.commands import COMMANDS, load_command
from easeci.cli.main import run
from easeci.cli.terminal import output
from easeci.errors import ExitCode
from easeci.script import KEYS
from easeci.script.measures import MEASURES

ROOT = Path(__file__).parent.parent
THEME = TerminalTheme(
    (250, 250, 248),
    (40, 44, 52),
    [(40, 44, 52), (192, 40, 40), (22, 120, 60), (150, 98, 0), (30, 90, 170), (120, 60, 150),
     (0, 110, 120), (90, 94, 100)],
)  # fmt: skip
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
  font-size: {char_height}px; line-height: {line_height}px; }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#fafaf8" stroke="#d0d0cc" x="1" y="1" rx="6"
  width="{terminal_width}" height="{terminal_height}"/>
<g transform="translate({terminal_x}, 14)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def easeci(*arguments: str, folder: Path, colours: bool) -> str:
    """What a command prints in a terminal of 80 columns."""
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "80", "LANG": "C.UTF-8"}
    if colours:
        environment |= {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color"}
    shown = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        redirect_stdout(shown),
        chdir(folder),
    ):
        output.cache_clear()  # a command before this one, or a test, had other colours
        run(list(arguments))
        output.cache_clear()
    shown.seek(0)
    return shown.read()


def commands() -> list[str]:
    """Every command, those of groups included: "plan", "testset add"."""
    found = []
    for name in COMMANDS:
        command = load_command(name)
        inner = command.commands if isinstance(command, TyperGroup) else {}
        shown = [f"{name} {part}" for part, one in inner.items() if not one.hidden]
        found += shown or [name]
    return found


EXIT_CODES = {
    ExitCode.PASS: "done; a verdict: pass, accepted, or nothing to test",
    ExitCode.FAIL: "a verdict: fail",
    ExitCode.USAGE: "a mistake in the options, the script or the data; nothing was recorded",
    ExitCode.WAITING_FOR_LABELS: "the answer waits for labels, for scores (`scorer: external`), "
    "for its turn, or for the next tick of `disclose:`",
    ExitCode.NEW_TESTSET_NEEDED: "a new testset is needed; nothing was tested",
    ExitCode.BUILD_ERROR: "the program failed on the public sample, and no step was spent; or a "
    "baseline could not be built",
    ExitCode.INTERNAL: "the machine or the store is at fault, or an unexpected error",
    ExitCode.INTERRUPTED: "interrupted",
}


def exit_codes_table() -> str:
    lines = ["| exit code | meaning |", "|---:|---|"]
    return "\n".join([*lines, *(f"| {int(code)} | {EXIT_CODES[code]} |" for code in ExitCode)])


def commands_page() -> str:
    parts = [
        "# Commands\n\nWritten by `make docs` from `easeci COMMAND --help`. See also the "
        "[script](script.md) and the [guarantees](guarantees.md).\n",
        f"\n## Exit codes\n\n{exit_codes_table()}\n",
    ]
    for command in commands():
        shown = easeci(*command.split(), "--help", folder=ROOT, colours=False)
        lines = "\n".join(line.rstrip() for line in shown.strip().splitlines())
        parts.append(f"\n## easeci {command}\n\n```text\n{lines}\n```\n")
    return "".join(parts)


def keys_table() -> str:
    lines = ["| key | needed | meaning | example |", "|---|---|---|---|"]
    for key in KEYS:
        meaning = key.meaning.replace("|", "\\|")
        example = f"[{key.example}]" if key.is_list else key.example
        needed = "yes" if key.required else ""
        lines.append(f"| `{key.name}` | {needed} | {meaning} | `{example}` |")
    return "\n".join(lines)


def measures_table() -> str:
    lines = ["| measure | meaning | examples that need labels | example |", "|---|---|---|---|"]
    for measure in MEASURES:
        cells = (f"`{measure.written}`", measure.meaning, measure.labels, f"`{measure.example}`")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def between_marks(page: str, name: str, content: str) -> str:
    """The page with the text between its two marks replaced."""
    start, end = f"<!-- {name}: written by make docs -->", f"<!-- end of {name} -->"
    before, _, rest = page.partition(start)
    _, _, after = rest.partition(end)
    return f"{before}{start}\n{content}\n{end}{after}"


def picture(lines: list[tuple[str, str]], identifier: str) -> str:
    """Commands and their outputs as an SVG that loads no font from another host."""
    console = Console(record=True, width=82, file=io.StringIO(), legacy_windows=False)
    for command, shown in lines:
        console.print(f"[bold]$ {command}[/]", highlight=False)
        console.print(Text.from_ansi(shown.rstrip()))
        console.print()
    return console.export_svg(theme=THEME, code_format=SVG, unique_id=identifier)


def pictures() -> dict[str, str]:
    labels = ["cat", "dog", "bird", "fish"] * 1500
    ids = list(range(len(labels)))
    old = [label if i % 5 else "cat" for i, label in enumerate(labels)]
    new = [label if i % 11 else "cat" for i, label in enumerate(labels)]
    condition = r"n - o > 0.02 +/- 0.03 /\ d < 0.25 +/- 0.03"
    plan = ("plan", "-c", r"n - o > 0.02 +/- 0.01 /\ d < 0.1 +/- 0.01")
    check = ("check", "--new", "new.csv", "--old", "old.parquet", "--labels", "labels.jsonl",
             "-c", condition, "-r", "0.999")  # fmt: skip
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pl.DataFrame({"id": ids, "prediction": new}).write_csv(folder / "new.csv")
        pl.DataFrame({"id": ids, "prediction": old}).write_parquet(folder / "old.parquet")
        pl.DataFrame({"id": ids, "label": labels}).write_ndjson(folder / "labels.jsonl")
        planned = easeci(*plan, folder=folder, colours=True)
        checked = easeci(*check, folder=folder, colours=True)
    return {
        "plan.svg": picture([(f'easeci plan -c "{plan[2]}"', planned)], "plan"),
        "check.svg": picture(
            [
                (
                    "easeci check --new new.csv --old old.parquet --labels labels.jsonl \\\n"
                    f'    -c "{condition}" -r 0.999',
                    checked,
                )
            ],
            "check",
        ),
    }


def pages() -> dict[Path, str]:
    """Every page that the code writes, with its content."""
    script = ROOT / "docs" / "script.md"
    with_keys = between_marks(script.read_text("utf-8"), "keys", keys_table())
    made = {
        ROOT / "docs" / "commands.md": commands_page(),
        script: between_marks(with_keys, "measures", measures_table()),
    }
    return made | {ROOT / "docs" / "images" / name: svg for name, svg in pictures().items()}


def main() -> None:
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
        print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
