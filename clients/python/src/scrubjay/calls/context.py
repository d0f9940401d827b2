"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, nullable, path
from scrubjay._data import UNSET, Unset
from scrubjay.models import (
    Allowance,
    ApiKey,
    ApiKeys,
    AssembleContextInput,
    Assembly,
    Audit,
    AuditRow,
    BlockInput,
    CallerBudget,
    CallerBudgets,
    Callers,
    Ceilings,
    CeilingState,
    Changes,
    CostGroup,
    CostRow,
    CostRows,
    Costs,
    DecisionTaken,
    Evaluated,
    Explained,
    FeedbackTaken,
    Given,
    GivenTo,
    Language,
    LogEntries,
    LogEntry,
    MadeKey,
    Me,
    Message,
    Monitored,
    MonitoredAgent,
    Profile,
    Profiles,
    Prompt,
    Receipt,
    RecordedCost,
    RememberResult,
    Replay,
    ReviewItem,
    ReviewQueue,
    ReviewRule,
    ReviewRules,
    Savings,
    SecretPolicy,
    SourceInput,
    SourceItem,
    SourceWeight,
    SourceWeights,
    TenantBacklog,
    TenantLanguage,
    UsedItem,
    WeightChange,
    WeightHistory,
)


def assemble(
    query: str,
    *,
    language: Language | None = None,
    caller: str | None = None,
    mission_namespace: str | None = None,
    token_budget: int | None = None,
    scopes: Sequence[str] | None = None,
    session_id: str | None = None,
    whole_objects: bool | None = None,
    user_id: str | None = None,
    dispatch_id: int | str | None = None,
    explicit_links: Sequence[str] | None = None,
    as_of: datetime | None = None,
    fill: bool | None = None,
    background: bool | None = None,
    neighbours: bool | None = None,
    style: Literal["factual", "narrative", "structured"] | None = None,
    delta: bool | None = None,
    since: int | None = None,
    log: bool | None = None,
    debug: bool | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[Assembly]:
    """Assemble the context that matters now, from every store, within a token budget and with each item's
    score.

    Args:
        query: What the agent is about to do, or wants to know.
        language: The language of the query, as ISO 639-1 names it. When left out, it is detected.
        caller: The agent that asks. Its own memories count more than those of its peers. Required
            unless the key is bound to one.
        mission_namespace: The mission that the agent works in.
        token_budget: The most tokens of the block, by default the caller's budget.
        scopes: Further scopes to search: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`.
        session_id: The session of the request. Of what its context holds, that which it no longer shows
            whole is searched, too.
        whole_objects: Also search what the session shows whole. Default: `false`.
        user_id: The user that the context is for. It excludes everything about other users.
        dispatch_id: The dispatch that the context is for.
        explicit_links: Files of the tenant's vault to include, whatever the query.
        as_of: Only items recorded by then, with ages counted from it. Items deleted since stay deleted.
        fill: Fill the budget with whatever is relevant at all, instead of only with what is near the
            best. Default: `false`.
        background: After what is relevant, show what else the caller remembers, where that is little
            and all of it fits. Left out, the profiles of the caller and the user decide.
        neighbours: Also search the missions and projects to which those of the request refer. What is
            found there counts half. Default: `true`.
        style: How the block says it: `structured` shows each item. `narrative` tells it in connected
            sentences, and `factual` lists facts, as the helper model writes them from these items, with
            their handles. That may take 15 s. Where it cannot be had, the block is structured, and
            `degraded` says why. Default: `"structured"`.
        delta: True: only what the session was not given yet, and corrections of what it was, each told
            once. False: the session begins anew, as after a compaction of its host. Left out, what the
            session was given plays no part. Needs `session_id`. A session is that of the key and the
            caller.
        since: The position of the last answer with `delta` that arrived. What was told after it comes
            again.
        log: False: the assembly is not logged, and its `assembly_id` is 0. Default: `true`.
        debug: Include the scores of each search arm for every candidate. Needs admin access. Default:
            `false`.
        agent: Short for `caller`, in requests.
        mission: Short for `mission_namespace`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/context/assemble",
        answer=Assembly,
        seconds=15.0,
        repeatable=True,
        body=fields(
            query=query,
            language=language,
            caller=caller,
            mission_namespace=mission_namespace,
            token_budget=token_budget,
            scopes=scopes,
            session_id=session_id,
            whole_objects=whole_objects,
            user_id=user_id,
            dispatch_id=dispatch_id,
            explicit_links=explicit_links,
            as_of=as_of,
            fill=fill,
            background=background,
            neighbours=neighbours,
            style=style,
            delta=delta,
            since=since,
            log=log,
            debug=debug,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "caller", "mission": "mission_namespace"},
        timeout=timeout,
    )


def changes(
    *,
    session_id: str,
    caller: str | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[Changes]:
    """Tell what has changed of that which a session was given, without counting it as told. A session is
    that of the key and the caller. Of each store, the 5,000 parts of items that the session was given
    last are compared. The next answer with `delta` tells the same, and what items say now. When
    somebody edits, supersedes or deletes an item, the timeline tells its sessions as `context_stale`.

    Args:
        session_id: The `session_id` of its assemblies.
        caller: The agent that asked. Required unless the key is bound to one.
        agent: Short for `caller`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/changes",
        answer=Changes,
        seconds=2.0,
        repeatable=True,
        query={"session_id": session_id, "caller": caller, "agent": agent},
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

    Args:
        assembly_id: The id that `assemble` answered.
        used_source_ids: The useful sources, each by its handle or by `store` and `id`. An empty list
            says that none was useful.
        tokens_used: How many tokens of the block were useful.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
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


def prompt(
    *,
    blocks: Sequence[BlockInput] | None = None,
    tiers: Mapping[str, Sequence[str]] | None = None,
    tier: str | None = None,
    source: str | None = None,
    sources: Mapping[str, SourceInput] | None = None,
    context: AssembleContextInput | None = None,
    stable_tokens: int | None = None,
    semi_stable_tokens: int | None = None,
    dynamic_tokens: int | None = None,
    format: Literal["anthropic", "neutral", "openai"] | None = None,
    stable_ttl: Literal["1h", "5m"] | None = None,
    timeout: float | None = None,
) -> Call[Prompt]:
    """Build a system prompt in parts that a provider can cache: what is stable first, the assembled
    context last.

    Args:
        blocks: The parts of the prompt, in their order. At most 20 of them are files, and 20 are behind
            handles.
        tiers: Names of tiers, with the names of the stable and semi-stable blocks that each one holds.
            `full` holds all of them unless it is listed here, and any other tier that is not listed
            holds none. Every tier has the dynamic blocks.
        tier: The tier of this message. Left out, its source decides: `operational` for `system`, `full`
            for others.
        source: Where the message is from, such as `user`, `system`, `http` or `telegram`. The dynamic
            part says what kind of session `system` and `http` are.
        sources: What differs for messages of some sources, by the source's name.
        context: What to assemble for the dynamic part, as for `POST /api/context/assemble`.
        stable_tokens: The most tokens of the stable part. Default: `16000`.
        semi_stable_tokens: The most tokens of the semi-stable part. Default: `16000`.
        dynamic_tokens: The most tokens of the dynamic part's blocks. The assembled context has a budget
            of its own. Default: `16000`.
        format: `anthropic` and `openai`: the answer also holds the prompt in the shape that this API
            takes. Default: `"neutral"`.
        stable_ttl: With `anthropic`, how long the stable part is cached. The semi-stable one always is
            for five minutes. Default: `"1h"`.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/context/prompt",
        answer=Prompt,
        seconds=15.0,
        repeatable=True,
        body=fields(
            blocks=blocks,
            tiers=tiers,
            tier=tier,
            source=source,
            sources=sources,
            context=context,
            stable_tokens=stable_tokens,
            semi_stable_tokens=semi_stable_tokens,
            dynamic_tokens=dynamic_tokens,
            format=format,
            stable_ttl=stable_ttl,
        ),
        timeout=timeout,
    )


def remember(
    text: str | None = None,
    *,
    paths: Sequence[str] | None = None,
    symbols: Sequence[str] | None = None,
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None,
    caller: str | None = None,
    messages: Sequence[Message] | None = None,
    user_id: str | None = None,
    mission_namespace: str | None = None,
    session_id: str | None = None,
    seq: int | None = None,
    occurred_at: datetime | None = None,
    speaker: str | None = None,
    language: Language | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    dispatch_id: int | str | None = None,
    ttl_hours: float | None = None,
    recalled_from: int | str | None = None,
    supersedes: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[RememberResult]:
    """Remember a text or the messages of a conversation. Rules choose where each goes, and the answer says
    where. What happened in a mission becomes one of its entries. What reads like a lesson, and
    everything said outside a mission, becomes a memory of the agent. Recalled context, repeats and
    system messages are not kept. With an Idempotency-Key, a retry after a failure stores what is
    missing, and nothing twice.

    Args:
        paths: The files that it is about. A question that names one finds it, by the last two segments
            or more.
        symbols: The names in code that it is about. A question that holds one finds it.
        step: Which kind of step it records. When left out, an entry's text decides.
        caller: The agent that remembers. Required unless the key is bound to one.
        text: One thing to remember.
        messages: A conversation, or a part of it, in order.
        user_id: The user it is about, or who said it. A purge of the user erases it.
        mission_namespace: The mission it happened in. Other agents in the mission see it.
        session_id: The session it was said in.
        seq: The first message's number in the session.
        occurred_at: When it happened. Left out, now.
        speaker: Who said `text`.
        language: The language of what was said. When left out, it is detected.
        source_kind: The kind of source of `text`, `agent` by default. A message's role says it.
        dispatch_id: The dispatch it belongs to.
        ttl_hours: Keep it in the mission for so long. Left out, 30 days (or as the installation says)
            there; an agent keeps what it learned until it is forgotten.
        recalled_from: The assembly that led to it. This counts as weak feedback.
        supersedes: The handle of what no longer holds, such as `cache:12` or `own:3`; `text` goes to
            its store.
        agent: Short for `caller`, in requests.
        mission: Short for `mission_namespace`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/context/remember",
        answer=RememberResult,
        seconds=5.0,
        repeatable=True,
        body=fields(
            paths=paths,
            symbols=symbols,
            step=step,
            caller=caller,
            text=text,
            messages=messages,
            user_id=user_id,
            mission_namespace=mission_namespace,
            session_id=session_id,
            seq=seq,
            occurred_at=occurred_at,
            speaker=speaker,
            language=language,
            source_kind=source_kind,
            dispatch_id=dispatch_id,
            ttl_hours=ttl_hours,
            recalled_from=recalled_from,
            supersedes=supersedes,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "caller", "mission": "mission_namespace"},
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
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> PagedCall[LogEntries, LogEntry]:
    """List assemblies, newest first.

    Args:
        caller: Of this agent only.
        mission_namespace: Of this mission only.
        user_id: Of this user only.
        session_id: The session's name.
        since: Only what was recorded at this time or later. A time without an offset is UTC.
        until: Only what was recorded before this time. A time without an offset is UTC.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        agent: Short for `caller`, in requests.
        mission: Short for `mission_namespace`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
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
            "agent": agent,
            "mission": mission,
        },
        timeout=timeout,
    )


def log_callers(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Callers, str]:
    """List the callers that have assembled, by name.

    Args:
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/log/callers",
        answer=Callers,
        seconds=2.0,
        repeatable=True,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def given(
    *,
    handle: str,
    caller: str | None = None,
    mission_namespace: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> PagedCall[Given, GivenTo]:
    """List the assemblies that gave an item, newest first: who was given it, in which mission, and when.
    `own:…` and `peer:…` are the same item. A page looks at 20,000 assemblies, so it may be short and
    name a next one.

    Args:
        handle: The item, as a block or the queue names it.
        caller: Of this agent only.
        mission_namespace: Of this mission only.
        since: Only what was recorded at this time or later. A time without an offset is UTC.
        until: Only what was recorded before this time. A time without an offset is UTC.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        agent: Short for `caller`, in requests.
        mission: Short for `mission_namespace`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/log/given",
        answer=Given,
        seconds=2.0,
        repeatable=True,
        query={
            "handle": handle,
            "caller": caller,
            "mission_namespace": mission_namespace,
            "since": since,
            "until": until,
            "cursor": cursor,
            "limit": limit,
            "agent": agent,
            "mission": mission,
        },
        timeout=timeout,
    )


def explain(
    assembly_id: int,
    *,
    timeout: float | None = None,
) -> Call[Explained]:
    """Explain an assembly: every candidate, taken or dropped, with its factors and the reason.

    Args:
        assembly_id: The id of an assembly.
        timeout: Seconds for the call with all its tries.
    """
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
    """Pack the same candidates again, with other weights, shares or another budget.

    Args:
        assembly_id: The id of an assembly.
        token_budget: Tokens that the block may have.
        weights: By store.
        token_shares: By store.
        timeout: Seconds for the call with all its tries.
    """
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
    """Read the whole item behind a block's handle. With `assembly_id`, the read counts as weak feedback.

    Args:
        handle: As a block shows it.
        assembly_id: The id of an assembly.
        timeout: Seconds for the call with all its tries.
    """
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
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[CallerBudgets]:
    """List the callers' budgets that differ from the installation's default.

    Args:
        caller: Of this agent only.
        agent: Short for `caller`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/budgets",
        answer=CallerBudgets,
        seconds=2.0,
        repeatable=True,
        query={"caller": caller, "agent": agent},
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
    """Set a caller's default budget, its bounds for learning, and the ceiling for its requests.

    Args:
        caller: The agent that asks.
        default_budget: Tokens of a block, where a request does not say how many.
        min_budget: Learning does not lower the default below it.
        max_budget: Learning does not raise the default above it.
        ceiling: What no request of the caller may exceed.
        manual: False lets learning continue from this value. Default: `true`.
        timeout: Seconds for the call with all its tries.
    """
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
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[None]:
    """Return a caller's budget to the installation's default.

    Args:
        caller: Of this agent only.
        agent: Short for `caller`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path="/api/context/budgets",
        answer=None,
        seconds=5.0,
        repeatable=False,
        query={"caller": caller, "agent": agent},
        timeout=timeout,
    )


def evaluate(
    *,
    timeout: float | None = None,
) -> Call[Evaluated]:
    """Learn from new feedback. Two concurrent calls process it once.

    Args:
        timeout: Seconds for the call with all its tries.
    """
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
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[SourceWeights]:
    """List the weights that differ from the start values, learned or set by an operator.

    Args:
        caller: Of this agent only.
        agent: Short for `caller`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/weights",
        answer=SourceWeights,
        seconds=2.0,
        repeatable=True,
        query={"caller": caller, "agent": agent},
        timeout=timeout,
    )


def set_weight(
    *,
    caller: str,
    source: Literal[
        "agent_memory_own",
        "agent_memory_peer",
        "memory",
        "persistent_objects",
        "psychic_cache",
        "session_objects",
        "vault_index",
    ],
    weight: float,
    token_share: float | None = None,
    manual: bool | None = None,
    timeout: float | None = None,
) -> Call[SourceWeight]:
    """Set a source's weight for a caller, or for all callers with `*`.

    Args:
        caller: `*`: every caller without a row of its own.
        source: The store, as weights name it.
        weight: How much the store counts for the caller. A factor of the score.
        token_share: The source's share of the budget. Left out, it stays.
        manual: False lets learning continue from this value. Default: `true`.
        timeout: Seconds for the call with all its tries.
    """
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
    source: Literal[
        "agent_memory_own",
        "agent_memory_peer",
        "memory",
        "persistent_objects",
        "psychic_cache",
        "session_objects",
        "vault_index",
    ],
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[None]:
    """Return a source's weight to the tenant's `*` row, or else to the start value.

    Args:
        caller: Of this agent only.
        source: The store.
        agent: Short for `caller`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path="/api/context/weights",
        answer=None,
        seconds=5.0,
        repeatable=False,
        query={"caller": caller, "source": source, "agent": agent},
        timeout=timeout,
    )


def weight_history(
    *,
    caller: str | None = None,
    since: datetime | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> PagedCall[WeightHistory, WeightChange]:
    """List the changes that evaluations and operators made, newest first.

    Args:
        caller: Of this agent only.
        since: Only what was recorded at this time or later. A time without an offset is UTC.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        agent: Short for `caller`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/weights/history",
        answer=WeightHistory,
        seconds=2.0,
        repeatable=True,
        query={"caller": caller, "since": since, "cursor": cursor, "limit": limit, "agent": agent},
        timeout=timeout,
    )


