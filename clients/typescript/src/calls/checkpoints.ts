// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { ChannelWrite, Checkpoint, Checkpoints, CopiedThread, PrunedThreads, StoredCheckpoint, StoredWrites } from "../models.js";

/** What `put` takes. */
export interface CheckpointsPutArgs {
  /** The agent whose thread it is. A purge of the agent erases it. */
  agent_name?: string | null;
  /** The mission it works on. A purge of the mission erases it. */
  mission_id?: string | null;
  /** The user it is with. A purge of the user erases it. */
  user_id?: string | null;
  /** The framework's own name for the thread. */
  thread_id: string;
  /** Later ones sort after earlier ones, by their bytes. */
  checkpoint_id: string;
  /** The state, as the framework wrote it. */
  state: Record<string, unknown>;
  /** The graph within the thread's graph; empty for the thread's own. Default: `""`. */
  namespace?: string;
  /** The checkpoint that it follows. */
  parent_id?: string | null;
  /** What it can be filtered by. */
  metadata?: Record<string, unknown>;
  /** The run that made it. */
  run_id?: string | null;
  /** How many hours from now on the thread is kept. The next write says it anew. Default: `720.0`. */
  ttl_hours?: number;
  /**
   * The newest of its namespace that are kept. A thread's own checkpoint takes what is older in every namespace.
   * Default: `100`.
   */
  keep_last?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const PUT: Operation = {
  method: "PUT",
  path: "/api/checkpoints",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
};

/** What `copy` takes. */
export interface CheckpointsCopyArgs {
  /** The agent whose thread it is. A purge of the agent erases it. */
  agent_name?: string | null;
  /** The mission it works on. A purge of the mission erases it. */
  mission_id?: string | null;
  /** The user it is with. A purge of the user erases it. */
  user_id?: string | null;
  /** The thread to copy. */
  source_id: string;
  /** The thread that gets its checkpoints. It keeps its own. */
  target_id: string;
  /** How many hours from now on the copy is kept. Default: `720.0`. */
  ttl_hours?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const COPY: Operation = {
  method: "PUT",
  path: "/api/checkpoints/copy",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
};

/** What `list` takes. */
export interface CheckpointsListArgs {
  /** The agent whose thread it is. A purge of the agent erases it. */
  agent_name?: string | null;
  /** The mission it works on. A purge of the mission erases it. */
  mission_id?: string | null;
  /** The user it is with. A purge of the user erases it. */
  user_id?: string | null;
  /** Only of this thread. */
  thread_id?: string | null;
  /** Only of this graph within the thread's graph; empty for the thread's own. */
  namespace?: string | null;
  /** Only this one. */
  checkpoint_id?: string | null;
  /** Only those that sort before it. */
  before?: string | null;
  /** Only those whose metadata contain this. */
  metadata?: Record<string, unknown>;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string | null;
  /** The largest number of items in a page. Large ones make a page shorter. Default: `10`. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const LIST: Operation = {
  method: "POST",
  path: "/api/checkpoints/list",
  seconds: 2.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
};

/** What `prune` takes. */
export interface CheckpointsPruneArgs {
  /** The agent whose thread it is. A purge of the agent erases it. */
  agent_name?: string | null;
  /** The mission it works on. A purge of the mission erases it. */
  mission_id?: string | null;
  /** The user it is with. A purge of the user erases it. */
  user_id?: string | null;
  /** The threads to prune. */
  thread_ids?: readonly string[];
  /** Erase what these runs made, in every thread of the same parties. */
  run_ids?: readonly string[];
  /** The newest of each namespace that stay in `thread_ids`. 0 erases the threads. Default: `1`. */
  keep?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const PRUNE: Operation = {
  method: "PUT",
  path: "/api/checkpoints/prune",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
};

/** What `putWrites` takes. */
export interface CheckpointsPutWritesArgs {
  /** The agent whose thread it is. A purge of the agent erases it. */
  agent_name?: string | null;
  /** The mission it works on. A purge of the mission erases it. */
  mission_id?: string | null;
  /** The user it is with. A purge of the user erases it. */
  user_id?: string | null;
  /** The framework's own name for the thread. */
  thread_id: string;
  /** The checkpoint that the task runs on. It may come later. */
  checkpoint_id: string;
  /** The task that wrote. */
  task_id: string;
  /** What it wrote. The task's first write to a place stays. */
  writes: readonly ChannelWrite[];
  /** The graph within the thread's graph; empty for the thread's own. Default: `""`. */
  namespace?: string;
  /** Where the task stands in its step. It decides the order of the writes. Default: `""`. */
  task_path?: string;
  /** The task's last write to a place stays instead. Default: `false`. */
  replace?: boolean;
  /** How many hours from now on the thread is kept. The next write says it anew. Default: `720.0`. */
  ttl_hours?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string | null;
  /** Short for `mission_id`, in requests. */
  mission?: string | null;
}

export const PUT_WRITES: Operation = {
  method: "PUT",
  path: "/api/checkpoints/writes",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
};

export class CheckpointsCalls extends Group {

  /** Store the state of a graph, or replace it. Its thread begins with the first, and is kept until it expires. */
  put(args: CheckpointsPutArgs, options?: CallOptions): Promise<StoredCheckpoint> {
    return this.call(PUT, args, options);
  }

  /** Copy a thread with all its checkpoints to another thread of the same parties. */
  copy(args: CheckpointsCopyArgs, options?: CallOptions): Promise<CopiedThread> {
    return this.call(COPY, args, options);
  }

  /** List checkpoints with what tasks wrote after them, newest first. */
  list(args: CheckpointsListArgs = {}, options?: CallOptions): Pages<Checkpoints, Checkpoint> {
    return this.pages(LIST, args, options);
  }

  /** Erase threads, all but the newest checkpoints of threads, or what runs made. What is not there is no error. */
  prune(args: CheckpointsPruneArgs = {}, options?: CallOptions): Promise<PrunedThreads> {
    return this.call(PRUNE, args, options);
  }

  /** Store what a task wrote after a checkpoint, so that it need not run again. */
  putWrites(args: CheckpointsPutWritesArgs, options?: CallOptions): Promise<StoredWrites> {
    return this.call(PUT_WRITES, args, options);
  }
}
