// Written by `make openapi` from the API's document.

import { type Operation } from "../group.js";
import type { AssembleContextInput, BlockInput, Language, Message, SourceInput, UsedItem } from "../models.js";

/** What `assemble` takes. */
export interface ContextAssembleArgs {
  /** What the agent is about to do, or wants to know. */
  query: string;
  /** The language of the query, as ISO 639-1 names it. When left out, it is detected. */
  language?: Language | null;
  /**
   * The agent that asks. Its own memories count more than those of its peers. Required unless the key is bound
   * to one.
   */
  caller?: string;
  /** The mission that the agent works in. */
  mission_namespace?: string | null;
  /** The most tokens of the block, by default the caller's budget. */
  token_budget?: number | null;
  /** Further scopes to search: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. */
  scopes?: readonly string[];
  /** The session of the request. Of what its context holds, that which it no longer shows whole is searched, too. */
  session_id?: string | null;
  /** Also search what the session shows whole. Default: `false`. */
  whole_objects?: boolean;
  /** The user that the context is for. It excludes everything about other users. */
  user_id?: string | null;
  /** The dispatch that the context is for. */
  dispatch_id?: number | string | null;
  /** Files of the tenant's vault to include, whatever the query. */
  explicit_links?: readonly string[];
  /** Only items recorded by then, with ages counted from it. Items deleted since stay deleted. */
  as_of?: string | null;
  /**
   * Fill the budget with whatever is relevant at all, instead of only with what is near the best. Default:
   * `false`.
   */
  fill?: boolean;
  /**
   * After what is relevant, show what else the caller remembers, where that is little and all of it fits. Left
   * out, the profiles of the caller and the user decide.
   */
  background?: boolean | null;
  /**
   * Also search the missions and projects to which those of the request refer. What is found there counts half.
   * Default: `true`.
   */
  neighbours?: boolean;
  /**
   * How the block says it: `structured` shows each item. `narrative` tells it in connected sentences, and
   * `factual` lists facts, as the helper model writes them from these items, with their handles. That may take
   * 15 s. Where it cannot be had, the block is structured, and `degraded` says why. Default: `"structured"`.
   */
  style?: "factual" | "narrative" | "structured";
  /**
   * True: only what the session was not given yet, and corrections of what it was, each told once. False: the
   * session begins anew, as after a compaction of its host. Left out, what the session was given plays no part.
   * Needs `session_id`. A session is that of the key and the caller.
   */
  delta?: boolean | null;
  /** The position of the last answer with `delta` that arrived. What was told after it comes again. */
  since?: number | null;
  /** False: the assembly is not logged, and its `assembly_id` is 0. Default: `true`. */
  log?: boolean;
  /** Include the scores of each search arm for every candidate. Needs admin access. Default: `false`. */
  debug?: boolean;
  /** Short for `caller`, in requests. */
  agent?: string;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const ASSEMBLE: Operation = {
  method: "POST",
  path: "/api/context/assemble",
  seconds: 15.0,
  repeatable: true,
  body: "json",
  own: {"agent": "caller", "mission": "mission_namespace"},
};

/** What `changes` takes. */
export interface ContextChangesArgs {
  /** The `session_id` of its assemblies. */
  session_id: string;
  /** The agent that asked. Required unless the key is bound to one. */
  caller?: string;
  /** Short for `caller`, in requests. */
  agent?: string;
}

export const CHANGES: Operation = {
  method: "GET",
  path: "/api/context/changes",
  seconds: 2.0,
  repeatable: true,
  query: ["session_id", "caller", "agent"],
};

/** What `feedback` takes. */
export interface ContextFeedbackArgs {
  /** The id that `assemble` answered. */
  assembly_id: number | string;
  /** The useful sources, each by its handle or by `store` and `id`. An empty list says that none was useful. */
  used_source_ids: readonly (string | UsedItem)[];
  /** How many tokens of the block were useful. */
  tokens_used?: number | null;
}

export const FEEDBACK: Operation = {
  method: "POST",
  path: "/api/context/feedback",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `prompt` takes. */
export interface ContextPromptArgs {
  /** The parts of the prompt, in their order. At most 20 of them are files, and 20 are behind handles. */
  blocks?: readonly BlockInput[];
  /**
   * Names of tiers, with the names of the stable and semi-stable blocks that each one holds. `full` holds all of
   * them unless it is listed here, and any other tier that is not listed holds none. Every tier has the dynamic
   * blocks.
   */
  tiers?: Record<string, readonly string[]>;
  /** The tier of this message. Left out, its source decides: `operational` for `system`, `full` for others. */
  tier?: string | null;
  /**
   * Where the message is from, such as `user`, `system`, `http` or `telegram`. The dynamic part says what kind
   * of session `system` and `http` are.
   */
  source?: string | null;
  /** What differs for messages of some sources, by the source's name. */
  sources?: Record<string, SourceInput>;
  /** What to assemble for the dynamic part, as for `POST /api/context/assemble`. */
  context?: AssembleContextInput | null;
  /** The most tokens of the stable part. Default: `16000`. */
  stable_tokens?: number;
  /** The most tokens of the semi-stable part. Default: `16000`. */
  semi_stable_tokens?: number;
  /**
   * The most tokens of the dynamic part's blocks. The assembled context has a budget of its own. Default:
   * `16000`.
   */
  dynamic_tokens?: number;
  /**
   * `anthropic` and `openai`: the answer also holds the prompt in the shape that this API takes. Default:
   * `"neutral"`.
   */
  format?: "anthropic" | "neutral" | "openai";
  /**
   * With `anthropic`, how long the stable part is cached. The semi-stable one always is for five minutes.
   * Default: `"1h"`.
   */
  stable_ttl?: "1h" | "5m";
}

export const PROMPT: Operation = {
  method: "POST",
  path: "/api/context/prompt",
  seconds: 15.0,
  repeatable: true,
  body: "json",
};

/** What `remember` takes. */
export interface ContextRememberArgs {
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: readonly string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: readonly string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The agent that remembers. Required unless the key is bound to one. */
  caller?: string;
  /** One thing to remember. */
  text?: string | null;
  /** A conversation, or a part of it, in order. */
  messages?: readonly Message[];
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The mission it happened in. Other agents in the mission see it. */
  mission_namespace?: string | null;
  /** The session it was said in. */
  session_id?: string | null;
  /** The first message's number in the session. */
  seq?: number | null;
  /** When it happened. Left out, now. */
  occurred_at?: string | null;
  /** Who said `text`. */
  speaker?: string | null;
  /** The language of what was said. When left out, it is detected. */
  language?: Language | null;
  /** The kind of source of `text`, `agent` by default. A message's role says it. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** The dispatch it belongs to. */
  dispatch_id?: number | string | null;
  /**
   * Keep it in the mission for so long. Left out, 30 days (or as the installation says) there; an agent keeps
   * what it learned until it is forgotten.
   */
  ttl_hours?: number | null;
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /** The handle of what no longer holds, such as `cache:12` or `own:3`; `text` goes to its store. */
  supersedes?: string | null;
  /** Short for `caller`, in requests. */
  agent?: string;
  /** Short for `mission_namespace`, in requests. */
  mission?: string | null;
}

export const REMEMBER: Operation = {
  method: "POST",
  path: "/api/context/remember",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "caller", "mission": "mission_namespace"},
  keyed: true,
};

/** What `log` takes. */
export interface ContextLogArgs {
  /** Of this agent only. */
  caller?: string;
  /** Of this mission only. */
  mission_namespace?: string;
  /** Of this user only. */
  user_id?: string;
  /** The session's name. */
  session_id?: string;
  /** Only what was recorded at this time or later. A time without an offset is UTC. */
  since?: string;
  /** Only what was recorded before this time. A time without an offset is UTC. */
  until?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Short for `caller`, in requests. */
  agent?: string;
  /** Short for `mission_namespace`, in requests. */
  mission?: string;
}

export const LOG: Operation = {
  method: "GET",
  path: "/api/context/log",
  seconds: 2.0,
  repeatable: true,
  query: ["caller", "mission_namespace", "user_id", "session_id", "since", "until", "cursor", "limit", "agent", "mission"],
};

/** What `logCallers` takes. */
export interface ContextLogCallersArgs {
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const LOG_CALLERS: Operation = {
  method: "GET",
  path: "/api/context/log/callers",
  seconds: 2.0,
  repeatable: true,
  query: ["cursor", "limit"],
};

/** What `given` takes. */
export interface ContextGivenArgs {
  /** The item, as a block or the queue names it. */
  handle: string;
  /** Of this agent only. */
  caller?: string;
  /** Of this mission only. */
  mission_namespace?: string;
  /** Only what was recorded at this time or later. A time without an offset is UTC. */
  since?: string;
  /** Only what was recorded before this time. A time without an offset is UTC. */
  until?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Short for `caller`, in requests. */
  agent?: string;
  /** Short for `mission_namespace`, in requests. */
  mission?: string;
}

export const GIVEN: Operation = {
  method: "GET",
  path: "/api/context/log/given",
  seconds: 2.0,
  repeatable: true,
  query: ["handle", "caller", "mission_namespace", "since", "until", "cursor", "limit", "agent", "mission"],
};

/** What `explain` takes. */
export interface ContextExplainArgs {
  /** The id of an assembly. */
  assembly_id: number;
}

export const EXPLAIN: Operation = {
  method: "GET",
  path: "/api/context/log/{assembly_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `replay` takes. */
export interface ContextReplayArgs {
  /** The id of an assembly. */
  assembly_id: number;
  /** Tokens that the block may have. */
  token_budget?: number | null;
  /** By store. */
  weights?: Record<string, number>;
  /** By store. */
  token_shares?: Record<string, number>;
}

export const REPLAY: Operation = {
  method: "POST",
  path: "/api/context/log/{assembly_id}/replay",
  seconds: 2.0,
  repeatable: true,
  body: "json",
};

/** What `source` takes. */
export interface ContextSourceArgs {
  /** As a block shows it. */
  handle: string;
  /** The id of an assembly. */
  assembly_id?: number;
}

export const SOURCE: Operation = {
  method: "GET",
  path: "/api/context/sources/{handle}",
  seconds: 2.0,
  repeatable: true,
  query: ["assembly_id"],
};

/** What `budgets` takes. */
export interface ContextBudgetsArgs {
  /** Of this agent only. */
  caller?: string;
  /** Short for `caller`, in requests. */
  agent?: string;
}

export const BUDGETS: Operation = {
  method: "GET",
  path: "/api/context/budgets",
  seconds: 2.0,
  repeatable: true,
  query: ["caller", "agent"],
};

/** What `setBudget` takes. */
export interface ContextSetBudgetArgs {
  /** The agent that asks. */
  caller: string;
  /** Tokens of a block, where a request does not say how many. */
  default_budget: number;
  /** Learning does not lower the default below it. */
  min_budget?: number | null;
  /** Learning does not raise the default above it. */
  max_budget?: number | null;
  /** What no request of the caller may exceed. */
  ceiling?: number | null;
  /** False lets learning continue from this value. Default: `true`. */
  manual?: boolean;
}

export const SET_BUDGET: Operation = {
  method: "PUT",
  path: "/api/context/budgets",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `resetBudget` takes. */
export interface ContextResetBudgetArgs {
  /** Of this agent only. */
  caller: string;
  /** Short for `caller`, in requests. */
  agent?: string;
}

export const RESET_BUDGET: Operation = {
  method: "DELETE",
  path: "/api/context/budgets",
  seconds: 5.0,
  repeatable: false,
  query: ["caller", "agent"],
};

export const EVALUATE: Operation = {
  method: "POST",
  path: "/api/context/eval",
  seconds: 60.0,
  repeatable: false,
};

/** What `weights` takes. */
export interface ContextWeightsArgs {
  /** Of this agent only. */
  caller?: string;
  /** Short for `caller`, in requests. */
  agent?: string;
}

export const WEIGHTS: Operation = {
  method: "GET",
  path: "/api/context/weights",
  seconds: 2.0,
  repeatable: true,
  query: ["caller", "agent"],
};

/** What `setWeight` takes. */
export interface ContextSetWeightArgs {
  /** `*`: every caller without a row of its own. */
  caller: string;
  /** The store, as weights name it. */
  source: "agent_memory_own" | "agent_memory_peer" | "memory" | "persistent_objects" | "psychic_cache" | "session_objects" | "vault_index";
  /** How much the store counts for the caller. A factor of the score. */
  weight: number;
  /** The source's share of the budget. Left out, it stays. */
  token_share?: number | null;
  /** False lets learning continue from this value. Default: `true`. */
  manual?: boolean;
}

export const SET_WEIGHT: Operation = {
  method: "PUT",
  path: "/api/context/weights",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `resetWeight` takes. */
export interface ContextResetWeightArgs {
  /** Of this agent only. */
  caller: string;
  /** The store. */
  source: "agent_memory_own" | "agent_memory_peer" | "memory" | "persistent_objects" | "psychic_cache" | "session_objects" | "vault_index";
  /** Short for `caller`, in requests. */
  agent?: string;
}

export const RESET_WEIGHT: Operation = {
  method: "DELETE",
  path: "/api/context/weights",
  seconds: 5.0,
  repeatable: false,
  query: ["caller", "source", "agent"],
};

/** What `weightHistory` takes. */
export interface ContextWeightHistoryArgs {
  /** Of this agent only. */
  caller?: string;
  /** Only what was recorded at this time or later. A time without an offset is UTC. */
  since?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Short for `caller`, in requests. */
  agent?: string;
}

export const WEIGHT_HISTORY: Operation = {
  method: "GET",
  path: "/api/context/weights/history",
  seconds: 2.0,
  repeatable: true,
  query: ["caller", "since", "cursor", "limit", "agent"],
};

/** What `recordCost` takes. */
export interface ContextRecordCostArgs {
  /** As the provider names it. A model without a price is counted in tokens alone. */
  model: string;
  /** What the call was for. Default: `"call"`. */
  kind?: string;
  /**
   * `abandoned`: the caller gave up on it, and the provider may count it. `failed`: the provider refused it.
   * Default: `"ok"`.
   */
  outcome?: "abandoned" | "failed" | "ok";
  /** The agent that made it. */
  agent_name?: string | null;
  /** The mission that it was for. */
  mission_id?: string | null;
  /** The session, as the caller names it. */
  session_id?: string | null;
  /** What the provider read afresh: neither from its cache nor into it. Default: `0`. */
  input_tokens?: number;
  /** What the model wrote. Default: `0`. */
  output_tokens?: number;
  /** What came from the provider's cache. Default: `0`. */
  cache_read_tokens?: number;
  /** What went into the provider's cache. Default: `0`. */
  cache_write_tokens?: number;
  /** What it cost, where the caller knows better than the table of prices. */
  cost_usd?: string | null;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const RECORD_COST: Operation = {
  method: "POST",
  path: "/api/context/costs",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
  keyed: true,
};

/** What `costs` takes. */
export interface ContextCostsArgs {
  /** Groups the costs, too; days are UTC, the earliest first. */
  by?: "agent" | "day" | "key" | "kind" | "mission" | "model" | "service" | "session";
  /** Only this agent's calls. */
  agent?: string;
  /** Only this mission's calls. */
  mission?: string;
  /** Only this session's calls. */
  session?: string;
  /** Only calls of this model, as rows name it. */
  model?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const COSTS: Operation = {
  method: "GET",
  path: "/api/context/costs",
  seconds: 2.0,
  repeatable: true,
  query: ["by", "agent", "mission", "session", "model", "cursor", "limit"],
};

/** What `allowance` takes. */
export interface ContextAllowanceArgs {
  /** The agent that would make the call. */
  agent?: string;
  /** The mission that the call would be for. */
  mission?: string;
}

export const ALLOWANCE: Operation = {
  method: "GET",
  path: "/api/context/costs/allowance",
  seconds: 2.0,
  repeatable: true,
  query: ["agent", "mission"],
};

/** What `costCalls` takes. */
export interface ContextCostCallsArgs {
  /** Only this agent's calls. */
  agent?: string;
  /** Only this mission's calls. */
  mission?: string;
  /** Only this session's calls. */
  session?: string;
  /** Only calls of this model, as rows name it. */
  model?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const COST_CALLS: Operation = {
  method: "GET",
  path: "/api/context/costs/calls",
  seconds: 2.0,
  repeatable: true,
  query: ["agent", "mission", "session", "model", "cursor", "limit"],
};

/** What `ceilings` takes. */
export interface ContextCeilingsArgs {
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const CEILINGS: Operation = {
  method: "GET",
  path: "/api/context/costs/ceilings",
  seconds: 5.0,
  repeatable: false,
  query: ["cursor", "limit"],
};

/** What `setCeiling` takes. */
export interface ContextSetCeilingArgs {
  /** The key, with all keys that it made. */
  key_id?: number | string | null;
  /** The mission. With neither, the ceiling is the whole tenant's. */
  mission_id?: string | null;
  /** Over what time, in UTC. Default: `"day"`. */
  period?: "all" | "day" | "month";
  /** Once so much is spent, no further call is made. 0 allows none. */
  limit_usd: string;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const SET_CEILING: Operation = {
  method: "PUT",
  path: "/api/context/costs/ceilings",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `resetCeiling` takes. */
export interface ContextResetCeilingArgs {
  /** The key that the ceiling is for. */
  key_id?: number;
  /** The mission that the ceiling is for. */
  mission?: string;
  /** The period of the ceiling. */
  period?: "all" | "day" | "month";
}

export const RESET_CEILING: Operation = {
  method: "DELETE",
  path: "/api/context/costs/ceilings",
  seconds: 5.0,
  repeatable: false,
  query: ["key_id", "mission", "period"],
};

/** What `savings` takes. */
export interface ContextSavingsArgs {
  /** Only this agent's calls. */
  agent?: string;
  /** Only this mission's calls. */
  mission?: string;
  /** Only calls of this model, as rows name it. */
  model?: string;
  /** Sessions with a request in so many days, in UTC. */
  days?: number;
}

export const SAVINGS: Operation = {
  method: "GET",
  path: "/api/context/costs/savings",
  seconds: 2.0,
  repeatable: true,
  query: ["agent", "mission", "model", "days"],
};

/** What `profiles` takes. */
export interface ContextProfilesArgs {
  /** Of this agent only. */
  agent_name?: string;
  /** Of this user only. */
  user_id?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string;
}

export const PROFILES: Operation = {
  method: "GET",
  path: "/api/context/profiles",
  seconds: 2.0,
  repeatable: true,
  query: ["agent_name", "user_id", "cursor", "limit", "agent"],
};

/** What `setProfile` takes. */
export interface ContextSetProfileArgs {
  /** The agent that it describes. */
  agent_name?: string | null;
  /** The user that it describes. A purge of the user erases it. */
  user_id?: string | null;
  /** What every block for the subject says first, within 15 % of its budget. */
  text: string;
  /**
   * Blocks for the subject also show its background, as far as a request does not say otherwise. Default:
   * `false`.
   */
  background?: boolean;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
}

export const SET_PROFILE: Operation = {
  method: "PUT",
  path: "/api/context/profiles",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `deleteProfile` takes. */
export interface ContextDeleteProfileArgs {
  /** Of this agent only. */
  agent_name?: string;
  /** Of this user only. */
  user_id?: string;
  /** Short for `agent_name`, in requests. */
  agent?: string;
}

export const DELETE_PROFILE: Operation = {
  method: "DELETE",
  path: "/api/context/profiles",
  seconds: 5.0,
  repeatable: false,
  query: ["agent_name", "user_id", "agent"],
};

/** What `monitor` takes. */
export interface ContextMonitorArgs {
  /** Only agents in this mission. */
  mission?: string;
  /** How many minutes to look back. */
  minutes?: number;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const MONITOR: Operation = {
  method: "GET",
  path: "/api/context/monitor",
  seconds: 2.0,
  repeatable: true,
  query: ["mission", "minutes", "cursor", "limit"],
};

/** What `makeKey` takes. */
export interface ContextMakeKeyArgs {
  /** Its name, which need not be unique. */
  name: string;
  /** `write` includes read, `admin` includes both. Default: `"write"`. */
  access?: "admin" | "read" | "write";
  /** Another tenant than the caller's own: for an admin token of the environment only. */
  tenant?: string | null;
  /** The only agent that the key may write and call as. */
  agent?: string | null;
  /** The missions that it may touch; null: all. */
  missions?: readonly string[] | null;
  /** The users whom it may touch; null: all. */
  users?: readonly string[] | null;
  /** When it ends; else when the key that makes it does, or after the installation's default time. */
  expires_at?: string | null;
  /** How many requests the key may send in a second. */
  requests_per_second?: number | null;
  /** Requests at once, by default one second's worth. */
  burst?: number | null;
  /** How many requests the key may send in a day of UTC. */
  requests_per_day?: number | null;
  /** Tokens of the bodies that it writes, estimated as characters / 4. Days are UTC. */
  tokens_per_day?: number | null;
}

export const MAKE_KEY: Operation = {
  method: "POST",
  path: "/api/context/keys",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `listKeys` takes. */
export interface ContextListKeysArgs {
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const LIST_KEYS: Operation = {
  method: "GET",
  path: "/api/context/keys",
  seconds: 5.0,
  repeatable: false,
  query: ["cursor", "limit"],
};

/** What `getKey` takes. */
export interface ContextGetKeyArgs {
  /** The id of a key, not its secret. */
  key_id: number;
}

export const GET_KEY: Operation = {
  method: "GET",
  path: "/api/context/keys/{key_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `changeKey` takes. */
export interface ContextChangeKeyArgs {
  /** The id of a key, not its secret. */
  key_id: number;
  /** Its name, which need not be unique. */
  name?: string;
  /** How many requests the key may send in a second. */
  requests_per_second?: number | null;
  /** How many requests may arrive at once. */
  burst?: number | null;
  /** How many requests the key may send in a day of UTC. */
  requests_per_day?: number | null;
  /** How many tokens the key may write in a day of UTC. */
  tokens_per_day?: number | null;
}

export const CHANGE_KEY: Operation = {
  method: "PATCH",
  path: "/api/context/keys/{key_id}",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `revokeKey` takes. */
export interface ContextRevokeKeyArgs {
  /** The id of a key, not its secret. */
  key_id: number;
}

export const REVOKE_KEY: Operation = {
  method: "DELETE",
  path: "/api/context/keys/{key_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `rotateKey` takes. */
export interface ContextRotateKeyArgs {
  /** The id of a key, not its secret. */
  key_id: number;
  /** How long the current secret stays valid beside the new one. Default: `3600`. */
  overlap_seconds?: number;
}

export const ROTATE_KEY: Operation = {
  method: "POST",
  path: "/api/context/keys/{key_id}/rotate",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

export const ME: Operation = {
  method: "GET",
  path: "/api/context/me",
  seconds: 2.0,
  repeatable: true,
};

/** What `audit` takes. */
export interface ContextAuditArgs {
  /** Only actions of this kind. */
  action?: "budget_reset" | "budget_set" | "ceiling_reset" | "ceiling_set" | "clear" | "evaluate" | "export" | "forget" | "import" | "key_change" | "key_make" | "key_revoke" | "key_rotate" | "language_set" | "limits_set" | "profile_delete" | "profile_set" | "purge" | "purge_begin" | "review_decide" | "review_rule_reset" | "review_rule_set" | "secret_policy_set" | "webhook_change" | "webhook_delete" | "webhook_make" | "webhook_redeliver" | "webhook_rotate" | "webhook_test" | "weight_reset" | "weight_set";
  /** Only what this key did, as `key:12`. */
  actor?: string;
  /** Only what was done to this: a scope, `key:12` or `tenant`. */
  target?: string;
  /** Only what was recorded at this time or later. A time without an offset is UTC. */
  since?: string;
  /** Only what was recorded before this time. A time without an offset is UTC. */
  until?: string;
  /** Another tenant than the caller's own: for an admin token of the environment only. */
  tenant?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const AUDIT: Operation = {
  method: "GET",
  path: "/api/context/audit",
  seconds: 5.0,
  repeatable: false,
  query: ["action", "actor", "target", "since", "until", "tenant", "cursor", "limit"],
};

export const BACKLOG: Operation = {
  method: "GET",
  path: "/api/context/backlog",
  seconds: 2.0,
  repeatable: true,
};

export const SECRET_POLICY: Operation = {
  method: "GET",
  path: "/api/context/secrets",
  seconds: 2.0,
  repeatable: true,
};

/** What `setSecretPolicy` takes. */
export interface ContextSetSecretPolicyArgs {
  /** What becomes of secrets. Without one, the installation's default holds again. */
  policy?: "allow" | "mask" | "refuse" | null;
}

export const SET_SECRET_POLICY: Operation = {
  method: "PUT",
  path: "/api/context/secrets",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

export const LANGUAGE: Operation = {
  method: "GET",
  path: "/api/context/language",
  seconds: 2.0,
  repeatable: true,
};

/** What `setLanguage` takes. */
export interface ContextSetLanguageArgs {
  /** The language of the tenant's texts. Without one, nothing is taken for granted again. */
  language?: Language | null;
}

export const SET_LANGUAGE: Operation = {
  method: "PUT",
  path: "/api/context/language",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `review` takes. */
export interface ContextReviewArgs {
  /** Only what stands there for this reason. */
  kind?: "derived" | "disputed" | "low_trust" | "near_duplicate" | "waiting";
  /** Only what is of this mission. */
  mission?: string;
  /** Only what this agent wrote. */
  agent?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const REVIEW: Operation = {
  method: "GET",
  path: "/api/context/review",
  seconds: 2.0,
  repeatable: true,
  query: ["kind", "mission", "agent", "cursor", "limit"],
};

/** What `reviewDecide` takes. */
export interface ContextReviewDecideArgs {
  /** The item, by the queue's `handle`. */
  handle: string;
  /**
   * `approve` shows a write that waits, and takes a stored item off the queue. `edit` does so with another text.
   * `merge` leaves only the other item, which counts as confirmed. `forget` erases it.
   */
  decision: "approve" | "edit" | "forget" | "merge";
  /** The stored item to merge into. */
  into?: string | null;
  /** The new text of an edit. */
  content?: string | null;
}

export const REVIEW_DECIDE: Operation = {
  method: "POST",
  path: "/api/context/review/decide",
  seconds: 5.0,
  repeatable: false,
  body: "json",
};

/** What `reviewRules` takes. */
export interface ContextReviewRulesArgs {
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const REVIEW_RULES: Operation = {
  method: "GET",
  path: "/api/context/review/rules",
  seconds: 5.0,
  repeatable: false,
  query: ["cursor", "limit"],
};

/** What `setReviewRule` takes. */
export interface ContextSetReviewRuleArgs {
  /** The mission whose writes are to wait. */
  mission_id?: string | null;
  /** The agent whose writes are to wait. */
  agent_name?: string | null;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const SET_REVIEW_RULE: Operation = {
  method: "PUT",
  path: "/api/context/review/rules",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `resetReviewRule` takes. */
export interface ContextResetReviewRuleArgs {
  /** The mission that the rule is for. */
  mission?: string;
  /** The agent that the rule is for. */
  agent?: string;
}

export const RESET_REVIEW_RULE: Operation = {
  method: "DELETE",
  path: "/api/context/review/rules",
  seconds: 5.0,
  repeatable: false,
  query: ["mission", "agent"],
};

/** What `purge` takes. */
export interface ContextPurgeArgs {
  /** Everything stored in `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`; or `tenant`: everything. */
  scope?: string | null;
  /** The same as the scope `mission:…`. */
  mission_id?: string | null;
  /** The scope `agent:…`, what the agent wrote into missions, and what was learned about it. */
  agent_name?: string | null;
  /** The same as the scope `user:…`: all about the user, and every assembly for the user or with any of this. */
  user_id?: string | null;
  /** With the scope `tenant`: another than the caller's own, for an admin token of the environment only. */
  tenant?: string | null;
  /** With the scope `tenant`, the tenant's name. It cannot be undone. */
  confirm?: string | null;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const PURGE: Operation = {
  method: "POST",
  path: "/api/context/purge",
  seconds: 60.0,
  repeatable: false,
  body: "json",
};
