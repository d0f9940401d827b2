// Written by `make openapi` from the API's document.

import { Root, type CallOptions } from "../group.js";
import type { Pages } from "../pages.js";
import { CacheCalls } from "./cache.js";
import { AgentMemoryCalls } from "./agent_memory.js";
import { VaultCalls } from "./vault.js";
import { MemoryCalls } from "./memory.js";
import { KgCalls } from "./kg.js";
import { DispatchCalls } from "./dispatch.js";
import { PersistentObjectsCalls } from "./persistent_objects.js";
import { SessionsCalls } from "./sessions.js";
import { CheckpointsCalls } from "./checkpoints.js";
import { WebhooksCalls } from "./webhooks.js";
import * as context from "./context.js";
import * as timeline from "./timeline.js";
import type { Allowance, ApiKey, ApiKeys, Assembly, Audit, AuditRow, CallerBudget, CallerBudgets, Callers, CeilingState, Ceilings, Changes, CostGroup, CostRow, CostRows, Costs, DecisionTaken, Evaluated, Event, Events, Explained, FeedbackTaken, Given, GivenTo, LogEntries, LogEntry, MadeKey, Me, Monitored, MonitoredAgent, Profile, Profiles, Prompt, Receipt, RecordedCost, RememberResult, Replay, ReviewItem, ReviewQueue, ReviewRule, ReviewRules, Savings, SecretPolicy, SourceItem, SourceWeight, SourceWeights, TenantBacklog, TenantLanguage, WeightChange, WeightHistory } from "../models.js";