def record_cost(
    *,
    model: str,
    kind: str | None = None,
    outcome: Literal["abandoned", "failed", "ok"] | None = None,
    agent_name: str | None = None,
    mission_id: str | None = None,
    session_id: str | None = None,
    input_tokens: int | None = None,
    output_tokens: int | None = None,
    cache_read_tokens: int | None = None,
    cache_write_tokens: int | None = None,
    cost_usd: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[RecordedCost]:
    """Record what one call of a model took. Its cost follows from the table of prices, unless the request
    names one. A call that was made is recorded beyond a ceiling, too. Ask
    `/api/context/costs/allowance` before the next one.

    Args:
        model: As the provider names it. A model without a price is counted in tokens alone.
        kind: What the call was for. Default: `"call"`.
        outcome: `abandoned`: the caller gave up on it, and the provider may count it. `failed`: the
            provider refused it. Default: `"ok"`.
        agent_name: The agent that made it.
        mission_id: The mission that it was for.
        session_id: The session, as the caller names it.
        input_tokens: What the provider read afresh: neither from its cache nor into it. Default: `0`.
        output_tokens: What the model wrote. Default: `0`.
        cache_read_tokens: What came from the provider's cache. Default: `0`.
        cache_write_tokens: What went into the provider's cache. Default: `0`.
        cost_usd: What it cost, where the caller knows better than the table of prices.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/context/costs",
        answer=RecordedCost,
        seconds=5.0,
        repeatable=True,
        body=fields(
            model=model,
            kind=kind,
            outcome=outcome,
            agent_name=agent_name,
            mission_id=mission_id,
            session_id=session_id,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cache_read_tokens=cache_read_tokens,
            cache_write_tokens=cache_write_tokens,
            cost_usd=cost_usd,
            agent=agent,
            mission=mission,
        ),
        own={"agent": "agent_name", "mission": "mission_id"},
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def costs(
    *,
    by: Literal["agent", "day", "key", "kind", "mission", "model", "service", "session"] | None = None,
    agent: str | None = None,
    mission: str | None = None,
    session: str | None = None,
    model: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Costs, CostGroup]:
    """Read what calls of models cost: today, in the last seven days and in all, by agent, mission, session
    or model. It counts callers' own calls, and those of the embedder, the helper model and the reranker
    that they led to.

    Args:
        by: Groups the costs, too; days are UTC, the earliest first.
        agent: Only this agent's calls.
        mission: Only this mission's calls.
        session: Only this session's calls.
        model: Only calls of this model, as rows name it.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/costs",
        answer=Costs,
        seconds=2.0,
        repeatable=True,
        query={
            "by": by,
            "agent": agent,
            "mission": mission,
            "session": session,
            "model": model,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def allowance(
    *,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[Allowance]:
    """Ask whether another paid call may be made. At a ceiling the answer is 429, and `limit` names it.
    What is spent is known once a call is recorded: a ceiling is exceeded by no more than the calls
    under way.

    Args:
        agent: The agent that would make the call.
        mission: The mission that the call would be for.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/costs/allowance",
        answer=Allowance,
        seconds=2.0,
        repeatable=True,
        query={"agent": agent, "mission": mission},
        timeout=timeout,
    )


def cost_calls(
    *,
    agent: str | None = None,
    mission: str | None = None,
    session: str | None = None,
    model: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[CostRows, CostRow]:
    """List calls of models with their tokens and costs, the newest first.

    Args:
        agent: Only this agent's calls.
        mission: Only this mission's calls.
        session: Only this session's calls.
        model: Only calls of this model, as rows name it.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/costs/calls",
        answer=CostRows,
        seconds=2.0,
        repeatable=True,
        query={
            "agent": agent,
            "mission": mission,
            "session": session,
            "model": model,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def ceilings(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Ceilings, CeilingState]:
    """List the tenant's ceilings with what is spent of each.

    Args:
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/costs/ceilings",
        answer=Ceilings,
        seconds=5.0,
        repeatable=False,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def set_ceiling(
    *,
    limit_usd: str,
    key_id: int | str | None = None,
    mission_id: str | None = None,
    period: Literal["all", "day", "month"] | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[CeilingState]:
    """Set how much the calls of a key, of a mission or of the whole tenant may cost in a day, a month or
    in all. Beyond it, the embedder and the helper model are not called: answers name them as degraded,
    and writes go on.

    Args:
        key_id: The key, with all keys that it made.
        mission_id: The mission. With neither, the ceiling is the whole tenant's.
        period: Over what time, in UTC. Default: `"day"`.
        limit_usd: Once so much is spent, no further call is made. 0 allows none.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/context/costs/ceilings",
        answer=CeilingState,
        seconds=5.0,
        repeatable=True,
        body=fields(
            key_id=key_id, mission_id=mission_id, period=period, limit_usd=limit_usd, mission=mission
        ),
        timeout=timeout,
    )


def reset_ceiling(
    *,
    key_id: int | None = None,
    mission: str | None = None,
    period: Literal["all", "day", "month"] | None = None,
    timeout: float | None = None,
) -> Call[None]:
    """Remove the ceiling of a key, of a mission, or of the tenant where neither is named.

    Args:
        key_id: The key that the ceiling is for.
        mission: The mission that the ceiling is for.
        period: The period of the ceiling.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path="/api/context/costs/ceilings",
        answer=None,
        seconds=5.0,
        repeatable=False,
        query={"key_id": key_id, "mission": mission, "period": period},
        timeout=timeout,
    )


def savings(
    *,
    agent: str | None = None,
    mission: str | None = None,
    model: str | None = None,
    days: int | None = None,
    timeout: float | None = None,
) -> Call[Savings]:
    """Compare sessions that the gateway paged with the random share that it did not, and say how sure that
    is. A session counts as a whole, by what the provider billed for its requests.

    Args:
        agent: Only this agent's calls.
        mission: Only this mission's calls.
        model: Only calls of this model, as rows name it.
        days: Sessions with a request in so many days, in UTC.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/costs/savings",
        answer=Savings,
        seconds=2.0,
        repeatable=True,
        query={"agent": agent, "mission": mission, "model": model, "days": days},
        timeout=timeout,
    )


def profiles(
    *,
    agent_name: str | None = None,
    user_id: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> PagedCall[Profiles, Profile]:
    """List the profiles that the key may read, or that of an agent or a user.

    Args:
        agent_name: Of this agent only.
        user_id: Of this user only.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/profiles",
        answer=Profiles,
        seconds=2.0,
        repeatable=True,
        query={
            "agent_name": agent_name,
            "user_id": user_id,
            "cursor": cursor,
            "limit": limit,
            "agent": agent,
        },
        timeout=timeout,
    )


def set_profile(
    text: str,
    *,
    agent_name: str | None = None,
    user_id: str | None = None,
    background: bool | None = None,
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[Profile]:
    """Set what every block for an agent or a user says first. A key bound to the subject sets its own, an
    admin any.

    Args:
        agent_name: The agent that it describes.
        user_id: The user that it describes. A purge of the user erases it.
        text: What every block for the subject says first, within 15 % of its budget.
        background: Blocks for the subject also show its background, as far as a request does not say
            otherwise. Default: `false`.
        source_kind: The kind of source it is from. For a key that is bound to an agent, `user` is only
            a claim of the agent. Default: `"agent"`.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/context/profiles",
        answer=Profile,
        seconds=5.0,
        repeatable=True,
        body=fields(
            agent_name=agent_name,
            user_id=user_id,
            text=text,
            background=background,
            source_kind=source_kind,
            agent=agent,
        ),
        timeout=timeout,
    )


def delete_profile(
    *,
    agent_name: str | None = None,
    user_id: str | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[None]:
    """Delete the profile of an agent or a user.

    Args:
        agent_name: Of this agent only.
        user_id: Of this user only.
        agent: Short for `agent_name`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path="/api/context/profiles",
        answer=None,
        seconds=5.0,
        repeatable=False,
        query={"agent_name": agent_name, "user_id": user_id, "agent": agent},
        timeout=timeout,
    )


def monitor(
    *,
    mission: str | None = None,
    minutes: int | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Monitored, MonitoredAgent]:
    """Show what each agent is doing now: its last event, its open dispatches, and its recent events by
    kind. With `Accept: text/event-stream`, a stream of agents: as many as `limit`, each as it is now,
    and again whenever it has changed, at most once a second. It never ends by itself, and says
    something at least every 15 s. A key and a tenant may open a limited number of streams.

    Args:
        mission: Only agents in this mission.
        minutes: How many minutes to look back.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
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
    the key that makes it: access, agent, missions, users, limits and time. What it uses counts for the
    key that made it, too. An admin token of the environment makes keys of other tenants: name the
    `tenant`.

    Args:
        name: Its name, which need not be unique.
        access: `write` includes read, `admin` includes both. Default: `"write"`.
        tenant: Another tenant than the caller's own: for an admin token of the environment only.
        agent: The only agent that the key may write and call as.
        missions: The missions that it may touch; null: all.
        users: The users whom it may touch; null: all.
        expires_at: When it ends; else when the key that makes it does, or after the installation's
            default time.
        requests_per_second: How many requests the key may send in a second.
        burst: Requests at once, by default one second's worth.
        requests_per_day: How many requests the key may send in a day of UTC.
        tokens_per_day: Tokens of the bodies that it writes, estimated as characters / 4. Days are UTC.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
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
) -> PagedCall[ApiKeys, ApiKey]:
    """List the tenant's keys with their usage today, including revoked ones, but never a secret.

    Args:
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
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
    """Get a key with its usage today.

    Args:
        key_id: The id of a key, not its secret.
        timeout: Seconds for the call with all its tries.
    """
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
    """Change a key's name or limits. Its access, agent, missions and users never change.

    Args:
        key_id: The id of a key, not its secret.
        name: Its name, which need not be unique.
        requests_per_second: How many requests the key may send in a second.
        burst: How many requests may arrive at once.
        requests_per_day: How many requests the key may send in a day of UTC.
        tokens_per_day: How many tokens the key may write in a day of UTC.
        timeout: Seconds for the call with all its tries.
    """
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
    """Revoke a key, with every key that it made and that those made. This replica refuses them at once,
    and every other within two seconds.

    Args:
        key_id: The id of a key, not its secret.
        timeout: Seconds for the call with all its tries.
    """
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

    Args:
        key_id: The id of a key, not its secret.
        overlap_seconds: How long the current secret stays valid beside the new one. Default: `3600`.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
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


def me(
    *,
    timeout: float | None = None,
) -> Call[Me]:
    """Tell what the key of this request may do, and for which agent, missions and users.

    Args:
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET", path="/api/context/me", answer=Me, seconds=2.0, repeatable=True, timeout=timeout
    )


def audit(
    *,
    action: Literal[
        "budget_reset",
        "budget_set",
        "ceiling_reset",
        "ceiling_set",
        "clear",
        "evaluate",
        "export",
        "forget",
        "import",
        "key_change",
        "key_make",
        "key_revoke",
        "key_rotate",
        "language_set",
        "limits_set",
        "profile_delete",
        "profile_set",
        "purge",
        "purge_begin",
        "review_decide",
        "review_rule_reset",
        "review_rule_set",
        "secret_policy_set",
        "webhook_change",
        "webhook_delete",
        "webhook_make",
        "webhook_redeliver",
        "webhook_rotate",
        "webhook_test",
        "weight_reset",
        "weight_set",
    ]
    | None = None,
    actor: str | None = None,
    target: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    tenant: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Audit, AuditRow]:
    """List what admins did, newest first: who, what, when, and the settings before and after. For keys
    without bounds. Nobody can change or remove a row, and only a purge takes names out.

    Args:
        action: Only actions of this kind.
        actor: Only what this key did, as `key:12`.
        target: Only what was done to this: a scope, `key:12` or `tenant`.
        since: Only what was recorded at this time or later. A time without an offset is UTC.
        until: Only what was recorded before this time. A time without an offset is UTC.
        tenant: Another tenant than the caller's own: for an admin token of the environment only.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/audit",
        answer=Audit,
        seconds=5.0,
        repeatable=False,
        query={
            "action": action,
            "actor": actor,
            "target": target,
            "since": since,
            "until": until,
            "tenant": tenant,
            "cursor": cursor,
            "limit": limit,
        },
        timeout=timeout,
    )


def backlog(
    *,
    timeout: float | None = None,
) -> Call[TenantBacklog]:
    """Tell what of the tenant waits for its vectors, by store, and until when. What waits is found by its
    words already. A key that is bound to an agent, missions or users is refused.

    Args:
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/backlog",
        answer=TenantBacklog,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def secret_policy(
    *,
    timeout: float | None = None,
) -> Call[SecretPolicy]:
    """What becomes of secrets in what the tenant's callers send, such as provider keys and passwords in
    addresses.

    Args:
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/secrets",
        answer=SecretPolicy,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def set_secret_policy(
    *,
    policy: Literal["allow", "mask", "refuse"] | None = None,
    timeout: float | None = None,
) -> Call[SecretPolicy]:
    """Set what becomes of secrets from now on: `mask`, `refuse` or `allow`. It holds for the whole tenant.
    What is stored already stays as it is.

    Args:
        policy: What becomes of secrets. Without one, the installation's default holds again.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/context/secrets",
        answer=SecretPolicy,
        seconds=5.0,
        repeatable=True,
        body=fields(policy=policy),
        timeout=timeout,
    )


