// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { AddFactInput, Alias, Aliases, Fact, FactStats, Facts, InvalidatedFacts, Neighbours, PredicateCount, Predicates, RemovedAlias, WrittenAlias, WrittenFact, WrittenFacts } from "../models.js";

/** What `add` takes. */
export interface KgAddArgs {
  /**
   * Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default its mission, or else
   * its agent, or else `shared`.
   */
  scope?: string | null;
  /** The mission whose scope it gets if `scope` is left out. */
  mission_namespace?: string | null;
  /** The agent that states it. */
  agent_name?: string | null;
  /** The user it is about. A purge of the user erases it. */
  user_id?: string | null;
  /** What it is about. */
  subject: string;
  /** The attribute or the relation, such as `lives in`. */
  predicate: string;
  /** The value, or the name of another entity. */
  object: string;
  /** How certain it is. Default: `1.0`. */
  confidence?: number;
  /** Since when it holds, by default now. A time without an offset is UTC. */
  valid_from?: string | null;
  /** When it ceased to hold, exclusive. By default it still holds. */
  valid_to?: string | null;
  /**
   * The kind of source it is from. Only users and agents close what users and agents stated, and the key of an
   * agent closes only what this agent stated. Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. */
  recalled_from?: number | string | null;
  /** The dispatch it was learned in. */
  dispatch_id?: number | string | null;
  /** The predicate has one value at a time: the subject's other open values of it are closed. Default: `false`. */
  single?: boolean;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const ADD: Operation = {
  method: "POST",
  path: "/api/kg/add",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_namespace"},
  keyed: true,
};

/** What `addAlias` takes. */
export interface KgAddAliasArgs {
  /**
   * Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default its mission, or else
   * its agent, or else `shared`.
   */
  scope?: string | null;
  /** The mission whose scope it gets if `scope` is left out. */
  mission_namespace?: string | null;
  /** The agent that states it. */
  agent_name?: string | null;
  /** The other name. */
  alias: string;
  /** The entity, by any of its names. */
  entity: string;
  /**
   * The kind of source that says so. Only users and agents merge what users and agents stated. Default:
   * `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const ADD_ALIAS: Operation = {
  method: "POST",
  path: "/api/kg/aliases",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_namespace"},
  keyed: true,
};

/** What `aliases` takes. */
export interface KgAliasesArgs {
  /** Only those of this name or leading to it. */
  name?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const ALIASES: Operation = {
  method: "GET",
  path: "/api/kg/aliases",
  seconds: 2.0,
  repeatable: true,
  query: ["name", "cursor", "limit"],
};

/** What `removeAlias` takes. */
export interface KgRemoveAliasArgs {
  /**
   * Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default its mission, or else
   * its agent, or else `shared`.
   */
  scope?: string | null;
  /** The mission whose scope it gets if `scope` is left out. */
  mission_namespace?: string | null;
  /** The agent that states it. */
  agent_name?: string | null;
  /** The other name. */
  alias: string;
  /**
   * The kind of source that says so. Only users and agents take apart what users and agents stated. Default:
   * `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const REMOVE_ALIAS: Operation = {
  method: "POST",
  path: "/api/kg/aliases/remove",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_namespace"},
  keyed: true,
};

/** What `batch` takes. */
export interface KgBatchArgs {
  /** The facts to add. */
  facts: readonly AddFactInput[];
}

export const BATCH: Operation = {
  method: "POST",
  path: "/api/kg/batch",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_namespace"},
  each: "facts",
  keyed: true,
};

/** What `invalidate` takes. */
export interface KgInvalidateArgs {
  /**
   * Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default its mission, or else
   * its agent, or else `shared`.
   */
  scope?: string | null;
  /** The mission whose scope it gets if `scope` is left out. */
  mission_namespace?: string | null;
  /** The agent that states it. */
  agent_name?: string | null;
  /** The user it is about. A purge of the user erases it. */
  user_id?: string | null;
  /** The fact. */
  id?: number | string | null;
  /** The entity whose facts to close, by any of its names. */
  subject?: string | null;
  /** Only facts of this predicate. */
  predicate?: string | null;
  /** Only facts with this value. */
  object?: string | null;
  /** Since when it no longer holds, by default now. A time without an offset is UTC. */
  at?: string | null;
  /**
   * The kind of source that says so. Only users and agents close what users and agents stated. Default:
   * `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const INVALIDATE: Operation = {
  method: "POST",
  path: "/api/kg/invalidate",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_namespace"},
  keyed: true,
};

/** What `neighbours` takes. */
export interface KgNeighboursArgs {
  /** An entity, by any of its names. */
  entity: string;
  /** Facts about this user or no user. */
  user_id?: string;
  /** How far to go. */
  hops?: number;
  /** The largest number of items in a page. */
  limit?: number;
}

export const NEIGHBOURS: Operation = {
  method: "GET",
  path: "/api/kg/neighbours",
  seconds: 2.0,
  repeatable: true,
  query: ["entity", "user_id", "hops", "limit"],
};

/** What `predicates` takes. */
export interface KgPredicatesArgs {
  /** Facts about this user or no user. */
  user_id?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const PREDICATES: Operation = {
  method: "GET",
  path: "/api/kg/predicates",
  seconds: 2.0,
  repeatable: true,
  query: ["user_id", "cursor", "limit"],
};

/** What `query` takes. */
export interface KgQueryArgs {
  /** The subject or the object, by any of its names. */
  entity?: string | null;
  /** Only facts of this predicate. */
  predicate?: string | null;
  /** Facts that held at this time. A time without an offset is UTC. */
  at?: string | null;
  /** As it was believed at this time. */
  known_at?: string | null;
  /** Also facts that hold no longer or not yet. Default: `false`. */
  every_time?: boolean;
  /** Facts of these scopes only. */
  scopes?: readonly string[];
  /** Facts about this user or no user. */
  user_id?: string | null;
  /** At most this many items. Default: `100`. */
  limit?: number;
  /** The `next` of the previous page. */
  cursor?: string | null;
}

export const QUERY: Operation = {
  method: "POST",
  path: "/api/kg/query",
  seconds: 2.0,
  repeatable: true,
  body: "json",
};

/** What `stats` takes. */
export interface KgStatsArgs {
  /** Facts about this user or no user. */
  user_id?: string;
}

export const STATS: Operation = {
  method: "GET",
  path: "/api/kg/stats",
  seconds: 2.0,
  repeatable: true,
  query: ["user_id"],
};

/** What `timeline` takes. */
export interface KgTimelineArgs {
  /** An entity, by any of its names. */
  entity: string;
  /** Only facts of this predicate. */
  predicate?: string;
  /** Facts of these scopes only. */
  scopes?: readonly string[];
  /** Facts about this user or no user. */
  user_id?: string;
  /** As it was believed at this time. A time without an offset is UTC. */
  known_at?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const TIMELINE: Operation = {
  method: "GET",
  path: "/api/kg/timeline",
  seconds: 2.0,
  repeatable: true,
  query: ["entity", "predicate", "scopes", "user_id", "known_at", "cursor", "limit"],
};

/** What `write` takes. */
export interface KgWriteArgs {
  /**
   * Who may read it: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. By default its mission, or else
   * its agent, or else `shared`.
   */
  scope?: string | null;
  /** The mission whose scope it gets if `scope` is left out. */
  mission_namespace?: string | null;
  /** The agent that states it. */
  agent_name?: string | null;
  /** The user it is about. A purge of the user erases it. */
  user_id?: string | null;
  /** What it is about. */
  subject: string;
  /** The attribute or the relation, such as `lives in`. */
  predicate: string;
  /** The value, or the name of another entity. */
  object: string;
  /** How certain it is. Default: `1.0`. */
  confidence?: number;
  /** Since when it holds, by default now. A time without an offset is UTC. */
  valid_from?: string | null;
  /** When it ceased to hold, exclusive. By default it still holds. */
  valid_to?: string | null;
  /**
   * The kind of source it is from. Only users and agents close what users and agents stated, and the key of an
   * agent closes only what this agent stated. Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. */
  recalled_from?: number | string | null;
  /** The dispatch it was learned in. */
  dispatch_id?: number | string | null;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const WRITE: Operation = {
  method: "POST",
  path: "/api/kg/write",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_namespace"},
  keyed: true,
};

/** What `get` takes. */
export interface KgGetArgs {
  /** The id of a fact: the number of a handle `kg:<id>`. */
  fact_id: number;
}

export const GET: Operation = {
  method: "GET",
  path: "/api/kg/{fact_id}",
  seconds: 2.0,
  repeatable: true,
};

export class KgCalls extends Group {

