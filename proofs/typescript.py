"""TypeScript types made of the API's document take minimal bodies: no field with a default is required.

openapi-typescript makes the types and `tsc --strict` compiles against them, for each operation, a body of its required
fields alone and every example of the document. The control is the document with `default` where it says `x-default`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

from services.context.document import as_json
from shared.vocabulary import DEFAULT

_NODE = Path(__file__).parents[1] / ".node"
# One of them matches each pattern of a required field.
_TEXTS = ("x", "0", "shared", "cache:1")
_JSON = "application/json"
_TYPES = """import type { paths } from "./api";

type Body<P extends keyof paths, M extends keyof paths[P]> = paths[P][M] extends {
  requestBody: { content: { "application/json": infer B } };
}
  ? B
  : never;

"""
_ERROR = re.compile(r"error TS\d+")

Schema = dict[str, Any]


def main() -> int:
    text = as_json().decode()
    document = json.loads(text)
    bodies = list(_bodies(document))
    errors = _compiled(text, bodies)
    control = _compiled(text.replace(f'"{DEFAULT}"', '"default"'), bodies)
    print("\n".join(errors))
    print(json.dumps({"bodies": len(bodies), "errors": len(errors), "control_errors": len(control)}))
    return 0 if bodies and not errors and control else 1


def _bodies(document: dict[str, Any]) -> Iterator[str]:
    """A line of TypeScript for each minimal body and each example."""
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            content = operation.get("requestBody", {}).get("content", {}).get(_JSON)
            if content is None:
                continue
            given = [example["value"] for example in content["examples"].values()]
            for body in [*minimal(document, content["schema"]), *given]:
                place = f"Body<{json.dumps(path)}, {json.dumps(method)}>"
                yield f"export const {operation['operationId']}_{{}}: {place} = {json.dumps(body)};\n"


def minimal(document: dict[str, Any], schema: Schema) -> list[Any]:
    """A value for each choice of the schema, with the required fields only."""
    if "$ref" in schema:
        return minimal(document, document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]])
    if "anyOf" in schema:
        return [value for one in schema["anyOf"] for value in minimal(document, one)]
    if "enum" in schema:
        return [schema["enum"][0]]
    if schema.get("type") == "object":
        held = schema.get("properties", {})
        return [{name: minimal(document, held[name])[0] for name in schema.get("required", ())}]
    if schema.get("type") == "array":
        return [[minimal(document, schema["items"])[0]] * schema.get("minItems", 0)]
    if schema.get("format") == "uuid":
        return [str(UUID(int=0))]
    if "pattern" in schema:
        return [next(text for text in _TEXTS if re.search(schema["pattern"], text))]
    return [{"string": "x", "integer": 1, "number": 1, "boolean": True}.get(schema.get("type", "null"))]


def _compiled(document: str, bodies: list[str]) -> list[str]:
    """What the compiler has to say."""
    with tempfile.TemporaryDirectory(dir=_NODE) as name:
        folder = Path(name)
        (folder / "openapi.json").write_text(document)
        _node("openapi-typescript/bin/cli.js", "openapi.json", "-o", "api.ts", folder=folder)
        lines = (line.replace("{}", str(place), 1) for place, line in enumerate(bodies))
        (folder / "bodies.ts").write_text(_TYPES + "".join(lines))
        done = _node("typescript/bin/tsc", "--strict", "--noEmit", "bodies.ts", folder=folder, check=False)
        return [line for line in done.stdout.splitlines() if _ERROR.search(line)]


def _node(
    program: str, *arguments: str, folder: Path, check: bool = True
) -> subprocess.CompletedProcess[str]:
    own = Path(sys.executable).parent
    command = [
        shutil.which("node", path=f"{own}:{os.environ['PATH']}") or "node",
        str(_NODE / "node_modules" / program),
        *arguments,
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=check)


if __name__ == "__main__":
    sys.exit(main())
