"""The audit: every way to see more than the signals is in it, in order, with a name."""

from __future__ import annotations

import getpass
import json
from pathlib import Path
from typing import Any

import pytest

from easeci.service.project import open_project
from easeci.views.audit import AuditKind, audit
from tests.repositories import Workplace
from tests.sites import Visit, serving_here, token, waiting_project
from tests.waiting import wait_until

ME = getpass.getuser()
TAB = "0123456789abcdef"


@pytest.fixture
def place(tmp_path: Path) -> Workplace:
    return waiting_project(tmp_path, classes="[low, high]")


def acts(place: Workplace) -> list[tuple[str, str, str]]:
    """Who did what, and what about."""
    return [(e.who, str(e.what), e.about) for e in audit(open_project(place.repository))]


def test_commands_that_show_more_than_signals_are_in_it(place: Workplace, tmp_path: Path) -> None:
    """In their order, with the login of the account. Those that show signals are not, nor are those
    that show what is released."""
    asked = tmp_path / "ask.csv"
    for command in ("status", "log", "report -o r.html", "run", "token list"):
        place.easeci(*command.split())
    assert [what for _, what, _ in acts(place)] == ["testset added", "baseline set"]
    for command in (
        "status --owner",
        "log --owner",
        "log --owner --build 2",
        "report --owner -o r.html",
        "outbox",
        f"labels export {asked}",
        f"labels import {place.labels}",
        "testset retire",
        f"testset release --to {tmp_path}/out",
        "report --released",
        "token add --role labeller --name ada",
        "token remove ada",
        f"backup {tmp_path}/backup.tar",
        f"backup {tmp_path}/backup.tar --key-apart {tmp_path}/key",
        "log --audit",
    ):
        place.easeci(*command.split(), code=0)
    exported = len(asked.read_text().splitlines()) - 1
    assert acts(place)[2:] == [
        (ME, "looked", "status"),
        (ME, "looked", "log"),
        (ME, "looked", "build"),
        (ME, "looked", "report"),
        (ME, "looked", "outbox"),
        (ME, "exported", f"{exported} examples of testset 1, csv"),
        (ME, "labels added", "1,520 to testset 1"),
        ("", "testset retired", "1: by hand"),
        (ME, "released", "testset 1"),
        (ME, "token made", "ada, labeller"),
        (ME, "token removed", "ada"),
        (ME, "backup begun", "with the key"),
        (ME, "backup begun", "without the key"),
        (ME, "looked", "audit"),
    ]


def test_visitors_of_pages_are_in_it_from_signing_in_to_signing_out(place: Workplace) -> None:
    """With the address that they came from. A token that is removed ends the session."""
    text = token(place.repository, "owner", "olga")
    with serving_here(place.repository) as here:
        olga, ada = Visit(here.address, "olga"), Visit(here.address, "ada")
        olga.sign_in("easeci_wrong")
        olga.sign_in("easeci_wrong")
        olga.sign_in(text)
        for path in ("/", "/commits/2", "/commits/2/log", "/testsets"):
            assert olga.get(path).status_code == 200
        ada.sign_in(token(place.repository, "labeller", "ada"))
        assert ada.label("take", TAB)["questions"]
        wait_until(lambda: ("ada", "looked", "labelling") in acts(place))
        olga.post("/sign-out")
        place.easeci("token", "remove", "ada", code=0)
    found = acts(place)
    about = {("", "sign-in refused", "wrong token"), ("olga", "signed in", "owner")}
    about |= {("olga", "looked", page) for page in ("overview", "commit", "build", "testsets")}
    about |= {("olga", "signed out", "owner"), ("ada", "signed in", "labeller")}
    about |= {("ada", "looked", "labelling"), ("ada", "session ended", "labeller")}
    assert about <= set(found)
    assert found.count(("", "sign-in refused", "wrong token")) == 1, "one a minute is enough"
    order = [what for who, what, _ in found if who == "olga" and what.startswith("signed")]
    assert order == ["signed in", "signed out"]
    assert found.index(("ada", "session ended", "labeller")) < found.index(
        (ME, "token removed", "ada")
    )
    entries = audit(open_project(place.repository))
    refused = next(entry for entry in entries if entry.what is AuditKind.REFUSED)
    assert (refused.address, refused.event) == ("127.0.0.1", None)


def test_the_command_shows_it_within_80_columns_and_as_json(place: Workplace) -> None:
    """However long a name is. It is the owner's, so the look is recorded first."""
    name = "ada of the office on the other side of the river in the city"
    place.easeci("token", "add", "--role", "developer", "--name", name, code=0)
    shown = place.easeci("log", "--audit", code=0).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "token made" in shown
    assert "audit" in shown.splitlines()[-2]
    document: list[dict[str, Any]] = json.loads(
        place.easeci("log", "--audit", "--json", code=0).stdout
    )
    last = document[-1]
    assert set(last) == {"at", "who", "what", "about", "event", "address"}
    assert (last["who"], last["what"], last["about"]) == (ME, "looked", "audit")
    assert [entry["event"] for entry in document] == sorted(entry["event"] for entry in document)