  /** Add a fact beside the other values of its predicate. Stating it again changes nothing. */
  add(args: KgAddArgs, options?: CallOptions): Promise<WrittenFact> {
    return this.call(ADD, args, options);
  }

  /**
   * Give an entity another name. What is known under both names is one entity's from then on. This holds in one
   * scope. Answers 409 if the name belongs to another entity.
   */
  addAlias(args: KgAddAliasArgs, options?: CallOptions): Promise<WrittenAlias> {
    return this.call(ADD_ALIAS, args, options);
  }

  /** List other names of entities, in alphabetical order. */
  aliases(args: KgAliasesArgs = {}, options?: CallOptions): Pages<Aliases, Alias> {
    return this.pages(ALIASES, args, options);
  }

  /**
   * Take another name away from an entity. What was stated under the name is its own again. A fact that was
   * stated under both names stays with the entity, and what later statements closed stays closed.
   */
  removeAlias(args: KgRemoveAliasArgs, options?: CallOptions): Promise<RemovedAlias> {
    return this.call(REMOVE_ALIAS, args, options);
  }

  /** Add up to 100 facts, all or none. */
  batch(args: KgBatchArgs, options?: CallOptions): Promise<WrittenFacts> {
    return this.call(BATCH, args, options);
  }

  /** Close facts that no longer hold. Nothing is erased: a query as of an earlier time still finds them. */
  invalidate(args: KgInvalidateArgs = {}, options?: CallOptions): Promise<InvalidatedFacts> {
    return this.call(INVALIDATE, args, options);
  }