def language(
    *,
    timeout: float | None = None,
) -> Call[TenantLanguage]:
    """The language of the tenant's texts and questions, where neither they nor their writer tells it.

    Args:
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path="/api/context/language",
        answer=TenantLanguage,
        seconds=2.0,
        repeatable=True,
        timeout=timeout,
    )


def set_language(
    *,
    language: Language | None = None,
    timeout: float | None = None,
) -> Call[TenantLanguage]:
    """Set the language of texts and questions that are too short to tell it, from now on and for the whole
    tenant. A `language` in a request wins over it, and so does a text that is clearly in another
    language.

    Args:
        language: The language of the tenant's texts. Without one, nothing is taken for granted again.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/context/language",
        answer=TenantLanguage,
        seconds=5.0,
        repeatable=True,
        body=fields(language=language),
        timeout=timeout,
    )


def review(
    *,
    kind: Literal["derived", "disputed", "low_trust", "near_duplicate", "waiting"] | None = None,
    mission: str | None = None,
    agent: str | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[ReviewQueue, ReviewItem]:
    """List what a reviewer should look at: writes that wait, near duplicates, disputes, low trust, what
    was derived. A write that waits is shown to admin keys within their bounds, and to the key of the
    agent that wrote it.

    Args:
        kind: Only what stands there for this reason.
        mission: Only what is of this mission.
        agent: Only what this agent wrote.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/review",
        answer=ReviewQueue,
        seconds=2.0,
        repeatable=True,
        query={"kind": kind, "mission": mission, "agent": agent, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def review_decide(
    *,
    handle: str,
    decision: Literal["approve", "edit", "forget", "merge"],
    into: str | None = None,
    content: str | None = None,
    timeout: float | None = None,
) -> Call[DecisionTaken]:
    """Approve, merge, edit or forget an item of the queue. Deciding the same again answers the same.
    Another decision about what was decided already is 409. A key that is bound to an agent decides
    nothing.

    Args:
        handle: The item, by the queue's `handle`.
        decision: `approve` shows a write that waits, and takes a stored item off the queue. `edit` does
            so with another text. `merge` leaves only the other item, which counts as confirmed.
            `forget` erases it.
        into: The stored item to merge into.
        content: The new text of an edit.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/context/review/decide",
        answer=DecisionTaken,
        seconds=5.0,
        repeatable=False,
        body=fields(handle=handle, decision=decision, into=into, content=content),
        timeout=timeout,
    )


