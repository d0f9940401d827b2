"""Every call of the TypeScript client on a running cluster, and its arguments and answers before a strict compiler."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofs.typescript_client.package import environment, executable
from tests.support.openapi import DOCUMENT, operations
from tools.client.calls import Operation
from tools.client.typescript import group_name, method_name
from tools.openapi.examples import EXAMPLES
from tools.openapi.examples_cache import Example
from tools.openapi.playing import part, resolved

OPERATIONS = {one.id: Operation(one.method, one.path, one.told, DOCUMENT) for one in operations()}
_HEAD = 'import { Scrubjay } from "scrubjay";\nconst jay = new Scrubjay();\n'


@dataclass(frozen=True)
class Played:
    operation: Operation
    args: dict[str, Any]
    answer: Any
    error: str | None

    @property
    def method(self) -> str:
        return ".".join(
            name for name in ("jay", group_name(self.operation), method_name(self.operation)) if name
        )


def play(folder: Path, url: str, token: str) -> Iterator[Played]:
    """The story of the document's examples, told by the client."""
    process = subprocess.Popen(
        [executable("node"), "player.mjs"],
        cwd=folder,
        env=environment(SCRUBJAY_URL=url, SCRUBJAY_TOKEN=token),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    kept: dict[str, Any] = {}
    with process:
        for example in EXAMPLES:
            if example.accept == "text/event-stream":
                continue
            one = OPERATIONS[example.operation]
            args = resolved(_args(one, example), kept)
            told = _asked(process, one, args)
            played = Played(one, args, told.get("answer"), told.get("error"))
            if played.error is None:
                kept |= {name: part(played.answer, path) for name, path in example.keep.items()}
            yield played
        assert process.stdin is not None
        process.stdin.close()


def _asked(process: subprocess.Popen[str], one: Operation, args: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    call = {"group": group_name(one), "method": method_name(one), "args": args, "paged": one.item is not None}
    process.stdin.write(json.dumps(call) + "\n")
    process.stdin.flush()
    told: dict[str, Any] = json.loads(process.stdout.readline())
    return told


def _args(one: Operation, example: Example) -> dict[str, Any]:
    body = {"lines": example.body} if one.line else dict(example.body or {})
    args = {**body, **example.parameters}
    if "{mission_id}" in one.path or one.covered:
        args |= {"mission": args.pop("mission_id")} if "mission_id" in example.parameters else {}
    return args


def written(played: list[Played]) -> str:
    """A module with each call, and each answer as what the call says that it gives."""
    lines = [_HEAD]
    for number, one in enumerate(played):
        lines.append(f"export const call_{number} = () => {one.method}({json.dumps(one.args)});\n")
        gives = f"ReturnType<typeof call_{number}>"
        gives = gives if one.operation.item is None else f'ReturnType<{gives}["page"]>'
        if one.answer is not None:
            lines.append(f"export const answer_{number}: Awaited<{gives}> = {json.dumps(one.answer)};\n")
    return "".join(lines)