export type { ContextAssembleArgs, ContextChangesArgs, ContextFeedbackArgs, ContextPromptArgs, ContextRememberArgs, ContextLogArgs, ContextLogCallersArgs, ContextGivenArgs, ContextExplainArgs, ContextReplayArgs, ContextSourceArgs, ContextBudgetsArgs, ContextSetBudgetArgs, ContextResetBudgetArgs, ContextWeightsArgs, ContextSetWeightArgs, ContextResetWeightArgs, ContextWeightHistoryArgs, ContextRecordCostArgs, ContextCostsArgs, ContextAllowanceArgs, ContextCostCallsArgs, ContextCeilingsArgs, ContextSetCeilingArgs, ContextResetCeilingArgs, ContextSavingsArgs, ContextProfilesArgs, ContextSetProfileArgs, ContextDeleteProfileArgs, ContextMonitorArgs, ContextMakeKeyArgs, ContextListKeysArgs, ContextGetKeyArgs, ContextChangeKeyArgs, ContextRevokeKeyArgs, ContextRotateKeyArgs, ContextAuditArgs, ContextSetSecretPolicyArgs, ContextSetLanguageArgs, ContextReviewArgs, ContextReviewDecideArgs, ContextReviewRulesArgs, ContextSetReviewRuleArgs, ContextResetReviewRuleArgs, ContextPurgeArgs } from "./context.js";
export type { CacheEntryArgs, CacheEditTagsArgs, CacheDeleteEntryArgs, CacheMissionsArgs, CacheCheckpointArgs, CacheQueryArgs, CacheWriteArgs, CacheWriteBatchArgs, CacheClearArgs, CacheEntriesArgs, CacheLanguageArgs, CacheSetLanguageArgs, CacheLimitsArgs, CacheSetLimitsArgs, CacheStatsArgs } from "./cache.js";
export type { AgentMemoryBatchArgs, AgentMemoryCommitArgs, AgentMemoryExportArgs, AgentMemoryImportArgs, AgentMemoryListArgs, AgentMemoryPeerQueryArgs, AgentMemoryPendingReviewArgs, AgentMemoryQueryArgs, AgentMemoryGetArgs, AgentMemoryEditArgs, AgentMemoryDeleteArgs, AgentMemoryForgetArgs } from "./agent_memory.js";
export type { VaultPutArgs, VaultListArgs, VaultRemoveArgs, VaultPartArgs, VaultReadArgs, VaultSearchArgs } from "./vault.js";
export type { MemoryWriteArgs, MemoryListArgs, MemoryWriteBatchArgs, MemoryDueArgs, MemorySearchArgs, MemoryGetArgs, MemoryEditArgs, MemoryDeleteArgs, MemoryConsolidateArgs, MemoryConsolidationsArgs, MemoryConsolidationArgs, MemoryConsolidationChangesArgs, MemoryUndoConsolidationArgs } from "./memory.js";
export type { KgAddArgs, KgAddAliasArgs, KgAliasesArgs, KgRemoveAliasArgs, KgBatchArgs, KgInvalidateArgs, KgNeighboursArgs, KgPredicatesArgs, KgQueryArgs, KgStatsArgs, KgTimelineArgs, KgWriteArgs, KgGetArgs } from "./kg.js";
export type { DispatchListArgs, DispatchReportArgs, DispatchGetArgs, DispatchCompleteArgs, DispatchProgressArgs } from "./dispatch.js";
export type { PersistentObjectsListArgs, PersistentObjectsGetArgs, PersistentObjectsForgetArgs, PersistentObjectsReinforceArgs } from "./persistent_objects.js";
export type { SessionsSessionCreateArgs, SessionsSessionListArgs, SessionsSessionNumberedObjectArgs, SessionsSessionResetArgs, SessionsSessionGetArgs, SessionsSessionDeleteArgs, SessionsSessionAdmissionsArgs, SessionsSessionCompactArgs, SessionsSessionCompleteArgs, SessionsSessionContextArgs, SessionsSessionConversationArgs, SessionsSessionAppendArgs, SessionsSessionFaultsArgs, SessionsSessionGoalArgs, SessionsSessionHistoryArgs, SessionsSessionAdmitArgs, SessionsSessionObjectsArgs, SessionsSessionObjectArgs, SessionsSessionFaultArgs, SessionsSessionPersistArgs, SessionsSessionPinArgs, SessionsSessionReleaseArgs, SessionsSessionUnpinArgs, SessionsSessionPressureArgs, SessionsSessionQueryArgs, SessionsSessionRebuildArgs, SessionsSessionRelateArgs, SessionsSessionRelationshipsArgs, SessionsSessionUnrelateArgs, SessionsSessionSearchArgs, SessionsSessionTransitionsArgs, SessionsSessionTurnArgs } from "./sessions.js";
export type { CheckpointsPutArgs, CheckpointsCopyArgs, CheckpointsListArgs, CheckpointsPruneArgs, CheckpointsPutWritesArgs } from "./checkpoints.js";
export type { TimelineTimelineArgs } from "./timeline.js";
export type { WebhooksMakeArgs, WebhooksListArgs, WebhooksGetArgs, WebhooksChangeArgs, WebhooksDeleteArgs, WebhooksDeliveriesArgs, WebhooksRedeliverArgs, WebhooksRotateArgs, WebhooksSendTestArgs } from "./webhooks.js";

/** Every call of the API. */
export abstract class Calls extends Root {
  readonly cache = new CacheCalls(this);
  readonly agentMemory = new AgentMemoryCalls(this);
  readonly vault = new VaultCalls(this);
  readonly memory = new MemoryCalls(this);
  readonly kg = new KgCalls(this);
  readonly dispatch = new DispatchCalls(this);
  readonly persistentObjects = new PersistentObjectsCalls(this);
  readonly sessions = new SessionsCalls(this);
  readonly checkpoints = new CheckpointsCalls(this);
  readonly webhooks = new WebhooksCalls(this);

  /** Assemble the context that matters now, from every store, within a token budget and with each item's score. */
  assemble(args: context.ContextAssembleArgs, options?: CallOptions): Promise<Assembly> {
    return this.call(context.ASSEMBLE, args, options);
  }

