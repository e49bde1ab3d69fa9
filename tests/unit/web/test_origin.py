"""Which requests are our own, by their headers."""

from __future__ import annotations

import pytest

from easeci.web.origin import is_own_request

HOST = {"host": "easeci.example:8000"}


def is_own(
    headers: dict[str, str],
    *,
    url: str | None = None,
    encrypted: bool = False,
    has_session: bool = True,
) -> bool:
    return is_own_request(headers, url=url, encrypted=encrypted, has_session=has_session)


@pytest.mark.parametrize(
    ("site", "own"),
    [
        ("same-origin", True),
        ("none", True),
        ("same-site", False),
        ("cross-site", False),
        ("", False),
        ("SAME-ORIGIN, cross-site", False),
    ],
)
def test_what_the_browser_says_decides_first(site: str, own: bool) -> None:
    """Also against Origin: a proxy may have changed Host."""
    ours, foreign = "http://easeci.example:8000", "https://elsewhere.example"
    for origin in ({}, {"origin": ours}, {"origin": foreign}):
        assert is_own({"sec-fetch-site": site, **HOST, **origin}) is own


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        ("http://easeci.example:8000", True),
        ("https://easeci.example:8000", True),  # a proxy decrypts
        ("HTTP://EASECI.example:8000", True),
        ("http://easeci.example", False),
        ("http://easeci.example:8001", False),
        ("http://other.easeci.example:8000", False),
        ("http://easeci.example:8000.elsewhere.example", False),
        ("ftp://easeci.example:8000", False),
        ("easeci.example:8000", False),
        ("null", False),
        ("", False),
    ],
)
def test_otherwise_the_origin_must_have_our_host(origin: str, own: bool) -> None:
    assert is_own({"origin": origin, **HOST}) is own


def test_an_encrypted_server_has_no_forms_over_plain_http() -> None:
    """Anybody on the way could have written such a page."""
    assert not is_own({"origin": "http://easeci.example:8000", **HOST}, encrypted=True)
    assert is_own({"origin": "https://easeci.example:8000", **HOST}, encrypted=True)


@pytest.mark.parametrize(
    ("url", "origin", "own"),
    [
        ("https://models.example", "https://models.example", True),
        ("https://Models.example:443/", "https://models.example", True),
        ("https://models.example:8443", "https://models.example:8443", True),
        ("https://models.example", "https://models.example:8443", False),
        ("https://models.example", "http://models.example", False),
        ("https://models.example", "https://elsewhere.example", False),
    ],
)
def test_behind_a_proxy_the_url_is_ours_too(url: str, origin: str, own: bool) -> None:
    """The proxy asks for us under another name."""
    assert is_own({"origin": origin, "host": "127.0.0.1:8000"}, url=url, encrypted=True) is own


def test_default_ports_are_the_same_as_none() -> None:
    assert is_own({"origin": "https://easeci.example", "host": "easeci.example:443"})
    assert is_own({"origin": "http://easeci.example", "host": "easeci.example:80"})
    assert not is_own({"origin": "http://easeci.example", "host": "easeci.example:443"})


def test_without_headers_only_requests_without_a_session_are_accepted() -> None:
    assert is_own(HOST, has_session=False)
    assert not is_own(HOST, has_session=True)


def test_without_a_host_no_origin_is_ours() -> None:
    assert not is_own({"origin": "http://"})
