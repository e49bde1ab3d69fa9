"""``easeci status``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.markup import escape

from easeci.cli.project_options import (
    OwnerOption,
    ProjectOption,
    StoreOption,
    login_name,
    opened,
    say_waiting,
)
from easeci.cli.terminal import JsonOption, output, print_hanging, print_json

if TYPE_CHECKING:
    from easeci.views.status import OwnerStatus, Status


def status(
    owner: OwnerOption = False,
    store: StoreOption = None,
    project: ProjectOption = None,
    as_json: JsonOption = False,
) -> None:
    """Budget, what happens next, and what the guarantee rests on."""
    from easeci.service.looks import record_look
    from easeci.views.status import status as status_of

    place = opened(store, project)
    if owner:
        record_look(place, "status", say_waiting, by=login_name())
    found = status_of(place, owner=owner)
    if as_json:
        print_json(asdict(found))
    else:
        _show(found)


def _show(found: Status) -> None:
    console, shown = output(), found.shown
    console.print(f"[bold]{escape(found.project)}[/]")
    if shown.testset is not None:
        console.print(f"  condition  {escape(found.condition or '')}")
        console.print(
            f"  promise    reliability {found.reliability}, {found.mode}, adaptivity "
            f"{found.adaptivity}"
        )
        state = "in use" if shown.retired is None else f"retired: {escape(shown.retired)}"
        console.print(f"  testset    {shown.testset} ({escape(shown.name or '')}), {state}")
        used = f"{shown.steps_used:,} of {shown.steps:,} steps used"
        # The other steps of a testset that has ended are not left: nobody can use them.
        bar = "" if shown.retired is not None else _bar(shown.steps_used, shown.steps)
        console.print(f"  budget     {bar}{used}")
    if found.owner is not None:
        _show_owner(found.owner)
    print_hanging("  next       ", found.next)
    if found.alarms:
        console.print("\n[bold]Alarms[/]")
        for alarm in found.alarms:
            print_hanging("  - ", f"{alarm.message} {alarm.hint}")
    if found.rests_on:
        console.print("\n[bold]What the guarantee rests on[/]")
        for line in found.rests_on:
            print_hanging("  - ", line)


def _bar(used: int, steps: int) -> str:
    width = min(32, steps)
    full = round(width * used / steps)
    drawn = "#" * full + "." * (width - full)
    return rf"\[{drawn}] "


def _show_owner(owner: OwnerStatus) -> None:
    console = output()
    needed = "" if owner.needed is None else f" (planned: {owner.needed:,})"
    console.print(f"  examples   {owner.examples:,}{needed}")
    wanted = f", {owner.labels_wanted:,} more wanted now" if owner.labels_wanted else ""
    console.print(f"  labels     {owner.labels:,}{wanted}")
    if owner.scores or owner.scores_wanted:
        more = f", {owner.scores_wanted:,} more wanted now" if owner.scores_wanted else ""
        failed = f", {owner.failed_scores:,} of them failed" if owner.failed_scores else ""
        console.print(f"  scores     {owner.scores:,} outputs{failed}{more}")
    console.print(
        f"  answers    {owner.passed:,} passed, {owner.undecided:,} undecided, "
        f"{owner.waiting:,} waiting, {owner.build_errors:,} build errors"
    )
    if owner.baseline is not None:
        from easeci.ledger.wording import baseline_words, sent_words  # not above: --help needs none

        how = baseline_words(owner.baseline_how or "")
        if owner.baseline_sent is not None:
            how += f"; predictions {sent_words(owner.baseline_sent)}"
        print_hanging("  baseline   ", f"{owner.baseline[:10]} ({how})")
    if owner.letters_to_send:
        console.print(f"  to send    {owner.letters_to_send:,} letters: `easeci outbox`")
    console.print(f"  head       {owner.head[:24]}")