  /**
   * Tell what has changed of that which a session was given, without counting it as told. A session is that of
   * the key and the caller. Of each store, the 5,000 parts of items that the session was given last are
   * compared. The next answer with `delta` tells the same, and what items say now. When somebody edits,
   * supersedes or deletes an item, the timeline tells its sessions as `context_stale`.
   */
  changes(args: context.ContextChangesArgs, options?: CallOptions): Promise<Changes> {
    return this.call(context.CHANGES, args, options);
  }

  /** Report which sources of an assembly were useful. A source that was not in its block is refused by name. */
  feedback(args: context.ContextFeedbackArgs, options?: CallOptions): Promise<FeedbackTaken> {
    return this.call(context.FEEDBACK, args, options);
  }

  /** Build a system prompt in parts that a provider can cache: what is stable first, the assembled context last. */
  prompt(args: context.ContextPromptArgs = {}, options?: CallOptions): Promise<Prompt> {
    return this.call(context.PROMPT, args, options);
  }

  /**
   * Remember a text or the messages of a conversation. Rules choose where each goes, and the answer says where.
   * What happened in a mission becomes one of its entries. What reads like a lesson, and everything said outside
   * a mission, becomes a memory of the agent. Recalled context, repeats and system messages are not kept. With
   * an Idempotency-Key, a retry after a failure stores what is missing, and nothing twice.
   */
  remember(args: context.ContextRememberArgs = {}, options?: CallOptions): Promise<RememberResult> {
    return this.call(context.REMEMBER, args, options);
  }

  /** List assemblies, newest first. */
  log(args: context.ContextLogArgs = {}, options?: CallOptions): Pages<LogEntries, LogEntry> {
    return this.pages(context.LOG, args, options);
  }

  /** List the callers that have assembled, by name. */
  logCallers(args: context.ContextLogCallersArgs = {}, options?: CallOptions): Pages<Callers, string> {
    return this.pages(context.LOG_CALLERS, args, options);
  }

  /**
   * List the assemblies that gave an item, newest first: who was given it, in which mission, and when. `own:…`
   * and `peer:…` are the same item. A page looks at 20,000 assemblies, so it may be short and name a next one.
   */
  given(args: context.ContextGivenArgs, options?: CallOptions): Pages<Given, GivenTo> {
    return this.pages(context.GIVEN, args, options);
  }

  /** Explain an assembly: every candidate, taken or dropped, with its factors and the reason. */
  explain(args: context.ContextExplainArgs, options?: CallOptions): Promise<Explained> {
    return this.call(context.EXPLAIN, args, options);
  }

  /** Pack the same candidates again, with other weights, shares or another budget. */
  replay(args: context.ContextReplayArgs, options?: CallOptions): Promise<Replay> {
    return this.call(context.REPLAY, args, options);
  }

  /** Read the whole item behind a block's handle. With `assembly_id`, the read counts as weak feedback. */
  source(args: context.ContextSourceArgs, options?: CallOptions): Promise<SourceItem> {
    return this.call(context.SOURCE, args, options);
  }

  /** List the callers' budgets that differ from the installation's default. */
  budgets(args: context.ContextBudgetsArgs = {}, options?: CallOptions): Promise<CallerBudgets> {
    return this.call(context.BUDGETS, args, options);
  }

  /** Set a caller's default budget, its bounds for learning, and the ceiling for its requests. */
  setBudget(args: context.ContextSetBudgetArgs, options?: CallOptions): Promise<CallerBudget> {
    return this.call(context.SET_BUDGET, args, options);
  }

  /** Return a caller's budget to the installation's default. */
  resetBudget(args: context.ContextResetBudgetArgs, options?: CallOptions): Promise<void> {
    return this.call(context.RESET_BUDGET, args, options);
  }

