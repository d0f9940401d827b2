"""How the document shows what a field is when it is left out."""

from __future__ import annotations

import json
from typing import Any

from shared.vocabulary import DEFAULT

Schema = dict[str, Any]


def show_defaults(schema: Schema, *, asked: bool) -> None:
    """Of an object's fields; a field that is always there has none. What may be `asked` is told in words too."""
    for name, property_ in schema.get("properties", {}).items():
        if "default" not in property_:
            continue
        value = property_.pop("default")
        if name in schema.get("required", ()):
            continue
        property_[DEFAULT] = value
        if asked and value not in (None, [], {}):
            words = f"Default: `{json.dumps(value)}`."
            property_["description"] = " ".join(filter(None, [property_.get("description"), words]))
