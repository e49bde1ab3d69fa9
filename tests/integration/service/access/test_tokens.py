"""Tokens and sessions: who has one is let in, and what the store holds lets nobody in."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from easeci.errors import UsageError
from easeci.ledger.chain import find_damage
from easeci.ledger.events import Event, Looked, TokenMade, TokenRemoved, parse_event
from easeci.service.access import tokens
from easeci.service.access.tokens import (
    Role,
    add_token,
    remove_token,
    sign_in,
    sign_in_here,
    sign_out,
    sign_out_everywhere,
    visitor_of,
)
from easeci.service.project import Project, chain_key, open_project
from tests.repositories import Workplace
from tests.waiting import PATIENCE


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return open_project(Workplace.make(tmp_path).repository, create=True)


def test_a_token_opens_a_session_of_its_role(project: Project) -> None:
    for role in Role:
        made = add_token(project, role, f"{role} of mine")
        session = sign_in(project, f"  {made.text}\n")
        assert session is not None
        visitor = visitor_of(project, session)
        assert visitor is not None
        assert (visitor.name, visitor.role) == (f"{role} of mine", role)


def test_nothing_else_opens_one(project: Project) -> None:
    made = add_token(project, "owner")
    for text in ("", "easeci_", made.text[:-1], made.text + "x", made.text.upper(), "é" * 50):
        assert sign_in(project, text) is None
    assert visitor_of(project, made.text) is None


def test_of_tokens_and_sessions_the_store_holds_only_digests(project: Project) -> None:
    made = add_token(project, "owner")
    session = sign_in(project, made.text)
    assert session is not None
    files = [path for path in project.store.folder.rglob("*") if path.is_file()]
    content = b"".join(path.read_bytes() for path in files)
    assert made.text.removeprefix(tokens.PREFIX).encode() not in content
    assert session.encode() not in content
    with sqlite3.connect(project.store.path) as database:
        digests = [d for (d,) in database.execute("SELECT digest FROM token")]
        digests += [d for (d,) in database.execute("SELECT digest FROM session")]
    assert len(digests) == 2
    for digest in digests:  # whoever reads the store can't sign in with what is there
        assert sign_in(project, digest) is None
        assert visitor_of(project, digest) is None


def test_two_tokens_are_never_alike(project: Project) -> None:
    texts = {add_token(project, "labeller").text for _ in range(20)}
    assert len(texts) == 20
    assert all(len(text) >= 43 + len(tokens.PREFIX) for text in texts)
    assert [row.name for row in tokens.tokens(project)] == [f"labeller-{n}" for n in range(1, 21)]


def test_a_token_that_is_removed_takes_its_sessions_with_it(project: Project) -> None:
    kept, gone = add_token(project, "owner", "kept"), add_token(project, "owner", "gone")
    sessions = [sign_in(project, made.text) for made in (kept, gone)]
    remove_token(project, "gone")
    assert [visitor_of(project, session or "") is not None for session in sessions] == [True, False]
    assert sign_in(project, gone.text) is None
    with pytest.raises(UsageError, match="no token named 'gone'"):
        remove_token(project, "gone")


def test_signing_out_ends_one_session(project: Project) -> None:
    made = add_token(project, "owner")
    first, second = sign_in(project, made.text), sign_in(project, made.text)
    assert first is not None
    assert second is not None
    visitor = visitor_of(project, first)
    assert visitor is not None
    sign_out(project, visitor)
    assert visitor_of(project, first) is None
    assert visitor_of(project, second) is not None


def test_all_sessions_can_be_ended_with_and_without_a_token(project: Project) -> None:
    """Those of one name, or of everybody; tokens open new ones."""
    ada, olga = add_token(project, "labeller", "ada"), add_token(project, "owner", "olga")

    def signed_in(sessions: list[str | None]) -> list[bool]:
        return [visitor_of(project, session or "") is not None for session in sessions]

    sessions = [sign_in(project, ada.text), sign_in(project, olga.text)]
    sessions += [sign_in_here(project, "root"), sign_in_here(project, "root")]
    assert sign_out_everywhere(project, "root") == 2
    assert signed_in(sessions) == [True, True, False, False]
    with pytest.raises(UsageError, match="nobody is signed in as 'root'"):
        sign_out_everywhere(project, "root")
    assert sign_out_everywhere(project) == 2
    assert signed_in(sessions) == [False] * 4
    assert sign_out_everywhere(project) == 0
    assert signed_in([sign_in(project, ada.text)]) == [True]


def test_a_session_ends_after_a_day(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    made = add_token(project, "owner")
    session = sign_in(project, made.text) or ""
    monkeypatch.setattr(tokens, "utc_now", lambda: "2999-01-01T00:00:00Z")
    assert visitor_of(project, session) is None
    sign_in(project, made.text)
    with sqlite3.connect(project.store.path) as database:  # and is forgotten
        assert database.execute("SELECT count(*) FROM session").fetchone() == (1,)


def test_a_token_is_of_one_project(project: Project, tmp_path: Path) -> None:
    other = Workplace.make(tmp_path / "other")
    other.commit("another history")
    beside = open_project(other.repository, store=project.store.folder, name="beside", create=True)
    made = add_token(project, "owner")
    session = sign_in(project, made.text) or ""
    assert sign_in(beside, made.text) is None
    assert visitor_of(beside, session) is None


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "<b>", "x" * 61, "a\x1b[2J"])
def test_names_are_plain(project: Project, name: str) -> None:
    with pytest.raises(UsageError, match="a token's name has"):
        add_token(project, "owner", name)


def test_nobody_elses_token_is_called_as_the_owner_is(project: Project) -> None:
    """Names say whose a label is, and who may take an answer back; the owner's own may be alike."""
    sign_in_here(project, "olga")
    for name in ("olga", "root"):
        for role, said in (("labeller", name), ("developer", name), ("labeller", name.title())):
            with pytest.raises(UsageError, match=f"'{said}' is the owner's name here"):
                add_token(project, role, said, login="root")
        add_token(project, "owner", name, login="root")
    assert [token.role for token in tokens.tokens(project)] == ["owner", "owner"]


