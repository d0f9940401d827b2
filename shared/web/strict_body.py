"""How Litestar reads bodies: strictly, with errors that name the field, and filled in by what the key is bound to."""

from __future__ import annotations

from typing import Any, ClassVar, TypeVar

import msgspec
from litestar.dto import AbstractDTO
from litestar.typing import FieldDefinition

from shared.bindings import fill_in
from shared.body import decode
from shared.errors import Invalid

T = TypeVar("T")


class StrictBody(AbstractDTO[T]):
    """Takes values of the declared types only, where Litestar's own decoding coerces: "1" becomes 1."""

    _decoders: ClassVar[dict[str, msgspec.json.Decoder[Any]]] = {}

    def decode_bytes(self, value: bytes) -> Any:
        connection = self.asgi_connection
        body = decode(value, self._decoders[connection.route_handler.handler_id])
        if (principal := connection.scope["state"].get("principal")) is not None:
            fill_in(body, principal)
        return body

    def decode_builtins(self, value: dict[str, Any]) -> Any:
        raise Invalid.field("body", "must be application/json")

    @classmethod
    def is_supported_model_type_field(cls, field_definition: FieldDefinition) -> bool:
        return True

    @classmethod
    def create_for_field_definition(
        cls, field_definition: FieldDefinition, handler_id: str, backend_cls: Any = None
    ) -> None:
        if field_definition.name == "data":
            cls._decoders[handler_id] = msgspec.json.Decoder(field_definition.annotation)

    @classmethod
    def create_openapi_schema(
        cls, field_definition: FieldDefinition, handler_id: str, schema_creator: Any
    ) -> Any:
        return schema_creator.for_field_definition(field_definition)

    @classmethod
    def generate_field_definitions(cls, model_type: type[Any]) -> Any:
        return iter(())

    @classmethod
    def detect_nested_field(cls, field_definition: FieldDefinition) -> bool:
        return False
