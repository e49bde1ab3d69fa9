"""The page of ``easeci --help``, as typer draws such pages.

Typer's own drawing loads a Markdown parser and a highlighter of source code, and it loads every
command for its line of help. This page needs neither, so it is drawn here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from typer._click import Context
    from typer.core import TyperGroup


def show_help(group: TyperGroup, context: Context, commands: Mapping[str, str]) -> None:
    """Print usage, options and commands; ``commands`` are help lines by name."""
    console = Console(highlight=False)
    usage = Text(group.get_usage(context), "bold")
    usage.highlight_words(["Usage:"], "yellow")
    console.print(Padding(usage, 1))
    console.print(Padding(Text(group.help or ""), (0, 1, 1, 1)))
    console.print(_panel("Options", _options(group, context)))
    console.print(_panel("Commands", _commands(commands)))
    console.print(Padding(Text(group.epilog or ""), 1))


def _panel(title: str, content: Table) -> Panel:
    return Panel(content, border_style="dim", title=title, title_align="left")


def _grid() -> Table:
    return Table(box=None, show_header=False, expand=True, pad_edge=False, padding=(0, 1))


def _options(group: TyperGroup, context: Context) -> Table:
    """Every option: its long and short form, its type, and what it does."""
    table = _grid()
    for ratio in (None, None, None, 1):
        table.add_column(ratio=ratio)
    for option in group.get_params(context):
        record = option.get_help_record(context)
        assert record is not None
        table.add_row(
            Text(",".join(form for form in option.opts if form.startswith("--")), "bold cyan"),
            Text(",".join(form for form in option.opts if not form.startswith("--")), "bold green"),
            Text("<bool>", "bold yellow"),
            Text(record[1]),
        )
    return table


def _commands(lines: Mapping[str, str]) -> Table:
    table = _grid()
    table.add_column(style="bold cyan", no_wrap=True, width=max(map(len, lines)))
    table.add_column(ratio=1)
    for name, line in lines.items():
        table.add_row(Text(name), Text(line))
    return table