  /** Learn from new feedback. Two concurrent calls process it once. */
  evaluate(args: Record<string, never> = {}, options?: CallOptions): Promise<Evaluated> {
    return this.call(context.EVALUATE, args, options);
  }

  /** List the weights that differ from the start values, learned or set by an operator. */
  weights(args: context.ContextWeightsArgs = {}, options?: CallOptions): Promise<SourceWeights> {
    return this.call(context.WEIGHTS, args, options);
  }

  /** Set a source's weight for a caller, or for all callers with `*`. */
  setWeight(args: context.ContextSetWeightArgs, options?: CallOptions): Promise<SourceWeight> {
    return this.call(context.SET_WEIGHT, args, options);
  }

  /** Return a source's weight to the tenant's `*` row, or else to the start value. */
  resetWeight(args: context.ContextResetWeightArgs, options?: CallOptions): Promise<void> {
    return this.call(context.RESET_WEIGHT, args, options);
  }

  /** List the changes that evaluations and operators made, newest first. */
  weightHistory(args: context.ContextWeightHistoryArgs = {}, options?: CallOptions): Pages<WeightHistory, WeightChange> {
    return this.pages(context.WEIGHT_HISTORY, args, options);
  }

  /**
   * Record what one call of a model took. Its cost follows from the table of prices, unless the request names
   * one. A call that was made is recorded beyond a ceiling, too. Ask `/api/context/costs/allowance` before the
   * next one.
   */
  recordCost(args: context.ContextRecordCostArgs, options?: CallOptions): Promise<RecordedCost> {
    return this.call(context.RECORD_COST, args, options);
  }

  /**
   * Read what calls of models cost: today, in the last seven days and in all, by agent, mission, session or
   * model. It counts callers' own calls, and those of the embedder, the helper model and the reranker that they
   * led to.
   */
  costs(args: context.ContextCostsArgs = {}, options?: CallOptions): Pages<Costs, CostGroup> {
    return this.pages(context.COSTS, args, options);
  }

  /**
   * Ask whether another paid call may be made. At a ceiling the answer is 429, and `limit` names it. What is
   * spent is known once a call is recorded: a ceiling is exceeded by no more than the calls under way.
   */
  allowance(args: context.ContextAllowanceArgs = {}, options?: CallOptions): Promise<Allowance> {
    return this.call(context.ALLOWANCE, args, options);
  }

  /** List calls of models with their tokens and costs, the newest first. */
  costCalls(args: context.ContextCostCallsArgs = {}, options?: CallOptions): Pages<CostRows, CostRow> {
    return this.pages(context.COST_CALLS, args, options);
  }

  /** List the tenant's ceilings with what is spent of each. */
  ceilings(args: context.ContextCeilingsArgs = {}, options?: CallOptions): Pages<Ceilings, CeilingState> {
    return this.pages(context.CEILINGS, args, options);
  }

  /**
   * Set how much the calls of a key, of a mission or of the whole tenant may cost in a day, a month or in all.
   * Beyond it, the embedder and the helper model are not called: answers name them as degraded, and writes go
   * on.
   */
  setCeiling(args: context.ContextSetCeilingArgs, options?: CallOptions): Promise<CeilingState> {
    return this.call(context.SET_CEILING, args, options);
  }

  /** Remove the ceiling of a key, of a mission, or of the tenant where neither is named. */
  resetCeiling(args: context.ContextResetCeilingArgs = {}, options?: CallOptions): Promise<void> {
    return this.call(context.RESET_CEILING, args, options);
  }

  /**
   * Compare sessions that the gateway paged with the random share that it did not, and say how sure that is. A
   * session counts as a whole, by what the provider billed for its requests.
   */
  savings(args: context.ContextSavingsArgs = {}, options?: CallOptions): Promise<Savings> {
    return this.call(context.SAVINGS, args, options);
  }

  /** List the profiles that the key may read, or that of an agent or a user. */
  profiles(args: context.ContextProfilesArgs = {}, options?: CallOptions): Pages<Profiles, Profile> {
    return this.pages(context.PROFILES, args, options);
  }

