"""Signing in: with a token, or once by the link that the server printed."""

from __future__ import annotations

import getpass

import httpx
import pytest

from easeci.service.access.tokens import SESSION_HOURS
from easeci.web.addresses import parse_proxies
from easeci.web.throttle import MOST_FAILURES, MOST_FAILURES_OF_ALL
from tests.commands import start_easeci
from tests.repositories import Workplace
from tests.sites import Here, Running, Visit, held, serving_here, token
from tests.waiting import PATIENCE


def test_each_role_lands_on_its_own_page(here: Here, place: Workplace) -> None:
    for role, page in (("owner", "/"), ("developer", "/"), ("labeller", "/label")):
        answer = Visit(here.address).sign_in(token(place.repository, role))
        assert (answer.status_code, answer.headers["location"]) == (303, page)
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert f"max-age={SESSION_HOURS * 3600}" in cookie
        assert "secure" not in cookie  # on loopback there is no https


def test_one_goes_where_one_wanted_to_but_never_elsewhere(here: Here, place: Workplace) -> None:
    text = token(place.repository, "owner")
    for wanted, reached in (
        ("/testsets", "/testsets"),
        ("/plan?steps=4", "/plan?steps=4"),
        ("//evil.example", "/"),
        ("https://evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("javascript:alert(1)", "/"),
        ("/\r\nSet-Cookie: a=b", "/"),
        ("", "/"),
    ):
        visit = Visit(here.address)
        answer = visit.client.post("/sign-in", data={"token": text, "next": wanted})
        assert answer.status_code == 303
        assert answer.headers["location"] == reached
        again = visit.client.get("/sign-in", params={"next": wanted})
        assert again.headers["location"] == reached


def test_a_program_signs_in_and_then_says_where_its_requests_come_from(
    here: Here, place: Workplace
) -> None:
    """A browser says so by itself. Without a session there is nothing to forge."""
    text = token(place.repository, "owner")
    with httpx.Client(base_url=here.address) as client:
        assert client.post("/sign-in", data={"token": text}).status_code == 303
        assert client.post("/sign-out").status_code == 403
        own = {"Origin": here.address}
        assert client.post("/sign-out", headers=own).status_code == 303


def test_the_link_that_was_printed_works_once(running: Running) -> None:
    assert running.link is not None
    first, second = Visit(running.address), Visit(running.address)
    assert first.get(running.link).headers["location"] == "/"
    assert first.get("/testsets").status_code == 200
    assert second.get(running.link).status_code == 401
    assert second.get("/testsets").status_code == 303


def test_a_session_by_the_link_can_be_ended(running: Running, place: Workplace) -> None:
    """No token opened that session, so none can be removed to end it."""
    assert running.link is not None
    visit = Visit(running.address)
    visit.get(running.link)
    assert visit.get("/testsets").status_code == 200
    place.easeci("token", "sign-out", code=0)
    assert visit.get("/testsets").status_code == 303


def test_a_token_that_leaked_is_removed_while_a_build_runs(here: Here, place: Workplace) -> None:
    """Its sessions too, although the command waits to record it. The command is even killed then:
    the next one records the removal."""
    text = token(place.repository, "owner", "leaked")
    thief = Visit(here.address)
    thief.sign_in(text)
    assert thief.get("/testsets").status_code == 200
    with held(place):
        removing = start_easeci("token", "remove", "leaked", folder=place.repository)
        with removing:
            assert removing.stderr is not None
            assert "The token of leaked is gone" in removing.stderr.readline()
            assert "waiting for it" in removing.stderr.readline()
            assert thief.get("/testsets").status_code == 303
            assert Visit(here.address).sign_in(text).status_code == 401
            removing.kill()
    recorded = place.easeci("log", "--audit", code=0).stdout
    assert [line for line in recorded.splitlines() if "token removed" in line and "leaked" in line]


def test_no_labeller_has_the_name_of_the_account_that_serves(place: Workplace) -> None:
    """The owner labels under that name; a labeller of that name could take the answers back."""
    done = place.easeci("token", "add", "--role", "labeller", "--name", getpass.getuser(), code=2)
    assert "is the owner's name here" in done.stderr


def test_after_too_many_wrong_tokens_one_has_to_wait(here: Here, place: Workplace) -> None:
    visit = Visit(here.address)
    text = token(place.repository, "owner")
    for _ in range(MOST_FAILURES):
        answer = visit.client.post("/sign-in", data={"token": text + "x"})
        assert answer.status_code == 401
        assert "There is no such token" in answer.text
        assert text not in answer.text
    answer = visit.client.post("/sign-in", data={"token": text + "x"})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 61
    assert visit.get("/enter/guess").status_code == 401  # nobody can guess that: nobody must wait


def guess(running: Here, source: str, count: int, **headers: str) -> list[int]:
    """The answers to so many wrong tokens from an address of this machine."""
    transport = httpx.HTTPTransport(local_address=source)
    with httpx.Client(base_url=running.address, transport=transport, timeout=PATIENCE) as client:
        wrong = {"token": "easeci_" + "x" * 43}
        return [
            client.post("/sign-in", data=wrong, headers=headers).status_code for _ in range(count)
        ]


def test_an_attacker_at_the_same_address_locks_nobody_out(here: Here, place: Workplace) -> None:
    """The right token works at once, from the address that is throttled."""
    assert guess(here, "127.0.0.1", MOST_FAILURES + 5)[-1] == 429
    answer = Visit(here.address).sign_in(token(place.repository, "owner"))
    assert answer.status_code == 303


@pytest.mark.long
def test_attackers_at_many_addresses_lock_nobody_out(here: Here, place: Workplace) -> None:
    """Together they have used up what all may try in a minute; the right token works at once."""
    each = MOST_FAILURES_OF_ALL // MOST_FAILURES
    for number in range(each):
        assert set(guess(here, f"127.0.0.{number + 10}", MOST_FAILURES)) == {401}
    assert guess(here, "127.0.0.99", 1) == [429]
    answer = Visit(here.address).sign_in(token(place.repository, "owner"))
    assert answer.status_code == 303


def throttled(here: Here, source: str, *, before: str = "", after: str = "") -> bool:
    """Whether wrong tokens that claim to be from another address each are counted as one."""
    found = []
    for number in range(MOST_FAILURES + 1):
        chain = ", ".join(filter(None, [before.format(number), after]))
        found += guess(here, source, 1, **{"X-Forwarded-For": chain})
    return found[-1] == 429


def test_without_a_declared_proxy_nobody_chooses_an_address(place: Workplace) -> None:
    """Neither with --url, which says that there is some proxy, nor without it."""
    for url in (None, "https://ci.example.org"):
        with serving_here(place.repository, url=url) as here:
            assert throttled(here, "127.0.0.1", before="203.0.113.{}")


def test_a_declared_proxy_tells_visitors_apart_and_they_cannot_forge_it(place: Workplace) -> None:
    """What the proxy appends counts. What stands before it, or comes from elsewhere, does not."""
    proxies = parse_proxies(["127.0.0.3", "198.51.100.0/24"])
    with serving_here(place.repository, proxies=proxies) as here:
        assert not throttled(here, "127.0.0.3", before="203.0.113.{}")
        assert throttled(here, "127.0.0.3", before="203.0.113.{}", after="192.0.2.1")
        forged = "203.0.113.{}, 127.0.0.3, 198.51.100.7"
        assert throttled(here, "127.0.0.3", before=forged, after="192.0.2.2, 198.51.100.7")
        assert throttled(here, "127.0.0.3", before="2001:db8:1:2:{}::1"), "one home"
        assert throttled(here, "127.0.0.2", before="203.0.113.{}"), "not the proxy"
