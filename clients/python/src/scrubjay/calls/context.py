"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from scrubjay._call import Call, fields, nullable, path
from scrubjay._data import UNSET, Unset
from scrubjay.models import (
    ApiKey,
    ApiKeys,
    Assembly,
    CallerBudget,
    CallerBudgets,
    Callers,
    Evaluated,
    Explained,
    FeedbackTaken,
    LogEntries,
    MadeKey,
    Message,
    Monitored,
    Receipt,
    RememberResult,
    Replay,
    SourceItem,
    SourceWeight,
    SourceWeights,
    UsedItem,
    WeightHistory,
)


def assemble(
    *,
    query: str,
    caller: str | None = None,
    mission_namespace: str | None = None,
    token_budget: int | None = None,
    scopes: Sequence[str] | None = None,
    session_id: str | None = None,
    user_id: str | None = None,
    dispatch_id: int | str | None = None,
    explicit_links: Sequence[str] | None = None,
    as_of: datetime | None = None,
    log: bool | None = None,
    debug: bool | None = None,
    timeout: float | None = None,
) -> Call[Assembly]:
    """Assemble the context that matters now, from every store, within a token budget and with each item's
    score.
    """
    return Call(
        method="POST",
        path="/api/context/assemble",
        answer=Assembly,
        seconds=2.0,
        repeatable=True,
        body=fields(
            query=query,
            caller=caller,
            mission_namespace=mission_namespace,
            token_budget=token_budget,
            scopes=scopes,
            session_id=session_id,
            user_id=user_id,
            dispatch_id=dispatch_id,
            explicit_links=explicit_links,
            as_of=as_of,
            log=log,
            debug=debug,
        ),
        timeout=timeout,
    )


