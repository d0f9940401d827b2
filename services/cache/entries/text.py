"""The text of an entry for search and for a block: its content and the fields of its type. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, get_args

import msgspec

from services.cache.entries.schemas import BaseWrite
from shared.provenance import SourceKind
from shared.search import code
from shared.tokens import estimate_tokens_of

# Characters of a source in a header: it is a name, not a text.
_LABEL = 80
_SOURCE_KINDS = frozenset(get_args(SourceKind))
_COMMON = set(BaseWrite.__struct_fields__)


def branch_fields(entry: BaseWrite) -> dict[str, Any]:
    """The fields that only the entry's type has. They are stored as metadata."""
    fields = msgspec.to_builtins(entry)
    return {name: value for name, value in fields.items() if name not in _COMMON and name != "context_type"}


# The columns that a reader gets of an entry, except its type and source kind, which have few fixed values, and its
# mission, id and times.
_COUNTED = (
    "content",
    "agent_name",
    "tags",
    "paths",
    "symbols",
    "source_turn",
    "dispatch_id",
    "occurred_at",
    "session_id",
    "seq",
    "speaker",
    "user_id",
    "recalled_from",
)


def entry_tokens(columns: Mapping[str, Any]) -> int:
    """The tokens that an entry takes of its mission's budget: everything in it that can be read back."""
    return estimate_tokens_of(_counted(columns).values())


def largest_field(columns: Mapping[str, Any]) -> str:
    """The field that takes the most tokens."""
    counted = _counted(columns)
    return max(counted, key=lambda name: estimate_tokens_of([counted[name]]))


def _counted(columns: Mapping[str, Any]) -> dict[str, Any]:
    return {**{name: columns[name] for name in _COUNTED}, **columns["metadata"]}


def entry_text(content: str, context_type: str, metadata: dict[str, Any]) -> str:
    lines = [content, *_branch_lines(context_type, metadata)]
    return "\n".join(line for line in lines if line)


def _branch_lines(context_type: str, m: dict[str, Any]) -> list[str]:
    match context_type:
        case "decision":
            return [
                f"Rationale: {m['decision_rationale']}",
                _listed("Alternatives", m, "decision_alternatives"),
            ]
        case "directive":
            priority = m.get("directive_priority")
            return [f"For {m['directive_target']}" + (f", priority {priority}" if priority else "")]
        case "intel":
            return []
        case "state_change":
            trigger = m.get("state_trigger")
            return [f"{m['state_from']} -> {m['state_to']}" + (f" because {trigger}" if trigger else "")]
        case "output":
            summary = m.get("output_summary")
            return [f"Output: {m['output_url']}" + (f" ({summary})" if summary else "")]
        case "report":
            return [f"Dispatch {m['report_dispatch_id']}: {m['report_outcome']}"]
        case "escalation":
            return [f"Escalated to {m['escalation_target']}: {m['escalation_reason']}"]
        case "shadow_clone":
            return [_listed("Subtasks", m, "subtasks")]
        case "thread_checkpoint":
            return [
                m["working_state_prose"],
                _listed("Open decisions", m, "open_decisions"),
                _listed("Pending directives", m, "pending_directives"),
                _listed("Active dispatches", m, "active_dispatches"),
            ]
    return []


def _listed(label: str, metadata: dict[str, Any], field: str) -> str:
    values = metadata.get(field)
    return f"{label}: {'; '.join(values)}" if values else ""


def header_labels(metadata: Mapping[str, Any], who: str | None) -> list[str]:
    """Where intel is from and how sure it is, for its header in a block; not what stands there already."""
    labels = []
    source = metadata.get("intel_source")
    if source is not None and source != who and source not in _SOURCE_KINDS:
        # Behind a comma, a header names its author.
        name = source.replace(",", ";")
        labels.append(f"from {name if len(name) <= _LABEL else name[: _LABEL - 1] + '…'}")
    if confidence := metadata.get("intel_confidence"):
        labels.append(f"({confidence} confidence)")
    return labels


def search_words(
    context_type: str, metadata: dict[str, Any], tags: list[str], names: Iterable[str] = ()
) -> list[str]:
    """Words besides its text by which a question may name an entry. `names` are its paths and symbols."""
    source = metadata.get("intel_source")
    kind = context_type.replace("_", " ")
    return [kind, *([str(source)] if source else []), *tags, *map(code.spaced, names)]