  /** What holds now of an entity, of the entities that these facts name, and so on, the nearest first. */
  neighbours(args: KgNeighboursArgs, options?: CallOptions): Promise<Neighbours> {
    return this.call(NEIGHBOURS, args, options);
  }

  /** The predicates of facts that hold now, in alphabetical order. */
  predicates(args: KgPredicatesArgs = {}, options?: CallOptions): Pages<Predicates, PredicateCount> {
    return this.pages(PREDICATES, args, options);
  }

  /** Query facts by entity, predicate and both times, the newest first. */
  query(args: KgQueryArgs = {}, options?: CallOptions): Pages<Facts, Fact> {
    return this.pages(QUERY, args, options);
  }

  /** How many facts there are, and of how many entities. */
  stats(args: KgStatsArgs = {}, options?: CallOptions): Promise<FactStats> {
    return this.call(STATS, args, options);
  }

  /**
   * The history of an entity: what held of it and when, the earliest first, also what holds no longer or not
   * yet.
   */
  timeline(args: KgTimelineArgs, options?: CallOptions): Pages<Facts, Fact> {
    return this.pages(TIMELINE, args, options);
  }

  /**
   * Write the only value of an attribute: the subject's other open values of the predicate are closed. A
   * statement about the past holds until the next value begins. A source that is not trusted closes no value of
   * one that is: it stands beside it as disputed.
   */
  write(args: KgWriteArgs, options?: CallOptions): Promise<WrittenFact> {
    return this.call(WRITE, args, options);
  }

  /** Get a fact as it is believed now, or was last. */
  get(args: KgGetArgs, options?: CallOptions): Promise<Fact> {
    return this.call(GET, args, options);
  }
}
