// Written by `make openapi` from the API's document.

import { type Operation } from "../group.js";

/** What `timeline` takes. */
export interface TimelineTimelineArgs {
  /** The last number of the previous page. */
  after?: number;
  /** The `next` of the previous page. Omit it for the first page. */
  cursor?: string;
  /** The largest number of items in a page. */
  limit?: number;
  /** Only this mission's events. */
  mission?: string;
  /** Only this agent's events. */
  agent?: string;
  /** Only events of this kind, such as cache_write. Repeat it for several kinds. */
  kind?: readonly string[];
  /** Only this dispatch's events. */
  dispatch_id?: number;
  /** Only what was recorded at this time or later. A time without an offset is UTC. */
  since?: string;
}

export const TIMELINE: Operation = {
  method: "GET",
  path: "/api/timeline",
  seconds: 2.0,
  repeatable: true,
  query: ["after", "cursor", "limit", "mission", "agent", "kind", "dispatch_id", "since"],
};
