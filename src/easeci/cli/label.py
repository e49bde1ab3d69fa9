"""``easeci label``: one example at a time, in the terminal, by keys alone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from easeci.cli.keyboard import Keyboard, in_words, wrapped
from easeci.cli.project_options import (
    ByOption,
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import output, plain_characters, show_warnings
from easeci.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from easeci.service.labelling.questions import Question
    from easeci.service.labelling.terminal import TerminalSession

SINGLE_KEYS = 9
MOST_CLASS_LINES = 6
LONGEST_VALUE = 20_000


def label(
    by: ByOption = None,
    unsettled: Annotated[
        bool, typer.Option("--unsettled", help="Ask again what was skipped or is disputed.")
    ] = False,
    store: StoreOption = None,
    project: ProjectOption = None,
) -> None:
    """Label what the commits that wait need, example by example, until their answers are known."""
    from easeci.service.labelling.terminal import TerminalSession

    keyboard = Keyboard()
    asking = TerminalSession(
        opened(store, project), by or login_name(), unsettled=unsettled, waiting=say_waiting
    )
    interrupted = False
    try:
        if asking.question is not None:
            with keyboard.pressed():
                LabelScreen(asking, keyboard).run()
    except KeyboardInterrupt:
        interrupted = True
    finally:
        asking.close()
    if asking.question is not None:
        print()  # go below the prompt, which is still there
    _report(asking)
    if interrupted:
        raise typer.Exit(ExitCode.INTERRUPTED)


def _report(asking: TerminalSession) -> None:
    console = output()
    show_warnings(asking.problems)
    if asking.given:
        console.print(f"Answers recorded: {asking.given:,}. Thank you.")
    if asking.answered:
        console.print(f"Answered now: {len(asking.answered):,} of the commits that waited.")
    if asking.question is None:
        console.print("No labels are wanted.")
    else:
        console.print("More labels are wanted: `easeci label` goes on from here.")


class LabelScreen:
    """What is on the screen, and what a key does to it."""

    def __init__(self, asking: TerminalSession, keyboard: Keyboard) -> None:
        self.asking, self.keyboard = asking, keyboard
        self.page = 0
        self.typed = ""
        self.message = ""

    def run(self) -> None:
        """Ask until no label is wanted any more, or the labeller quits."""
        while self.asking.question is not None:
            self._draw()
            self.message = ""
            key = self.keyboard.key()
            if key in ("q", "end"):
                return
            self._press(key)
        _write(_clear())

    # -- keys

    def _press(self, key: str) -> None:
        if key.isdigit():
            self._digit(key)
        elif key == "enter" and self.typed:
            self._choose(int(self.typed))
        elif key == "backspace":
            self.typed = self.typed[:-1]
        elif key == "page down":
            self.page += 1
        elif key == "page up":
            self.page = max(self.page - 1, 0)
        elif key == "c":
            self._answer("cannot tell", "can't tell")
        elif key == "s":
            self._answer("skipped", "skipped")
        elif key == "u":
            self._undo()
        elif key == "n":
            self._name()

    def _digit(self, digit: str) -> None:
        if len(self.asking.classes) <= SINGLE_KEYS:
            self._choose(int(digit))
        else:
            self.typed = (self.typed + digit)[:4]

    def _choose(self, number: int) -> None:
        self.typed = ""
        if 1 <= number <= len(self.asking.classes):
            name = self.asking.classes[number - 1]
            self._answer("label", name, name)
        else:
            self.message = "there is no class of that number"

    def _answer(self, state: str, words: str, name: str | None = None) -> None:
        from easeci.evidence.cells import LabelState

        self.page, self.typed = 0, ""
        try:
            self.asking.answer(LabelState(state), name)
            self.message = f"last: {in_words(words)}"
        except UsageError as error:
            self.message = error.message

    def _undo(self) -> None:
        self.page, self.typed = 0, ""
        if self.asking.can_undo:
            self.asking.undo()
            self.message = "taken back: answer again"
        else:
            self.message = "nothing to take back: recorded answers stay"

    def _name(self) -> None:
        """Ask for a class by its name; a class that is new must be confirmed.

        A reference for a scorer is any text of one line.
        """
        _write("reference: " if self.asking.references else "class: ")
        name = self.keyboard.line()
        if not name:
            return
        if name in self.asking.classes or self.asking.references:
            self._answer("label", name, name)
        elif self.asking.declared:
            self.message = "the script has no such class"
        else:
            _write(f"A new class '{name}'? y/n ")
            if self.keyboard.key() == "y":
                self._answer("label", name, name)
            else:
                self.message = "no new class"

    # -- the screen

    def _draw(self) -> None:
        assert self.asking.question is not None
        columns, rows = self.keyboard.size()
        foot = self._foot(columns)
        head = f"label {self.asking.given + 1:,} of this session; {self.asking.more}"
        body = _body(self.asking.question, columns)
        room = max(rows - len(foot) - 4, 3)
        pages = max(-(-len(body) // room), 1)
        self.page = min(self.page, pages - 1)
        shown = body[self.page * room : (self.page + 1) * room]
        if pages > 1:
            head += f"; page {self.page + 1} of {pages} (space, arrows)"
        rule = ("-" if plain_characters() else "─") * columns
        lines = [head[:columns], rule, *shown, rule, *foot]
        _write(_clear() + "\n".join(lines) + "\n" + self._prompt(columns))

    def _prompt(self, columns: int) -> str:
        text = f"{self.message}  " if self.message else ""
        return (f"{text}> {self.typed}")[-(columns - 1) :]

    def _foot(self, columns: int) -> list[str]:
        classes = [f"{i} {in_words(c)}" for i, c in enumerate(self.asking.classes, start=1)]
        lines = wrapped("   ".join(classes), columns) if classes else []
        if len(lines) > MOST_CLASS_LINES:
            lines = [*lines[: MOST_CLASS_LINES - 1], "… all of them: by number, or n and the name"]
        keys = ["n reference"]
        if not self.asking.references:
            keys = ["number: class" if len(classes) <= SINGLE_KEYS else "number, enter: class"]
            keys.append("n by name" if self.asking.declared else "n new class")
        keys += ["c can't tell", "s skip", "u undo", "q quit"]
        return [*lines, *wrapped("   ".join(keys), columns)]


def _body(question: Question, columns: int) -> list[str]:
    """The columns of an example as wrapped lines; a single column is shown without its name."""
    lines: list[str] = []
    for name, value in question.row.items():
        text = in_words(value)
        if len(text) > LONGEST_VALUE:
            text = f"{text[:LONGEST_VALUE]}… ({len(text) - LONGEST_VALUE:,} more characters)"
        if name in question.files:
            text = f"file {text}"
        if len(question.row) > 1:
            text = f"{in_words(name)}: {text}"
        lines += wrapped(text, columns)
    return lines or ["(an example without columns)"]


def _clear() -> str:
    return "\x1b[2J\x1b[H" if sys.stdout.isatty() else ""


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
