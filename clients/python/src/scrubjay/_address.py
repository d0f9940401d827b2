"""The service's address: what is wrong with it shows before the first wait."""

from __future__ import annotations

import os
import socket
from urllib.parse import urlsplit

# How keys begin.
_KEY = "sj_"
_EXAMPLE = "an address looks like http://localhost:8080"


def settings(url: str | None, token: str | None) -> tuple[str, str]:
    """The address and the token, given or from the environment. Raises ValueError."""
    address = url or os.environ.get("SCRUBJAY_URL")
    secret = token or os.environ.get("SCRUBJAY_TOKEN")
    missing = [name for name, value in (("URL", address), ("TOKEN", secret)) if not value]
    if not address or not secret:
        raise ValueError(f"give url and token, or set {' and '.join(f'SCRUBJAY_{name}' for name in missing)}")
    return checked(address), _sendable(secret)


def _sendable(token: str) -> str:
    """The token. Raises ValueError, which does not show it, when no header can hold it."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(
            "SCRUBJAY_TOKEN or token= has spaces, control characters or letters beyond ASCII in it; "
            "a line's end counts, too"
        )
    return token


def checked(url: str) -> str:
    """The address without a slash at its end. Raises ValueError when it cannot be that of a service."""
    wrong = _mistake(url)
    if wrong:
        # Others may read the error.
        shown = "" if _KEY in url or "@" in url else repr(url)
        raise ValueError(f"SCRUBJAY_URL or url={shown} {wrong}; {_EXAMPLE}")
    return url.rstrip("/")


def _mistake(url: str) -> str | None:
    if url != url.strip() or not url.isprintable():
        return "has spaces or control characters around it"
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        return f"is not a URL: {error}"
    if parts.scheme not in ("http", "https"):
        return "does not begin with http:// or https://"
    if not parts.hostname or " " in parts.hostname:
        return "names no host"
    if parts.username is not None or parts.query or parts.fragment:
        return "has more than a scheme, a host, a port and a path"
    return None


def is_unknown_host(error: BaseException | None) -> bool:
    """Whether a transport's error, or one of its causes, says that the host has no entry in the name system.

    A name server that is away for a moment says something else.
    """
    while error is not None:
        if isinstance(error, socket.gaierror):
            return error.errno != socket.EAI_AGAIN
        error = error.__cause__ or error.__context__
    return False
