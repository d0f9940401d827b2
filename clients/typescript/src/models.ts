// Written by `make openapi` from the API's document.

export interface AddFactInput {
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
}

/** Why a part of what was read became an object, or did not. */
export interface AdmissionScore {
  /** Its id, unique in the tenant. */
  id: string;
  /** Null: it was rejected. */
  object_id: string | null;
  /** Whether it became an object. */
  admitted: boolean;
  /** The weighted sum of the other scores. */
  score_total: number;
  /** How useful its type is. */
  score_type: number;
  /** How much of it the session does not hold yet. */
  score_novelty: number;
  /** How much it says for its length. */
  score_utility: number;
  /** How few turns ago it is from. */
  score_recency: number;
  /** From this total on, it is admitted. */
  threshold: number;
  /** The first 200 characters. */
  content_preview: string | null;
  /** When it was stored. */
  created_at: string;
}

/** A page of admissions, in their order. */
export interface Admissions {
  /** The answer: one object, or a page of them. */
  data: AdmissionScore[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** Something that the agent read or made, and that its context holds from now on. */
export interface AdmitInput {
  /**
   * All of it. It becomes one object for each function, class, section, hunk or value; a fault brings back
   * exactly its part.
   */
  content: string;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** The tool that it comes from, such as Read. */
  source_tool?: string | null;
  /**
   * What it is a version of, such as the path of a file: another content of the same key supersedes it. The name
   * of a file also tells its language.
   */
  source_key?: string | null;
  /**
   * Whether it is a part of its source, such as some lines of a file. `true`: lines that an object of the source
   * holds bring it back, others become new objects, and what the part lacks stays as it is. `false`: it is all
   * of the source, and a stub is left of what it lacks. By default, content that stands in objects of the source
   * as it is counts as a part, and any other as all of it.
   */
  partial?: boolean | null;
  /** When the agent will need it whole again. */
  fault_when?: string[];
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The first turn it is from. */
  source_turn_start?: number | null;
  /** The last turn it is from. */
  source_turn_end?: number | null;
}

/** What became of one part. */
export interface Admitted {
  /**
   * `touched`: this object of the same source holds the content, or some of it. `superseding`: a new version.
   * `rejected`: it names no source, and the context shows nearly all of its lines already. Nothing of it is
   * kept; a host that needs it once more keeps it in its own messages.
   */
  status: "created" | "rejected" | "superseding" | "touched";
  /** The object that holds it; none if it was rejected. */
  id?: string | null;
  /** How many tokens it takes in the block. */
  tokens: number;
  /** The older version, of which a stub is left. */
  supersedes?: string | null;
  /** How much of it the context shows. */
  fidelity?: number;
  /** Of what was rejected: below the threshold of 0.35. */
  score?: number | null;
  /** Of what was rejected: the object that shows most of its lines. It counts as accessed. */
  like?: string | null;
}

export interface AdmittedObjects {
  /** The parts of the content, in their order; of a part of a source, first the objects that hold some of it. */
  objects: Admitted[];
  /** Objects of the same source that the new version no longer has; a stub of each is left. */
  stale: string[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/**
 * A memory as it is read. Without what the service sets, it can be committed again. The service sets `id`,
 * `created_at`, `updated_at`, `access_count`, `confirmed_count`, `confirmed_at`, `written_by`, `source_claim`
 * and `superseded_by`; queries add `score` and what follows it.
 */
export interface AgentMemory {
  /** Its id, unique in the tenant. */
  id: number;
  /** The agent. */
  agent_name: string;
  /** The text. */
  content: string;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type: string;
  /** When it was stored. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** How often its agent read it. */
  access_count?: number;
  /** How often it was committed again. */
  confirmed_count?: number;
  /** When it was last stated again by a source that is trusted as much. */
  confirmed_at?: string | null;
  /** The task that it was learned in. */
  task_context?: TaskContext | null;
  /** Hidden from peers. */
  private?: boolean;
  /** When it happened, where that was said. */
  occurred_at?: string | null;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** Its place in the session. */
  seq?: number | null;
  /** Who said it, where that is not the agent. */
  speaker?: string | null;
  /** The user it is about, or who said it. */
  user_id?: string | null;
  /** The language that its writer named, or its tenant's where the content is too short to tell. */
  language?: Language | null;
  /** The files that its writer says it is about. */
  paths?: string[];
  /** The names in code that its writer says it is about. */
  symbols?: string[];
  /** The kind of step that its writer says it is. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The key that wrote it. */
  written_by?: string;
  /** How it came to be known. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** What its writer says the source is, where its key may not say so. */
  source_claim?: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The newer memory that a commit said supersedes it. */
  superseded_by?: number | null;
}

export interface AgentMemoryDeleteAnswer {
  /** How many memories are gone. */
  deleted: number;
}

export interface Alias {
  /** Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. */
  scope: string;
  /** The other name. */
  alias: string;
  /** The name of the entity that it leads to. */
  entity: string;
  /** The agent. */
  agent_name?: string | null;
  /** The key that wrote it. */
  written_by: string;
  /** How it came to be known. */
  source_kind: string;
  /** The kind of source that the writer claims, where its key may not say so. */
  source_claim?: string | null;
  /** When it was stored. */
  created_at: string;
}

/** A page of other names, in alphabetical order. */
export interface Aliases {
  /** The answer: one object, or a page of them. */
  data: Alias[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** A call may be made. */
export interface Allowance {
  /** Those that it would count towards, as far as the key may know of them. */
  ceilings: CeilingState[];
}

/** What calls took together. */
export interface Amount {
  /** How many calls. */
  calls: number;
  /** What was read afresh: neither from the provider's cache nor into it. */
  input_tokens: number;
  /** What the model wrote. */
  output_tokens: number;
  /** What came from the provider's cache. */
  cache_read_tokens: number;
  /** What went into the provider's cache. */
  cache_write_tokens: number;
  /** An exact decimal number, of the calls whose cost is known. */
  cost_usd: string;
  /** Calls whose cost is not known: their model has no price, or nobody knows their tokens. */
  unpriced_calls: number;
  /** What those of unknown tokens may have cost besides. */
  estimated_usd: string;
}

/** A block of `system` in Anthropic's Messages API. */
export interface AnthropicBlock {
  /** Which kind of block it is. */
  type: "text";
  /** A part of the prompt. */
  text: string;
  /** The prompt up to here is cached. A prompt has at most two of these; the API takes four. */
  cache_control?: CacheControl;
}

export interface ApiKey {
  /** Its id, unique in the tenant. */
  id: number;
  /** The tenant that it belongs to. */
  tenant: string;
  /** Its name, which need not be unique. */
  name: string;
  /** Whether it is valid, and why not. */
  status: "active" | "expired" | "revoked";
  /** What the key may do: `write` includes read, `admin` includes both. */
  access: "admin" | "read" | "write";
  /** The agent that it acts as; null: any. */
  agent: string | null;
  /** The missions that it may touch; null: all. */
  missions: string[] | null;
  /** The users whom it may touch; null: all. */
  users: string[] | null;
  /** How many requests the key may send in a second. */
  requests_per_second: number | null;
  /** How many requests may arrive at once. */
  burst: number | null;
  /** How many requests the key may send in a day of UTC. */
  requests_per_day: number | null;
  /** How many tokens the key may write in a day of UTC. */
  tokens_per_day: number | null;
  /** When it was stored. */
  created_at: string;
  /** The key that made it, `env:admin` for a token of the environment. */
  created_by: string | null;
  /** When it ends; null: never. */
  expires_at: string | null;
  /** When it was withdrawn. */
  revoked_at: string | null;
  /** After a rotation, the time until which the previous secret is valid. */
  old_secret_until: string | null;
  /** When it was last used. */
  last_used_at: string | null;
  /** Requests on this day of UTC. */
  requests_today: number;
  /** Tokens written on this day of UTC. */
  tokens_today: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of keys, by id. */
export interface ApiKeys {
  /** The answer: one object, or a page of them. */
  data: ApiKey[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface Appended {
  /** The number of the first message. */
  first_seq: number;
  /** The number of the last message. */
  last_seq: number;
  /** The tokens of the conversation as it stands now. */
  tokens: number;
  /** The conversation is longer than the session's `compaction_tokens`. */
  compaction_due: boolean;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface AssembleContextInput {
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
  scopes?: string[];
  /** The session of the request. Of what its context holds, that which it no longer shows whole is searched, too. */
  session_id?: string | null;
  /** Also search what the session shows whole. Default: `false`. */
  whole_objects?: boolean;
  /** The user that the context is for. It excludes everything about other users. */
  user_id?: string | null;
  /** The dispatch that the context is for. */
  dispatch_id?: number | string | null;
  /** Files of the tenant's vault to include, whatever the query. */
  explicit_links?: string[];
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
}

export interface Assembly {
  /** Names the assembly in feedback; 0 if it was not logged. */
  assembly_id: number;
  /**
   * Text for a prompt. Each item begins with a header: `[handle time kind author nonce]`, and one that stands
   * for others counts them: `[… author ×3 nonce]`.
   */
  context_block: string;
  /** Ends each header of this block. No text in the block holds it. */
  nonce: string;
  /** The items of the block, in order. For a style of its own, those that it was written from. */
  sources: Source[];
  /** Tokens of the block. */
  total_tokens: number;
  /** How long it took, in milliseconds. */
  retrieval_ms: number;
  /** The sources that failed or answered only in part. */
  degraded: Degraded[];
  /** Nothing that was found seems to answer the query. */
  low_relevance: boolean;
  /** The scopes that the request names, the caller's own and everybody's; a name that holds nothing shows as 0. */
  searched: SearchedScope[];
  /** The budget that held. */
  budget: BlockBudget;
  /** What was found and had no room. */
  left_out: LeftOut;
  /** Facts of the entities that the query names. Their lines, marked `[GRAPH]`, begin the block. */
  graph: GraphContextEntry[];
  /** Only with `debug`. */
  candidates?: Evidence[];
  /** Only with `delta`. */
  delta?: Delta;
  /** Only where a style was asked for. */
  synthesis?: SynthesisOfBlock;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of what admins did, newest first. */
export interface Audit {
  /** The answer: one object, or a page of them. */
  data: AuditRow[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** What an admin did. A purge takes the names of its subject out of older rows. */
export interface AuditRow {
  /** Grows with time, though not without gaps. */
  id: number;
  /** When it was done, by the database's clock. */
  at: string;
  /** The key that did it, as `key:12`, or the token of the environment, as `env:admin`. */
  actor: string;
  /** The agent that the key is bound to. */
  agent_name: string | null;
  /** The `x-request-id` of the request. */
  request_id: string | null;
  /** What was done. */
  action: "budget_reset" | "budget_set" | "ceiling_reset" | "ceiling_set" | "clear" | "evaluate" | "export" | "forget" | "import" | "key_change" | "key_make" | "key_revoke" | "key_rotate" | "language_set" | "limits_set" | "profile_delete" | "profile_set" | "purge" | "purge_begin" | "review_decide" | "review_rule_reset" | "review_rule_set" | "secret_policy_set" | "webhook_change" | "webhook_delete" | "webhook_make" | "webhook_redeliver" | "webhook_rotate" | "webhook_test" | "weight_reset" | "weight_set";
  /** What it was done to: `key:12`, a scope such as `mission:…`, or `tenant`. */
  target: string;
  /** The settings before. Null for an action that replaces none. */
  before: unknown;
  /** The settings after, or how many rows it concerned. */
  after: unknown;
}

export interface BatchAnswer {
  /** The answer: one object, or a page of them. */
  data: BatchResult;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** `status` is that of a single write, with `data` if it succeeded, or else `error` as a problem. */
export interface BatchItem {
  /** The status of a single write. */
  status: number;
  /** The answer: one object, or a page of them. */
  data?: WriteResult | null;
  /** The problem, where it was refused. */
  error?: Record<string, unknown> | null;
}

export interface BatchResult {
  /** The entries, in the order of the request. */
  entries: BatchItem[];
  /** How many were written. */
  written: number;
}

/** The tokens that the block could have, and what set them. */
export interface BlockBudget {
  /** The most that the block could take. */
  tokens: number;
  /** `caller`: what is set or was learned for the caller; `ceiling`: more was wanted than is allowed. */
  from: "caller" | "ceiling" | "default" | "request";
}

/** A part of the prompt. Exactly one of `text`, `path` and `handle` says what it holds. */
export interface BlockInput {
  /** Its name, unique in the prompt. */
  name: string;
  /**
   * The part of the prompt that it belongs to: `stable` for what hardly ever changes, `semi_stable` for what
   * changes now and then, `dynamic` for what changes with each turn.
   */
  stability: "dynamic" | "semi_stable" | "stable";
  /** The caller's own words. They stand in the prompt as they are. */
  text?: string | null;
  /** A file of the tenant's vault. */
  path?: string | null;
  /** A document behind a handle: `memory:…`, `profile:…`, `vault:…` and others. */
  handle?: string | null;
}

export interface BudgetAdjustment {
  /** The agent that asks. */
  caller: string;
  /** Tokens before the change. */
  old_budget: number;
  /** Tokens after the change. */
  new_budget: number;
}

export interface CacheControl {
  /** Which kind of block it is. */
  type: "ephemeral";
  /** How long the provider keeps it. */
  ttl: "1h" | "5m";
}

export interface CacheDeleteAnswer {
  /** The answer: one object, or a page of them. */
  data: DeleteResult;
}

/**
 * An entry as lists and queries show it. Without what the service sets, it can be written again. The service
 * sets `id`, `token_count`, `created_at`, `expires_at`, `source_claim` and `superseded_by`, and in queries
 * `relevance` and what follows it.
 */
export interface CacheEntry {
  /** Its id, unique in the tenant. */
  id: number;
  /** The mission. */
  mission_id: string;
  /** The type of the entry, which decides its further fields. */
  context_type: string;
  /** The text. */
  content: string;
  /** Estimated over the content and every other field that can be read back. */
  token_count: number;
  /** When it was stored. */
  created_at: string;
  /** When it expires, unless it is evicted before. */
  expires_at: string;
  /** Who wrote it. */
  agent_name?: string | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The files that its writer says it is about. */
  paths?: string[];
  /** The names in code that its writer says it is about. */
  symbols?: string[];
  /** The kind of step that its writer says it is. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it was written for. */
  dispatch_id?: number | null;
  /** The session it was said in, or the session that a checkpoint can resume. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. */
  speaker?: string | null;
  /** The user it is about, or who said it. */
  user_id?: string | null;
  /** When it happened, if not when it was written. */
  occurred_at?: string | null;
  /** The kind of source it is from. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** What its writer says the source is, where its key may not say so. */
  source_claim?: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The newer entry that supersedes it, as its writer stated. */
  superseded_by?: number | null;
  /** Why. */
  decision_rationale?: string | null;
  /** The alternatives that were not chosen. */
  decision_alternatives?: string[] | null;
  /** Who must follow it. */
  directive_target?: string | null;
  /** How urgent it is. */
  directive_priority?: string | null;
  /** Where it comes from. */
  intel_source?: string | null;
  /** How sure its writer is. */
  intel_confidence?: string | null;
  /** The state before. */
  state_from?: string | null;
  /** The state after. */
  state_to?: string | null;
  /** What caused it. */
  state_trigger?: string | null;
  /** Where to find the work. */
  output_url?: string | null;
  /** What the work is. */
  output_summary?: string | null;
  /** The dispatch that it reports on. */
  report_dispatch_id?: number | null;
  /** How the dispatch ended. */
  report_outcome?: string | null;
  /** Who must decide. */
  escalation_target?: string | null;
  /** Why the agent cannot decide. */
  escalation_reason?: string | null;
  /** What the clones do in parallel. */
  subtasks?: string[] | null;
  /** How many clones work on it. */
  clone_count?: number | null;
  /** Turns so far. */
  turn_count?: number | null;
  /** Open dispatches. */
  active_dispatches?: string[] | null;
  /** Decisions still to make. */
  open_decisions?: string[] | null;
  /** Directives still to follow. */
  pending_directives?: string[] | null;
  /** The missions that the session works in. */
  current_mission_namespaces?: string[] | null;
  /** What the next agent needs to know to continue. */
  working_state_prose?: string | null;
  /** In [0, 1], only in queries. */
  relevance?: number | null;
  /** In [0.5, 1], only in queries. */
  recency?: number | null;
  /**
   * The content is the piece that matched; tags, paths, symbols and the fields of its type are left out. Of
   * queries only.
   */
  truncated?: boolean;
  /** Which chunk of a long entry the piece is from, counted from 0; `/all/entries/{id}` has the whole entry. */
  chunk?: number | null;
  /** How many chunks the entry has. */
  chunks?: number | null;
}

export interface CacheStats {
  /** The mission. */
  mission_id: string;
  /** Tokens that it holds. */
  total_tokens: number;
  /** Entries that it holds. */
  entry_count: number;
  /** Tokens that it may hold. */
  token_budget: number;
  /** Entries that the mission may hold. */
  entry_budget: number;
  /** How many hours an entry lives that names no time to live. */
  ttl_hours: number;
  /** Entries by type. */
  by_type: Record<string, number>;
  /** Tokens by type. */
  tokens_by_type: Record<string, number>;
  /** Entries by agent. */
  by_agent: Record<string, number>;
  /** Entries ever written. */
  written_count: number;
  /** Entries evicted for newer ones. */
  evicted_count: number;
  /** Entries that expired. */
  expired_count: number;
  /** Entries that were cleared or deleted. */
  cleared_count: number;
  /** Entries that wait for their vectors. */
  unindexed_count: number;
  /** When it was stored. */
  created_at: string;
  /** When something was last written to it. */
  last_write_at: string;
  /** When its oldest entry was stored. */
  oldest_at: string | null;
  /** When its newest entry was stored. */
  newest_at: string | null;
  /** When the next entry expires. */
  next_expiry: string | null;
  /** When the unindexed entries are expected to have vectors. It is missing while none are made. */
  vectors_expected_at: string | null;
}

export interface CallerBudget {
  /** The agent that asks. */
  caller: string;
  /** Tokens of a block, where a request does not say how many. */
  default_budget: number;
  /** Learning does not lower the default below it. */
  min_budget: number;
  /** Learning does not raise the default above it. */
  max_budget: number;
  /** The largest budget of any request by the caller. */
  ceiling: number | null;
  /** An operator set it, and learning leaves it alone. */
  manual: boolean;
  /** When it was last changed. */
  updated_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface CallerBudgets {
  /** One row for each caller. */
  budgets: CallerBudget[];
}

/** A page of callers, by name. */
export interface Callers {
  /** The answer: one object, or a page of them. */
  data: string[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** How much is left under a ceiling. */
export interface CeilingState {
  /** Whose calls it counts: `tenant`, `key:…` or `mission:…`. */
  subject: string;
  /** Over what time: a UTC `day` or `month`, or `all`. */
  period: string;
  /** Once so much is spent, no further call is made. */
  limit_usd: string;
  /** With an estimate for calls that nobody knows the tokens of. */
  spent_usd: string;
  /** How many calls. */
  calls: number;
  /** Calls of models without a price. The ceiling cannot count them. */
  unpriced_calls: number;
  /** Further calls are not made. */
  reached: boolean;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of the tenant's ceilings, by whose they are. */
export interface Ceilings {
  /** The answer: one object, or a page of them. */
  data: CeilingState[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface ChangedLimits {
  /** The mission. */
  mission_id: string;
  /** Tokens that it may hold. */
  token_budget: number;
  /** Entries that the mission may hold. */
  entry_budget: number;
  /** How long an entry lives that names no time to live. */
  ttl_hours: number;
  /** Where each limit comes from. */
  origins: LimitOrigins;
  /** Entries that went, so that the new limits hold; in a dry run, those that would go. */
  evicted_count: number;
  /** Nothing was changed: the answer is what would be. */
  dry_run: boolean;
}

export interface ChangedLimitsAnswer {
  /** The answer: one object, or a page of them. */
  data: ChangedLimits;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What the next answer with `delta` would correct. */
export interface Changes {
  /** The position of the last answer that told the session something; 0: it was given nothing. */
  position: number;
  /** What became of items that the session was given, each as long as it was not told. */
  corrections: Correction[];
  /** What did not answer: of its items nothing is known. */
  degraded: Degraded[];
}

/** What a task wrote to a channel. */
export interface ChannelWrite {
  /** Its place among what the task wrote. */
  place: number;
  /** The channel that the task wrote to. */
  channel: string;
  /** The value, as the framework wrote it. */
  value: Record<string, unknown>;
}

export interface Checkpoint {
  /** The framework's own name for the thread. */
  thread_id: string;
  /** The graph within the thread's graph; empty for the thread's own. */
  namespace: string;
  /** The framework's own name for the checkpoint. */
  checkpoint_id: string;
  /** The checkpoint that it follows. */
  parent_id: string | null;
  /** What it can be filtered by. */
  metadata: Record<string, unknown>;
  /** The state, as the framework wrote it. */
  state: Record<string, unknown>;
  /** What tasks wrote after it, in the order in which they count. */
  writes: PendingWrite[];
  /** When it was stored. */
  created_at: string;
}

/** A page of checkpoints, newest first. */
export interface Checkpoints {
  /** The answer: one object, or a page of them. */
  data: Checkpoint[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface ClearAnswer {
  /** The answer: one object, or a page of them. */
  data: ClearResult;
}

export interface ClearResult {
  /** How many entries are gone. */
  deleted_count: number;
  /** Estimated tokens that are free again. */
  freed_tokens: number;
}

export interface CommitAgentMemoryInput {
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /** The agent. Required unless the key is bound to one. */
  agent_name?: string;
  /** What was learned, in one or a few sentences. */
  content: string;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type: "domain_pattern" | "lesson_learned" | "skill_heuristic" | "task_blueprint";
  /** The task it was learned in. */
  task_context?: TaskContext | null;
  /** Hide it from peers. Default: `false`. */
  private?: boolean;
  /** The dispatch it was learned in. */
  dispatch_id?: number | string | null;
  /** An older memory of this agent that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
}

/** The results, in the order of the request. */
export interface CommitBatchResult {
  /** One for each memory of the request. */
  results: CommitResult[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/**
 * `pending`: stored, and found by text. The search for duplicates follows when its vector arrives. If it then
 * proves to be a repeat, `memory_id` leads to the earlier memory.
 */
export interface CommitResult {
  /** The memory that holds it. Negative while it waits for a reviewer: no memory has it yet. */
  memory_id: number;
  /** The agent had committed it before, and that memory is now confirmed. */
  duplicate_detected: boolean;
  /** `updated`: a known memory was confirmed. */
  status: "created" | "pending" | "updated";
  /** Always null: a memory never expires. */
  expires_at: string | null;
  /** `pending`: it is kept, and nobody is shown it before a reviewer approves it. */
  review?: "pending";
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Compaction {
  /** False: none was due, or no place was found between calls and their results. */
  compacted: boolean;
  /** How many messages the summary stands for. */
  messages: number;
  /** The tokens of the conversation as it stands now. */
  tokens: number;
  /** The event that records it. */
  seq: number | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** `output_missing` means that no output entry was ever written for it. */
export interface Completed {
  /** Its id, unique in the tenant. */
  id: number;
  /** How it stands now. */
  status: "completed" | "dispatched" | "in_progress" | "stale";
  /** How it ended. */
  outcome: "failed" | "partial" | "success";
  /** No output entry was ever written for it. */
  output_missing: boolean;
}

export interface CompletedAnswer {
  /** The answer: one object, or a page of them. */
  data: Completed;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A source that repeated a memory, and how often. `absorbed_id` is the repeat's id if it was a memory at first. */
export interface Confirmation {
  /** The key that wrote it. */
  written_by: string;
  /** How it came to be known. */
  source_kind: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The mission; null where there is none. */
  mission_namespace?: string | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The id of the repeat, where it was a memory of its own for a while. */
  absorbed_id?: number | null;
  /** How often this key said it again. */
  count: number;
  /** When it was first said again. */
  first_at: string;
  /** When it was last said again. */
  last_at: string;
}

/** How far a run is, and what it changed so far. */
export interface Consolidated {
  /** `unfinished`: more is left, and the next call goes on. `under_way`: somebody else runs. */
  status: "finished" | "nothing_new" | "under_way" | "unfinished";
  /** The session's id; null for a file. */
  session_id: string | null;
  /** The run, whose report says more. */
  run_id: number | null;
  /** The last event, or line of the file, that was learned from. */
  position: number;
  /** The last event, or line of the file, that it is about. */
  through: number;
  /** Facts, episodes, commitments and other names that are new. */
  opened: number;
  /** Facts that no longer hold because of it. */
  closed: number;
  /** Facts, episodes and commitments that were known. */
  confirmed: number;
  /** Facts of other sources that it contradicts. They stay, and it stands beside them. */
  disputed: number;
  /** How many turns or parts of turns it did not learn from, by reason. */
  skipped: Record<string, number>;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A row that a run opened, closed, confirmed or found disputed. */
export interface ConsolidationChange {
  /** Its place in the run. */
  number: number;
  /** What it is about. */
  kind: "alias" | "commitment" | "episode" | "fact";
  /** `replaced`: a fact of the same value that holds for longer took its place. `skipped`: it was not written. */
  action: "closed" | "confirmed" | "disputed" | "opened" | "replaced" | "skipped";
  /** The id of the fact, the episode or the commitment. */
  item_id?: number | null;
  /** The events of the session that it comes from; of a file, the lines on which the passages begin. */
  turns?: number[];
  /** Whom it comes from. Of several, who is trusted least. */
  trust?: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** Why it was closed, or not written. */
  why?: string | null;
}

/** A page of changes, in their order. */
export interface ConsolidationChanges {
  /** The answer: one object, or a page of them. */
  data: ConsolidationChange[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** What a run over a session or a file did. */
export interface ConsolidationRun {
  /** Its id, unique in the tenant. */
  id: number;
  /** Where all that it learned lies. */
  scope: string;
  /** The session that it belongs to. */
  session_id: string | null;
  /** The file, if it was over a file. */
  path: string | null;
  /** The agent of the session. */
  agent_name: string | null;
  /** The mission of the session. */
  mission_id: string | null;
  /** The user of the session. */
  user_id: string | null;
  /** It is about the session's events behind this one, up to `through`. */
  after: number;
  /** The last event, or the last line of the file, that it is about. */
  through: number;
  /** How far it is. */
  position: number;
  /** A run that was broken off stays `running` until the next call goes on with it. */
  status: "finished" | "running" | "undone";
  /** How many rows it changed. */
  tally: Tally;
  /** How many turns or parts of turns it did not learn from, by reason. */
  skipped: Record<string, number>;
  /** The key that began it. */
  written_by: string;
  /** When it began. */
  started_at: string;
  /** Null: it is under way, or was broken off. */
  finished_at: string | null;
  /** When it was undone, if it was. */
  undone_at: string | null;
  /** The key that undid it. */
  undone_by: string | null;
}

/** A page of runs, newest first. */
export interface ConsolidationRuns {
  /** The answer: one object, or a page of them. */
  data: ConsolidationRun[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** The conversation as it stands: what a host sends to its model. */
export interface Conversation {
  /** The last event that it includes. */
  through: number;
  /** Events up to this one are no longer part of it. */
  since: number;
  /** Stands for what compactions took out. It comes before the messages. */
  summary: string | null;
  /** In their order. */
  messages: TrailEvent[];
  /** Of the summary and all messages. */
  tokens: number;
  /** It is too long for one answer: `messages` holds the newest, and the history has the others. */
  truncated: boolean;
  /** It is longer than the session's `compaction_tokens`. */
  compaction_due: boolean;
}

export interface CopiedThread {
  /** How many were copied. */
  checkpoints: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What is kept in long-term memory besides, because it lasts beyond its mission. */
export interface Copy {
  /** `memory`. */
  store: string;
  /** `preference`, `commitment` or `episode`. */
  kind: string;
  /** `known`: it was there. `refused`: it is not kept, and `why` says the reason. */
  status: "created" | "known" | "refused";
  /** The rule that found it, or why it is not kept. */
  why: string;
  /** Its id, unique in the tenant. */
  id?: number | null;
  /** The name that a context block gives it. */
  handle?: string | null;
  /** Who finds it. */
  scope?: string | null;
}

/** What became of an item that the session was given. It is told once. */
export interface Correction {
  /** How a block names the item. */
  handle: string;
  /**
   * `edited`: it says something else now; `superseded` by a newer item; `gone`: deleted, expired, evicted, or
   * out of this key's reach.
   */
  what: "edited" | "gone" | "superseded";
  /** The handle of the newer item. */
  by?: string | null;
}

/** What the calls of one agent, mission, session, model, kind, key or service took. */
export interface CostGroup {
  /** The agent, mission, session, model, kind, key or service. Null: none. */
  name: string | null;
  /** Since midnight, in UTC. */
  today: Amount;
  /** In the last seven days, today included. */
  week: Amount;
  /** As long as rows are kept, 400 days. */
  all: Amount;
}

/** A call of a model. */
export interface CostRow {
  /** Its id. */
  id: number;
  /** When the call ended. */
  created_at: string;
  /** The service that made the call, or `caller`. */
  service: string;
  /** What it was for, such as summary, answer, query, document, rerank or probe. */
  kind: string;
  /** As its provider names it, after `anthropic:`, `openai:` or `voyage:` for our own calls. */
  model: string;
  /** `ok`, `uncounted` (answered without counting tokens), `abandoned` or `failed`. */
  outcome: string;
  /** The agent that it was made for. */
  agent_name: string | null;
  /** The mission that it was for. */
  mission_id: string | null;
  /** The session that it was for, as callers name it. */
  session_id: string | null;
  /** Whose call it was. */
  key: string | null;
  /** What was read afresh: neither from the provider's cache nor into it. */
  input_tokens: number;
  /** What the model wrote. */
  output_tokens: number;
  /** What came from the provider's cache. */
  cache_read_tokens: number;
  /** What went into the provider's cache. */
  cache_write_tokens: number;
  /** Null where the model has no price, or the tokens are not known. */
  cost_usd: string | null;
  /** What a call of unknown tokens may have cost. */
  estimated_usd: string | null;
}

/** A page of calls, the newest first. */
export interface CostRows {
  /** The answer: one object, or a page of them. */
  data: CostRow[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** What calls cost: all together, and a page of groups by name. */
export interface Costs {
  /** The answer: one object, or a page of them. */
  data: CostGroup[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
  /** Since midnight, in UTC. */
  today: Amount;
  /** In the last seven days, today included. */
  week: Amount;
  /** As long as rows are kept, 400 days. */
  all: Amount;
  /** Models without a price, at most twenty. */
  unpriced_models: string[];
  /** The date of the table of prices. */
  prices_as_of: string;
}

export interface CreatedSession {
  /** The answer: one object, or a page of them. */
  data: Session;
  /** False: the session of this `external_id` was there already, and is as it was. */
  created: boolean;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Decision {
  /** The type of the entry, which decides its further fields. */
  context_type: "decision";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** Why. */
  decision_rationale: string;
  /** The alternatives that were not chosen. */
  decision_alternatives?: string[];
}

/** What became of the item. */
export interface DecisionTaken {
  /** How a block names the item. */
  handle: string;
  /** What was decided. */
  state: "approved" | "edited" | "forgotten" | "merged" | "waiting";
  /** The handle of the item that holds the text now, if any does. */
  item: string | null;
  /** The key that decided. */
  decided_by: string;
  /** When it was decided. */
  decided_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Degraded {
  /** A store, or the embedder. */
  source: string;
  /** Such as down, timeout, erroring, overloaded, outdated or breaker open. */
  reason: string;
}

export interface DeleteResult {
  /** How many entries are gone. */
  deleted_count: number;
  /** The estimated tokens that were freed. */
  freed_tokens: number;
}

export interface DeletedMemory {
  /** The id of the memory that is gone. */
  deleted: number;
}

export interface DeletedSession {
  /** Nothing of it is left: no event, no object, no fault. */
  id: string;
}

/** A page of deliveries, the latest event first. */
export interface Deliveries {
  /** The answer: one object, or a page of them. */
  data: Delivery[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface Delivery {
  /** The event's number in the timeline. */
  seq: number;
  /** The header `webhook-id`: the same in every attempt. */
  event_id: string;
  /** What happened, such as `cache_write`. */
  kind: string;
  /** Events of one scope are sent one after the other. */
  scope: string;
  /** `dead`: given up. `erased`: a purge came first. */
  status: "dead" | "delivered" | "erased" | "waiting";
  /** How often it was sent. */
  attempts: number;
  /** The status of the last answer. */
  http_status: number | null;
  /** Why the last attempt failed. */
  error: "broken_off" | "forbidden_address" | "http_status" | "timeout" | "tls" | "unknown_host" | "unreachable" | null;
  /** When it happened. */
  event_at: string;
  /** When it was last sent. */
  attempted_at: string | null;
}

/** What the session knows with this answer. */
export interface Delta {
  /** Send it as `since` of the next request: what was told after it, and was lost on its way, comes again. */
  position: number;
  /** Of what the session was given before. Their lines, `[update handle … nonce]`, begin the block. */
  corrections: Correction[];
}

export interface Directive {
  /** The type of the entry, which decides its further fields. */
  context_type: "directive";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** Who must follow it. */
  directive_target: string;
  /** How urgent it is. */
  directive_priority?: "critical" | "high" | "low" | "normal" | null;
}

export interface Dispatch {
  /** Its id, unique in the tenant. */
  id: number;
  /** The mission. */
  mission_id: string;
  /** The agent. */
  agent_name: string;
  /** What is to be done. */
  task: string;
  /** `stale`: it gave no sign of life for too long, but may still complete. */
  status: "completed" | "dispatched" | "in_progress" | "stale";
  /** How many output entries were written for it. */
  outputs: number;
  /** When it was stored. */
  created_at: string;
  /** The last sign of life. */
  last_heartbeat: string;
  /** The dispatch that it is a part of. */
  parent_dispatch_id: number | null;
  /** The session that it belongs to. */
  session_id: string | null;
  /** The last note. */
  progress: string | null;
  /** Null: not reported. */
  percent: number | null;
  /** How it ended. */
  outcome: "failed" | "partial" | "success" | null;
  /** What came out of it. */
  summary: string | null;
  /** When it completed or went stale. */
  closed_at: string | null;
}

export interface DispatchAnswer {
  /** The answer: one object, or a page of them. */
  data: Dispatch;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of dispatches, newest first. */
export interface DispatchesAnswer {
  /** The answer: one object, or a page of them. */
  data: Dispatch[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface Dropped {
  /** Entries that found no room in the budget. */
  budget: number;
}

/** A page of commitments, the one that is due first first. */
export interface DueCommitments {
  /** The answer: one object, or a page of them. */
  data: LongTermMemory[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** A page of entries, newest first. */
export interface EntriesAnswer {
  /** The answer: one object, or a page of them. */
  data: CacheEntry[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface EntryAnswer {
  /** The answer: one object, or a page of them. */
  data: CacheEntry;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Escalation {
  /** The type of the entry, which decides its further fields. */
  context_type: "escalation";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** Who must decide. */
  escalation_target: string;
  /** Why the agent cannot decide. */
  escalation_reason: string;
}

/** What one cycle changed. The counts are of all rows that now hold settings. */
export interface Evaluated {
  /** Weights that changed. */
  weight_adjustments: WeightAdjustment[];
  /** Budgets that changed. */
  budget_adjustments: BudgetAdjustment[];
  /** Rows of weights. */
  weights_count: number;
  /** Rows of budgets. */
  budgets_count: number;
  /** How many assemblies had new feedback. */
  assemblies: number;
}

export interface Event {
  /** The event's number. Events arrive in this order, and none is skipped. */
  seq: number;
  /** What happened, such as `cache_write`. */
  kind: string;
  /** Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. */
  scope: string;
  /** The mission. */
  mission_id: string | null;
  /** The agent. */
  agent_name: string | null;
  /** The session that it belongs to. */
  session_id: string | null;
  /** The dispatch that it belongs to. */
  dispatch_id: number | null;
  /** Ids and counts; never content. */
  payload: Record<string, unknown>;
  /** When it was stored. */
  created_at: string;
}

/** A page of the timeline, in order. To read later events, pass the last `seq` as `after`. */
export interface Events {
  /** The answer: one object, or a page of them. */
  data: Event[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** A candidate in the debug answer: the scores of each arm, and its outcome. */
export interface Evidence {
  /** How a block names the item. */
  handle: string;
  /** The store that it is from, as weights name it. */
  store: string;
  /** Its id, unique in the tenant. */
  id: number;
  /** Which part of a long item, from 0. */
  chunk: number;
  /** Its score: the product of its factors. */
  score: number;
  /** How well it answers the question, in [0, 1]. A factor of the score. */
  relevance: number;
  /** How well its words match, as the text arm saw it. */
  text: number;
  /** How well its meaning matches, as the vector arm saw it. */
  vector: number;
  /** The cosine of its vector and the question's; null where it has no vector. */
  cosine: number | null;
  /** Tokens of the candidate whole. */
  tokens: number;
  /**
   * What became of it: taken, cut, background (taken because it fits), budget (no room was left), below_cut (too
   * far from the best), repeat (of another), superseded (by a newer item), given (the session has it) or floor
   * (too little relevance).
   */
  outcome: string;
  /** The handle of the newer item that says something else about the same. */
  superseded_by?: string | null;
  /** The handle of the item that it repeats. */
  same_as?: string | null;
}

/** Every candidate, best first. */
export interface Explained {
  /** Its id, unique in the tenant. */
  id: number;
  /** The agent that asks. */
  caller: string;
  /** A keyed hash of the query, in hexadecimal digits: equal for equal queries. The query is not kept. */
  query_hash: string;
  /** Tokens that the block might have. */
  token_budget: number;
  /** Tokens of the block. */
  total_tokens: number;
  /** How long it took, in milliseconds. */
  retrieval_ms: number;
  /** Nothing found stood out of what any question finds. */
  low_relevance: boolean;
  /** What did not answer, or not as it should. */
  degraded: Degraded[];
  /** When it was stored. */
  created_at: string;
  /** The mission; null where there is none. */
  mission_namespace?: string | null;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** The user whom it is about, or who said it. */
  user_id?: string | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** The time that the request asked about; null: now. */
  as_of?: string | null;
  /** Handles that explicit feedback named. Null: there was none. */
  used_source_ids?: string[] | null;
  /** Handles that were read, or cited by a later write. */
  weak_source_ids?: string[];
  /** How many tokens of the block were of use. */
  tokens_used?: number | null;
  /** `explicit`, or `implicit` for weak signals only. */
  feedback_kind?: string | null;
  /** When learning used it. */
  processed_at?: string | null;
  /** The scopes that were searched. */
  scopes: string[];
  /** Each store's share of the budget. */
  token_shares: Record<string, number>;
  /** Every candidate, best first. */
  candidates: ExplainedCandidate[];
  /** What became of the style that was asked for. Null: none was. */
  synthesis?: Synthesized | null;
}

/**
 * score = weight * relevance * recency * priority. `outcome`: taken, cut, background (taken because it fits),
 * budget (no room was left), below_cut (too far from the best), repeat (of `same_as`), superseded (by the newer
 * `superseded_by`), floor (too little evidence).
 */
export interface ExplainedCandidate {
  /** How a block names the item. */
  handle: string;
  /** The store that it is from, as weights name it. */
  store: string;
  /** What became of it. */
  outcome: string;
  /** Tokens in the block. */
  taken: number;
  /** Its score: the product of its factors. */
  score?: number | null;
  /** How much the store counts for the caller. A factor of the score. */
  weight?: number | null;
  /** How well it answers the question, in [0, 1]. A factor of the score. */
  relevance?: number | null;
  /** A factor of the score, in [0.6, 1]: it halves with the half-life of the store. */
  recency?: number | null;
  /** A factor of the score, by the type of the item. */
  priority?: number | null;
  /** Tokens of the candidate whole. */
  tokens?: number | null;
  /** The candidate that it repeats. */
  same_as?: string | null;
  /** The newer item that says something else about the same. */
  superseded_by?: string | null;
}

/** One line of an export. It has no vectors, because the importer computes them from the text. */
export interface ExportedMemory {
  /** Its id, unique in the tenant. */
  id: number;
  /** The agent. */
  agent_name: string;
  /** The text. */
  content: string;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type: "domain_pattern" | "lesson_learned" | "skill_heuristic" | "task_blueprint";
  /** The task that it was learned in. */
  task_context?: TaskContext | null;
  /** Hidden from peers. Default: `false`. */
  private?: boolean;
  /** When it happened, where that was said. */
  occurred_at?: string | null;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** Its place in the session. */
  seq?: number | null;
  /** Who said it, where that is not the agent. */
  speaker?: string | null;
  /** The user whom it is about, or who said it. */
  user_id?: string | null;
  /** The language that its writer named, or its tenant's where the content is too short to tell. */
  language?: Language | null;
  /** The files that its writer says it is about. */
  paths?: string[];
  /** The names in code that its writer says it is about. */
  symbols?: string[];
  /** The kind of step that its writer says it is. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The key that wrote it. */
  written_by: string;
  /** How it came to be known. */
  source_kind: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** Its duplicates are not looked for yet. Default: `false`. */
  pending?: boolean;
  /** How often its agent read it. Default: `0`. */
  access_count?: number;
  /** How often it was said again. Default: `0`. */
  confirmed_count?: number;
  /** When it was last said again. */
  confirmed_at?: string | null;
  /** When it was stored. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** Who said it again, and how often. */
  confirmations?: Confirmation[];
}

/** A triple as it was written, with both of its times. */
export interface Fact {
  /** Its id, unique in the tenant. */
  id: number;
  /** Who may read it. */
  scope: string;
  /** What the fact is about. */
  subject: string;
  /** The attribute or the relation. */
  predicate: string;
  /** The value, or the name of another entity. */
  object: string;
  /** How certain it is, up to 1. */
  confidence: number;
  /** Since when it holds. */
  valid_from: string;
  /** When it ceased to hold; null while it is open. */
  valid_to: string | null;
  /** Since when it is believed to hold then. */
  recorded_at: string;
  /** When that belief ended. */
  superseded_at?: string | null;
  /** It was stated as the only value of its predicate. */
  single?: boolean;
  /** A source that is trusted as much or more states another value for the same time. */
  disputed?: boolean;
  /** The user whom it is about, or who said it. */
  user_id?: string | null;
  /** The agent. */
  agent_name?: string | null;
  /** The key that wrote it. */
  written_by: string;
  /** How it came to be known. */
  source_kind: string;
  /** The kind of source that the writer claims, where its key may not say so. */
  source_claim?: string | null;
  /** The file of the vault that states it, with the line: `path#L10`. */
  source?: string | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** The key that last closed it. */
  closed_by?: string | null;
}

/** Counts of what the key may read. */
export interface FactStats {
  /** Facts that hold now. */
  facts: number;
  /** Also those that held before, or will. */
  believed: number;
  /** Also what was believed before. */
  recorded: number;
  /** Entities that facts which hold now are about. */
  subjects: number;
  /** Predicates of facts that hold now. */
  predicates: number;
  /** Scopes with facts that hold now. */
  scopes: number;
}

/** A page of facts. */
export interface Facts {
  /** The answer: one object, or a page of them. */
  data: Fact[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** An object that was brought back, or that answered a question. */
export interface Fault {
  /** Its id, unique in the tenant. */
  id: string;
  /** The id of an object. */
  object_id: string;
  /** `micro_fault`: a question was answered and the object stayed as it was. The others brought it back whole. */
  fault_type: "entropy_triggered" | "full_restore" | "micro_fault";
  /** How many turns had ended. */
  turn_number: number;
  /** The SHA-256 of the whole content, in hexadecimal. Contents that come back often are pinned for longer. */
  content_hash: string;
  /** When it was stored. */
  created_at: string;
  /** How long it took. */
  latency_ms?: number | null;
  /** What was asked, of a micro-fault. */
  question?: string | null;
  /** What was answered, of a micro-fault. */
  answer?: string | null;
  /** Tokens of the answer. */
  answer_tokens?: number | null;
  /** Tokens that bringing the object back would have taken beyond the answer. */
  avoided_tokens?: number | null;
}

/** A page of faults, in their order. */
export interface Faults {
  /** The answer: one object, or a page of them. */
  data: Fault[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface FeedbackTaken {
  /** The number of sources that are now known to be useful. */
  accepted: number;
  /** It was done. */
  success: boolean;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface FileLines {
  /** Where the file lies in the vault. */
  path: string;
  /** Its first line in the file, from 1. */
  first_line: number;
  /** Its last line in the file. */
  last_line: number;
  /** The lines. */
  text: string;
  /** False: it was read from the tenant's folder, and no search finds it yet. */
  indexed: boolean;
  /** Where to go on reading, if the range was longer than an answer may be. */
  next_line?: number | null;
}

/** What a handle of a block leads to. */
export interface FilePart {
  /** Its id, unique in the tenant. */
  id: number;
  /** Where the file lies in the vault. */
  path: string;
  /** What the file calls itself, or else its name. */
  title: string;
  /** Its first line in the file, from 1. */
  first_line: number;
  /** Its last line in the file. */
  last_line: number;
  /** Its lines. */
  text: string;
  /** When it was stored. */
  created_at: string;
  /** When it happened, where that was said. */
  occurred_at?: string | null;
}

export interface FilePartAnswer {
  /** The part of the file. */
  part: FilePart;
}

/** The erased rows by table. */
export interface ForgetReceipt {
  /** The agent. */
  agent_name: string;
  /** Rows erased, by table. */
  erased: Record<string, number>;
  /** When they were erased. */
  erased_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface ForgottenObject {
  /** Nothing of it is left. The session's own object stays, if the session is there. */
  id: string;
}

export interface FoundFiles {
  /** One passage of each file, the most relevant first. */
  files: FoundPassage[];
  /** What was not available, such as the embedder: then files were found by their words alone. */
  degraded: string[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface FoundLongTerm {
  /** Its id, unique in the tenant. */
  id: number;
  /** `preference`, `knowledge` and `summary` are documents. */
  kind: "commitment" | "episode" | "knowledge" | "preference" | "summary";
  /** Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. */
  scope: string;
  /** The text. */
  content: string;
  /** When it was stored. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** The agent that wrote it. */
  agent_name?: string | null;
  /** The user it is about. */
  user_id?: string | null;
  /** What it is about, in a few words. */
  topics?: string[];
  /** The mood of an episode. */
  tone?: string | null;
  /** When an episode ended. */
  ended_at?: string | null;
  /** Who made the promise. */
  owed_by?: string | null;
  /** To whom it was made. */
  owed_to?: string | null;
  /** When the promise is due. */
  due_at?: string | null;
  /** Of a commitment. It is `expired` from the moment when an open one is due. */
  status?: "cancelled" | "done" | "expired" | "open" | null;
  /** When it happened, where that was said. */
  occurred_at?: string | null;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** Its place in the session. */
  seq?: number | null;
  /** Who said it, where that is not the agent. */
  speaker?: string | null;
  /** The language that its writer named, or its tenant's where the content is too short to tell. */
  language?: Language | null;
  /** The files that its writer says it is about. */
  paths?: string[];
  /** The names in code that its writer says it is about. */
  symbols?: string[];
  /** The kind of step that its writer says it is. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The key that wrote it. */
  written_by?: string;
  /** How it came to be known. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** What its writer says the source is, where its key may not say so. */
  source_claim?: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The system that it was imported from, and its id there. */
  origin?: string | null;
  /** The newer memory that a write said supersedes it. */
  superseded_by?: number | null;
  /** The relevance, from 0 to 1. */
  score?: number;
  /** The content is the chunk that matched; `GET /api/memory/{id}` has the whole memory. */
  truncated?: boolean;
  /** Which chunk of a long memory it is, counted from 0. */
  chunk?: number | null;
  /** How many chunks the memory has. */
  chunks?: number | null;
}

export interface FoundLongTerms {
  /** The most relevant first. */
  memories: FoundLongTerm[];
  /** Which arm of the search found them. `text` needed no embedding of the query. */
  arm: "both" | "text" | "vector";
  /** What could not be searched fully, and why. */
  degraded: string[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface FoundMemories {
  /** The memories. */
  memories: FoundMemory[];
  /** What could not be searched fully, and why. */
  degraded: string[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/**
 * `score` is the composite: 0.625 relevance + 0.25 access + 0.125 outcome. The order is by relevance, whose odds
 * access raises by at most 20 % and outcome by at most 10 %.
 */
export interface FoundMemory {
  /** Its id, unique in the tenant. */
  id: number;
  /** The agent. */
  agent_name: string;
  /** The text. */
  content: string;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type: string;
  /** When it was stored. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** How often its agent read it. */
  access_count?: number;
  /** How often it was committed again. */
  confirmed_count?: number;
  /** When it was last stated again by a source that is trusted as much. */
  confirmed_at?: string | null;
  /** The task that it was learned in. */
  task_context?: TaskContext | null;
  /** Hidden from peers. */
  private?: boolean;
  /** When it happened, where that was said. */
  occurred_at?: string | null;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** Its place in the session. */
  seq?: number | null;
  /** Who said it, where that is not the agent. */
  speaker?: string | null;
  /** The user it is about, or who said it. */
  user_id?: string | null;
  /** The language that its writer named, or its tenant's where the content is too short to tell. */
  language?: Language | null;
  /** The files that its writer says it is about. */
  paths?: string[];
  /** The names in code that its writer says it is about. */
  symbols?: string[];
  /** The kind of step that its writer says it is. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The key that wrote it. */
  written_by?: string;
  /** How it came to be known. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** What its writer says the source is, where its key may not say so. */
  source_claim?: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The newer memory that a commit said supersedes it. */
  superseded_by?: number | null;
  /** Its score: the product of its factors. */
  score?: number;
  /** Relevance, access and outcome, before they are weighed. */
  score_parts?: Record<string, number>;
  /** The content is the chunk that matched; `GET /api/agent-memory/{id}` has the whole memory. */
  truncated?: boolean;
  /** Which chunk of a long memory it is, counted from 0. */
  chunk?: number | null;
  /** How many chunks the memory has. */
  chunks?: number | null;
}

/** An object that a search found. */
export interface FoundObject {
  /** Its id, unique in the tenant. */
  id: string;
  /** Its number in the handles of assembled context. */
  number: number;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** What it is a version of, such as the path of a file. */
  source_key: string | null;
  /** 0: the context shows it whole. 4: not at all. */
  current_fidelity: number;
  /** What it is, in a line. */
  stub: string;
  /** What it would take whole. */
  tokens_l0: number;
  /** The relevance, from 0 to 1. */
  score: number;
  /** The part of it that matched best. */
  passage: string;
  /** Where the object begins in its source, counted from 1. */
  start_line: number | null;
  /** Where it ends in its source. */
  end_line: number | null;
  /** The session has a newer version. */
  superseded: boolean;
}

export interface FoundObjects {
  /** The most relevant first. */
  objects: FoundObject[];
  /** What could not be searched fully, and why. */
  degraded: string[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** The best passage of a file. */
export interface FoundPassage {
  /** How a block names the item. */
  handle: string;
  /** Where the file lies in the vault. */
  path: string;
  /** What the file calls itself, or else its name. */
  title: string;
  /** Its first line in the file, from 1. */
  first_line: number;
  /** Its last line in the file. */
  last_line: number;
  /** The passage. */
  text: string;
  /** The relevance, from 0 to 1. */
  score: number;
  /** When it was stored. */
  created_at: string;
  /** When it happened, where that was said. */
  occurred_at?: string | null;
}

/**
 * A page of the assemblies that gave an item, newest first. It may hold few of them, or none, and still name a
 * next one.
 */
export interface Given {
  /** The answer: one object, or a page of them. */
  data: GivenTo[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** An assembly that gave an item. */
export interface GivenTo {
  /** The id that `assemble` answered. */
  assembly_id: number;
  /** The item as the block named it: `own` to its agent, `peer` to others. */
  handle: string;
  /** Who was given it. */
  caller: string;
  /** The mission; null where there is none. */
  mission_namespace: string | null;
  /** The session that it belongs to. */
  session_id: string | null;
  /** The user that the assembly was for. */
  user_id: string | null;
  /** Whether explicit feedback named it as useful. Null: there was none. */
  used: boolean | null;
  /** When it was given. */
  created_at: string;
}

export interface GoalSet {
  /** What the agent works towards now. */
  goal: string | null;
  /** Objects about the goal that came up whole, because the budget allows it. */
  raised: string[];
  /** Objects about the goal that are whole already. They count as used in this turn. */
  kept: string[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A fact in the block. */
export interface GraphContextEntry {
  /** Its id, unique in the tenant. */
  id: number;
  /** What the fact is about. */
  subject: string;
  /** The attribute or the relation. */
  predicate: string;
  /** The value, or the name of another entity. */
  object: string;
  /** Since when it holds. */
  valid_from: string;
  /** When it ceases to hold; null: it is open. */
  valid_to: string | null;
  /** Estimated tokens of its line. */
  tokens: number;
  /** Its line in the block. */
  content: string;
  /** How much it counts beside other facts of its entity: 1 when it was just stated, and never below 0.5. */
  weight: number;
  /** In how many days what is above 0.5 halves, by its predicate. Null: it does not fade. */
  half_life_days: number | null;
  /** When it was recorded, or last confirmed by consolidation. The weight counts from then. */
  stated_at: string | null;
  /** How often consolidation learned it again. */
  confirmations: number;
}

/** A page of the trail, in order. */
export interface History {
  /** The answer: one object, or a page of them. */
  data: TrailEvent[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** An image. Answers hold its hash and size in place of `data`. */
export interface ImageBlock {
  /** Which kind of block it is. */
  type: "image";
  /** The kind of image, such as image/png. */
  media_type: string;
  /** In base64. It is not stored. */
  data?: string | null;
  /** The SHA-256 of its bytes, in hexadecimal. */
  sha256?: string | null;
  /** How many bytes it has. */
  bytes?: number | null;
}

/**
 * `remapped`: {id in the file: id here} where another memory has the id, no memory here ever had one so high, or
 * the fact was known. The ids of memories that one in the file had absorbed follow.
 */
export interface ImportResult {
  /** How many lines became memories. */
  imported: number;
  /** How many lines said what their agent knew. */
  already_there: number;
  /** Ids that changed, by the id in the file. */
  remapped: Record<string, number>;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Intel {
  /** The type of the entry, which decides its further fields. */
  context_type: "intel";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** Where it comes from. */
  intel_source: string;
  /** How sure it is. */
  intel_confidence?: "high" | "low" | "medium" | null;
}

export interface InvalidatedFacts {
  /** The facts that it closed. */
  closed: number[];
  /** The facts that it left open, because a more trusted source or another agent stated them. */
  kept: number[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What happened to a message, or to a piece of a long one. */
export interface Kept {
  /** The message's index in the request; 0 for `text`. */
  item: number;
  /** `updated`: it was known and is now confirmed. `pending`: stored, and later merged if known. */
  status: "created" | "pending" | "refused" | "skipped" | "updated";
  /** The rule that chose its place, or why it is not kept. */
  why: string;
  /** When its mission drops it. Null for what an agent keeps until it is forgotten. */
  expires_at: string | null;
  /** The piece's index in a long message, from 0. */
  piece?: number;
  /** The store that it is from, as weights name it. */
  store?: "agent_memory" | "psychic_cache" | null;
  /** Its id, unique in the tenant. */
  id?: number | null;
  /** The name that a context block gives it. */
  handle?: string | null;
  /** Its context_type or memory_type. */
  kind?: string | null;
  /** It waits for a reviewer, and its id is negative: no item has it yet. */
  review?: "pending" | null;
  /** Where else it is kept, if it lasts: in long-term memory. */
  also?: Copy | null;
  /** The facts that it states, and what became of them in the graph. */
  facts?: StatedFact[];
}

/** What became of an object that was kept. */
export interface KeptObject {
  /** What it is among the user's persistent objects. */
  id: string;
  /** False: the user had the same content already, and it was reinforced, unless the key may not reinforce it. */
  created: boolean;
  /** How certain it is, up to 1. */
  confidence: number;
  /** How often it was kept again or confirmed. */
  reinforcements: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export type Language = "ar" | "bg" | "ca" | "cs" | "da" | "de" | "el" | "en" | "es" | "et" | "eu" | "fa" | "fi" | "fr" | "ga" | "he" | "hi" | "hr" | "hu" | "hy" | "id" | "it" | "ja" | "ko" | "lt" | "lv" | "ne" | "nl" | "no" | "pl" | "pt" | "ro" | "ru" | "sk" | "sl" | "sr" | "sv" | "ta" | "th" | "tr" | "uk" | "ur" | "vi" | "zh";

/** The last run over the tenant's folder, or the present one. */
export interface LastRun {
  /** How many files were looked at. */
  files: number;
  /** How many were indexed as they are. */
  unchanged: number;
  /** How many were indexed, because they are new or differ. */
  changed: number;
  /** How many left the index, because they are gone or no longer a file that can be indexed. */
  removed: number;
  /** The files that are not indexed, each with the reason: the first thousand. */
  refused: RefusedFile[];
  /** How many they are. */
  refusals: number;
  /** Null: there was no run yet. */
  started_at: string | null;
  /** Null: it is under way, or was broken off. */
  finished_at: string | null;
}

/** What was found and had no room. */
export interface LeftOut {
  /** The number of items, or of parts of long items. */
  count: number;
  /** Of the best of them. */
  handles: string[];
  /** The number that is too far from the best. `fill` asks for them. */
  below_cut: number;
}

/** Whether the mission has the limit of its own, or the installation's default holds. */
export interface LimitOrigins {
  /** Tokens that it may hold. */
  token_budget: "installation" | "mission";
  /** Entries that the mission may hold. */
  entry_budget: "installation" | "mission";
  /** How many hours an entry lives that names no time to live. */
  ttl_hours: "installation" | "mission";
}

export interface LimitsAnswer {
  /** The answer: one object, or a page of them. */
  data: LimitsInForce;
}

export interface LimitsInForce {
  /** The mission. */
  mission_id: string;
  /** Tokens that it may hold. */
  token_budget: number;
  /** Entries that the mission may hold. */
  entry_budget: number;
  /** How long an entry lives that names no time to live. */
  ttl_hours: number;
  /** Where each limit comes from. */
  origins: LimitOrigins;
}

/** An object without its text. */
export interface ListedObject {
  /** Its id, unique in the tenant. */
  id: string;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** What it is a version of, such as the path of a file. */
  source_key: string | null;
  /** Which part of its source it is, counted from 0. */
  segment: number;
  /** 0: whole. 1: a detailed summary. 2: a compact one. 3: one line. 4: nothing. */
  current_fidelity: number;
  /** It keeps its fidelity, except in an emergency. */
  pinned: boolean;
  /** The last turn in which it is pinned; null with `pinned`: until it is unpinned. */
  pinned_until: number | null;
  /** The newer version of it. */
  superseded_by: string | null;
  /** One line that stands for it. */
  stub: string;
  /** Tokens of all of it. */
  tokens_l0: number;
  /** Tokens of the detailed summary; null: there is none. */
  tokens_l1: number | null;
  /** Tokens of the compact summary; null: there is none. */
  tokens_l2: number | null;
  /** Tokens of the line that stands for it. */
  tokens_l3: number;
  /** How often it was brought back whole. */
  fault_count: number;
  /** How many turns had ended when it came. */
  created_turn: number;
  /** How many turns had ended when it was last used. */
  last_accessed_turn: number;
  /** When it was stored. */
  created_at: string;
}

/** A page of objects, in the order in which they came. */
export interface ListedObjects {
  /** The answer: one object, or a page of them. */
  data: ListedObject[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** A page of assemblies, newest first. */
export interface LogEntries {
  /** The answer: one object, or a page of them. */
  data: LogEntry[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** One assembly. The log keeps only the query's SHA-256. */
export interface LogEntry {
  /** Its id, unique in the tenant. */
  id: number;
  /** The agent that asks. */
  caller: string;
  /** A keyed hash of the query, in hexadecimal digits: equal for equal queries. The query is not kept. */
  query_hash: string;
  /** Tokens that the block might have. */
  token_budget: number;
  /** Tokens of the block. */
  total_tokens: number;
  /** How long it took, in milliseconds. */
  retrieval_ms: number;
  /** Nothing found stood out of what any question finds. */
  low_relevance: boolean;
  /** What did not answer, or not as it should. */
  degraded: Degraded[];
  /** When it was stored. */
  created_at: string;
  /** The mission; null where there is none. */
  mission_namespace?: string | null;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** The user whom it is about, or who said it. */
  user_id?: string | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** The time that the request asked about; null: now. */
  as_of?: string | null;
  /** Handles that explicit feedback named. Null: there was none. */
  used_source_ids?: string[] | null;
  /** Handles that were read, or cited by a later write. */
  weak_source_ids?: string[];
  /** How many tokens of the block were of use. */
  tokens_used?: number | null;
  /** `explicit`, or `implicit` for weak signals only. */
  feedback_kind?: string | null;
  /** When learning used it. */
  processed_at?: string | null;
}

/** A page of memories, newest first. */
export interface LongTermMemories {
  /** The answer: one object, or a page of them. */
  data: LongTermMemory[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface LongTermMemory {
  /** Its id, unique in the tenant. */
  id: number;
  /** `preference`, `knowledge` and `summary` are documents. */
  kind: "commitment" | "episode" | "knowledge" | "preference" | "summary";
  /** Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. */
  scope: string;
  /** The text. */
  content: string;
  /** When it was stored. */
  created_at: string;
  /** When it was last changed. */
  updated_at: string;
  /** The agent that wrote it. */
  agent_name?: string | null;
  /** The user it is about. */
  user_id?: string | null;
  /** What it is about, in a few words. */
  topics?: string[];
  /** The mood of an episode. */
  tone?: string | null;
  /** When an episode ended. */
  ended_at?: string | null;
  /** Who made the promise. */
  owed_by?: string | null;
  /** To whom it was made. */
  owed_to?: string | null;
  /** When the promise is due. */
  due_at?: string | null;
  /** Of a commitment. It is `expired` from the moment when an open one is due. */
  status?: "cancelled" | "done" | "expired" | "open" | null;
  /** When it happened, where that was said. */
  occurred_at?: string | null;
  /** The session that it belongs to. */
  session_id?: string | null;
  /** Its place in the session. */
  seq?: number | null;
  /** Who said it, where that is not the agent. */
  speaker?: string | null;
  /** The language that its writer named, or its tenant's where the content is too short to tell. */
  language?: Language | null;
  /** The files that its writer says it is about. */
  paths?: string[];
  /** The names in code that its writer says it is about. */
  symbols?: string[];
  /** The kind of step that its writer says it is. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The key that wrote it. */
  written_by?: string;
  /** How it came to be known. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** What its writer says the source is, where its key may not say so. */
  source_claim?: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The system that it was imported from, and its id there. */
  origin?: string | null;
  /** The newer memory that a write said supersedes it. */
  superseded_by?: number | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface MadeKey {
  /** The key, without its secret. */
  key: ApiKey;
  /** The secret, shown only once. Null when an Idempotency-Key repeats a call, because secrets are not stored. */
  token: string | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface MadeWebhook {
  /** The webhook, without its secret. */
  webhook: Webhook;
  /** `whsec_…`, shown only once. Null when an Idempotency-Key repeats a call. */
  secret: string | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What the key of the request may do, and where. Null bounds are none. */
export interface Me {
  /** The tenant that it belongs to. */
  tenant: string;
  /** `key:12` for an API key, or `env:` and the access for a token of the environment. */
  name: string;
  /** What the key may do: `write` includes read, `admin` includes both. */
  access: ("admin" | "read" | "write")[];
  /** The agent whose item it is; null where nobody is named. */
  agent: string | null;
  /** The missions that it may touch; null: all. */
  missions: string[] | null;
  /** The users whom it may touch; null: all. */
  users: string[] | null;
}

/** A page of memories, newest first. */
export interface Memories {
  /** The answer: one object, or a page of them. */
  data: AgentMemory[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface MemoryAnswer {
  /** The memory. */
  memory: AgentMemory;
  /** Who said it again, and how often. */
  confirmations: Confirmation[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Message {
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** Who spoke: a user, the agent (`assistant`), a tool, or the system. */
  role: "assistant" | "system" | "tool" | "user";
  /** What was said. */
  content: string;
  /** The speaker's name, when the role says too little. */
  name?: string | null;
  /** When it was said. Left out, the request's `occurred_at`. */
  occurred_at?: string | null;
  /** Its number in the session. Left out, counted from the request's `seq`. */
  seq?: number | null;
}

/** A message of the conversation. `text` is short for content that is one text. */
export interface MessageInput {
  /** Who speaks. */
  role: "assistant" | "system" | "tool" | "user";
  /** A text, or a list of blocks: text, tool_use, tool_result and image. */
  content?: (TextBlock | ToolUse | ToolResult | ImageBlock)[] | string | null;
  /** In place of `content`. */
  text?: string | null;
  /** When it was said, by default now. A time without an offset is UTC. */
  occurred_at?: string | null;
}

/** The lines that answer. Their object stays as it is: bringing it back would take more tokens. */
export interface MicroFault {
  /** Null: nothing that the session holds answers it. */
  answer: string | null;
  /** The same in a model's words, where the installation has one: `answer` is the lines that prove it. */
  model_answer: string | null;
  /** The object that answers. */
  object_id: string | null;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result" | null;
  /** What it is a version of, such as the path of a file. */
  source_key: string | null;
  /** Where the answer begins in its source. */
  first_line: number | null;
  /** Where it ends. */
  last_line: number | null;
  /** How much of the object the context shows. */
  current_fidelity: number | null;
  /** Tokens of the answer. */
  answer_tokens: number;
  /** Tokens that bringing the object back would have taken beyond the answer. */
  avoided_tokens: number;
  /** It stands in the session's faults. A key that may not change the session asks without a trace. */
  recorded: boolean;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Mission {
  /** The mission. */
  mission_id: string;
  /** Tokens that it holds. */
  total_tokens: number;
  /** Entries that it holds. */
  entry_count: number;
  /** Tokens that it may hold. */
  token_budget: number;
  /** Entries that the mission may hold. */
  entry_budget: number;
  /** Entries that were ever written to it. */
  written_count: number;
  /** Entries that were evicted to keep its budgets. */
  evicted_count: number;
  /** When it was stored. */
  created_at: string;
  /** When something was last written to it. */
  last_write_at: string;
}

/** The language of a mission's texts and of questions about it, where neither they nor their writer tells it. */
export interface MissionLanguage {
  /** The mission. */
  mission_id: string;
  /** As ISO 639-1 names it; null where the tenant's holds. */
  language: Language | null;
}

export interface MissionLanguageAnswer {
  /** The answer: one object, or a page of them. */
  data: MissionLanguage;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of missions, by name. */
export interface MissionsAnswer {
  /** The answer: one object, or a page of them. */
  data: Mission[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** A page of agents, the most recently active first. */
export interface Monitored {
  /** The answer: one object, or a page of them. */
  data: MonitoredAgent[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface MonitoredAgent {
  /** The number of its last event. */
  seq: number;
  /** The agent. */
  agent_name: string;
  /** `active` if it did something in the last five minutes, or else `idle`. */
  status: string;
  /** `thinking`, `tools` or `idle`, by the last message in the trail of its session. Null: it keeps no trail. */
  doing: string | null;
  /** The last turn that its session ended, in the requested time. */
  turn: number | null;
  /** When it last wrote something that is remembered. */
  last_write_at: string | null;
  /** When it last asked for a context. */
  last_assembly_at: string | null;
  /** What its calls of models cost since midnight UTC, as far as their prices are known. */
  cost_today_usd: string;
  /** The kind of its last event, such as `cache_write`. */
  last_event: string;
  /** When it did that. */
  at: string;
  /** The mission. */
  mission_id: string | null;
  /** The session that it belongs to. */
  session_id: string | null;
  /** The dispatch that it belongs to. */
  dispatch_id: number | null;
  /** Dispatches that it was given and has not closed. */
  open_dispatches: number[];
  /** How many events of each kind it caused in the requested time. */
  events: Record<string, number>;
}

export interface Neighbour {
  /** Its id, unique in the tenant. */
  id: number;
  /** Who may read it. */
  scope: string;
  /** What the fact is about. */
  subject: string;
  /** The attribute or the relation. */
  predicate: string;
  /** The value, or the name of another entity. */
  object: string;
  /** How certain it is, up to 1. */
  confidence: number;
  /** Since when it holds. */
  valid_from: string;
  /** When it ceased to hold; null while it is open. */
  valid_to: string | null;
  /** Since when it is believed to hold then. */
  recorded_at: string;
  /** When that belief ended. */
  superseded_at?: string | null;
  /** It was stated as the only value of its predicate. */
  single?: boolean;
  /** A source that is trusted as much or more states another value for the same time. */
  disputed?: boolean;
  /** The user whom it is about, or who said it. */
  user_id?: string | null;
  /** The agent. */
  agent_name?: string | null;
  /** The key that wrote it. */
  written_by: string;
  /** How it came to be known. */
  source_kind: string;
  /** The kind of source that the writer claims, where its key may not say so. */
  source_claim?: string | null;
  /** The file of the vault that states it, with the line: `path#L10`. */
  source?: string | null;
  /** The assembly that led to it. */
  recalled_from?: number | null;
  /** The dispatch that it belongs to. */
  dispatch_id?: number | null;
  /** The key that last closed it. */
  closed_by?: string | null;
  /** How many facts lie between it and the entity, counting itself. */
  hop: number;
}

/** What holds now around an entity, the nearest first. */
export interface Neighbours {
  /** The answer: one object, or a page of them. */
  data: Neighbour[];
  /** There is more than `limit`. */
  truncated: boolean;
}

export interface NumberedAnswer {
  /** The answer: one object, or a page of them. */
  data: NumberedObject;
}

/** An object as a handle of assembled context names it. All of it, whatever the context of its session shows. */
export interface NumberedObject {
  /** Its id, unique in the tenant. */
  id: string;
  /** Its number in the handles of assembled context. */
  number: number;
  /** The session that it belongs to. */
  session_id: string;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** The tool that it comes from. */
  source_tool: string | null;
  /** What it is a version of, such as the path of a file. */
  source_key: string | null;
  /** All of it. */
  content: string;
  /** 0: the context of the session shows it whole. 4: not at all. */
  current_fidelity: number;
  /** Words to find it by, and to narrow a search to. */
  tags: string[];
  /** The newer version of it. */
  superseded_by: string | null;
  /** When it was stored. */
  created_at: string;
  /** Where it begins in its source, counted from 1. */
  start_line: number | null;
  /** Where it ends in its source. */
  end_line: number | null;
}

export interface ObjectAnswer {
  /** The answer: one object, or a page of them. */
  data: SemanticObject;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A message of OpenAI's chat completions. */
export interface OpenAIMessage {
  /** Who speaks. */
  role: "system";
  /** The parts in their order, with a blank line between them. */
  content: string;
}

export interface Output {
  /** The type of the entry, which decides its further fields. */
  context_type: "output";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. Required unless the key is bound to one. */
  agent_name?: string;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id: number | string;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** Where to find the work. */
  output_url: string;
  /** What the work is. */
  output_summary?: string | null;
}

export interface PendingReview {
  /** Memories by agent. */
  counts: Record<string, number>;
}

/** What a task wrote to a channel after the checkpoint. */
export interface PendingWrite {
  /** The task that wrote. */
  task_id: string;
  /** Its place among what the task wrote. */
  place: number;
  /** The channel that the task wrote to. */
  channel: string;
  /** The value, as the framework wrote it. */
  value: Record<string, unknown>;
}

export interface PersistentAnswer {
  /** The answer: one object, or a page of them. */
  data: PersistentObject;
}

/** What was kept for a user, across all sessions with this user. */
export interface PersistentObject {
  /** Its id, unique in the tenant. */
  id: string;
  /** Its number in handles, `persistent:<number>`. */
  number: number;
  /** The user it was kept for. A purge of the user erases it. */
  user_id: string;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** The text. */
  content: string;
  /** The agent that first kept it. */
  agent_name: string | null;
  /** How it came to be known. */
  source_kind: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The object of which it was first kept; null when its session was erased. */
  source_object_id: string | null;
  /** The session in which it was first kept; null when it was erased. */
  source_session_id: string | null;
  /** How sure it is now, up to 1. It halves with every 30 days in which nobody reinforces it. */
  confidence: number;
  /** How often it was kept again or confirmed. */
  reinforcements: number;
  /** When its confidence last rose. From then on it falls. */
  last_reinforced: string;
  /** When it was stored. */
  created_at: string;
}

/** A page of what was kept for a user, newest first. */
export interface PersistentObjects {
  /** The answer: one object, or a page of them. */
  data: PersistentObject[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface PredicateCount {
  /** The attribute or the relation. */
  predicate: string;
  /** How many facts with it hold now. */
  facts: number;
  /** How many entities have it. */
  subjects: number;
}

/** A page of predicates, in alphabetical order. */
export interface Predicates {
  /** The answer: one object, or a page of them. */
  data: PredicateCount[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** How much of its budget a session's context takes. */
export interface Pressure {
  /** How pressing it is: `normal` below half of the budget, `emergency` from 95 %. */
  zone: "caution" | "critical" | "emergency" | "normal" | "warning";
  /** The tokens over the budget. */
  share: number;
  /** Of every object at its fidelity. */
  total_context_tokens: number;
  /** Of the block as it is now. It differs until a batch makes it anew. */
  block_tokens: number;
  /** Tokens that it may hold. */
  token_budget: number;
  /** Objects that are whole. */
  objects_at_l0: number;
  /** Objects of which a detailed summary is left. */
  objects_at_l1: number;
  /** Objects of which a compact summary is left. */
  objects_at_l2: number;
  /** Objects of which a line is left. */
  objects_at_l3: number;
  /** Objects of which nothing is left in the context. */
  objects_evicted: number;
  /** Objects that are pinned. */
  objects_pinned: number;
  /** How many turns have ended. */
  turn: number;
}

/** What every block for an agent or a user says first. */
export interface Profile {
  /** The agent that it describes. */
  agent_name: string | null;
  /** The user that it describes. */
  user_id: string | null;
  /** What every block for the subject says first. */
  text: string;
  /** Blocks for the subject also show its background. */
  background: boolean;
  /** The key that wrote it. */
  written_by: string;
  /** The kind of source it is from. */
  source_kind: string;
  /** The kind that the writer names, where its key may not say so. */
  source_claim: string | null;
  /** When it was last changed. */
  updated_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of profiles, agents' before users', by name. */
export interface Profiles {
  /** The answer: one object, or a page of them. */
  data: Profile[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface Prompt {
  /** The tier that was chosen. */
  tier: string;
  /** The parts of the prompt: stable, semi-stable, dynamic. */
  blocks: PromptTier[];
  /** What became of each block, in the order of the request. Blocks that the tier does not hold are not listed. */
  parts: PromptPart[];
  /** Tokens of the prompt. */
  total_tokens: number;
  /** Documents that could not be read, and what was missing when the context was assembled. */
  degraded: Degraded[];
  /** The assembled context, which ends the dynamic part. Null: none was asked for. */
  assembly: Assembly | null;
  /** Only with the format `anthropic`. */
  system?: AnthropicBlock[];
  /** Only with the format `openai`. */
  messages?: OpenAIMessage[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What became of a block. */
export interface PromptPart {
  /** Its name, which need not be unique. */
  name: string;
  /** The part of the prompt that it belongs to. */
  stability: "dynamic" | "semi_stable" | "stable";
  /** What of it is in the prompt. */
  outcome: "cut" | "left_out" | "whole";
  /** Estimated tokens of it in the prompt. */
  tokens: number;
  /**
   * It stands under a header `[handle kind author nonce]`, because agents or users may have written it. The
   * nonce changes only with the contents of its part of the prompt.
   */
  fenced?: boolean;
  /** Why it is not whole, such as `budget`, `not found` or `agent_memory timeout`. */
  reason?: string | null;
}

/** One part of the prompt. It is empty where it holds nothing. */
export interface PromptTier {
  /** Which part it is. */
  stability: "dynamic" | "semi_stable" | "stable";
  /** Its words. The same blocks with the same contents make the same bytes, except for what is assembled. */
  text: string;
  /** Of the bytes of the text in UTF-8. */
  sha256: string;
  /** Estimated tokens of the text. */
  tokens: number;
  /** False: a block is cut or left out, as `parts` say. */
  complete: boolean;
}

export interface PrunedThreads {
  /** How many were erased. */
  checkpoints: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface PutFileResult {
  /** `unchanged`: nothing was written. */
  status: "changed" | "created" | "unchanged";
  /** The ids of the parts that the piece was stored as; those of handles `vault:<id>`. */
  ids: number[];
  /** How many passages can be found. */
  chunks: number;
  /** The last line of the piece, counted from the file's first. */
  last_line: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface QueryAnswer {
  /** The answer: one object, or a page of them. */
  data: QueryResult;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface QueryResult {
  /** Text for a prompt. Each item begins with a header: `[handle time kind author nonce]`. */
  context_block: string;
  /** Ends each header of this block. No text in the block holds it. */
  nonce: string;
  /** What is in the block, and the same of each: `truncated` ones show a piece. */
  entries: CacheEntry[];
  /** How many more entries matched, and why they are left out. */
  dropped: Dropped;
  /** What the block takes, and what the entries hold besides: tags, say. It keeps the budget. */
  total_tokens: number;
  /** How many live entries the searched missions hold. */
  cache_size: number;
  /** What could not be searched fully, and why. */
  degraded: string[];
}

export interface Rebuilt {
  /** The last event of the trail. */
  through: number;
  /** How many events it was made of. */
  events: number;
  /** The snapshot did not say what the trail says. */
  changed: boolean;
}

/** The rows that a purge erased. */
export interface Receipt {
  /** Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`. */
  scope: string;
  /** Erased rows by service and table. */
  erased: Record<string, Record<string, number>>;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What was recorded. */
export interface RecordedCost {
  /** The id of its row. */
  id: number;
  /** Null where the model has no price, or the tokens are not known. */
  cost_usd: string | null;
  /** Those that the call counts towards, as far as the key may know of them. Once one is reached, make no other. */
  ceilings: CeilingState[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Redelivered {
  /** Events that are to be sent again. */
  waiting: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface RefusedFile {
  /** Where the file lies in the vault. */
  path: string;
  /** Why it is not indexed. */
  reason: string;
}

export interface Related {
  /** The answer: one object, or a page of them. */
  data: Relationship;
  /** False: it was there already, and has the metadata that was sent now. */
  created: boolean;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** An edge between two objects of a session. */
export interface Relationship {
  /** Its id, unique in the tenant. */
  id: string;
  /** Where it begins. */
  source_id: string;
  /** Where it ends. */
  target_id: string;
  /** What the source has to do with the target. */
  relationship: "caused_by" | "depends_on" | "parent_of" | "references" | "supersedes";
  /** What the host said of it. */
  metadata: Record<string, string>;
  /** When it was stored. */
  created_at: string;
}

/** A page of relationships, the earliest first. */
export interface Relationships {
  /** The answer: one object, or a page of them. */
  data: Relationship[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** The outcomes, in the order of the request. */
export interface RememberResult {
  /** What became of each message, or of each piece of a long one. */
  items: Kept[];
  /** How many items were stored or confirmed. */
  stored: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface RemovedAlias {
  /** How many facts went back to the name under which they were stated. */
  moved: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface RemovedFile {
  /** How many parts are gone. */
  removed: number;
}

/** What would have been taken. The sizes of cut items are estimates, because the log keeps no content. */
export interface Replay {
  /** The id that `assemble` answered. */
  assembly_id: number;
  /** Tokens that the block might have. */
  token_budget: number;
  /** Tokens of the block. */
  total_tokens: number;
  /** Handles that would have been added. */
  added: string[];
  /** Handles that would have been removed. */
  removed: string[];
  /** Every candidate, best first. */
  candidates: ExplainedCandidate[];
  /** What the helper model wrote of what was taken then. A replay does not ask it again. */
  synthesis?: Synthesized;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Report {
  /** The type of the entry, which decides its further fields. */
  context_type: "report";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** The dispatch that it reports on. */
  report_dispatch_id: number | string;
  /** How the work ended. */
  report_outcome: "failed" | "partial" | "success";
}

export interface Reset {
  /** Their conversations begin anew. Their trails keep everything. */
  sessions: string[];
  /** There are more: send it again. */
  more: boolean;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** An object that is whole again. */
export interface Restored {
  /** The answer: one object, or a page of them. */
  data: SemanticObject;
  /** False: it was whole already. */
  restored: boolean;
  /** Objects within two relations that came up with it, because the budget allows it. */
  related: string[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** An item of the queue, and why it stands there. */
export interface ReviewItem {
  /** Its handle. The number of a write that waits is negative: no item has it. */
  handle: string;
  /** Its text, or the beginning of it. */
  content: string;
  /** The text is longer. */
  cut: boolean;
  /** Where it is, or will be. */
  scope: string;
  /** The agent that wrote it. */
  agent_name: string | null;
  /** The mission it is of. */
  mission_id: string | null;
  /** The user it is about. */
  user_id: string | null;
  /** The key that wrote it. */
  written_by: string;
  /** The kind of source it is from. */
  source_kind: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** What its writer says the source is, where its key may not say so. */
  source_claim: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** When it was stored. */
  created_at: string;
  /**
   * `waiting`: a write that nobody is shown before it is approved. `near_duplicate`: another memory of the agent
   * says nearly the same. `disputed`: another fact contradicts it. `low_trust`: neither a user nor an agent
   * vouches for it. `derived`: it was learned from sessions or files.
   */
  kind: "derived" | "disputed" | "low_trust" | "near_duplicate" | "waiting";
  /** Whose rule a write waits for: `mission:…` and `agent:…`. */
  rules: string[];
  /** What it resembles or contradicts. */
  other: ReviewedItem | null;
  /** How far the two near duplicates are apart: 1 less their cosine. */
  distance: number | null;
}

/**
 * A page of the queue: first what waits, then near duplicates, disputes, low trust and what is derived, each
 * with the newest first. A page may hold few items, or none, and still name a next one.
 */
export interface ReviewQueue {
  /** The answer: one object, or a page of them. */
  data: ReviewItem[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** Writes of this mission or agent wait for a reviewer. */
export interface ReviewRule {
  /** `mission:…` or `agent:…`. */
  scope: string;
  /** The key that set the rule. */
  set_by: string;
  /** When it was set. */
  set_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of the rules, by scope. */
export interface ReviewRules {
  /** The answer: one object, or a page of them. */
  data: ReviewRule[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

/** An item, or a write that waits. */
export interface ReviewedItem {
  /** Its handle. The number of a write that waits is negative: no item has it. */
  handle: string;
  /** Its text, or the beginning of it. */
  content: string;
  /** The text is longer. */
  cut: boolean;
  /** Where it is, or will be. */
  scope: string;
  /** The agent that wrote it. */
  agent_name: string | null;
  /** The mission it is of. */
  mission_id: string | null;
  /** The user it is about. */
  user_id: string | null;
  /** The key that wrote it. */
  written_by: string;
  /** The kind of source it is from. */
  source_kind: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** What its writer says the source is, where its key may not say so. */
  source_claim: "agent" | "derived" | "document" | "imported" | "tool" | "user" | null;
  /** When it was stored. */
  created_at: string;
}

/** What paging saves, as far as sessions show it. */
export interface Savings {
  /** Those that were paged. */
  paged: SessionCosts;
  /** The random share that was not. */
  control: SessionCosts;
  /** The share by which a paged session costs less; negative where it costs more. Null: too few sessions. */
  saved: number | null;
  /** The lower end of the interval that holds it with a probability of 95 %. */
  saved_low: number | null;
  /** The upper end. */
  saved_high: number | null;
}

/** A scope that was searched, and the number of items in it. */
export interface SearchedScope {
  /** `agent:*` is every agent's memories, and `session:…` the objects of the request's session. */
  scope: string;
  /** About how many it holds; null where its owner did not answer. */
  items: number | null;
  /** A mission or a project of the request refers to it. */
  neighbour?: boolean;
}

/** What becomes of secrets in what the tenant's callers send. */
export interface SecretPolicy {
  /** `mask`: each is replaced by its kind. `refuse`: the request is answered 422. `allow`: they stay. */
  policy: "allow" | "mask" | "refuse";
  /** Whether the tenant has a policy of its own, or the default holds. */
  origin: "installation" | "tenant";
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** An object of a session's context. */
export interface SemanticObject {
  /** Its id, unique in the tenant. */
  id: string;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** The tool that it comes from. */
  source_tool: string | null;
  /** What it is a version of, such as the path of a file. */
  source_key: string | null;
  /** Which part of its source it is, counted from 0. */
  segment: number;
  /** 0: whole. 1: a detailed summary. 2: a compact one. 3: one line. 4: nothing. */
  current_fidelity: number;
  /** It keeps its fidelity, except in an emergency. */
  pinned: boolean;
  /** The last turn in which it is pinned; null with `pinned`: until it is unpinned. */
  pinned_until: number | null;
  /** Why it is pinned. */
  pin_reason: string | null;
  /** The newer version of it. */
  superseded_by: string | null;
  /** At its fidelity; null if it is evicted. */
  content: string | null;
  /** One line that stands for it. */
  stub: string;
  /** What the detailed summary does not say. */
  losses_l1: string[];
  /** What the compact summary does not say, and the detailed one does. */
  losses_l2: string[];
  /** Questions that the detailed summary answers. */
  can_answer_l1: string[];
  /** Questions that the compact summary answers. */
  can_answer_l2: string[];
  /** When the agent needs it whole. */
  fault_when: string[];
  /** Names in it, of files and functions for example. */
  key_entities: string[];
  /** Words to find it by, and to narrow a search to. */
  tags: string[];
  /** Tokens of all of it. */
  tokens_l0: number;
  /** Tokens of the detailed summary; null: there is none. */
  tokens_l1: number | null;
  /** Tokens of the compact summary; null: there is none. */
  tokens_l2: number | null;
  /** Tokens of the line that stands for it. */
  tokens_l3: number;
  /** How often its agent read it. */
  access_count: number;
  /** How often it was brought back whole. */
  fault_count: number;
  /** How often a question was answered from it. */
  micro_fault_count: number;
  /** How many turns had ended when it came. */
  created_turn: number;
  /** How many turns had ended when it was last used. */
  last_accessed_turn: number;
  /** When it was stored. */
  created_at: string;
  /** When it was last used. */
  last_accessed: string;
  /** The first turn it is from. */
  source_turn_start: number | null;
  /** The last turn it is from. */
  source_turn_end: number | null;
  /** Where it begins in its source, counted from 1. */
  start_line: number | null;
  /** Where it ends in its source. */
  end_line: number | null;
}

/** A session, and how much happened in it. */
export interface Session {
  /** Its id, unique in the tenant. */
  id: string;
  /** The host's own name for it. */
  external_id: string;
  /** Only an active one takes events, objects and turns. */
  status: "abandoned" | "active" | "completed";
  /** The agent. */
  agent_name: string | null;
  /** The mission. */
  mission_id: string | null;
  /** The user whom it is about, or who said it. */
  user_id: string | null;
  /** The model that it runs on. */
  model: string;
  /** What the agent works towards now. */
  goal: string | null;
  /** Its limits. */
  config: SessionConfig;
  /** How many turns have ended. */
  total_turns: number;
  /** How many objects it ever had. */
  total_objects: number;
  /** Objects that were brought back whole. */
  total_faults: number;
  /** Questions that were answered without bringing an object back. */
  total_micro_faults: number;
  /** The number of the last event of its trail. */
  last_seq: number;
  /** When it was stored. */
  created_at: string;
  /** When something last happened in it. */
  last_active_at: string;
  /** When it ended; null while it is open. */
  closed_at: string | null;
}

export interface SessionAnswer {
  /** The answer: one object, or a page of them. */
  data: Session;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** Limits of one session. */
export interface SessionConfig {
  /** The tokens that its context may take. Pressure is the share of it that is taken. Default: `100000`. */
  token_budget?: number;
  /** Above so many tokens of conversation, a compaction is due. Default: `150000`. */
  compaction_tokens?: number;
}

/** The objects of a session within its budget, in the order in which they came. */
export interface SessionContext {
  /**
   * Each object under a header `[object:id time type level nonce]`. Text that was sent once keeps its bytes and
   * its place until the end of a turn makes the block anew.
   */
  context_block: string;
  /** The last word of every header. No text of the block holds it. */
  nonce: string;
  /** In the order of the block. */
  objects: ShownObject[];
  /** Tokens that it holds. */
  total_tokens: number;
}

/** What sessions of the gateway cost. */
export interface SessionCosts {
  /** How many sessions. */
  sessions: number;
  /** How many requests, with those that the gateway made itself. */
  calls: number;
  /** The mean. Null without a session whose model has a price. */
  usd_per_session: number | null;
  /** The standard deviation. Null with fewer than two sessions. */
  deviation_usd: number | null;
}

/** A page of sessions, newest first. */
export interface Sessions {
  /** The answer: one object, or a page of them. */
  data: Session[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface ShadowClone {
  /** The type of the entry, which decides its further fields. */
  context_type: "shadow_clone";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** What the clones do in parallel. */
  subtasks: string[];
  /** How many clones work on it. */
  clone_count?: number | null;
}

/** An object as the block shows it. */
export interface ShownObject {
  /** Its id, unique in the tenant. */
  id: string;
  /** What kind of thing it is. */
  object_type: "conversation_phase" | "debugging_session" | "design_decision" | "error_context" | "external_reference" | "file_context" | "plan" | "tool_result";
  /** How the block shows it. */
  fidelity: number;
  /** How the next block shows it, once a batch has made it anew. */
  current_fidelity: number;
  /** How many tokens it takes in the block. */
  tokens: number;
  /** It keeps its fidelity, except in an emergency. */
  pinned?: boolean;
  /** What it is a version of, such as the path of a file. */
  source_key?: string | null;
  /** Names in it, of files and functions for example. */
  key_entities?: string[];
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
}

/** One item of the block. score = weight * relevance * recency * priority. */
export interface Source {
  /** The item's name in the block, in feedback and in `/api/context/sources`. */
  handle: string;
  /** The item's store, as weights name it; `explicit_link` for a file that the request linked; or `profile`. */
  store: string;
  /** Its id, unique in the tenant. */
  id: number;
  /** The index of this part of a long item. */
  chunk: number;
  /** The item's context_type or memory_type. */
  kind: string;
  /** Its score: the product of its factors. */
  score: number;
  /** How much the store counts for the caller. A factor of the score. */
  weight: number;
  /** How well it answers the question, in [0, 1]. A factor of the score. */
  relevance: number;
  /** A factor of the score, in [0.6, 1]: it halves with the half-life of the store. */
  recency: number;
  /** A factor of the score, by the type of the item. */
  priority: number;
  /** Its tokens in the block. */
  tokens: number;
  /** Only a part of it is in the block. */
  cut: boolean;
  /** The agent that wrote it. */
  agent: string | null;
  /** Who said it, as the agent claims. */
  speaker: string | null;
  /** The kind of source it is from. A block notes every kind but `user` and `agent`. */
  source_kind: string;
  /** When it happened, or else when it was written. */
  at: string;
  /** What it states in the place of, as its header in the block says: the value of the newest item it supersedes. */
  was?: string | null;
  /** It is there because it fits, and not because it is relevant. */
  background?: boolean;
  /** The scope it is from, if the request only refers to it. Its relevance counts half. */
  neighbour?: string | null;
  /**
   * The part is not its beginning: it is the passages that match the query best, with `…` where others are left
   * out. `GET /api/context/sources/{handle}` returns the whole item.
   */
  excerpt?: boolean;
  /** The handles of items that say the same. The block shows only this one, and its header counts them: `×3`. */
  repeats?: string[];
}

/** What differs for messages of one source. */
export interface SourceInput {
  /** The tier of its messages. */
  tier?: string | null;
  /** What the dynamic part says first: what kind of session it is. */
  text?: string | null;
}

/** The whole item behind a handle, as its owner returns it. */
export interface SourceItem {
  /** How a block names the item. */
  handle: string;
  /** The store that it is from, as weights name it. */
  store: string;
  /** The item as its owner answers it. */
  item: unknown;
  /** Which part of a long item, from 0. */
  chunk?: number | null;
}

export interface SourceWeight {
  /** `*`: every caller without a row of its own. */
  caller: string;
  /** The store, as weights name it. */
  source: string;
  /** How much the store counts for the caller. A factor of the score. */
  weight: number;
  /** The source's share of the budget. */
  token_share: number;
  /** An operator set it, and learning leaves it alone. */
  manual: boolean;
  /** When it was last changed. */
  updated_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** Rows that differ from the start values. `*` stands for every caller without a row of its own. */
export interface SourceWeights {
  /** A row for each caller and store. */
  weights: SourceWeight[];
  /** The start values, by store. */
  start: Record<string, number>;
}

export interface StateChange {
  /** The type of the entry, which decides its further fields. */
  context_type: "state_change";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** What it was before. */
  state_from: string;
  /** What it is now. */
  state_to: string;
  /** What caused it. */
  state_trigger?: string | null;
}

/** A fact that a message states, as `/api/kg` holds it besides. */
export interface StatedFact {
  /** What the fact is about. */
  subject: string;
  /** The attribute or the relation. */
  predicate: string;
  /** The value, or the name of another entity. */
  object: string;
  /** `known`: it was there. `refused`: it is not stated, and `why` says the reason. */
  status: "created" | "extended" | "known" | "refused";
  /** The rule that found it, or why it is not stated. */
  why: string;
  /** Its id, unique in the tenant. */
  id?: number | null;
  /** The name that a context block gives it. */
  handle?: string | null;
  /** Who finds it. */
  scope?: string | null;
  /** The facts that no longer hold because of it. */
  closed?: number[];
  /** The facts that it contradicts and could not close: they stand beside it. */
  disputes?: number[];
}

export interface StatsAnswer {
  /** The answer: one object, or a page of them. */
  data: CacheStats;
}

/** What of a store waits. Until it has vectors, questions find it by its words. */
export interface StoreWaiting {
  /** The store that it is from, as weights name it. */
  store: string;
  /** How many of its items wait; 100,000 stands for more. */
  items: number;
  /**
   * When all of them should have vectors; what other tenants wrote before them comes first. Null when nothing
   * waits, and while no vectors are made.
   */
  expected_at: string | null;
}

export interface StoredCheckpoint {
  /** The framework's own name for the thread. */
  thread_id: string;
  /** The framework's own name for the checkpoint. */
  checkpoint_id: string;
  /** When the thread is erased, unless it is written to. */
  expires_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface StoredWrites {
  /** How many of them are new or replaced. */
  stored: number;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What became of the style that was asked for. */
export interface SynthesisOfBlock {
  /** The style that was asked for. */
  asked: "factual" | "narrative" | "structured";
  /** That of the block: the one that was asked for, or `structured`. */
  style: "factual" | "narrative" | "structured";
  /** The helper model, as `provider:model`. */
  model?: string | null;
  /** The version of what the model was asked. */
  prompt?: string | null;
  /** Tokens of what it wrote. */
  tokens?: number;
  /** The handles that it cites, in order. All of them are items of the block that it wrote from. */
  cited?: string[];
  /** Sentences that were left out: they cite nothing of the block, state what their items do not, or had no room. */
  dropped?: number;
}

/** A block in a style of its own, as the helper model wrote it. */
export interface Synthesized {
  /** The style that was asked for. */
  asked: "factual" | "narrative" | "structured";
  /** That of the block: the one that was asked for, or `structured`. */
  style: "factual" | "narrative" | "structured";
  /** The helper model, as `provider:model`. */
  model?: string | null;
  /** The version of what the model was asked. */
  prompt?: string | null;
  /** Tokens of what it wrote. */
  tokens?: number;
  /** The handles that it cites, in order. */
  cited?: string[];
  /** Sentences that were left out. */
  dropped?: number;
  /**
   * What it wrote, as far as it was kept. A purge of any agent, user or scope whose items it was written from
   * erases it.
   */
  text?: string | null;
}

/** How many rows a run changed. */
export interface Tally {
  /** Facts, episodes, commitments and other names that are new. */
  opened: number;
  /** Facts that no longer hold because of it. */
  closed: number;
  /** Facts that a longer one of the same value took the place of. */
  replaced: number;
  /** Facts, episodes and commitments that were known. */
  confirmed: number;
  /** Facts of other sources that it contradicts, and that stand beside what it says. */
  disputed: number;
  /** What it did not write, each with the reason. */
  skipped: number;
}

export interface TaskContext {
  /** What the agent was doing. */
  task_description: string;
  /** Skills that the task took. */
  skills_used: string[];
  /** How the task ended. Memories of success rank higher. */
  outcome: "failed" | "partial" | "success";
  /** The mission of the task. */
  mission_namespace?: string | null;
}

/** What of the tenant waits for its vectors. */
export interface TenantBacklog {
  /** Every store, also where nothing waits. */
  stores: StoreWaiting[];
  /** The services that did not answer: of their stores nothing is known. */
  degraded: Degraded[];
}

/** The language of the tenant's texts and questions, where neither they nor their writer tells it. */
export interface TenantLanguage {
  /** As ISO 639-1 names it. */
  language: Language | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface Tested {
  /** Whether the receiver answered 2xx. */
  delivered: boolean;
  /** The header `webhook-id` of the message. */
  event_id: string;
  /** The status of its answer. */
  http_status: number | null;
  /** Why it failed. */
  error: "broken_off" | "forbidden_address" | "http_status" | "timeout" | "tls" | "unknown_host" | "unreachable" | null;
}

export interface TextBlock {
  /** Which kind of block it is. */
  type: "text";
  /** What is said. */
  text: string;
}

export interface ThreadCheckpoint {
  /** The type of the entry, which decides its further fields. */
  context_type: "thread_checkpoint";
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session that can be resumed from here. */
  session_id: string;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`. Required
   * unless the key is bound to one.
   */
  mission_id?: string;
  /** The text that a context block shows. */
  content: string;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** How long it lives, by default as the mission's limits say. */
  ttl_hours?: number | null;
  /** Words to find it by, and to narrow a search to. */
  tags?: string[];
  /** The turn of the conversation it comes from. */
  source_turn?: number | null;
  /** The dispatch it is written for, which it keeps alive. An unknown one is accepted. */
  dispatch_id?: number | string | null;
  /** An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
  /** Turns so far. */
  turn_count: number;
  /** The dispatches that are under way. */
  active_dispatches: string[];
  /** What is not decided yet. */
  open_decisions: string[];
  /** The directives that are not followed yet. */
  pending_directives: string[];
  /** The missions that the session works in. */
  current_mission_namespaces: string[];
  /** What the next agent needs to know to continue. */
  working_state_prose: string;
}

export interface ToolResult {
  /** Which kind of block it is. */
  type: "tool_result";
  /** The call that it answers. */
  tool_use_id: string;
  /** The text. Default: `""`. */
  content?: string;
  /** Default: `false`. */
  is_error?: boolean;
}

/** A call of a tool by the assistant. */
export interface ToolUse {
  /** Which kind of block it is. */
  type: "tool_use";
  /** Its result names it. */
  id: string;
  /** Its name, which need not be unique. */
  name: string;
  /** The arguments of the call. */
  input?: Record<string, unknown>;
}

/** An event of the trail. Nothing changes or removes it, except that the session is erased. */
export interface TrailEvent {
  /** Its number in the session. No number is missing. */
  seq: number;
  /** A message, one that calls a tool, a tool's result, or what the service did. */
  kind: "compaction" | "message" | "reset" | "tool_call" | "tool_result";
  /** Who speaks. */
  role: "assistant" | "system" | "tool" | "user";
  /** The text. */
  content: (TextBlock | ToolUse | ToolResult | ImageBlock)[];
  /** How many tokens it takes in the block. */
  tokens: number;
  /** How many turns had ended before it. */
  turn: number;
  /** When it was stored. */
  created_at: string;
  /** When it was said, as its writer stated. */
  occurred_at?: string | null;
  /** The key that wrote it. */
  written_by: string;
}

/** A change of an object's fidelity. */
export interface Transition {
  /** Its id, unique in the tenant. */
  id: string;
  /** The id of an object. */
  object_id: string;
  /** How much of it the context held. */
  from_fidelity: number;
  /** How much of it the context holds from then on. */
  to_fidelity: number;
  /** `pressure`: a batch. `access`: it was read again, or a new version came. `cooperative`: it was released. */
  trigger: "access" | "cooperative" | "fault" | "goal_change" | "pressure";
  /** How many turns had ended. */
  turn_number: number;
  /** How pressing it was before the change. */
  pressure_zone: "caution" | "critical" | "emergency" | "normal" | "warning" | null;
  /** Tokens of all objects before the change. */
  token_count: number | null;
  /** When it was stored. */
  created_at: string;
}

/** A page of changes of fidelity, in their order. */
export interface Transitions {
  /** The answer: one object, or a page of them. */
  data: Transition[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface TurnEnded {
  /** How many turns have ended. */
  turn: number;
  /** The block was made anew. */
  batch: boolean;
  /** How many objects changed their fidelity at the end of the turn. */
  moved: number;
  /** How full the context is now. */
  pressure: Pressure;
  /** What became of each content that came in, in their order. */
  admitted: AdmittedObjects[];
  /** With which the next turn begins, where it was asked for. */
  context: SessionContext | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What became of the rows of a run that was undone. */
export interface UndoneRun {
  /** The run, now undone. */
  run: ConsolidationRun;
  /** Facts, episodes, commitments and other names that the run had opened, and that are no longer there. */
  withdrawn: number;
  /** Facts that are as they were before the run. */
  reopened: number;
  /** Rows that are left as they are, because somebody changed them after the run. */
  kept: number;
}

export interface Unrelated {
  /** The relationship that is gone. Its objects are as they were. */
  id: string;
}

/** A source as an assembly names it. */
export interface UsedItem {
  /** The source's `store`. */
  store: "agent_memory_own" | "agent_memory_peer" | "memory" | "persistent_objects" | "psychic_cache" | "session_objects" | "vault_index";
  /** The source's `id`. */
  id: number | string;
}

/** A file that can be found. */
export interface VaultFile {
  /** Where the file lies in the vault. */
  path: string;
  /** What the file calls itself, or else its name. */
  title: string;
  /** What kind of text it is, such as markdown. */
  format: string;
  /** `folder`: it is indexed from the tenant's folder of the vault. */
  origin: "folder" | "upload";
  /** How many characters it has. */
  characters: number;
  /** How many lines it has. */
  lines: number;
  /** How many passages can be found. */
  chunks: number;
  /** Its parts, in order. */
  ids: number[];
  /** When this version was stored. */
  created_at: string;
  /** Whether it can be found by its meaning, too, and not only by its words. */
  indexed?: boolean;
  /** Whether all pieces of the upload have arrived. */
  complete?: boolean;
  /** When it was last changed. */
  occurred_at?: string | null;
  /** The agent whose key wrote it. */
  agent_name?: string | null;
  /** The key that wrote it. */
  written_by?: string;
}

/** A page of files, by path. */
export interface VaultFiles {
  /** The answer: one object, or a page of them. */
  data: VaultFile[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface Webhook {
  /** Its id, unique in the tenant. */
  id: number;
  /** Where events go. */
  url: string;
  /** The kinds of events that it sends; null: all. */
  kinds: string[] | null;
  /** The missions whose events it sends; null: all that its key may read. */
  missions: string[] | null;
  /** The agents whose events it sends; null: all that its key may read. */
  agents: string[] | null;
  /** What it is for. */
  description: string | null;
  /** Whether it sends events. */
  status: "active" | "paused";
  /** Why it is paused: on request, the receiver answered 410, it failed for five days, or its key is not valid. */
  paused_because: "failing" | "gone" | "key" | "request" | null;
  /** The key that answers for it: it sends what this key may read. */
  held_by: string;
  /** The number of the last event that it has looked at. */
  position: number;
  /** Events that wait to be sent, counted up to 1,000. */
  waiting: number;
  /** Dead letters, counted up to 1,000. */
  dead: number;
  /** When its attempts began to fail; null after one that did not. */
  failing_since: string | null;
  /** After a rotation, the time until which the previous secret signs too. */
  old_secret_until: string | null;
  /** When it was stored. */
  created_at: string;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** A page of webhooks, by id. */
export interface Webhooks {
  /** The answer: one object, or a page of them. */
  data: Webhook[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface WeightAdjustment {
  /** The agent that asks. */
  caller: string;
  /** The store, as weights name it. */
  source: string;
  /** The weight before the change. */
  old_weight: number;
  /** The weight after the change. */
  new_weight: number;
  /** The share of the budget before the change. */
  old_token_share: number;
  /** The share of the budget after the change. */
  new_token_share: number;
  /** Null: the source was in no block, and its weight moves back towards the start value. */
  effectiveness: number | null;
}

export interface WeightChange {
  /** Its id, unique in the tenant. */
  id: number;
  /** The agent that asks. */
  caller: string;
  /** The store, as weights name it. */
  source: string;
  /** The weight before the change. */
  old_weight: number;
  /** The weight after the change. */
  new_weight: number;
  /** The share of the budget before the change. */
  old_token_share: number;
  /** The share of the budget after the change. */
  new_token_share: number;
  /** `operator` or `eval`. */
  cause: string;
  /** How useful the source's items were. */
  effectiveness: number | null;
  /** How many assemblies it was learned from. */
  assemblies: number | null;
  /** When it was stored. */
  created_at: string;
}

/** A page of changes, newest first. */
export interface WeightHistory {
  /** The answer: one object, or a page of them. */
  data: WeightChange[];
  /** The `cursor` of the next page; null on the last. */
  next: string | null;
}

export interface WriteAnswer {
  /** The answer: one object, or a page of them. */
  data: WriteResult;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface WriteMemoryInput {
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: string[];
  /** Which kind of step it records. When left out, an entry's text decides. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** When it happened, by default now and never later. A time without an offset is UTC. */
  occurred_at?: string | null;
  /** The session it was said in: any string. */
  session_id?: string | null;
  /** Its number in the session. */
  seq?: number | null;
  /** Who said it, if not the agent. A block shows it as the agent's claim. */
  speaker?: string | null;
  /** The user it is about, or who said it. A purge of the user erases it. */
  user_id?: string | null;
  /** The language of its text, whose inflections search then knows. When left out, it is detected. */
  language?: Language | null;
  /**
   * The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the agent.
   * Default: `"agent"`.
   */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
  /** The assembly that led to it. This counts as weak feedback. */
  recalled_from?: number | string | null;
  /**
   * `preference`, `knowledge` and `summary` are documents. An `episode` is what happened; a `commitment` is what
   * somebody promised.
   */
  kind: "commitment" | "episode" | "knowledge" | "preference" | "summary";
  /** What to remember, in its own words. */
  content: string;
  /**
   * Who finds it: `user:…`, `agent:…`, `mission:…`, `project:…` or `shared`. Left out, the user's, or else the
   * agent's.
   */
  scope?: string | null;
  /** The agent that writes it. */
  agent_name?: string | null;
  /** What it is about, in a few words. A question that uses them finds it. */
  topics?: string[];
  /** The mood of an episode, such as `relieved`. */
  tone?: string | null;
  /** When an episode ended. It began at `occurred_at`. */
  ended_at?: string | null;
  /** Who made the promise. */
  owed_by?: string | null;
  /** To whom it was made. */
  owed_to?: string | null;
  /** When the promise is due. An open commitment expires then. A time without an offset is UTC. */
  due_at?: string | null;
  /**
   * The system that it is imported from, and its id there, such as `mem0:8f2b…`. The scope keeps one memory of
   * this kind and origin: writing it again changes nothing, even if its text was changed in the meantime.
   */
  origin?: string | null;
  /** An older memory of the same scope that no longer holds. It stays readable, but leaves context blocks. */
  supersedes?: number | string | null;
}

export interface WriteResult {
  /** Negative while it waits for a reviewer: no entry has it yet. */
  id: number;
  /** Estimated over the content and every other field that can be read back. */
  token_count: number;
  /** Tokens that the mission now holds. */
  cache_total_tokens: number;
  /** How many older entries were evicted to keep the mission's budgets. */
  evicted_count: number;
  /** When the entry expires, unless it is evicted before. */
  expires_at: string;
  /** Search already finds it by meaning, not only by its words. */
  indexed: boolean;
  /** `pending`: it is kept, and nobody is shown it before a reviewer approves it. Its lifetime begins then. */
  review?: "pending";
}

export interface WrittenAlias {
  /** `known`: both names were one entity before. */
  status: "created" | "known";
  /** How many facts moved to the entity. */
  merged: number;
  /** Always null: an alias never expires. */
  expires_at: string | null;
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** What became of a statement. */
export interface WrittenFact {
  /** The fact that holds it. Negative while it waits for a reviewer: no fact has it yet. */
  id: number;
  /** `known`: it was stated before. `extended`: it was, but for less time. */
  status: "created" | "extended" | "known";
  /** The facts that no longer hold because of it. */
  closed: number[];
  /** The facts that contradict it and that the writer may not close. They stay open; it stands beside them. */
  disputes: number[];
  /** Always null: a fact never expires. */
  expires_at: string | null;
  /** `pending`: it is kept, and nobody is shown it before a reviewer approves it. Nothing ends because of it. */
  review?: "pending";
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** The results, in the order of the request. */
export interface WrittenFacts {
  /** One for each fact of the request. */
  results: WrittenFact[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

/** The results, in the order of the request. */
export interface WrittenMemories {
  /** One for each memory of the request. */
  results: WrittenMemory[];
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}

export interface WrittenMemory {
  /** Negative while it waits for a reviewer: no memory has it yet. */
  id: number;
  /** Where it was stored. */
  scope: string;
  /** `known`: the scope had it already, unchanged. */
  status: "created" | "known";
  /** Always null: it is kept until it is deleted. */
  expires_at: string | null;
  /** `pending`: it is kept, and nobody is shown it before a reviewer approves it. */
  review?: "pending";
  /** The secrets in the request that a mask stands for now, where there were any. */
  masked?: (Record<string, string>)[];
}
