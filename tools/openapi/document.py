"""Builds one OpenAPI document for everything that the context service answers, whichever service does the work."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from services.agent_memory import app as agent_memory
from services.agent_memory.settings import Settings as AgentMemorySettings
from services.cache import app as cache
from services.cache.settings import Settings as CacheSettings
from services.context import app as context
from services.context.settings import Settings as ContextSettings
from shared.version import VERSION
from shared.vocabulary import shorts
from shared.web.parameters import Parameter
from tools.openapi.examples import EXAMPLES
from tools.openapi.examples_cache import Example
from tools.openapi.masked import show_masked
from tools.openapi.operations import Operation, operations_of
from tools.openapi.playing import resolved
from tools.openapi.problems import HEADERS, SCHEMA, responses
from tools.openapi.recorded import recorded
from tools.openapi.schemas import Schema, schemas_of
from tools.openapi.vocabulary import short_for
from tools.openapi.words import PARAMETERS

SERVED = Path(context.__file__).with_name("openapi.json")
# The apps are created only for their routes and open no connection.
_SETTINGS = {
    "DATABASE_URL": "postgresql://localhost/none",
    "REDIS_URL": "redis://localhost",
    "SCRUBJAY_CACHE_SECRET": "none",
    "SCRUBJAY_AGENT_MEMORY_SECRET": "none",
    "SCRUBJAY_CACHE_URL": "http://localhost",
    "SCRUBJAY_AGENT_MEMORY_URL": "http://localhost",
}
_DONE = {200: "Done.", 201: "Stored.", 204: "Done, without content."}
_TAGS = {
    "assemble and remember": "Ask for the context of a step, say what of it helped, and keep what was said.",
    "missions": "A mission's working memory: typed entries within exact budgets.",
    "memories": "What each agent has learned.",
    "vault": "Documents: files that are stored, or indexed from a folder, and found by passage.",
    "long-term memory": "What is known beyond a mission: preferences, knowledge, episodes, commitments.",
    "consolidation": "What sessions teach: runs that learn from them, their reports, and their undoing.",
    "facts": "What is known of people and things: triples with the times when they hold and when they were known.",
    "dispatches": "Work given to agents.",
    "sessions": "What happened in a session, in order, and its context as objects that shrink and come back.",
    "checkpoints": "The states of graphs that frameworks save, thread by thread, until they expire.",
    "why": "Why a block held what it held, and the items behind its handles.",
    "learning": "The weights and budgets that feedback moves and operators set.",
    "costs": "What calls of models cost, and the ceilings that end them.",
    "profiles": "What every block for an agent or a user says first.",
    "timeline": "Everything that happened, in order, and what each agent is doing now.",
    "webhooks": "Events of the timeline, sent to URLs.",
    "keys": "API keys: who may do what, and how much of it.",
    "audit": "What admins did.",
    "backlog": "What waits for its vectors.",
    "secrets": "What becomes of provider keys, passwords and the like in what callers send.",
    "languages": "The language of texts that are too short to tell it.",
    "review": "What waits for a reviewer, and what reviewers decide.",
    "erasure": "Delete everything of a scope, an agent or a user.",
}
_METHODS = ("post", "get", "put", "patch", "delete")
_ABOUT = """Memory and context for fleets of AI agents, at one address.

- Every call carries a bearer token. `x-access` is the access that its key needs: `read`, `write` (includes read) or
  `admin` (includes both). A key may be bound to an agent, to missions and to users. It may have a rate limit and
  quotas per UTC day, which `RateLimit-*` headers report.
- Errors are problem documents (RFC 9457). `type` is the path of a page that explains the kind of problem. `errors` of a
  400 names everything that is wrong, with the allowed values and the nearest known name.
- A POST that writes takes an `Idempotency-Key`: a retry with the same body gets the first answer.
- Each call has a deadline, `x-deadline-seconds`. The header `x-timeout-ms` shortens it.
- Secrets in what is sent, such as provider keys and passwords in addresses, are masked before anything is done with
  it; `masked` of the answer says where. A tenant may refuse or allow them instead.