@pytest.mark.parametrize(
    ("login", "shown"), [("ada", "ada (owner)"), ("olga", "olga"), ("", "owner")]
)
def test_the_owner_is_not_called_as_somebody_elses_token(
    project: Project, login: str, shown: str
) -> None:
    """Of a server that is started under another login than the one that made the tokens."""
    add_token(project, "labeller", "ada")
    add_token(project, "owner", "olga")
    visitor = visitor_of(project, sign_in_here(project, login))
    assert visitor is not None
    assert visitor.name == shown


def test_tokens_made_and_removed_are_events_of_the_chain(project: Project) -> None:
    """With name and role; nothing in the chain lets anybody in."""
    made = add_token(project, "labeller", "ada", login="root")
    remove_token(project, "ada", by="root")
    events = project.store.records(project.name)[-2:]
    assert [parse_event(e.kind, e.version, e.text) for e in events] == [
        TokenMade("ada", "labeller", "root"),
        TokenRemoved("ada", "root"),
    ]
    secret = made.text.removeprefix(tokens.PREFIX)
    digest = project.vault.key.digest(made.text.encode(), "token")
    assert all(secret not in e.text and digest not in e.text for e in events)
    assert (
        find_damage(chain_key(project.vault), project.name, *project.store.ledger(project.name))
        is None
    )


def test_a_mistake_is_not_recorded(project: Project) -> None:
    add_token(project, "owner", "ada")
    before = project.head
    with pytest.raises(UsageError):
        add_token(project, "owner", "ada")
    with pytest.raises(UsageError):
        remove_token(project, "ben")
    assert (project.head, project.store.head(project.name)) == (before, before)


def test_a_token_waits_for_another_command_and_says_so(project: Project) -> None:
    """Otherwise that command, such as a build, would find that it was overtaken."""
    other, said = open_project(project.repository.top or Path()), threading.Semaphore(0)
    with other.exclusive():
        thread = threading.Thread(
            target=add_token, args=(project, "owner", "ada"), kwargs={"waiting": said.release}
        )
        thread.start()
        assert said.acquire(timeout=PATIENCE)
        assert tokens.tokens(other) == []
        other.append(Looked("status"))
    thread.join(PATIENCE)
    assert [row.name for row in tokens.tokens(other)] == ["ada"]


def events_of(project: Project, after: int) -> list[Event]:
    """The events that were recorded after one of that number."""
    records = project.store.records(project.name, after)
    return [parse_event(record.kind, record.version, record.text) for record in records]


def test_a_token_is_removed_at_once_and_recorded_when_the_project_is_free(project: Project) -> None:
    """A token that leaked must not work until a build ends. The build is not overtaken."""
    made = add_token(project, "owner", "ada")
    session, before = sign_in(project, made.text) or "", project.head.number
    other, said = open_project(project.repository.top or Path()), threading.Semaphore(0)
    with other.exclusive():
        thread = threading.Thread(
            target=remove_token,
            args=(project, "ada"),
            kwargs={"by": "root", "waiting": said.release},
        )
        thread.start()
        assert said.acquire(timeout=PATIENCE)
        assert (sign_in(other, made.text), visitor_of(other, session)) == (None, None)
        assert (tokens.tokens(other), events_of(other, before)) == ([], [])
        other.append(Looked("status"))
    thread.join(PATIENCE)
    assert events_of(other, before) == [Looked("status"), TokenRemoved("ada", "root")]


def test_a_removal_that_was_interrupted_is_recorded_by_the_next_command(project: Project) -> None:
    """Before that command's own events, and once."""
    made = add_token(project, "owner", "ada")
    before = project.head.number
    other = open_project(project.repository.top or Path())

    def interrupted() -> None:
        raise KeyboardInterrupt

    with other.exclusive(), pytest.raises(KeyboardInterrupt):
        remove_token(project, "ada", by="root", waiting=interrupted)
    assert sign_in(project, made.text) is None
    for _ in range(2):
        with other.exclusive():
            assert events_of(other, before) == [TokenRemoved("ada", "root")]
    assert other.head_note.read() == other.head
    add_token(project, "labeller", "ada")
    assert events_of(project, before)[1:] == [TokenMade("ada", "labeller")]


def test_mistakes_are_said(project: Project) -> None:
    add_token(project, "owner", "ada")
    with pytest.raises(UsageError, match="named 'ada' already"):
        add_token(project, "labeller", "ada")
    with pytest.raises(UsageError, match="unknown role 'boss'"):
        add_token(project, "boss")
