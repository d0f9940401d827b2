"""A host's request: where it goes, and which conversation it belongs to. Pure."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from services.context.gateway.passing.fields import SESSION, Fields, value_of
from services.context.gateway.passing.refusals import Api
from shared.errors import Invalid, NotFound

PREFIX = "/gateway/"
Endpoint = Literal["messages", "count_tokens", "chat", "responses"]

_APIS: tuple[Api, ...] = ("anthropic", "openai")
_ENDPOINTS: dict[tuple[Api, bytes], Endpoint] = {
    ("anthropic", b"/v1/messages"): "messages",
    ("anthropic", b"/v1/messages/count_tokens"): "count_tokens",
    ("openai", b"/v1/chat/completions"): "chat",
    ("openai", b"/v1/responses"): "responses",
}
# Claude Code names its session in a user id of several parts, newer versions in an object.
_IN_USER_ID = re.compile(r"session_([0-9a-fA-F-]{36})$")
_CODEX = (b"session_id", b"session-id", b"conversation_id")
_NAME = re.compile(r"[\x21-\x7e]{1,200}")
_LONGEST = 200


class Route(NamedTuple):
    """`target` is the provider's path and query, as the host encoded them. `endpoint` is None where nothing is read."""

    api: Api
    target: str
    endpoint: Endpoint | None


class _User(msgspec.Struct):
    session_id: Annotated[str, Meta(max_length=_LONGEST)] = ""


class _Metadata(msgspec.Struct):
    user_id: Any = None


class _Beginning(msgspec.Struct):
    """What tells conversations apart."""

    metadata: Any = None
    prompt_cache_key: Any = None
    system: msgspec.Raw = msgspec.Raw()
    instructions: msgspec.Raw = msgspec.Raw()
    messages: msgspec.Raw = msgspec.Raw()
    input: msgspec.Raw = msgspec.Raw()


class _Spoken(msgspec.Struct):
    role: Any = None


_BEGINNING = msgspec.json.Decoder(_Beginning)
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])
_SPOKEN = msgspec.json.Decoder(_Spoken)
_USER = msgspec.json.Decoder(_User)


def route_of(scope: Any) -> Route:
    """Raises NotFound for what is no path of a provider's API."""
    raw: bytes = scope["raw_path"]
    for api in _APIS:
        before = f"{PREFIX}{api}".encode()
        path = raw.removeprefix(before)
        if raw.startswith(before) and path.startswith(b"/v1/"):
            query: bytes = scope["query_string"]
            target = (path + b"?" + query if query else path).decode("latin-1")
            return Route(api, target, _ENDPOINTS.get((api, path)) if scope["method"] == "POST" else None)
    raise NotFound(f"the gateway's paths begin with {PREFIX}anthropic/v1/ and {PREFIX}openai/v1/")


def session_of(fields: Fields, body: bytes) -> str | None:
    """The name of the conversation: what the host says, or else a hash of how it begins. None: it has no beginning.

    Raises Invalid for a name in a header of ours that is none.
    """
    given = value_of(fields, SESSION)
    if given is not None:
        if not _NAME.fullmatch(given):
            text = "must hold 1 to 200 visible ASCII characters"
            raise Invalid.field("X-Scrubjay-Session", text)
        return given
    for name in _CODEX:
        if (said := value_of(fields, name)) is not None and _NAME.fullmatch(said):
            return said
    try:
        return _told(_BEGINNING.decode(body))
    except (msgspec.MsgspecError, UnicodeError):
        return None


def _told(request: _Beginning) -> str | None:
    key = request.prompt_cache_key
    if isinstance(key, str) and _NAME.fullmatch(key):
        return key
    user = request.metadata.get("user_id") if isinstance(request.metadata, dict) else None
    if isinstance(user, str) and (named := _of_user(user)):
        return named
    first = _first_said(request)
    if first is None:
        return None
    digest = hashlib.sha256()
    for part in (request.system, request.instructions, first):
        digest.update(bytes(memoryview(part)) + b"\0")
    return f"conversation-{digest.hexdigest()[:32]}"


def _of_user(user: str) -> str | None:
    if found := _IN_USER_ID.search(user[-_LONGEST:]):
        return found[1]
    if user.startswith("{"):
        try:
            named = _USER.decode(user).session_id
        except msgspec.MsgspecError:
            return None
        return named if _NAME.fullmatch(named) else None
    return None


def _first_said(request: _Beginning) -> msgspec.Raw | None:
    """By the user: a host may change what stands before."""
    said = next((each for each in (request.messages, request.input) if memoryview(each).nbytes), None)
    if said is None:
        return None
    try:
        parts = _RAWS.decode(said)
    except msgspec.MsgspecError:
        # OpenAI's `input` may be one text.
        return said
    return next((part for part in parts if _role(part) == "user"), parts[0] if parts else None)


def _role(part: msgspec.Raw) -> Any:
    try:
        return _SPOKEN.decode(part).role
    except msgspec.MsgspecError:
        return None
