"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from typing import TypeVar

from scrubjay._call import Call
from scrubjay._methods import AsyncGroup, AsyncListing, AsyncMethod
from scrubjay.calls import (
    agent_memory,
    cache,
    checkpoints,
    context,
    dispatch,
    kg,
    memory,
    persistent_objects,
    sessions,
    timeline,
    vault,
    webhooks,
)

T = TypeVar("T")


class AsyncCache(AsyncGroup):
    entry = AsyncMethod(cache.entry)
    edit_tags = AsyncMethod(cache.edit_tags)
    delete_entry = AsyncMethod(cache.delete_entry)
    missions = AsyncListing(cache.missions)
    checkpoint = AsyncMethod(cache.checkpoint)
    query = AsyncMethod(cache.query)
    write = AsyncMethod(cache.write)
    write_batch = AsyncMethod(cache.write_batch)
    clear = AsyncMethod(cache.clear)
    entries = AsyncListing(cache.entries)
    language = AsyncMethod(cache.language)
    set_language = AsyncMethod(cache.set_language)
    limits = AsyncMethod(cache.limits)
    set_limits = AsyncMethod(cache.set_limits)
    stats = AsyncMethod(cache.stats)


class AsyncAgentMemory(AsyncGroup):
    batch = AsyncMethod(agent_memory.batch)
    commit = AsyncMethod(agent_memory.commit)
    export = AsyncMethod(agent_memory.export)
    import_ = AsyncMethod(agent_memory.import_)
    list = AsyncListing(agent_memory.list_)
    peer_query = AsyncMethod(agent_memory.peer_query)
    pending_review = AsyncMethod(agent_memory.pending_review)
    query = AsyncMethod(agent_memory.query)
    get = AsyncMethod(agent_memory.get)
    edit = AsyncMethod(agent_memory.edit)
    delete = AsyncMethod(agent_memory.delete)
    forget = AsyncMethod(agent_memory.forget)


class AsyncVault(AsyncGroup):
    put = AsyncMethod(vault.put)
    list = AsyncListing(vault.list_)
    remove = AsyncMethod(vault.remove)
    part = AsyncMethod(vault.part)
    index = AsyncMethod(vault.index)
    read = AsyncMethod(vault.read)
    search = AsyncMethod(vault.search)


class AsyncMemory(AsyncGroup):
    write = AsyncMethod(memory.write)
    list = AsyncListing(memory.list_)
    write_batch = AsyncMethod(memory.write_batch)
    due = AsyncListing(memory.due)
    search = AsyncMethod(memory.search)
    get = AsyncMethod(memory.get)
    edit = AsyncMethod(memory.edit)
    delete = AsyncMethod(memory.delete)
    consolidate = AsyncMethod(memory.consolidate)
    consolidations = AsyncListing(memory.consolidations)
    consolidation = AsyncMethod(memory.consolidation)
    consolidation_changes = AsyncListing(memory.consolidation_changes)
    undo_consolidation = AsyncMethod(memory.undo_consolidation)


class AsyncKg(AsyncGroup):
    add = AsyncMethod(kg.add)
    add_alias = AsyncMethod(kg.add_alias)
    aliases = AsyncListing(kg.aliases)
    remove_alias = AsyncMethod(kg.remove_alias)
    batch = AsyncMethod(kg.batch)
    invalidate = AsyncMethod(kg.invalidate)
    neighbours = AsyncMethod(kg.neighbours)
    predicates = AsyncListing(kg.predicates)
    query = AsyncListing(kg.query)
    stats = AsyncMethod(kg.stats)
    timeline = AsyncListing(kg.timeline)
    write = AsyncMethod(kg.write)
    get = AsyncMethod(kg.get)


class AsyncDispatch(AsyncGroup):
    list = AsyncListing(dispatch.list_)
    report = AsyncMethod(dispatch.report)
    get = AsyncMethod(dispatch.get)
    complete = AsyncMethod(dispatch.complete)
    progress = AsyncMethod(dispatch.progress)


class AsyncPersistentObjects(AsyncGroup):
    list = AsyncListing(persistent_objects.list_)
    get = AsyncMethod(persistent_objects.get)
    forget = AsyncMethod(persistent_objects.forget)
    reinforce = AsyncMethod(persistent_objects.reinforce)


