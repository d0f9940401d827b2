// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { Consolidated, ConsolidationChange, ConsolidationChanges, ConsolidationRun, ConsolidationRuns, DeletedMemory, DueCommitments, FoundLongTerms, Language, LongTermMemories, LongTermMemory, UndoneRun, WriteMemoryInput, WrittenMemories, WrittenMemory } from "../models.js";

/** What `write` takes. */
export interface MemoryWriteArgs {
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
  topics?: readonly string[];
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
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
}

export const WRITE: Operation = {
  method: "POST",
  path: "/api/memory",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name"},
  keyed: true,
};

/** What `list` takes. */
export interface MemoryListArgs {
  /** Only memories of this scope. */
  in_scope?: string;
  /** Only memories of this kind. */
  kind?: "commitment" | "episode" | "knowledge" | "preference" | "summary";
  /** Only commitments of this status. */
  status?: "cancelled" | "done" | "expired" | "open";
  /** Nothing about other users. */
  user_id?: string;
  /** The `next` of the page before; else the first page. */
  cursor?: string;
  /** At most this many items. */
  limit?: number;
}

export const LIST: Operation = {
  method: "GET",
  path: "/api/memory",
  seconds: 2.0,
  repeatable: true,
  query: ["in_scope", "kind", "status", "user_id", "cursor", "limit"],
};

/** What `writeBatch` takes. */
export interface MemoryWriteBatchArgs {
  /** The memories. */
  memories: readonly WriteMemoryInput[];
}

export const WRITE_BATCH: Operation = {
  method: "POST",
  path: "/api/memory/batch",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name"},
  each: "memories",
  keyed: true,
};

/** What `due` takes. */
export interface MemoryDueArgs {
  /** Only commitments of this scope, such as `mission:…`. */
  in_scope?: string;
  /** Only what this agent or person promised. */
  owed_by?: string;
  /** Nothing about other users. */
  user_id?: string;
  /** Due by then. Left out, in the next 7 days. */
  until?: string;
  /** Also those that have expired since then. Left out, none. */
  since?: string;
  /** The `next` of the page before; else the first page. */
  cursor?: string;
  /** At most this many items. */
  limit?: number;
}

export const DUE: Operation = {
  method: "GET",
  path: "/api/memory/due",
  seconds: 2.0,
  repeatable: true,
  query: ["in_scope", "owed_by", "user_id", "until", "since", "cursor", "limit"],
};

