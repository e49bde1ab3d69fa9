"""Addresses: which count as one, and which belong to a declared proxy."""

from __future__ import annotations

import pytest

from easeci.errors import UsageError
from easeci.web.addresses import client_address, counted_as, is_proxy, parse_proxies
from tests.cases import each_case


@each_case(
    "host, address, counted",
    [
        ("192.0.2.7", "192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7", "192.0.2.7"),
        ("2001:DB8:1:2:0:0:0:9", "2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", "2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::1%eth0", "fe80::/64"),
        ("somebody", "", ""),
        ("", "", ""),
        ("<b>" * 1000, "", ""),
    ],
)
def test_who_has_many_addresses_counts_as_one(host: str, address: str, counted: str) -> None:
    """Everything that is not an address counts together."""
    assert (client_address(host), counted_as(host)) == (address, counted)


def test_a_proxy_is_known_by_its_address_or_network() -> None:
    proxies = parse_proxies(["127.0.0.1", "10.1.0.0/16", "2001:db8::/48"])
    for host in ("127.0.0.1", "::ffff:127.0.0.1", "10.1.2.3", "::ffff:10.1.2.3", "2001:db8:0:1::1"):
        assert is_proxy(host, proxies), host
    for host in ("127.0.0.2", "10.2.0.1", "::ffff:10.2.0.1", "2001:db8:1::1", "", "proxy"):
        assert not is_proxy(host, proxies), host
    assert not is_proxy("127.0.0.1", parse_proxies([]))


@each_case("text", ["", "proxy.example.org", "10.1.2.3/8", "10.0.0.0/33", "*"])
def test_anything_else_is_refused(text: str) -> None:
    """A name could lead elsewhere tomorrow, and a network with a typing error could be larger."""
    with pytest.raises(UsageError, match="neither an address nor a network"):
        parse_proxies([text])
