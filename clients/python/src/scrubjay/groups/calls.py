"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from typing import TypeVar

from scrubjay._call import Call
from scrubjay._methods import Group, Listing, Method
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


class Cache(Group):
    entry = Method(cache.entry)
    edit_tags = Method(cache.edit_tags)
    delete_entry = Method(cache.delete_entry)
    missions = Listing(cache.missions)
    checkpoint = Method(cache.checkpoint)
    query = Method(cache.query)
    write = Method(cache.write)
    write_batch = Method(cache.write_batch)
    clear = Method(cache.clear)
    entries = Listing(cache.entries)
    language = Method(cache.language)
    set_language = Method(cache.set_language)
    limits = Method(cache.limits)
    set_limits = Method(cache.set_limits)
    stats = Method(cache.stats)


class AgentMemory(Group):
    batch = Method(agent_memory.batch)
    commit = Method(agent_memory.commit)
    export = Method(agent_memory.export)
    import_ = Method(agent_memory.import_)
    list = Listing(agent_memory.list_)
    peer_query = Method(agent_memory.peer_query)
    pending_review = Method(agent_memory.pending_review)
    query = Method(agent_memory.query)
    get = Method(agent_memory.get)
    edit = Method(agent_memory.edit)
    delete = Method(agent_memory.delete)
    forget = Method(agent_memory.forget)


class Vault(Group):
    put = Method(vault.put)
    list = Listing(vault.list_)
    remove = Method(vault.remove)
    part = Method(vault.part)
    index = Method(vault.index)
    read = Method(vault.read)
    search = Method(vault.search)


class Memory(Group):
    write = Method(memory.write)
    list = Listing(memory.list_)
    write_batch = Method(memory.write_batch)
    due = Listing(memory.due)
    search = Method(memory.search)
    get = Method(memory.get)
    edit = Method(memory.edit)
    delete = Method(memory.delete)
    consolidate = Method(memory.consolidate)
    consolidations = Listing(memory.consolidations)
    consolidation = Method(memory.consolidation)
    consolidation_changes = Listing(memory.consolidation_changes)
    undo_consolidation = Method(memory.undo_consolidation)


class Kg(Group):
    add = Method(kg.add)
    add_alias = Method(kg.add_alias)
    aliases = Listing(kg.aliases)
    remove_alias = Method(kg.remove_alias)
    batch = Method(kg.batch)
    invalidate = Method(kg.invalidate)
    neighbours = Method(kg.neighbours)
    predicates = Listing(kg.predicates)
    query = Listing(kg.query)
    stats = Method(kg.stats)
    timeline = Listing(kg.timeline)
    write = Method(kg.write)
    get = Method(kg.get)


class Dispatch(Group):
    list = Listing(dispatch.list_)
    report = Method(dispatch.report)
    get = Method(dispatch.get)
    complete = Method(dispatch.complete)
    progress = Method(dispatch.progress)


class PersistentObjects(Group):
    list = Listing(persistent_objects.list_)
    get = Method(persistent_objects.get)
    forget = Method(persistent_objects.forget)
    reinforce = Method(persistent_objects.reinforce)


class Sessions(Group):
    session_create = Method(sessions.session_create)
    session_list = Listing(sessions.session_list)
    session_numbered_object = Method(sessions.session_numbered_object)
    session_reset = Method(sessions.session_reset)
    session_get = Method(sessions.session_get)
    session_delete = Method(sessions.session_delete)
    session_admissions = Listing(sessions.session_admissions)
    session_compact = Method(sessions.session_compact)
    session_complete = Method(sessions.session_complete)
    session_context = Method(sessions.session_context)
    session_conversation = Method(sessions.session_conversation)
    session_append = Method(sessions.session_append)
    session_faults = Listing(sessions.session_faults)
    session_goal = Method(sessions.session_goal)
    session_history = Listing(sessions.session_history)
    session_admit = Method(sessions.session_admit)
    session_objects = Listing(sessions.session_objects)
    session_object = Method(sessions.session_object)
    session_fault = Method(sessions.session_fault)
    session_persist = Method(sessions.session_persist)
    session_pin = Method(sessions.session_pin)
    session_release = Method(sessions.session_release)
    session_unpin = Method(sessions.session_unpin)
    session_pressure = Method(sessions.session_pressure)
    session_query = Method(sessions.session_query)
    session_rebuild = Method(sessions.session_rebuild)
    session_relate = Method(sessions.session_relate)
    session_relationships = Listing(sessions.session_relationships)
    session_unrelate = Method(sessions.session_unrelate)
    session_search = Method(sessions.session_search)
    session_transitions = Listing(sessions.session_transitions)
    session_turn = Method(sessions.session_turn)


