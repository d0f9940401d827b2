"""Refusals of our own, in the shape in which a provider's SDK reads them. `x-scrubjay-error` tells them apart. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple

import msgspec

from services.context.gateway.passing.fields import Fields
from shared.errors import AppError

Api = Literal["anthropic", "openai"]

# As Anthropic's reference of errors names them.
_KINDS: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
}
_OTHER = "api_error"


class Refusal(NamedTuple):
    status: int
    fields: Fields
    body: bytes


def refusal(api: Api, error: AppError) -> Refusal:
    kind, text = _KINDS.get(error.status, _OTHER), f"Scrubjay's gateway: {error.detail}"
    fields: Fields = [(b"content-type", b"application/json"), (b"x-scrubjay-error", error.kind.encode())]
    if error.retry_after is not None:
        fields.append((b"retry-after", b"%d" % max(1, math.ceil(error.retry_after))))
    if api == "anthropic":
        said: object = {"type": "error", "error": {"type": kind, "message": text}}
    else:
        said = {"error": {"message": text, "type": kind, "param": None, "code": error.kind}}
    body = msgspec.json.encode(said)
    return Refusal(error.status, [*fields, (b"content-length", b"%d" % len(body))], body)