def feedback(
    *,
    assembly_id: int | str,
    used_source_ids: Sequence[str | UsedItem],
    tokens_used: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[FeedbackTaken]:
    """Report which sources of an assembly were useful. A source that was not in its block is refused by
    name.
    """
    return Call(
        method="POST",
        path="/api/context/feedback",
        answer=FeedbackTaken,
        seconds=5.0,
        repeatable=True,
        body=fields(assembly_id=assembly_id, used_source_ids=used_source_ids, tokens_used=tokens_used),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def remember(
    *,
    caller: str | None = None,
    text: str | None = None,
    messages: Sequence[Message] | None = None,
    user_id: str | None = None,
    mission_namespace: str | None = None,
    session_id: str | None = None,
    seq: int | None = None,
    occurred_at: datetime | None = None,
    speaker: str | None = None,
    source_kind: Literal["agent", "derived", "document", "tool", "user"] | None = None,
    dispatch_id: int | str | None = None,
    ttl_hours: float | None = None,
    recalled_from: int | str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[RememberResult]:
    """Remember a text or the messages of a conversation. Rules choose where each goes, and the answer says
    where. What happened in a mission becomes one of its entries. What reads like a lesson, and
    everything said outside a mission, becomes a memory of the agent. Recalled context, repeats and
    system messages are not kept. With an Idempotency-Key, a retry after a failure stores what is
    missing, and nothing twice.
    """
    return Call(
        method="POST",
        path="/api/context/remember",
        answer=RememberResult,
        seconds=5.0,
        repeatable=True,
        body=fields(
            caller=caller,
            text=text,
            messages=messages,
            user_id=user_id,
            mission_namespace=mission_namespace,
            session_id=session_id,
            seq=seq,
            occurred_at=occurred_at,
            speaker=speaker,
            source_kind=source_kind,
            dispatch_id=dispatch_id,
            ttl_hours=ttl_hours,
            recalled_from=recalled_from,
        ),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def log(
    *,
    caller: str | None = None,
    mission_namespace: str | None = None,
    user_id: str | None = None,
    session_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[LogEntries]:
    """List assemblies, newest first."""
    return Call(
        method="GET",
        path="/api/context/log",
        answer=LogEntries,
        seconds=2.0,
        repeatable=True,
        query={
            "caller": caller,
            "mission_namespace": mission_namespace,
            "user_id": user_id,
            "session_id": session_id,
            "since": since,
            "until": until,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def log_callers(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[Callers]:
    """List the callers that have assembled, by name."""
    return Call(
        method="GET",
        path="/api/context/log/callers",
        answer=Callers,
        seconds=2.0,
        repeatable=True,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def explain(
    assembly_id: int,
    *,
    timeout: float | None = None,
) -> Call[Explained]:
    """Explain an assembly: every candidate, taken or dropped, with its factors and the reason."""
    return Call(
        method="GET",
        path=path("/api/context/log/{assembly_id}", assembly_id=assembly_id),
        answer=Explained,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def replay(
    assembly_id: int,
    *,
    token_budget: int | None = None,
    weights: Mapping[str, float] | None = None,
    token_shares: Mapping[str, float] | None = None,
    timeout: float | None = None,
) -> Call[Replay]:
    """Pack the same candidates again, with other weights, shares or another budget."""
    return Call(
        method="POST",
        path=path("/api/context/log/{assembly_id}/replay", assembly_id=assembly_id),
        answer=Replay,
        seconds=2.0,
        repeatable=True,
        body=fields(token_budget=token_budget, weights=weights, token_shares=token_shares),
        timeout=timeout,
    )


def source(
    handle: str,
    *,
    assembly_id: int | None = None,
    timeout: float | None = None,
) -> Call[SourceItem]:
    """Read the whole item behind a block's handle. With `assembly_id`, the read counts as weak feedback."""
    return Call(
        method="GET",
        path=path("/api/context/sources/{handle}", handle=handle),
        answer=SourceItem,
        seconds=2.0,
        repeatable=True,
        query={"assembly_id": assembly_id},
        timeout=timeout,
    )


def budgets(
    *,
    caller: str | None = None,
    timeout: float | None = None,
) -> Call[CallerBudgets]:
    """List the callers' budgets that differ from the installation's default."""
    return Call(
        method="GET",
        path="/api/context/budgets",
        answer=CallerBudgets,
        seconds=2.0,
        repeatable=True,
        query={"caller": caller},
        timeout=timeout,
    )


def set_budget(
    *,
    caller: str,
    default_budget: int,
    min_budget: int | None = None,
    max_budget: int | None = None,
    ceiling: int | None = None,
    manual: bool | None = None,
    timeout: float | None = None,
) -> Call[CallerBudget]:
    """Set a caller's default budget, its bounds for learning, and the ceiling for its requests."""
    return Call(
        method="PUT",
        path="/api/context/budgets",
        answer=CallerBudget,
        seconds=5.0,
        repeatable=True,
        body=fields(
            caller=caller,
            default_budget=default_budget,
            min_budget=min_budget,
            max_budget=max_budget,
            ceiling=ceiling,
            manual=manual,
        ),
        timeout=timeout,
    )


def reset_budget(
    *,
    caller: str,
    timeout: float | None = None,
) -> Call[None]:
    """Return a caller's budget to the installation's default."""
    return Call(
        method="DELETE",
        path="/api/context/budgets",
        answer=None,
        seconds=5.0,
        repeatable=False,
        query={"caller": caller},
        timeout=timeout,
    )


def evaluate(
    *,
    timeout: float | None = None,
) -> Call[Evaluated]:
    """Learn from new feedback. Two concurrent calls process it once."""
    return Call(
        method="POST",
        path="/api/context/eval",
        answer=Evaluated,
        seconds=60.0,
        repeatable=False,
        timeout=timeout,
    )


def weights(
    *,
    caller: str | None = None,
    timeout: float | None = None,
) -> Call[SourceWeights]:
    """List the weights that differ from the start values, learned or set by an operator."""
    return Call(
        method="GET",
        path="/api/context/weights",
        answer=SourceWeights,
        seconds=2.0,
        repeatable=True,
        query={"caller": caller},
        timeout=timeout,
    )


def set_weight(
    *,
    caller: str,
    source: Literal["agent_memory_own", "agent_memory_peer", "psychic_cache"],
    weight: float,
    token_share: float | None = None,
    manual: bool | None = None,
    timeout: float | None = None,
) -> Call[SourceWeight]:
    """Set a source's weight for a caller, or for all callers with `*`."""
    return Call(
        method="PUT",
        path="/api/context/weights",
        answer=SourceWeight,
        seconds=5.0,
        repeatable=True,
        body=fields(caller=caller, source=source, weight=weight, token_share=token_share, manual=manual),
        timeout=timeout,
    )


def reset_weight(
    *,
    caller: str,
    source: Literal["agent_memory_own", "agent_memory_peer", "psychic_cache"],
    timeout: float | None = None,
) -> Call[None]:
    """Return a source's weight to the tenant's `*` row, or else to the start value."""
    return Call(
        method="DELETE",
        path="/api/context/weights",
        answer=None,
        seconds=5.0,
        repeatable=False,
        query={"caller": caller, "source": source},
        timeout=timeout,
    )


def weight_history(
    *,
    caller: str | None = None,
    since: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[WeightHistory]:
    """List the changes that evaluations and operators made, newest first."""
    return Call(
        method="GET",
        path="/api/context/weights/history",
        answer=WeightHistory,
        seconds=2.0,
        repeatable=True,
        query={"caller": caller, "since": since, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def monitor(
    *,
    mission: str | None = None,
    minutes: int | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[Monitored]:
    """Show what each agent is doing now: its last event, its open dispatches, and its recent events by
    kind.
    """
    return Call(
        method="GET",
        path="/api/context/monitor",
        answer=Monitored,
        seconds=2.0,
        repeatable=True,
        query={"mission": mission, "minutes": minutes, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def make_key(
    *,
    name: str,
    access: Literal["admin", "read", "write"] | None = None,
    tenant: str | None = None,
    agent: str | None = None,
    missions: Sequence[str] | None = None,
    users: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    requests_per_second: float | None = None,
    burst: int | None = None,
    requests_per_day: int | None = None,
    tokens_per_day: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[MadeKey]:
    """Make an API key. Its secret is in this answer only; what is kept is a hash. It can hold no more than
    the key that makes it: access, agent, missions, users, limits and time. An admin token of the
    environment makes keys of other tenants, too: name the `tenant`.
    """
    return Call(
        method="POST",
        path="/api/context/keys",
        answer=MadeKey,
        seconds=5.0,
        repeatable=True,
        body=fields(
            name=name,
            access=access,
            tenant=tenant,
            agent=agent,
            missions=missions,
            users=users,
            expires_at=expires_at,
            requests_per_second=requests_per_second,
            burst=burst,
            requests_per_day=requests_per_day,
            tokens_per_day=tokens_per_day,
        ),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def list_keys(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> Call[ApiKeys]:
    """List the tenant's keys with their usage today, including revoked ones, but never a secret."""
    return Call(
        method="GET",
        path="/api/context/keys",
        answer=ApiKeys,
        seconds=5.0,
        repeatable=False,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def get_key(
    key_id: int,
    *,
    timeout: float | None = None,
) -> Call[ApiKey]:
    """Get a key with its usage today."""
    return Call(
        method="GET",
        path=path("/api/context/keys/{key_id}", key_id=key_id),
        answer=ApiKey,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def change_key(
    key_id: int,
    *,
    name: str | None = None,
    requests_per_second: float | Unset | None = UNSET,
    burst: int | Unset | None = UNSET,
    requests_per_day: int | Unset | None = UNSET,
    tokens_per_day: int | Unset | None = UNSET,
    timeout: float | None = None,
) -> Call[ApiKey]:
    """Change a key's name or limits. Its access, agent, missions and users never change."""
    return Call(
        method="PATCH",
        path=path("/api/context/keys/{key_id}", key_id=key_id),
        answer=ApiKey,
        seconds=5.0,
        repeatable=True,
        body=fields(name=name)
        | nullable(
            requests_per_second=requests_per_second,
            burst=burst,
            requests_per_day=requests_per_day,
            tokens_per_day=tokens_per_day,
        ),
        timeout=timeout,
    )


def revoke_key(
    key_id: int,
    *,
    timeout: float | None = None,
) -> Call[ApiKey]:
    """Revoke a key. This replica refuses it at once, and every other within two seconds."""
    return Call(
        method="DELETE",
        path=path("/api/context/keys/{key_id}", key_id=key_id),
        answer=ApiKey,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def rotate_key(
    key_id: int,
    *,
    overlap_seconds: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[MadeKey]:
    """Make a new secret for a key. The current secret stays valid for the overlap, and an older one ends
    now.
    """
    return Call(
        method="POST",
        path=path("/api/context/keys/{key_id}/rotate", key_id=key_id),
        answer=MadeKey,
        seconds=5.0,
        repeatable=True,
        body=fields(overlap_seconds=overlap_seconds),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def purge(
    *,
    scope: str | None = None,
    mission_id: str | None = None,
    agent_name: str | None = None,
    user_id: str | None = None,
    timeout: float | None = None,
) -> Call[Receipt]:
    """Erase a scope, or everything of an agent, a user or a mission, from every table of every service.
    The receipt counts the erased rows of each table.
    """
    return Call(
        method="POST",
        path="/api/context/purge",
        answer=Receipt,
        seconds=5.0,
        repeatable=False,
        body=fields(scope=scope, mission_id=mission_id, agent_name=agent_name, user_id=user_id),
        timeout=timeout,
    )