  /**
   * Set what every block for an agent or a user says first. A key bound to the subject sets its own, an admin
   * any.
   */
  setProfile(args: context.ContextSetProfileArgs, options?: CallOptions): Promise<Profile> {
    return this.call(context.SET_PROFILE, args, options);
  }

  /** Delete the profile of an agent or a user. */
  deleteProfile(args: context.ContextDeleteProfileArgs = {}, options?: CallOptions): Promise<void> {
    return this.call(context.DELETE_PROFILE, args, options);
  }

  /**
   * Show what each agent is doing now: its last event, its open dispatches, and its recent events by kind. With
   * `Accept: text/event-stream`, a stream of agents: as many as `limit`, each as it is now, and again whenever
   * it has changed, at most once a second. It never ends by itself, and says something at least every 15 s. A
   * key and a tenant may open a limited number of streams.
   */
  monitor(args: context.ContextMonitorArgs = {}, options?: CallOptions): Pages<Monitored, MonitoredAgent> {
    return this.pages(context.MONITOR, args, options);
  }

  /**
   * Make an API key. Its secret is in this answer only; what is kept is a hash. It can hold no more than the key
   * that makes it: access, agent, missions, users, limits and time. What it uses counts for the key that made
   * it, too. An admin token of the environment makes keys of other tenants: name the `tenant`.
   */
  makeKey(args: context.ContextMakeKeyArgs, options?: CallOptions): Promise<MadeKey> {
    return this.call(context.MAKE_KEY, args, options);
  }

  /** List the tenant's keys with their usage today, including revoked ones, but never a secret. */
  listKeys(args: context.ContextListKeysArgs = {}, options?: CallOptions): Pages<ApiKeys, ApiKey> {
    return this.pages(context.LIST_KEYS, args, options);
  }

  /** Get a key with its usage today. */
  getKey(args: context.ContextGetKeyArgs, options?: CallOptions): Promise<ApiKey> {
    return this.call(context.GET_KEY, args, options);
  }

  /** Change a key's name or limits. Its access, agent, missions and users never change. */
  changeKey(args: context.ContextChangeKeyArgs, options?: CallOptions): Promise<ApiKey> {
    return this.call(context.CHANGE_KEY, args, options);
  }

  /**
   * Revoke a key, with every key that it made and that those made. This replica refuses them at once, and every
   * other within two seconds.
   */
  revokeKey(args: context.ContextRevokeKeyArgs, options?: CallOptions): Promise<ApiKey> {
    return this.call(context.REVOKE_KEY, args, options);
  }

  /** Make a new secret for a key. The current secret stays valid for the overlap, and an older one ends now. */
  rotateKey(args: context.ContextRotateKeyArgs, options?: CallOptions): Promise<MadeKey> {
    return this.call(context.ROTATE_KEY, args, options);
  }

  /** Tell what the key of this request may do, and for which agent, missions and users. */
  me(args: Record<string, never> = {}, options?: CallOptions): Promise<Me> {
    return this.call(context.ME, args, options);
  }

  /**
   * List what admins did, newest first: who, what, when, and the settings before and after. For keys without
   * bounds. Nobody can change or remove a row, and only a purge takes names out.
   */
  audit(args: context.ContextAuditArgs = {}, options?: CallOptions): Pages<Audit, AuditRow> {
    return this.pages(context.AUDIT, args, options);
  }

  /**
   * Tell what of the tenant waits for its vectors, by store, and until when. What waits is found by its words
   * already. A key that is bound to an agent, missions or users is refused.
   */
  backlog(args: Record<string, never> = {}, options?: CallOptions): Promise<TenantBacklog> {
    return this.call(context.BACKLOG, args, options);
  }

