// Written by `make openapi` from the API's document.

import { Group, type CallOptions, type Operation } from "../group.js";
import type { Pages } from "../pages.js";
import type { CompletedAnswer, Dispatch, DispatchAnswer, DispatchesAnswer } from "../models.js";

/** What `list` takes. */
export interface DispatchListArgs {
  /** The mission's name. */
  mission_id?: string;
  /** Of this agent only. */
  agent_name?: string;
  /** Of this status only. */
  status?: "completed" | "dispatched" | "in_progress" | "stale";
  /** Only what was recorded at this time or later. A time without an offset is UTC. */
  since?: string;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Short for `agent_name`, in requests. */
  agent?: string;
  /** Short for `mission_id`, in requests. */
  mission?: string;
}

export const LIST: Operation = {
  method: "GET",
  path: "/api/dispatch",
  seconds: 2.0,
  repeatable: true,
  query: ["mission_id", "agent_name", "status", "since", "cursor", "limit", "agent", "mission"],
};

/** What `report` takes. */
export interface DispatchReportArgs {
  /** The mission. Required unless the key is bound to one. */
  mission_id?: string;
  /** The agent that does it. Required unless the key is bound to one. */
  agent_name?: string;
  /** What to do. */
  task: string;
  /** The dispatch that it belongs to. */
  parent_dispatch_id?: number | string | null;
  /** The session that works on it. */
  session_id?: string | null;
  /** Short for `agent_name`, in requests. */
  agent?: string;
  /** Short for `mission_id`, in requests. */
  mission?: string;
}

export const REPORT: Operation = {
  method: "POST",
  path: "/api/dispatch/report",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  own: {"agent": "agent_name", "mission": "mission_id"},
  keyed: true,
};

/** What `get` takes. */
export interface DispatchGetArgs {
  /** The id of a dispatch. */
  dispatch_id: number;
}

export const GET: Operation = {
  method: "GET",
  path: "/api/dispatch/{dispatch_id}",
  seconds: 2.0,
  repeatable: true,
};

/** What `complete` takes. */
export interface DispatchCompleteArgs {
  /** The id of a dispatch. */
  dispatch_id: number;
  /** How it ended. */
  outcome: "failed" | "partial" | "success";
  /** The result. */
  summary?: string | null;
}

export const COMPLETE: Operation = {
  method: "POST",
  path: "/api/dispatch/{dispatch_id}/complete",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

/** What `progress` takes. */
export interface DispatchProgressArgs {
  /** The id of a dispatch. */
  dispatch_id: number;
  /** What was done. */
  note?: string | null;
  /** How much of it is done. */
  percent?: number | null;
}

export const PROGRESS: Operation = {
  method: "POST",
  path: "/api/dispatch/{dispatch_id}/progress",
  seconds: 5.0,
  repeatable: true,
  body: "json",
  keyed: true,
};

export class DispatchCalls extends Group {

  /** List dispatches, newest first. */
  list(args: DispatchListArgs = {}, options?: CallOptions): Pages<DispatchesAnswer, Dispatch> {
    return this.pages(LIST, args, options);
  }

  /** Report that an agent was given work. Entries that name its id keep it alive. */
  report(args: DispatchReportArgs, options?: CallOptions): Promise<DispatchAnswer> {
    return this.call(REPORT, args, options);
  }

  /** Get a dispatch: its agent, its task and its status. */
  get(args: DispatchGetArgs, options?: CallOptions): Promise<DispatchAnswer> {
    return this.call(GET, args, options);
  }

  /** Close a dispatch, even a stale one. `output_missing` says that no output entry was written for it. */
  complete(args: DispatchCompleteArgs, options?: CallOptions): Promise<CompletedAnswer> {
    return this.call(COMPLETE, args, options);
  }

  /** Report a dispatch's progress. Even an empty report is a sign of life. */
  progress(args: DispatchProgressArgs, options?: CallOptions): Promise<DispatchAnswer> {
    return this.call(PROGRESS, args, options);
  }
}