class AsyncSessions(AsyncGroup):
    session_create = AsyncMethod(sessions.session_create)
    session_list = AsyncListing(sessions.session_list)
    session_numbered_object = AsyncMethod(sessions.session_numbered_object)
    session_reset = AsyncMethod(sessions.session_reset)
    session_get = AsyncMethod(sessions.session_get)
    session_delete = AsyncMethod(sessions.session_delete)
    session_admissions = AsyncListing(sessions.session_admissions)
    session_compact = AsyncMethod(sessions.session_compact)
    session_complete = AsyncMethod(sessions.session_complete)
    session_context = AsyncMethod(sessions.session_context)
    session_conversation = AsyncMethod(sessions.session_conversation)
    session_append = AsyncMethod(sessions.session_append)
    session_faults = AsyncListing(sessions.session_faults)
    session_goal = AsyncMethod(sessions.session_goal)
    session_history = AsyncListing(sessions.session_history)
    session_admit = AsyncMethod(sessions.session_admit)
    session_objects = AsyncListing(sessions.session_objects)
    session_object = AsyncMethod(sessions.session_object)
    session_fault = AsyncMethod(sessions.session_fault)
    session_persist = AsyncMethod(sessions.session_persist)
    session_pin = AsyncMethod(sessions.session_pin)
    session_release = AsyncMethod(sessions.session_release)
    session_unpin = AsyncMethod(sessions.session_unpin)
    session_pressure = AsyncMethod(sessions.session_pressure)
    session_query = AsyncMethod(sessions.session_query)
    session_rebuild = AsyncMethod(sessions.session_rebuild)
    session_relate = AsyncMethod(sessions.session_relate)
    session_relationships = AsyncListing(sessions.session_relationships)
    session_unrelate = AsyncMethod(sessions.session_unrelate)
    session_search = AsyncMethod(sessions.session_search)
    session_transitions = AsyncListing(sessions.session_transitions)
    session_turn = AsyncMethod(sessions.session_turn)


class AsyncCheckpoints(AsyncGroup):
    put = AsyncMethod(checkpoints.put)
    copy = AsyncMethod(checkpoints.copy)
    list = AsyncListing(checkpoints.list_)
    prune = AsyncMethod(checkpoints.prune)
    put_writes = AsyncMethod(checkpoints.put_writes)


class AsyncWebhooks(AsyncGroup):
    make = AsyncMethod(webhooks.make)
    list = AsyncListing(webhooks.list_)
    get = AsyncMethod(webhooks.get)
    change = AsyncMethod(webhooks.change)
    delete = AsyncMethod(webhooks.delete)
    deliveries = AsyncListing(webhooks.deliveries)
    redeliver = AsyncMethod(webhooks.redeliver)
    rotate = AsyncMethod(webhooks.rotate)
    send_test = AsyncMethod(webhooks.send_test)


class AsyncCalls:
    """Every call of the API."""

    def __init__(self) -> None:
        self.cache = AsyncCache(self)
        self.agent_memory = AsyncAgentMemory(self)
        self.vault = AsyncVault(self)
        self.memory = AsyncMemory(self)
        self.kg = AsyncKg(self)
        self.dispatch = AsyncDispatch(self)
        self.persistent_objects = AsyncPersistentObjects(self)
        self.sessions = AsyncSessions(self)
        self.checkpoints = AsyncCheckpoints(self)
        self.webhooks = AsyncWebhooks(self)

    async def send(self, call: Call[T]) -> T:
        raise NotImplementedError

    assemble = AsyncMethod(context.assemble)
    changes = AsyncMethod(context.changes)
    feedback = AsyncMethod(context.feedback)
    prompt = AsyncMethod(context.prompt)
    remember = AsyncMethod(context.remember)
    log = AsyncListing(context.log)
    log_callers = AsyncListing(context.log_callers)
    given = AsyncListing(context.given)
    explain = AsyncMethod(context.explain)
    replay = AsyncMethod(context.replay)
    source = AsyncMethod(context.source)
    budgets = AsyncMethod(context.budgets)
    set_budget = AsyncMethod(context.set_budget)
    reset_budget = AsyncMethod(context.reset_budget)
    evaluate = AsyncMethod(context.evaluate)
    weights = AsyncMethod(context.weights)
    set_weight = AsyncMethod(context.set_weight)
    reset_weight = AsyncMethod(context.reset_weight)
    weight_history = AsyncListing(context.weight_history)
    record_cost = AsyncMethod(context.record_cost)
    costs = AsyncListing(context.costs)
    allowance = AsyncMethod(context.allowance)
    cost_calls = AsyncListing(context.cost_calls)
    ceilings = AsyncListing(context.ceilings)
    set_ceiling = AsyncMethod(context.set_ceiling)
    reset_ceiling = AsyncMethod(context.reset_ceiling)
    savings = AsyncMethod(context.savings)
    profiles = AsyncListing(context.profiles)
    set_profile = AsyncMethod(context.set_profile)
    delete_profile = AsyncMethod(context.delete_profile)
    monitor = AsyncListing(context.monitor)
    make_key = AsyncMethod(context.make_key)
    list_keys = AsyncListing(context.list_keys)
    get_key = AsyncMethod(context.get_key)
    change_key = AsyncMethod(context.change_key)
    revoke_key = AsyncMethod(context.revoke_key)
    rotate_key = AsyncMethod(context.rotate_key)
    me = AsyncMethod(context.me)
    audit = AsyncListing(context.audit)
    backlog = AsyncMethod(context.backlog)
    secret_policy = AsyncMethod(context.secret_policy)
    set_secret_policy = AsyncMethod(context.set_secret_policy)
    language = AsyncMethod(context.language)
    set_language = AsyncMethod(context.set_language)
    review = AsyncListing(context.review)
    review_decide = AsyncMethod(context.review_decide)
    review_rules = AsyncListing(context.review_rules)
    set_review_rule = AsyncMethod(context.set_review_rule)
    reset_review_rule = AsyncMethod(context.reset_review_rule)
    purge = AsyncMethod(context.purge)
    timeline = AsyncListing(timeline.timeline)