  /** What becomes of secrets in what the tenant's callers send, such as provider keys and passwords in addresses. */
  secretPolicy(args: Record<string, never> = {}, options?: CallOptions): Promise<SecretPolicy> {
    return this.call(context.SECRET_POLICY, args, options);
  }

  /**
   * Set what becomes of secrets from now on: `mask`, `refuse` or `allow`. It holds for the whole tenant. What is
   * stored already stays as it is.
   */
  setSecretPolicy(args: context.ContextSetSecretPolicyArgs = {}, options?: CallOptions): Promise<SecretPolicy> {
    return this.call(context.SET_SECRET_POLICY, args, options);
  }

  /** The language of the tenant's texts and questions, where neither they nor their writer tells it. */
  language(args: Record<string, never> = {}, options?: CallOptions): Promise<TenantLanguage> {
    return this.call(context.LANGUAGE, args, options);
  }

  /**
   * Set the language of texts and questions that are too short to tell it, from now on and for the whole tenant.
   * A `language` in a request wins over it, and so does a text that is clearly in another language.
   */
  setLanguage(args: context.ContextSetLanguageArgs = {}, options?: CallOptions): Promise<TenantLanguage> {
    return this.call(context.SET_LANGUAGE, args, options);
  }

  /**
   * List what a reviewer should look at: writes that wait, near duplicates, disputes, low trust, what was
   * derived. A write that waits is shown to admin keys within their bounds, and to the key of the agent that
   * wrote it.
   */
  review(args: context.ContextReviewArgs = {}, options?: CallOptions): Pages<ReviewQueue, ReviewItem> {
    return this.pages(context.REVIEW, args, options);
  }

  /**
   * Approve, merge, edit or forget an item of the queue. Deciding the same again answers the same. Another
   * decision about what was decided already is 409. A key that is bound to an agent decides nothing.
   */
  reviewDecide(args: context.ContextReviewDecideArgs, options?: CallOptions): Promise<DecisionTaken> {
    return this.call(context.REVIEW_DECIDE, args, options);
  }

  /** List the missions and agents whose writes wait for a reviewer. */
  reviewRules(args: context.ContextReviewRulesArgs = {}, options?: CallOptions): Pages<ReviewRules, ReviewRule> {
    return this.pages(context.REVIEW_RULES, args, options);
  }

  /**
   * Let the writes of a mission or of an agent wait for a reviewer, from now on. They are acknowledged and kept,
   * but no search, list or block shows them before they are approved.
   */
  setReviewRule(args: context.ContextSetReviewRuleArgs = {}, options?: CallOptions): Promise<ReviewRule> {
    return this.call(context.SET_REVIEW_RULE, args, options);
  }

  /** Let the writes of a mission or of an agent no longer wait. What waits already goes on waiting. */
  resetReviewRule(args: context.ContextResetReviewRuleArgs = {}, options?: CallOptions): Promise<void> {
    return this.call(context.RESET_REVIEW_RULE, args, options);
  }

  /**
   * Erase a scope, or everything of an agent, a user, a mission or the tenant, from every table of every
   * service. The keys that are bound to it alone are revoked. The receipt counts the erased rows of each table.
   * The purge of a tenant needs a key without bounds, and goes on by itself if it is interrupted.
   */
  purge(args: context.ContextPurgeArgs = {}, options?: CallOptions): Promise<Receipt> {
    return this.call(context.PURGE, args, options);
  }

  /**
   * Read events in order: a page of JSON, or a stream with `Accept: text/event-stream`. A page begins after
   * `cursor` or event `after`, or else with the first event. A stream begins after `Last-Event-ID`, or else
   * after `after`, or else with the next event. It never ends by itself, and sends a keep-alive every 15 s. A
   * key and a tenant may open a limited number of streams.
   */
  timeline(args: timeline.TimelineTimelineArgs = {}, options?: CallOptions): Pages<Events, Event> {
    return this.pages(timeline.TIMELINE, args, options);
  }
}
