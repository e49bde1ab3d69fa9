"""Addresses of clients: which of them count as one, and which belong to a declared proxy.

Everybody can write ``X-Forwarded-For``. So it counts only in requests from a proxy that the owner
declared (``easeci serve --proxy``), and of its addresses the last one that is not such a proxy: the
proxy itself appended that one. What a client wrote stands before it.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable

from easeci.errors import UsageError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
HOME_PREFIX = 64
"""Of IPv6. Every home and every rented machine has so many addresses to choose from."""


def client_address(host: str) -> str:
    """An address in its usual form; empty if the text is not an address."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return ""
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or found)


def counted_as(host: str) -> str:
    """What limits count by: an IPv4 address, or the network of an IPv6 address."""
    address = client_address(host)
    if ":" not in address:
        return address
    plain = address.partition("%")[0]
    return str(ipaddress.ip_network(f"{plain}/{HOME_PREFIX}", strict=False))


def parse_proxies(texts: Iterable[str]) -> tuple[Network, ...]:
    """The networks of declared proxies; each text is an address or a network."""
    return tuple(network for text in texts for network in _networks(text))


def _networks(text: str) -> list[Network]:
    try:
        network = ipaddress.ip_network(text.strip())
    except ValueError:
        raise UsageError(
            f"'{text}' is neither an address nor a network",
            hint="--proxy takes the address from which your proxy connects, such as 127.0.0.1, or "
            "a network, such as 10.0.0.0/8.",
        ) from None
    if isinstance(network, ipaddress.IPv6Network):
        return [network]
    # A server that listens on :: sees IPv4 addresses in this form.
    mapped = f"::ffff:{network.network_address}/{96 + network.prefixlen}"
    return [network, ipaddress.IPv6Network(mapped)]


def is_proxy(host: str, proxies: Iterable[Network]) -> bool:
    """Whether an address belongs to a declared proxy."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return any(address in network for network in proxies)
