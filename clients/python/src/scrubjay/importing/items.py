"""What an import writes: memories, facts and files, each with its place in the export."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from scrubjay.models import AddFactInput, WriteMemoryInput


@dataclass(frozen=True, slots=True)
class File:
    """A file for the vault."""

    path: str
    text: str
    occurred_at: datetime | None


Write: TypeAlias = WriteMemoryInput | AddFactInput | File


@dataclass(frozen=True, slots=True)
class Found:
    """A record, or a part of it, as Scrubjay takes it."""

    place: str
    """Where the export holds it: a line, or the name of a file."""
    write: Write


@dataclass(frozen=True, slots=True)
class Refused:
    """A record that cannot be imported."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What an import leaves out on purpose, such as memories that have expired."""

    place: str
    reason: str


Item: TypeAlias = Found | Refused | LeftOut


class Unfit(ValueError):
    """Why a record cannot be imported."""


class Dropped(ValueError):
    """Why a record is left out on purpose."""