- The `x-request-id` of an answer identifies it in the logs. A caller may send its own.
- MCP clients find the same operations at `/mcp`."""


def build(*, with_examples: bool = True) -> dict[str, Any]:
    operations = sorted((operation for app in apps() for operation in operations_of(app)), key=_place)
    schemas, components = _schemas(operations)
    shown = _Shown() if with_examples else _Shown([], {"kept": {}, "answers": {}})
    paths: dict[str, Any] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation, schemas, shown)
    used = {operation.tag for operation in operations}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Scrubjay", "version": VERSION, "description": _ABOUT},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items() if name in used],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "parameters": _PARAMETERS,
            "headers": HEADERS,
            "responses": responses(),
            "schemas": {**dict(sorted(components.items())), "Problem": SCHEMA},
        },
    }


def _place(operation: Operation) -> tuple[int, str, int]:
    return [*_TAGS].index(operation.tag), operation.path, _METHODS.index(operation.method)


def rendered(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def apps() -> list[Any]:
    return [
        context.create(ContextSettings.from_env(_SETTINGS)).litestar,
        cache.create(CacheSettings.from_env(_SETTINGS)).litestar,
        agent_memory.create(AgentMemorySettings.from_env(_SETTINGS)).litestar,
    ]


Schemas = dict[tuple[str, str], Schema]


def _schemas(operations: Sequence[Operation]) -> tuple[Schemas, dict[str, Schema]]:
    """The schema of each parameter, body and answer by operation and place, and the components."""
    requests = {(o.id, f"{p.where} {p.name}"): p.type for o in operations for p in o.parameters}
    requests |= {(o.id, f"body {media}"): kind for o in operations for media, kind in o.reads.items()}
    answers = {(o.id, f"answer {media}"): kind for o in operations for media, kind in o.answers.items()}
    schemas, components = schemas_of([*requests.values()], [*answers.values()])
    by_place = dict(zip([*requests, *answers], schemas, strict=True))
    show_masked(operations, by_place, components)
    return by_place, components


class _Shown:
    """The examples' requests as they were played, with their answers."""

    def __init__(self, examples: Sequence[Example] = EXAMPLES, kept: dict[str, Any] | None = None) -> None:
        self._examples = examples
        self._recorded = recorded() if kept is None else kept

    def bodies(self, operation: str) -> dict[str, Any]:
        return {
            _slug(one.title): {"summary": one.title, "value": resolved(one.body, self._recorded["kept"])}
            for one in self._examples
            if one.operation == operation and one.body is not None
        }

    def parameter(self, operation: str, name: str) -> Any:
        """The first value that an example gives it, or None."""
        given = (one.parameters[name] for one in self._of(operation) if name in one.parameters)
        return resolved(next(given, None), self._recorded["kept"])

    def answer(self, operation: str, media: str) -> Any:
        return self._recorded["answers"].get(operation, {}).get(media)

    def _of(self, operation: str) -> list[Example]:
        return [one for one in self._examples if one.operation == operation]


def _slug(title: str) -> str:
    return "_".join(re.findall(r"\w+", title.lower()))


def _operation(operation: Operation, schemas: Schemas, shown: _Shown) -> dict[str, Any]:
    parameters = [_parameter(operation, parameter, schemas, shown) for parameter in operation.parameters]
    parameters += list(_short(parameters))
    parameters += [{"$ref": f"#/components/parameters/{name}"} for name in _common(operation)]
    body: dict[str, Any] = {}
    if operation.reads:
        content = {
            media: {
                **_content(schemas[operation.id, f"body {media}"], media),
                "examples": shown.bodies(operation.id),
            }
            for media in operation.reads
        }
        body = {"requestBody": {"required": True, "content": content}}
    return {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": operation.description,
        "x-access": operation.access,
        "x-deadline-seconds": operation.seconds,
        **({"security": []} if operation.access == "public" else {}),
        "parameters": parameters,
        **body,
        "responses": {
            str(operation.status): _success(operation, schemas, shown),
            **{str(s): {"$ref": f"#/components/responses/Problem{s}"} for s in operation.problems()},
        },
    }


def _common(operation: Operation) -> list[str]:
    return [*(["IdempotencyKey"] if operation.keyed else []), "Timeout", "RequestId"]


def _parameter(operation: Operation, parameter: Parameter, schemas: Schemas, shown: _Shown) -> dict[str, Any]:
    schema = schemas[operation.id, f"{parameter.where} {parameter.name}"]
    if parameter.default is not None:
        schema = {**schema, "default": parameter.default}
    example = shown.parameter(operation.id, parameter.name)
    text = parameter.description or PARAMETERS.get(parameter.name)
    return {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.required,
        **({"description": text} if text else {}),
        "schema": schema,
        **({"example": example} if example is not None else {}),
    }


def _short(parameters: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Query parameters under their short names."""
    queried = {parameter["name"]: parameter for parameter in parameters if parameter["in"] == "query"}
    for short, main in shorts(queried).items():
        fields = {name: part for name, part in queried[main].items() if name != "example"}
        yield {**short_for(main, fields), "name": short, "required": False}


def _success(operation: Operation, schemas: Schemas, shown: _Shown) -> dict[str, Any]:
    content = {}
    for media in operation.answers:
        content[media] = _content(schemas[operation.id, f"answer {media}"], media)
        if (answer := shown.answer(operation.id, media)) is not None:
            content[media]["example"] = answer
    return {
        "description": _DONE[operation.status],
        "headers": {"x-request-id": {"$ref": "#/components/headers/RequestId"}},
        **({"content": content} if content else {}),
    }


def _content(schema: Schema, media: str) -> dict[str, Any]:
    if media == "application/json":
        return {"schema": schema}
    # For a sequence of items, the schema of one item stands beside the text.
    return {"schema": {"type": "string"}, "x-item-schema": schema}


_PARAMETERS = {
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": False,
        "description": "The write happens once: a retry with the same body gets the first answer.",
        "schema": {"type": "string", "pattern": "^[!-~]{1,200}$"},
    },
    "Timeout": {
        "name": "x-timeout-ms",
        "in": "header",
        "required": False,
        "description": "How long the caller waits, if less than the default. An unreadable value is ignored.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "RequestId": {
        "name": "x-request-id",
        "in": "header",
        "required": False,
        "description": "The caller's own id for the request, for the logs. A value that does not match is replaced.",
        "schema": {"type": "string", "pattern": r"^[\w.:-]{1,128}$"},
    },
}
