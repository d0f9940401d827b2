// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { BatchAnswer, CacheDeleteAnswer, CacheEntry, ChangedLimitsAnswer, ClearAnswer, Decision, Directive, EntriesAnswer, EntryAnswer, Escalation, Intel, Language, LimitsAnswer, Mission, MissionLanguageAnswer, MissionsAnswer, Output, QueryAnswer, Report, ShadowClone, StateChange, StatsAnswer, ThreadCheckpoint, WriteAnswer } from "../models.js";

/** What `entry` takes. */
export interface CacheEntryArgs {
  /** The id of an entry: the number of a handle `cache:<id>`. */
  entry_id: number;
}

export const ENTRY: Operation = {
  method: "GET",
  path: "/api/psychic-cache/all/entries/{entry_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `editTags` takes. */
export interface CacheEditTagsArgs {
  /** The id of an entry: the number of a handle `cache:<id>`. */
  entry_id: number;
  /** Words to find it by, and to narrow a search to. */
  tags: readonly string[];
}

export const EDIT_TAGS: Operation = {
  method: "PATCH",
  path: "/api/psychic-cache/all/entries/{entry_id}",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `deleteEntry` takes. */
export interface CacheDeleteEntryArgs {
  /** The id of an entry: the number of a handle `cache:<id>`. */
  entry_id: number;
}

export const DELETE_ENTRY: Operation = {
  method: "DELETE",
  path: "/api/psychic-cache/all/entries/{entry_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `missions` takes. */
export interface CacheMissionsArgs {
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const MISSIONS: Operation = {
  method: "GET",
  path: "/api/psychic-cache/all/missions",
  seconds: 2.0,
  repeatable: true,
  query: ["cursor", "limit"],
};

/** What `checkpoint` takes. */
export interface CacheCheckpointArgs {
  /** The session's name. */
  session_id: string;
  /** Of this mission. */
  mission_id?: string;
  /** Entries that this agent wrote. */
  agent_name?: string;
  /** Short for `agent_name`, in requests. */
  agent?: string;
  /** Short for `mission_id`, in requests. */
  mission?: string;
}

export const CHECKPOINT: Operation = {
  method: "GET",
  path: "/api/psychic-cache/checkpoint/{session_id}",
  seconds: 2.0,
  repeatable: true,
  query: ["mission_id", "agent_name", "agent", "mission"],
};

/** What `query` takes. */
export interface CacheQueryArgs {
  /** `*` means every mission that the key may read. Required unless the key is bound to one. */
  mission_id?: string;
  /** A question, or what is wanted. */
  query: string;
  /** The language of the query, detected by default. */
  language?: Language | null;
  /** The most tokens of the block. Default: `4000`. */
  token_budget?: number;
  /** Only these types. An empty list does not filter. */
  context_types?: readonly ("decision" | "directive" | "escalation" | "intel" | "output" | "report" | "shadow_clone" | "state_change" | "thread_checkpoint")[] | null;
  /** Only entries with at least one of these. An empty list does not filter. */
  tags?: readonly string[] | null;
  /** The agent. */
  agent_name?: string | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | string | null;
  /** Entries recorded at this time or later. A time without an offset is UTC. */
  since?: string | null;
  /** Entries recorded before this time. */
  until?: string | null;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string;
}

export const QUERY: Operation = {
  method: "POST",
  path: "/api/psychic-cache/query",
  seconds: 2.0,
  repeatable: true,
  body: "json",
  own: {"mission": "mission_id"},
};

/** What `write` takes. */
export type CacheWriteArgs = (Decision | Directive | Intel | StateChange | Output | Report | Escalation | ShadowClone | ThreadCheckpoint) & {
  /** Answer only when search also finds it by meaning, or at the deadline. */
  wait?: "indexed";
};

export const WRITE: Operation = {
  method: "POST",
  path: "/api/psychic-cache/write",
  seconds: 5.0,
  repeatable: true,
  query: ["wait"],
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
  keyed: true,
};

/** What `writeBatch` takes. */
export interface CacheWriteBatchArgs {
  /** The entries, in the order of the request. */
  entries: readonly (Decision | Directive | Intel | StateChange | Output | Report | Escalation | ShadowClone | ThreadCheckpoint)[];
}

export const WRITE_BATCH: Operation = {
  method: "POST",
  path: "/api/psychic-cache/write/batch",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
  each: "entries",
  keyed: true,
};

/** What `clear` takes. */
export interface CacheClearArgs {
  /** The mission's name. */
  mission: string;
  /** Why. Needed here, or as `reason` of a JSON body. */
  reason?: "contaminated" | "mission_complete" | "operator" | "superseded";
}

export const CLEAR: Operation = {
  method: "DELETE",
  path: "/api/psychic-cache/{mission}",
  seconds: 5.0,
  repeatable: false,
  query: ["reason"],
  withoutMission: "all",
};

/** What `entries` takes. */
export interface CacheEntriesArgs {
  /** The mission's name. */
  mission?: string;
  /** Entries of this type only; may be given several times. */
  context_type?: readonly ("decision" | "directive" | "escalation" | "intel" | "output" | "report" | "shadow_clone" | "state_change" | "thread_checkpoint")[];
  /** Entries with this tag; given several times, with any of them. */
  tag?: readonly string[];
  /** Entries that this agent wrote. */
  agent_name?: string;
  /** Only what was recorded at this time or later. A time without an offset is UTC. */
  since?: string;
  /** Only what was recorded before this time. A time without an offset is UTC. */
  until?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string;
}

export const ENTRIES: Operation = {
  method: "GET",
  path: "/api/psychic-cache/{mission}/entries",
  seconds: 2.0,
  repeatable: true,
  query: ["context_type", "tag", "agent_name", "since", "until", "cursor", "limit", "agent"],
  withoutMission: "all",
};

/** What `language` takes. */
export interface CacheLanguageArgs {
  /** The mission's name. */
  mission?: string;
}

export const LANGUAGE: Operation = {
  method: "GET",
  path: "/api/psychic-cache/{mission}/language",
  seconds: 2.0,
  repeatable: true,
};

/** What `setLanguage` takes. */
export interface CacheSetLanguageArgs {
  /** The mission's name. */
  mission: string;
  /** The language of the mission's texts. Without one, the tenant's holds again. */
  language?: Language | null;
}

export const SET_LANGUAGE: Operation = {
  method: "PUT",
  path: "/api/psychic-cache/{mission}/language",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `limits` takes. */
export interface CacheLimitsArgs {
  /** The mission's name. */
  mission?: string;
}

export const LIMITS: Operation = {
  method: "GET",
  path: "/api/psychic-cache/{mission}/limits",
  seconds: 2.0,
  repeatable: true,
};

/** What `setLimits` takes. */
export interface CacheSetLimitsArgs {
  /** The mission's name. */
  mission: string;
  /** The most tokens that the mission may hold. */
  token_budget?: number | null;
  /** The most entries that it may hold. */
  entry_budget?: number | null;
  /** How long an entry lives by default. */
  ttl_hours?: number | null;
  /** Count what would be evicted, and change nothing. */
  dry_run?: boolean;
}

export const SET_LIMITS: Operation = {
  method: "PUT",
  path: "/api/psychic-cache/{mission}/limits",
  seconds: 5.0,
  repeatable: true,
  query: ["dry_run"],
  body: "json",
};

/** What `stats` takes. */
export interface CacheStatsArgs {
  /** The mission's name. */
  mission?: string;
}

export const STATS: Operation = {
  method: "GET",
  path: "/api/psychic-cache/{mission}/stats",
  seconds: 2.0,
  repeatable: true,
};

export class CacheCalls extends Group {

  /** One entry. */
  entry(args: CacheEntryArgs, options?: CallOptions): Promise<EntryAnswer> {
    return this.call(ENTRY, args, options);
  }

  /** Replace an entry's tags. Its content never changes. */
  editTags(args: CacheEditTagsArgs, options?: CallOptions): Promise<EntryAnswer> {
    return this.call(EDIT_TAGS, args, options);
  }

  /** Delete an entry, which frees its tokens. */
  deleteEntry(args: CacheDeleteEntryArgs, options?: CallOptions): Promise<CacheDeleteAnswer> {
    return this.call(DELETE_ENTRY, args, options);
  }

  /** List the missions that the key may read, by name, with their budgets and what they hold. */
  missions(args: CacheMissionsArgs = {}, options?: CallOptions): Pages<MissionsAnswer, Mission> {
    return this.pages(MISSIONS, args, options);
  }

  /** Get the newest thread_checkpoint of a session. A key bound to an agent gets that agent's. */
  checkpoint(args: CacheCheckpointArgs, options?: CallOptions): Promise<EntryAnswer> {
    return this.call(CHECKPOINT, args, options);
  }

  /** Search a mission's entries. Mission `*` means every mission that the key may read. */
  query(args: CacheQueryArgs, options?: CallOptions): Promise<QueryAnswer> {
    return this.call(QUERY, args, options);
  }

  /** Write an entry. Search finds it by text at once, and by meaning as soon as it is indexed. */
  write(args: CacheWriteArgs, options?: CallOptions): Promise<WriteAnswer> {
    return this.call(WRITE, args, options);
  }

  /** Write up to 100 entries. Each has its own result. Entries of the same mission are written in order. */
  writeBatch(args: CacheWriteBatchArgs, options?: CallOptions): Promise<BatchAnswer> {
    return this.call(WRITE_BATCH, args, options);
  }

  /** Delete a mission's entries. The reason is required, in the query or the body, and the timeline keeps it. */
  clear(args: CacheClearArgs, options?: CallOptions): Promise<ClearAnswer> {
    return this.call(CLEAR, args, options);
  }

  /** List a mission's live entries, newest first. */
  entries(args: CacheEntriesArgs = {}, options?: CallOptions): Pages<EntriesAnswer, CacheEntry> {
    return this.pages(ENTRIES, args, options);
  }

  /** The language of a mission's texts and of questions about it, where neither they nor their writer tells it. */
  language(args: CacheLanguageArgs = {}, options?: CallOptions): Promise<MissionLanguageAnswer> {
    return this.call(LANGUAGE, args, options);
  }

  /**
   * Set the language of a mission's texts and questions that are too short to tell it, from now on. It goes
   * before the tenant's. A `language` in a request wins over both, and so does a text that is clearly in another
   * language.
   */
  setLanguage(args: CacheSetLanguageArgs, options?: CallOptions): Promise<MissionLanguageAnswer> {
    return this.call(SET_LANGUAGE, args, options);
  }

  /** The budgets and the time to live in force in a mission, and whether each is its own or the default. */
  limits(args: CacheLimitsArgs = {}, options?: CallOptions): Promise<LimitsAnswer> {
    return this.call(LIMITS, args, options);
  }

  /**
   * Set the budgets and the time to live of a mission; what is left out goes back to the installation's default.
   * The oldest entries beyond the new budgets are evicted at once.
   */
  setLimits(args: CacheSetLimitsArgs, options?: CallOptions): Promise<ChangedLimitsAnswer> {
    return this.call(SET_LIMITS, args, options);
  }

  /** Count what a mission holds by type and agent, its budgets, and the entries it no longer holds. */
  stats(args: CacheStatsArgs = {}, options?: CallOptions): Promise<StatsAnswer> {
    return this.call(STATS, args, options);
  }
}
