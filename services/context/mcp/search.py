"""The search over everything that is remembered: an assembly that is not logged, cut to its best items."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from services.context.mcp.schemas import Json, inlined
from services.context.schemas import Degraded
from shared.errors import Invalid
from shared.render import parse_block, render_item

LIMIT = "limit"
_DEFAULT, _MOST = 8, 50
LIMIT_SCHEMA: Json = {
    "type": "integer",
    "minimum": 1,
    "maximum": _MOST,
    "default": _DEFAULT,
    "description": "At most this many items.",
}


class Found(msgspec.Struct):
    """`cut`: only the beginning of the text fits into the token budget."""

    handle: str
    store: str
    kind: str
    text: str
    score: float
    relevance: float
    agent: str | None
    speaker: str | None
    at: datetime
    cut: bool


class SearchAnswer(msgspec.Struct):
    """Best first. `low_relevance`: nothing of it stands out as an answer."""

    results: list[Found]
    low_relevance: bool
    degraded: list[Degraded]


def answer_schema() -> Json:
    schema = msgspec.json.schema(SearchAnswer, ref_template="#/$defs/{name}")
    flat: Json = inlined(schema, {"$ref": schema["$ref"]})
    return flat


def split(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The arguments of the assembly, and the limit. Raises Invalid."""
    limit = arguments.get(LIMIT)
    if limit is None:
        limit = _DEFAULT
    if type(limit) is not int or not 1 <= limit <= _MOST:
        raise Invalid.field(LIMIT, f"must be a whole number from 1 to {_MOST}")
    return {**{name: value for name, value in arguments.items() if name != LIMIT}, "log": False}, limit


def found(assembly: Mapping[str, Any], limit: int) -> SearchAnswer:
    texts = dict(parse_block(assembly["context_block"]))
    items = [
        msgspec.convert({**source, "text": texts[source["handle"]]}, Found)
        for source in assembly["sources"][:limit]
    ]
    return SearchAnswer(
        items, assembly["low_relevance"], msgspec.convert(assembly["degraded"], list[Degraded])
    )


def block(answer: SearchAnswer) -> str:
    now = datetime.now(UTC)
    return "\n".join(
        render_item(item.handle, item.at, [item.kind, item.speaker or item.agent or ""], item.text, now)
        for item in answer.results
    )
