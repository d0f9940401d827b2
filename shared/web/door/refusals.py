"""Refusals that are written in advance, so that each costs almost nothing."""

from __future__ import annotations

import random
from typing import NamedTuple

import msgspec

from shared.errors import AppError, HeadTooLarge, TooMany
from shared.web.door.exchange import SAFE, Headers, request_id_from
from shared.web.problems import PROBLEM, too_large

# The largest request head, in bytes.
MAX_HEAD = 64 * 1024


class Raw(NamedTuple):
    """The head of an answer, without its last empty line, and its body."""

    head: bytes
    body: bytes


class Refusal:
    def __init__(self, error: AppError) -> None:
        self.status = error.status
        self.body = msgspec.json.encode(error.problem())
        self._line = f"HTTP/1.1 {error.status} {error.title}\r\n".encode()

    def fields(self, headers: Headers) -> list[tuple[bytes, bytes]]:
        request_id = request_id_from(headers).encode()
        fields = [(b"content-type", PROBLEM.encode()), (b"x-request-id", request_id), *SAFE]
        if self.status == TooMany.status:
            # Random, so that clients refused together do not return together.
            fields.append((b"retry-after", random.choice((b"1", b"2", b"3"))))  # noqa: S311
        return fields

    def raw(self, headers: Headers, *more: tuple[bytes, bytes]) -> Raw:
        fields = [*self.fields(headers), (b"content-length", b"%d" % len(self.body)), *more]
        return Raw(self._line + b"".join(b"%b: %b\r\n" % field for field in fields), self.body)


FULL = Refusal(TooMany("the service is full"))
BODY_TOO_LARGE = Refusal(too_large())
HEAD_TOO_LARGE = Refusal(HeadTooLarge(f"the request line and the headers may hold {MAX_HEAD} bytes"))