def review_rules(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[ReviewRules, ReviewRule]:
    """List the missions and agents whose writes wait for a reviewer.

    Args:
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/context/review/rules",
        answer=ReviewRules,
        seconds=5.0,
        repeatable=False,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def set_review_rule(
    *,
    mission_id: str | None = None,
    agent_name: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[ReviewRule]:
    """Let the writes of a mission or of an agent wait for a reviewer, from now on. They are acknowledged
    and kept, but no search, list or block shows them before they are approved.

    Args:
        mission_id: The mission whose writes are to wait.
        agent_name: The agent whose writes are to wait.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PUT",
        path="/api/context/review/rules",
        answer=ReviewRule,
        seconds=5.0,
        repeatable=True,
        body=fields(mission_id=mission_id, agent_name=agent_name, agent=agent, mission=mission),
        timeout=timeout,
    )


def reset_review_rule(
    *,
    mission: str | None = None,
    agent: str | None = None,
    timeout: float | None = None,
) -> Call[None]:
    """Let the writes of a mission or of an agent no longer wait. What waits already goes on waiting.

    Args:
        mission: The mission that the rule is for.
        agent: The agent that the rule is for.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path="/api/context/review/rules",
        answer=None,
        seconds=5.0,
        repeatable=False,
        query={"mission": mission, "agent": agent},
        timeout=timeout,
    )


def purge(
    *,
    scope: str | None = None,
    mission_id: str | None = None,
    agent_name: str | None = None,
    user_id: str | None = None,
    tenant: str | None = None,
    confirm: str | None = None,
    agent: str | None = None,
    mission: str | None = None,
    timeout: float | None = None,
) -> Call[Receipt]:
    """Erase a scope, or everything of an agent, a user, a mission or the tenant, from every table of every
    service. The keys that are bound to it alone are revoked. The receipt counts the erased rows of each
    table. The purge of a tenant needs a key without bounds, and goes on by itself if it is interrupted.

    Args:
        scope: Everything stored in `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`; or
            `tenant`: everything.
        mission_id: The same as the scope `mission:…`.
        agent_name: The scope `agent:…`, what the agent wrote into missions, and what was learned about
            it.
        user_id: The same as the scope `user:…`: all about the user, and every assembly for the user or
            with any of this.
        tenant: With the scope `tenant`: another than the caller's own, for an admin token of the
            environment only.
        confirm: With the scope `tenant`, the tenant's name. It cannot be undone.
        agent: Short for `agent_name`, in requests.
        mission: Short for `mission_id`, in requests.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/context/purge",
        answer=Receipt,
        seconds=60.0,
        repeatable=False,
        body=fields(
            scope=scope,
            mission_id=mission_id,
            agent_name=agent_name,
            user_id=user_id,
            tenant=tenant,
            confirm=confirm,
            agent=agent,
            mission=mission,
        ),
        timeout=timeout,
    )
