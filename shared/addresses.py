"""Which addresses outgoing requests may reach whose targets callers name. Pure.

A URL is checked when it is given, and the address behind its name each time that a connection is made.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import SplitResult, urlsplit

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

MOST_CHARACTERS = 2_000

# What IANA's registries of special addresses do not call global, whatever the version of Python, and two addresses of
# a cloud's own.
_FORBIDDEN = [
    ipaddress.ip_network(text)
    for text in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32", "169.254.0.0/16"),
        *("172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24"),
        *("192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        *("::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64", "2001::/23", "2001:db8::/32"),
        *("2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
        # IPv4-compatible addresses, long deprecated.
        "::/96",
    )
]
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Browsers and some resolvers read these as IPv4 addresses: 2130706433, 0x7f.1, 0177.0.0.1.
_NUMERIC = re.compile(r"(?:^|\.)(?:\d+|0[xX][0-9a-fA-F]*)\.?$")
_NAME = re.compile(
    r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?"
)
_LOCAL = re.compile(r"(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$")


@dataclass(frozen=True, slots=True)
class Reach:
    """What may be reached besides public addresses over TLS."""

    private: tuple[Network, ...] = ()
    http: bool = False


def networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Raises ValueError."""
    return tuple(ipaddress.ip_network(text) for text in texts)


def allowed(address: Address, reach: Reach) -> bool:
    """Whether it is public, or in one of the networks that the installation allows."""
    inner = _inner(address)
    if inner is not None:
        return allowed(inner, reach)
    if any(address in network for network in reach.private):
        return True
    return address.is_global and not any(address in network for network in _FORBIDDEN)


def _inner(address: Address) -> Address | None:
    """The IPv4 address that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def url_problem(url: str, reach: Reach) -> str | None:
    """Why nobody may send to this URL, or None. Looks up no name."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        return "is not a valid URL"
    if problem := _form_problem(url, parts, reach):
        return problem
    return host_problem(host, reach)


def _form_problem(url: str, parts: SplitResult, reach: Reach) -> str | None:
    schemes = ("https", "http") if reach.http else ("https",)
    if parts.scheme not in schemes:
        return "must begin with " + " or ".join(f"{scheme}://" for scheme in schemes)
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return "must hold printable ASCII characters only"
    if "@" in parts.netloc:
        return "must not hold a user or a password"
    if parts.fragment or "#" in url:
        return "must not hold a fragment"
    return None


def host_problem(host: str, reach: Reach) -> str | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return _name_problem(host)
    return None if allowed(address, reach) else "must not lead to a private or special address"


def _name_problem(host: str) -> str | None:
    if _NUMERIC.search(host):
        return "must write an IPv4 address as four decimal numbers"
    if len(host) > 253 or not _NAME.fullmatch(host):
        return "must name a host"
    if _LOCAL.search(host):
        return "must not name a host of a private network"
    return None
