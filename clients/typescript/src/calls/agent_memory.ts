// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { AgentMemory, AgentMemoryDeleteAnswer, CommitAgentMemoryInput, CommitBatchResult, CommitResult, ExportedMemory, ForgetReceipt, FoundMemories, ImportResult, Language, Memories, MemoryAnswer, PendingReview, TaskContext } from "../models.js";

/** What `batch` takes. */
export interface AgentMemoryBatchArgs {
  /** The memories. */
  memories: readonly CommitAgentMemoryInput[];
}

export const BATCH: Operation = {
  method: "POST",
  path: "/api/agent-memory/batch",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name"},
  each: "memories",
  keyed: true,
};

/** What `commit` takes. */
export interface AgentMemoryCommitArgs {
  /** The files that it is about. A question that names one finds it, by the last two segments or more. */
  paths?: readonly string[];
  /** The names in code that it is about. A question that holds one finds it. */
  symbols?: readonly string[];
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
  /** Short for `agent_name`, in requests. */
  agent?: string;
}

export const COMMIT: Operation = {
  method: "POST",
  path: "/api/agent-memory/commit",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name"},
  keyed: true,
};

/** What `export` takes. */
export interface AgentMemoryExportArgs {
  /** Only this agent's memories. By default the key's agent, or else all. */
  agent_name?: string;
  /** The last id of the previous page. */
  after?: number;
  /** At most this many items. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string;
}

export const EXPORT: Operation = {
  method: "GET",
  path: "/api/agent-memory/export",
  seconds: 2.0,
  repeatable: true,
  query: ["agent_name", "after", "limit", "agent"],
};

/** What `import` takes. */
export interface AgentMemoryImportArgs {
  /** The items, in order. */
  lines: Iterable<ExportedMemory>;
}

export const IMPORT: Operation = {
  method: "POST",
  path: "/api/agent-memory/import",
  seconds: 5.0,
  repeatable: true,
  body: "lines",
  keyed: true,
};

/** What `list` takes. */
export interface AgentMemoryListArgs {
  /** The agent. Required unless the key is bound to one. */
  agent_name?: string;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type?: "domain_pattern" | "lesson_learned" | "skill_heuristic" | "task_blueprint" | null;
  /** Memories recorded at this time or later. A time without an offset is UTC. */
  since?: string | null;
  /** Memories recorded before this time. */
  until?: string | null;
  /** The `next` of the page before; else the first page. */
  cursor?: string | null;
  /** At most this many items. Default: `50`. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string;
}

export const LIST: Operation = {
  method: "POST",
  path: "/api/agent-memory/list",
  seconds: 2.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name"},
};

/** What `peerQuery` takes. */
export interface AgentMemoryPeerQueryArgs {
  /** The agent whose memories to search. Private ones stay hidden. */
  target_agent: string;
  /** A question, or what is wanted. */
  query: string;
  /** The language of the query, detected by default. */
  language?: Language | null;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type?: "domain_pattern" | "lesson_learned" | "skill_heuristic" | "task_blueprint" | null;
  /** Memories recorded at this time or later. A time without an offset is UTC. */
  since?: string | null;
  /** Memories recorded before this time. */
  until?: string | null;
  /** At most this many items. Default: `5`. */
  limit?: number;
}

export const PEER_QUERY: Operation = {
  method: "POST",
  path: "/api/agent-memory/peer-query",
  seconds: 2.0,
  repeatable: true,
  body: "json",
};

/** What `pendingReview` takes. */
export interface AgentMemoryPendingReviewArgs {
  /** A JSON map of agents to ISO times. */
  since: string;
}

export const PENDING_REVIEW: Operation = {
  method: "GET",
  path: "/api/agent-memory/pending-review",
  seconds: 2.0,
  repeatable: true,
  query: ["since"],
};

/** What `query` takes. */
export interface AgentMemoryQueryArgs {
  /** Whose memories. Required unless the key is bound to one. */
  agent_name?: string;
  /** A question, or what is wanted. */
  query: string;
  /** The language of the query, detected by default. */
  language?: Language | null;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type?: "domain_pattern" | "lesson_learned" | "skill_heuristic" | "task_blueprint" | null;
  /** Memories recorded at this time or later. A time without an offset is UTC. */
  since?: string | null;
  /** Memories recorded before this time. */
  until?: string | null;
  /** At most this many items. Default: `10`. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string;
}

export const QUERY: Operation = {
  method: "POST",
  path: "/api/agent-memory/query",
  seconds: 2.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name"},
};

/** What `get` takes. */
export interface AgentMemoryGetArgs {
  /** The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`. */
  memory_id: number;
}

export const GET: Operation = {
  method: "GET",
  path: "/api/agent-memory/{memory_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `edit` takes. */
export interface AgentMemoryEditArgs {
  /** The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`. */
  memory_id: number;
  /** The text. */
  content?: string | null;
  /** The tier: how a task is done, a rule of thumb, how things are, or what went wrong or right. */
  memory_type?: "domain_pattern" | "lesson_learned" | "skill_heuristic" | "task_blueprint" | null;
  /** The task that it was learned in. */
  task_context?: TaskContext | null;
  /** Hidden from peers. */
  private?: boolean | null;
  /** The files that it is about, in place of those it had. */
  paths?: readonly string[] | null;
  /** The names in code that it is about, in place of those it had. */
  symbols?: readonly string[] | null;
  /** Which kind of step it records. */
  step?: "diff" | "edit" | "plan" | "read" | "run" | "test" | null;
  /** The language of new content, detected by default. */
  language?: Language | null;
  /** How it came to be known. Default: `"agent"`. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
}

export const EDIT: Operation = {
  method: "PATCH",
  path: "/api/agent-memory/{memory_id}",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `delete` takes. */
export interface AgentMemoryDeleteArgs {
  /** The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`. */
  memory_id: number;
}

export const DELETE: Operation = {
  method: "DELETE",
  path: "/api/agent-memory/{memory_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `forget` takes. */
export interface AgentMemoryForgetArgs {
  /** The agent. */
  agent_name: string;
}

export const FORGET: Operation = {
  method: "POST",
  path: "/api/agent-memory/forget",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

export class AgentMemoryCalls extends Group {

  /** Commit up to 100 memories, all or none. */
  batch(args: AgentMemoryBatchArgs, options?: CallOptions): Promise<CommitBatchResult> {
    return this.call(BATCH, args, options);
  }

  /** Commit what an agent learned. Committing the same again confirms the memory instead of duplicating it. */
  commit(args: AgentMemoryCommitArgs, options?: CallOptions): Promise<CommitResult> {
    return this.call(COMMIT, args, options);
  }

  /**
   * Export memories as JSON Lines, by id. The next page begins `after` the last line's id; an empty page is the
   * end. A page is small enough to be imported unchanged. Exporting all agents needs an admin key.
   */
  export(args: AgentMemoryExportArgs = {}, options?: CallOptions): Promise<ExportedMemory[]> {
    return this.call(EXPORT, args, options);
  }

  /**
   * Import lines of an export. Ids stay unless another memory has them. Known facts stay unchanged. What is
   * imported is a claim: its `source_kind` is `imported`, and counts are at most 10,000. A time in the future is
   * refused.
   */
  import(args: AgentMemoryImportArgs, options?: CallOptions): Promise<ImportResult> {
    return this.call(IMPORT, args, options);
  }

  /** List an agent's memories, newest first. */
  list(args: AgentMemoryListArgs = {}, options?: CallOptions): Pages<Memories, AgentMemory> {
    return this.pages(LIST, args, options);
  }

  /** Search another agent's memories, except its private ones. */
  peerQuery(args: AgentMemoryPeerQueryArgs, options?: CallOptions): Promise<FoundMemories> {
    return this.call(PEER_QUERY, args, options);
  }

  /** Count the memories that each named agent gained since its time. */
  pendingReview(args: AgentMemoryPendingReviewArgs, options?: CallOptions): Promise<PendingReview> {
    return this.call(PENDING_REVIEW, args, options);
  }

  /** Search an agent's own memories, the most relevant first. */
  query(args: AgentMemoryQueryArgs, options?: CallOptions): Promise<FoundMemories> {
    return this.call(QUERY, args, options);
  }

  /** Get a memory and its confirmations. This does not count as an access. */
  get(args: AgentMemoryGetArgs, options?: CallOptions): Promise<MemoryAnswer> {
    return this.call(GET, args, options);
  }

  /** Change a memory. Fields left out stay. Answers 409 if another memory of the agent says the same. */
  edit(args: AgentMemoryEditArgs, options?: CallOptions): Promise<MemoryAnswer> {
    return this.call(EDIT, args, options);
  }

  /** Delete a memory and its confirmations. */
  delete(args: AgentMemoryDeleteArgs, options?: CallOptions): Promise<AgentMemoryDeleteAnswer> {
    return this.call(DELETE, args, options);
  }

  /** Erase everything that an agent committed. Answers the erased rows by table. */
  forget(args: AgentMemoryForgetArgs, options?: CallOptions): Promise<ForgetReceipt> {
    return this.call(FORGET, args, options);
  }
}
