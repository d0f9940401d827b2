"""Whether an answer is one that the API's document promises."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

import jsonschema

from tests.support.openapi import Operation, check_content

_JSON = ("application/json", "application/problem+json")
LATE = 503
# A request that a busy machine answers too late is sent again.
RETRIES, PAUSE_SECONDS = 8, 1.0


class Reply(NamedTuple):
    status: int
    media: str
    text: str


@dataclass
class Judge:
    """Counts of statuses, and what was wrong with which request."""

    cases: int = 0
    failures: list[str] = field(default_factory=list)
    undocumented: list[str] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    late: Counter[str] = field(default_factory=Counter)
    """Answers of 503 to requests that were sent again, by their texts: those that cause it get it again."""

    def judge(self, operation: Operation, request: str, reply: Reply, *, hurried: bool = False) -> None:
        """`hurried`: the request asked for an answer sooner than there may be one."""
        self.cases += 1
        self.statuses[reply.status] += 1
        if reply.status >= 500 and not (hurried and reply.status == LATE):
            self.failures.append(f"{operation.id} {reply.status} {reply.text[:200]}: {request}")
        elif (wrong := _undocumented(operation, reply)) is not None:
            self.undocumented.append(f"{operation.id} {reply.status} {wrong}: {request}")

    def show(self, name: str, most: int = 30) -> None:
        """`most`: lines of each kind of fault."""
        print(f"{name}: {self.cases} cases, {dict(sorted(self.statuses.items()))}")
        for text, count in self.late.most_common(most):
            print(f"  sent again {count} times: {text[:300]}")
        for line in (*self.failures[:most], *self.undocumented[:most]):
            print(f"  {line[:600]}")


def _undocumented(operation: Operation, reply: Reply) -> str | None:
    """What the document does not know of the answer."""
    try:
        content = operation.answers(reply.status)
    except KeyError:
        return f"is not documented: {reply.text[:200]}"
    if not content:
        return None if not reply.text else "has a body"
    if reply.media not in content:
        return f"has the type {reply.media}"
    try:
        check_content(content, reply.media, json.loads(reply.text) if reply.media in _JSON else reply.text)
    except (jsonschema.ValidationError, ValueError) as error:
        return f"has another shape: {str(error)[:200]}"
    return None