/** What `search` takes. */
export interface MemorySearchArgs {
  /** A question, or what is wanted. */
  query: string;
  /** The agent that asks: its own scope is searched. */
  agent_name?: string | null;
  /** The user that it is for: the user's scope is searched, and nothing about other users is found. */
  user_id?: string | null;
  /** Further scopes to search. `shared` always is. */
  scopes?: readonly string[];
  /** Only memories of these kinds. */
  kinds?: readonly ("commitment" | "episode" | "knowledge" | "preference" | "summary")[];
  /** The language of the query, detected by default. */
  language?: Language | null;
  /** At most this many items. Default: `10`. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
}

export const SEARCH: Operation = {
  method: "POST",
  path: "/api/memory/search",
  seconds: 2.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name"},
};

/** What `get` takes. */
export interface MemoryGetArgs {
  /** The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`. */
  memory_id: number;
}

export const GET: Operation = {
  method: "GET",
  path: "/api/memory/{memory_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `edit` takes. */
export interface MemoryEditArgs {
  /** The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`. */
  memory_id: number;
  /** The text. */
  content?: string | null;
  /** What it is about, in place of what was there. */
  topics?: readonly string[] | null;
  /** The mood of an episode. */
  tone?: string | null;
  /** When an episode ended. */
  ended_at?: string | null;
  /** Who made the promise. */
  owed_by?: string | null;
  /** To whom it was made. */
  owed_to?: string | null;
  /** A later time opens an expired commitment again. */
  due_at?: string | null;
  /** What became of a commitment. Only the clock makes it `expired`. */
  status?: "cancelled" | "done" | "open" | null;
  /** The language of new content, detected by default. */
  language?: Language | null;
  /** How it came to be known. Default: `"agent"`. */
  source_kind?: "agent" | "derived" | "document" | "imported" | "tool" | "user";
}

export const EDIT: Operation = {
  method: "PATCH",
  path: "/api/memory/{memory_id}",
  seconds: 5.0,
  repeatable: true,
  body: "json",
};

/** What `delete` takes. */
export interface MemoryDeleteArgs {
  /** The id of a memory: the number of a handle `own:<id>`, `peer:<id>` or `memory:<id>`. */
  memory_id: number;
}

export const DELETE: Operation = {
  method: "DELETE",
  path: "/api/memory/{memory_id}",
  seconds: 5.0,
  repeatable: false,
};

/** What `consolidate` takes. */
export interface MemoryConsolidateArgs {
  /** The session, by its id or its external id. */
  session_id?: string | null;
  /** The file, in place of a session. */
  path?: string | null;
  /**
   * Where what the file teaches lies: by default with whose folder it is in. It lies elsewhere only if the
   * folder is no agent's, mission's or user's.
   */
  scope?: string | null;
  /** Learn from all of it again. What is known is only confirmed. Default: `false`. */
  from_start?: boolean;
}

export const CONSOLIDATE: Operation = {
  method: "POST",
  path: "/api/memory/consolidate",
  seconds: 30.0,
  repeatable: false,
  body: "json",
};

/** What `consolidations` takes. */
export interface MemoryConsolidationsArgs {
  /** Only runs over the session with this id. */
  session_id?: string;
  /** Only runs over this file. */
  path?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const CONSOLIDATIONS: Operation = {
  method: "GET",
  path: "/api/memory/consolidations",
  seconds: 2.0,
  repeatable: true,
  query: ["session_id", "path", "cursor", "limit"],
};

/** What `consolidation` takes. */
export interface MemoryConsolidationArgs {
  /** The id of a run of consolidation. */
  run_id: number;
}

export const CONSOLIDATION: Operation = {
  method: "GET",
  path: "/api/memory/consolidations/{run_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `consolidationChanges` takes. */
export interface MemoryConsolidationChangesArgs {
  /** The id of a run of consolidation. */
  run_id: number;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
}

export const CONSOLIDATION_CHANGES: Operation = {
  method: "GET",
  path: "/api/memory/consolidations/{run_id}/changes",
  seconds: 2.0,
  repeatable: true,
  query: ["cursor", "limit"],
};

/** What `undoConsolidation` takes. */
export interface MemoryUndoConsolidationArgs {
  /** The id of a run of consolidation. */
  run_id: number;
}

export const UNDO_CONSOLIDATION: Operation = {
  method: "POST",
  path: "/api/memory/consolidations/{run_id}/undo",
  seconds: 5.0,
  repeatable: true,
  keyed: true,
};

export class MemoryCalls extends Group {

  /**
   * Remember something beyond a mission: a preference, knowledge, a summary, an episode or a commitment. What a
   * scope has already stays as it is.
   */
  write(args: MemoryWriteArgs, options?: CallOptions): Promise<WrittenMemory> {
    return this.call(WRITE, args, options);
  }

  /** List long-term memories, newest first. */
  list(args: MemoryListArgs = {}, options?: CallOptions): Pages<LongTermMemories, LongTermMemory> {
    return this.pages(LIST, args, options);
  }

  /** Remember up to 100 memories, all or none. */
  writeBatch(args: MemoryWriteBatchArgs, options?: CallOptions): Promise<WrittenMemories> {
    return this.call(WRITE_BATCH, args, options);
  }

  /** List the open commitments that are due, the first first. Done and cancelled ones are left out. */
  due(args: MemoryDueArgs = {}, options?: CallOptions): Pages<DueCommitments, LongTermMemory> {
    return this.pages(DUE, args, options);
  }

  /**
   * Search long-term memory, by full text first. The query is embedded only when fewer than 3 memories hold more
   * than two thirds of its content words.
   */
  search(args: MemorySearchArgs, options?: CallOptions): Promise<FoundLongTerms> {
    return this.call(SEARCH, args, options);
  }

  /** Get a long-term memory. */
  get(args: MemoryGetArgs, options?: CallOptions): Promise<LongTermMemory> {
    return this.call(GET, args, options);
  }

  /** Change a long-term memory, or what became of a commitment. Fields left out stay. */
  edit(args: MemoryEditArgs, options?: CallOptions): Promise<LongTermMemory> {
    return this.call(EDIT, args, options);
  }

  /** Delete a long-term memory. */
  delete(args: MemoryDeleteArgs, options?: CallOptions): Promise<DeletedMemory> {
    return this.call(DELETE, args, options);
  }

  /**
   * Learn facts, episodes, commitments and other names from a session, from where the last run ended, or from a
   * file. What was recalled is not learned again. All that is learned names the turns it comes from, and can be
   * undone.
   */
  consolidate(args: MemoryConsolidateArgs = {}, options?: CallOptions): Promise<Consolidated> {
    return this.call(CONSOLIDATE, args, options);
  }

  /** List the runs of consolidation, newest first, with how much each opened, closed, confirmed and skipped. */
  consolidations(args: MemoryConsolidationsArgs = {}, options?: CallOptions): Pages<ConsolidationRuns, ConsolidationRun> {
    return this.pages(CONSOLIDATIONS, args, options);
  }

  /** Get the report of a run. */
  consolidation(args: MemoryConsolidationArgs, options?: CallOptions): Promise<ConsolidationRun> {
    return this.call(CONSOLIDATION, args, options);
  }

  /** List the rows that a run opened, closed, confirmed or found disputed, with the turns that each comes from. */
  consolidationChanges(args: MemoryConsolidationChangesArgs, options?: CallOptions): Pages<ConsolidationChanges, ConsolidationChange> {
    return this.pages(CONSOLIDATION_CHANGES, args, options);
  }

  /**
   * Undo a run: withdraw exactly what it opened, and reopen what it closed. Rows that somebody changed after the
   * run stay as they are. The session's events are not learned from again.
   */
  undoConsolidation(args: MemoryUndoConsolidationArgs, options?: CallOptions): Promise<UndoneRun> {
    return this.call(UNDO_CONSOLIDATION, args, options);
  }
}