class Checkpoints(Group):
    put = Method(checkpoints.put)
    copy = Method(checkpoints.copy)
    list = Listing(checkpoints.list_)
    prune = Method(checkpoints.prune)
    put_writes = Method(checkpoints.put_writes)


class Webhooks(Group):
    make = Method(webhooks.make)
    list = Listing(webhooks.list_)
    get = Method(webhooks.get)
    change = Method(webhooks.change)
    delete = Method(webhooks.delete)
    deliveries = Listing(webhooks.deliveries)
    redeliver = Method(webhooks.redeliver)
    rotate = Method(webhooks.rotate)
    send_test = Method(webhooks.send_test)


class Calls:
    """Every call of the API."""

    def __init__(self) -> None:
        self.cache = Cache(self)
        self.agent_memory = AgentMemory(self)
        self.vault = Vault(self)
        self.memory = Memory(self)
        self.kg = Kg(self)
        self.dispatch = Dispatch(self)
        self.persistent_objects = PersistentObjects(self)
        self.sessions = Sessions(self)
        self.checkpoints = Checkpoints(self)
        self.webhooks = Webhooks(self)

    def send(self, call: Call[T]) -> T:
        raise NotImplementedError

    assemble = Method(context.assemble)
    changes = Method(context.changes)
    feedback = Method(context.feedback)
    prompt = Method(context.prompt)
    remember = Method(context.remember)
    log = Listing(context.log)
    log_callers = Listing(context.log_callers)
    given = Listing(context.given)
    explain = Method(context.explain)
    replay = Method(context.replay)
    source = Method(context.source)
    budgets = Method(context.budgets)
    set_budget = Method(context.set_budget)
    reset_budget = Method(context.reset_budget)
    evaluate = Method(context.evaluate)
    weights = Method(context.weights)
    set_weight = Method(context.set_weight)
    reset_weight = Method(context.reset_weight)
    weight_history = Listing(context.weight_history)
    record_cost = Method(context.record_cost)
    costs = Listing(context.costs)
    allowance = Method(context.allowance)
    cost_calls = Listing(context.cost_calls)
    ceilings = Listing(context.ceilings)
    set_ceiling = Method(context.set_ceiling)
    reset_ceiling = Method(context.reset_ceiling)
    savings = Method(context.savings)
    profiles = Listing(context.profiles)
    set_profile = Method(context.set_profile)
    delete_profile = Method(context.delete_profile)
    monitor = Listing(context.monitor)
    make_key = Method(context.make_key)
    list_keys = Listing(context.list_keys)
    get_key = Method(context.get_key)
    change_key = Method(context.change_key)
    revoke_key = Method(context.revoke_key)
    rotate_key = Method(context.rotate_key)
    me = Method(context.me)
    audit = Listing(context.audit)
    backlog = Method(context.backlog)
    secret_policy = Method(context.secret_policy)
    set_secret_policy = Method(context.set_secret_policy)
    language = Method(context.language)
    set_language = Method(context.set_language)
    review = Listing(context.review)
    review_decide = Method(context.review_decide)
    review_rules = Listing(context.review_rules)
    set_review_rule = Method(context.set_review_rule)
    reset_review_rule = Method(context.reset_review_rule)
    purge = Method(context.purge)
    timeline = Listing(timeline.timeline)
