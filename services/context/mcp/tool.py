"""What the table of tools says of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ABOUT_CODE = ("paths", "step", "symbols")
"""Fields that a model need not know."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    operation: str
    """The operationId of the route that it calls."""
    description: str
    """Says in its first line what the tool is for."""
    default: bool = False
    destructive: bool = False
    idempotent: bool = False
    fields: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of fields whose meaning differs from FIELDS."""
    only: tuple[str, ...] = ()
    """The fields that it lists of its route's; all, where none is named."""
    without: tuple[str, ...] = ()
    """Fields that it takes, but that a model need not know; `list.field` is a field of a list's items."""
    names: bool = True
    """Whether the schema of its answer names what the objects in it hold."""
