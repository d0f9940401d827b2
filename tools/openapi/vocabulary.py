"""Shows the vocabulary in request schemas: short names, ids as strings, and what a bound key fills in."""

from __future__ import annotations

from typing import Any

from shared.bindings import FROM_KEY, LEFT_OUT
from shared.vocabulary import ALIAS, ID, shorts

Schema = dict[str, Any]

_DIGITS = {"type": "string", "pattern": "^[0-9]{1,19}$"}
_REQUIRED = "Required unless the key is bound to one."


def show_vocabulary(schema: Schema, *, answered: bool) -> None:
    """`answered`: answers hold it as well, with the main names and ids as numbers."""
    given: Schema = schema["properties"]
    properties = given if answered else {name: _with_digits(one) for name, one in given.items()}
    for one in properties.values():
        if FROM_KEY in one and one.get("default") == LEFT_OUT:
            del one["default"]
            one["description"] = " ".join([*filter(None, [one.get("description")]), _REQUIRED])
    for short, main in shorts(properties).items():
        properties[short] = short_for(main, properties[main])
    schema["properties"] = properties


def short_for(main: str, schema: Schema) -> Schema:
    return {**schema, "description": f"Short for `{main}`, in requests.", ALIAS: main}


def without_marks(value: Any) -> Any:
    """Removes the marks that only this module reads."""
    if isinstance(value, dict):
        return {key: without_marks(item) for key, item in value.items() if key != ID}
    return [without_marks(item) for item in value] if isinstance(value, list) else value


def _with_digits(schema: Schema) -> Schema:
    if schema.get(ID):
        around: Schema = {name: schema[name] for name in ("description", "default") if name in schema}
        number = {name: item for name, item in schema.items() if name not in around}
        return {"anyOf": [number, _DIGITS], **around}
    if "items" in schema:
        return {**schema, "items": _with_digits(schema["items"])}
    if any(one.get(ID) for one in schema.get("anyOf", ())):
        kinds = [kind for one in schema["anyOf"] for kind in ((one, _DIGITS) if one.get(ID) else (one,))]
        return {**schema, "anyOf": kinds}
    return schema
