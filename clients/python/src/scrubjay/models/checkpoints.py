"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelWrite:
    """What a task wrote to a channel."""

    place: int
    """Its place among what the task wrote."""
    channel: str
    """The channel that the task wrote to."""
    value: dict[str, Any]
    """The value, as the framework wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    thread_id: str
    """The framework's own name for the thread."""
    namespace: str
    """The graph within the thread's graph; empty for the thread's own."""
    checkpoint_id: str
    """The framework's own name for the checkpoint."""
    parent_id: str | None
    """The checkpoint that it follows."""
    metadata: dict[str, Any]
    """What it can be filtered by."""
    state: dict[str, Any]
    """The state, as the framework wrote it."""
    writes: list[PendingWrite]
    """What tasks wrote after it, in the order in which they count."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoints:
    """A page of checkpoints, newest first."""

    data: list[Checkpoint]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CopiedThread:
    checkpoints: int
    """How many were copied."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingWrite:
    """What a task wrote to a channel after the checkpoint."""

    task_id: str
    """The task that wrote."""
    place: int
    """Its place among what the task wrote."""
    channel: str
    """The channel that the task wrote to."""
    value: dict[str, Any]
    """The value, as the framework wrote it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrunedThreads:
    checkpoints: int
    """How many were erased."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint:
    thread_id: str
    """The framework's own name for the thread."""
    checkpoint_id: str
    """The framework's own name for the checkpoint."""
    expires_at: datetime
    """When the thread is erased, unless it is written to."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWrites:
    stored: int
    """How many of them are new or replaced."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""
