"""JSON Schemas of what the services decode and encode, from msgspec, with the documentation of each field."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

import msgspec
import msgspec.inspect as mi

from shared.text import Language
from tools.openapi.defaults import show_defaults
from tools.openapi.vocabulary import show_vocabulary, without_marks
from tools.openapi.words import FIELDS

Schema = dict[str, Any]

_REF = "#/components/schemas/{name}"
_CHOICES = {"Language": Language}
_QUALIFIED = re.compile(r"services\.(\w+)\.(?:\w+\.)*(\w+)")


def schemas_of(requests: Sequence[Any], answers: Sequence[Any]) -> tuple[list[Schema], dict[str, Schema]]:
    """A schema for each type, requests first, and the components that they refer to."""
    types = [*requests, *answers]
    schemas, components = msgspec.json.schema_components(types, ref_template=_REF)
    for kind, schema in zip(mi.multi_type_info(types), schemas, strict=True):
        _mark_times(kind, schema)
    asked = set(_structs(mi.multi_type_info(requests)))
    answered = set(_structs(mi.multi_type_info(answers)))
    for struct in asked | answered:
        schema = components[_name(struct, components)]
        _complete(schema, struct, answered=struct not in asked)
        if struct in asked:
            show_vocabulary(schema, answered=struct in answered)
        show_defaults(schema, asked=struct in asked)
    renamed: list[Schema] = _renamed(without_marks(list(schemas)))
    return renamed, _with_choices(_renamed(without_marks(components)))


def _with_choices(components: dict[str, Schema]) -> dict[str, Schema]:
    """Long choices that many fields share are components of their own."""
    for name, choice in _CHOICES.items():
        values = sorted(get_args(choice))
        components = _referring(components, values, {"$ref": _REF.format(name=name)})
        components[name] = {"type": "string", "enum": values}
    return components


def _referring(value: Any, choices: Sequence[str], reference: Schema) -> Any:
    """With the reference in place of each schema that has these choices."""
    if isinstance(value, list):
        return [_referring(item, choices, reference) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("enum") == choices:
        return reference
    return {key: _referring(item, choices, reference) for key, item in value.items()}


def _name(struct: type, components: dict[str, Schema]) -> str:
    name = struct.__name__
    return name if name in components else f"{struct.__module__}.{name}"


def _renamed(value: Any) -> Any:
    """Two services may use the same name. msgspec then qualifies both by module, and clients see `CacheName`.

    A choice among strings gets the type string and an object of any keys says so, which client generators need.
    """
    if isinstance(value, dict):
        named = {_short(key): _renamed(item) for key, item in value.items()}
        if named.get("type") == "object" and not {"properties", "additionalProperties"} & named.keys():
            named["additionalProperties"] = {}
        return {"type": "string", **named} if _is_choice(named) else named
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    return _short(value) if isinstance(value, str) and value.startswith("#/") else value


def _is_choice(schema: Schema) -> bool:
    choices = schema.get("enum")
    return isinstance(choices, list) and all(isinstance(one, str) for one in choices)


def _short(name: str) -> str:
    return _QUALIFIED.sub(lambda m: "".join(map(str.title, m[1].split("_"))) + m[2], name)


def _structs(types: Iterable[mi.Type]) -> Iterator[type]:
    seen: set[type] = set()
    todo = list(types)
    while todo:
        kind = todo.pop()
        if isinstance(kind, mi.StructType):
            if kind.cls in seen:
                continue
            seen.add(kind.cls)
            yield kind.cls
            todo += [field.type for field in kind.fields]
        elif isinstance(kind, mi.UnionType):
            todo += kind.types
        elif isinstance(kind, mi.DictType):
            todo.append(kind.value_type)
        elif isinstance(kind, mi.Metadata):
            todo.append(kind.type)
        elif isinstance(kind, mi.ListType):
            todo.append(kind.item_type)


def _complete(schema: Schema, struct: type, *, answered: bool) -> None:
    info = mi.type_info(struct)
    assert isinstance(info, mi.StructType)
    described = _described(struct)
    if info.tag_field:
        schema["properties"][info.tag_field]["description"] = FIELDS[info.tag_field]
    for field in info.fields:
        property_ = schema["properties"][field.encode_name]
        _mark_times(field.type, property_)
        text = described.get(field.name) or property_.get("description") or FIELDS.get(field.encode_name)
        if text is not None:
            property_["description"] = text
    if answered and not struct.__struct_config__.omit_defaults:  # type: ignore[attr-defined]
        tag = [info.tag_field] if info.tag_field else []
        always = [field.encode_name for field in info.fields if not _may_be_unset(field)]
        schema["required"] = [*tag, *always]


def _may_be_unset(field: mi.Field) -> bool:
    return (
        not field.required
        and field.default is msgspec.NODEFAULT
        and field.default_factory is msgspec.NODEFAULT
    )


def _mark_times(kind: mi.Type, schema: Schema) -> None:
    """msgspec gives a format only to times with an offset. Here a time without an offset is UTC."""
    if isinstance(kind, mi.Metadata):
        _mark_times(kind.type, schema)
    elif isinstance(kind, mi.DateTimeType):
        schema["format"] = "date-time"
    elif isinstance(kind, mi.UnionType) and "anyOf" in schema:
        for one, part in zip(kind.types, schema["anyOf"], strict=True):
            _mark_times(one, part)


def _described(struct: type) -> dict[str, str]:
    """The documentation of each field: the string after it."""
    texts: dict[str, str] = {}
    for cls in reversed(struct.__mro__):
        if not issubclass(cls, msgspec.Struct) or cls is msgspec.Struct:
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
        assert isinstance(definition, ast.ClassDef)
        for field, text in zip(definition.body, definition.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and _is_text(text):
                texts[field.target.id] = inspect.cleandoc(text.value.value)  # type: ignore[attr-defined]
    return texts


def _is_text(node: ast.stmt) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
