"""Changes that could break a client of the released API, because they are more than additions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

_FILE = Path(__file__).with_name("released.json")
_WORDS = {"description", "summary", "example", "examples", "title", "tags"}
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_ACCESS = ("public", "read", "write", "admin")


def released() -> dict[str, Any]:
    return dict(json.loads(_FILE.read_text()))


def release(document: dict[str, Any]) -> None:
    """Makes this document the released API. The file has a line for each path and component."""
    bare = without_words({"paths": document["paths"], "components": document["components"]})
    lines = []
    for part, held in (("paths", bare["paths"]), ("components", bare["components"])):
        inner = ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in held.items())
        lines.append(f'"{part}": {{\n{inner}\n}}')
    _FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def without_words(value: Any, of_names: bool = False) -> Any:
    """Drops descriptions. `of_names` means that the keys are names of fields, not keywords of JSON Schema."""
    if isinstance(value, dict):
        return {
            key: without_words(item, of_names=key in ("properties", "paths", "schemas") and not of_names)
            for key, item in value.items()
            if of_names or key not in _WORDS
        }
    return [without_words(item) for item in value] if isinstance(value, list) else value


def breaks(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Each breaking change as a sentence."""
    return list(_Comparison(old, new).breaks())


class _Comparison:
    def __init__(self, old: dict[str, Any], new: dict[str, Any]) -> None:
        self._old, self._new = old, new
        self._seen: set[tuple[str, str, bool]] = set()

    def breaks(self) -> Iterator[str]:
        for path, methods in self._old["paths"].items():
            for method, told in methods.items():
                where = f"{method.upper()} {path}"
                now = self._new["paths"].get(path, {}).get(method)
                if now is None:
                    yield f"{where} is gone"
                else:
                    yield from self._operation(where, told, now)

    def _operation(self, where: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
        if old["operationId"] != new["operationId"]:
            yield f"{where} is called {new['operationId']}"
        if _ACCESS.index(new["x-access"]) > _ACCESS.index(old["x-access"]):
            yield f"{where} needs {new['x-access']}"
        yield from self._parameters(where, old["parameters"], new["parameters"])
        yield from self._body(where, old.get("requestBody", {}), new.get("requestBody", {}))
        for status, answer in old["responses"].items():
            if status not in new["responses"]:
                yield f"{where} no longer answers {status}"
            else:
                before, now = self._follow(answer, new["responses"][status])
                place = f"{where} {status}"
                yield from self._contents(
                    place, before.get("content", {}), now.get("content", {}), asked=False
                )

    def _parameters(self, where: str, old: list[Schema], new: list[Schema]) -> Iterator[str]:
        before = {(p["in"], p["name"]): p for p in (_at(self._old, p) for p in old)}
        now = {(p["in"], p["name"]): p for p in (_at(self._new, p) for p in new)}
        for key, parameter in before.items():
            if key not in now:
                yield f"{where} ?{key[1]} is gone"
            else:
                yield from self._schema(
                    f"{where} ?{key[1]}", parameter["schema"], now[key]["schema"], asked=True
                )
        for key, parameter in now.items():
            if parameter["required"] and not before.get(key, {}).get("required"):
                yield f"{where} ?{key[1]} is required"

    def _body(self, where: str, old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
        if new.get("required") and not old.get("required"):
            yield f"{where} needs a body"
        yield from self._contents(f"{where} body", old.get("content", {}), new.get("content", {}), asked=True)

    def _contents(
        self, where: str, old: dict[str, Any], new: dict[str, Any], *, asked: bool
    ) -> Iterator[str]:
        for media, content in old.items():
            if media not in new:
                yield f"{where} is no longer {media}"
                continue
            for part in ("schema", "x-item-schema"):
                if part in content:
                    yield from self._schema(where, content[part], new[media].get(part, {}), asked=asked)

    def _schema(self, where: str, old: Schema, new: Schema, *, asked: bool) -> Iterator[str]:
        """`asked` marks a request's schema: the service must still accept everything. Otherwise it is an answer's."""
        pair = (str(old.get("$ref")), str(new.get("$ref")), asked)
        if "$ref" in old and "$ref" in new:
            if pair in self._seen:
                return
            self._seen.add(pair)
        old, new = self._follow(old, new)
        olds, news = old.get("anyOf", [old]), new.get("anyOf", [new])
        yield from self._choices(where, olds, news, asked=asked)
        yield from _limits(where, old, new, asked=asked)
        yield from self._object(where, old, new, asked=asked)
        if "items" in old:
            yield from self._schema(f"{where}[]", old["items"], new.get("items", {}), asked=asked)
        if isinstance(old.get("additionalProperties"), dict):
            held = new.get("additionalProperties")
            now = held if isinstance(held, dict) else {}
            yield from self._schema(f"{where}.*", old["additionalProperties"], now, asked=asked)

    def _choices(self, where: str, old: list[Schema], new: list[Schema], *, asked: bool) -> Iterator[str]:
        """Requests still take every old choice, and answers have no new one. A component or type names a choice."""
        before = {self._kind(self._old, one): one for one in old}
        now = {self._kind(self._new, one): one for one in new}
        lost = before.keys() - now.keys() if asked else now.keys() - before.keys()
        for kind in sorted(lost):
            if "any" not in (now if asked else before):
                yield f"{where} {'takes no' if asked else 'may be'} {kind}"
        if len(old) > 1 or len(new) > 1:
            for kind in before.keys() & now.keys():
                yield from self._schema(where, before[kind], now[kind], asked=asked)

    def _object(self, where: str, old: Schema, new: Schema, *, asked: bool) -> Iterator[str]:
        for name, field in old.get("properties", {}).items():
            if name not in new.get("properties", {}):
                yield f"{where} .{name} is gone"
            else:
                yield from self._schema(f"{where} .{name}", field, new["properties"][name], asked=asked)
        before, now = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted(now - before if asked else (before - now) & new.get("properties", {}).keys()):
            yield f"{where} .{name} is {'required' if asked else 'no longer always there'}"

    def _kind(self, document: dict[str, Any], schema: Schema) -> str:
        if "$ref" in schema:
            target = _at(document, schema)
            # The tag, which is always there, identifies a branch of a union, whatever its name.
            properties = target.get("properties", {})
            required = [properties[name] for name in target.get("required", ()) if name in properties]
            tags = [one["enum"][0] for one in required if len(one.get("enum", ())) == 1]
            return str(tags[0]) if tags else "object"
        return str(schema.get("type", "any"))

    def _follow(self, old: Schema, new: Schema) -> tuple[Schema, Schema]:
        return _at(self._old, old), _at(self._new, new)


def _at(document: dict[str, Any], schema: Schema) -> Schema:
    found: dict[str, Any] = document
    for step in schema["$ref"].removeprefix("#/").split("/") if "$ref" in schema else ():
        found = found[step]
    return found if "$ref" in schema else schema


def _limits(where: str, old: Schema, new: Schema, *, asked: bool) -> Iterator[str]:
    """Limits of requests. The limits of an answer may always become narrower."""
    if not asked:
        return
    for value in old.get("enum", ()):
        if "enum" in new and value not in new["enum"]:
            yield f"{where} takes no {value!r}"
    if "enum" in new and "enum" not in old:
        yield f"{where} takes some values only"
    for key in _UPPER:
        if key in new and new[key] < old.get(key, float("inf")):
            yield f"{where} {key} is {new[key]}"
    for key in _LOWER:
        if key in new and new[key] > old.get(key, float("-inf")):
            yield f"{where} {key} is {new[key]}"
    if new.get("pattern") != old.get("pattern") and "pattern" in new:
        yield f"{where} pattern is {new['pattern']}"
