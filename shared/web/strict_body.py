"""Makes Litestar decode bodies strictly, with errors that name the field, and fill them in from the key."""

from __future__ import annotations

import re
from typing import Any, ClassVar, TypeVar

import msgspec
from litestar import Request
from litestar.dto import AbstractDTO
from litestar.typing import FieldDefinition

from shared.bindings import fill_in
from shared.body import decode
from shared.errors import Invalid, Unsupported
from shared.web.authentication import BODY
from shared.web.parameters import parameter_errors

T = TypeVar("T")

# A request without a type is taken to be JSON.
_JSON = re.compile(r"^\s*(?:$|application/(?:[\w.-]+\+)?json\s*(?:;|$))", re.ASCII | re.IGNORECASE)


def _not_json() -> Unsupported:
    return Unsupported("the body must be JSON, sent with Content-Type: application/json")


class StrictBody(AbstractDTO[T]):
    """Accepts only values of the declared types. Litestar's own decoding coerces: "1" becomes 1."""

    _decoders: ClassVar[dict[str, msgspec.json.Decoder[Any]]] = {}

    def decode_bytes(self, value: bytes) -> Any:
        request: Request[Any, Any, Any] = self.asgi_connection  # type: ignore[assignment]
        if not _JSON.match(request.headers.get("content-type", "")):
            raise _not_json()
        state = request.scope["state"]
        value, principal = state.get(BODY, value), state.get("principal")
        try:
            body = decode(value, self._decoders[request.route_handler.handler_id], principal)
        except Invalid as error:
            raise Invalid.of([*parameter_errors(request), *(error.errors or [])]) from error
        if principal is not None:
            fill_in(body, principal)
        return body

    def decode_builtins(self, value: dict[str, Any]) -> Any:
        """Litestar calls it for forms."""
        raise _not_json()

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
