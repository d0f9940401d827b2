"""Which header fields go on to the provider, and which back to the host. Pure.

All but those of one hop (RFC 9110, section 7.6.1), those that a proxy in front of us adds, and our own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

Fields = list[tuple[bytes, bytes]]

OURS = b"x-scrubjay-"
KEY, SESSION, PAGING = b"x-scrubjay-key", b"x-scrubjay-session", b"x-scrubjay-paging"
_OF_ONE_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    )
)
# The request is sent with a host, a length and a connection of its own.
_OF_A_REQUEST = _OF_ONE_HOP | {b"host", b"content-length", b"expect"}
_OF_A_PROXY = (b"x-forwarded-", b"x-real-ip", b"x-envoy-", b"x-original-forwarded-for")
_FORWARDED = b"forwarded"


def to_provider(fields: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """As text, in latin-1."""
    given = list(fields)
    dropped = _OF_A_REQUEST | set(_named_by_connection(given)) | {_FORWARDED}
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in given
        if name not in dropped and not name.startswith((OURS, *_OF_A_PROXY))
    ]


def unpacked(fields: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """For an answer that has to be read."""
    kept = [(name, value) for name, value in fields if name != "accept-encoding"]
    return [*kept, ("accept-encoding", "identity")]


def to_host(fields: Fields) -> Fields:
    """The length stays: the body does, too."""
    dropped = _OF_ONE_HOP | set(_named_by_connection(fields))
    return [(name, value) for name, value in fields if name not in dropped]


def value_of(fields: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str | None:
    return next((value.decode("latin-1") for name, value in fields if name == wanted), None)


def _named_by_connection(fields: Fields) -> Iterator[bytes]:
    for name, value in fields:
        if name == b"connection":
            yield from (each.strip().lower() for each in value.split(b","))
