// What a session held and how it changed: its objects, their moves from one level to another, and what was brought back.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { gather } from "../loading.js";

const PAGE = 1_000;
/** What is read of each list. */
export const MOST = 10_000;

export interface Past {
  objects: models.ListedObject[];
  moves: models.Transition[];
  faults: models.Fault[];
  /** False: a list has more than was read of it. */
  whole: boolean;
}

export async function pastOf(session_id: string, signal: AbortSignal): Promise<Past> {
  const calls = client().sessions;
  const narrowed = { session_id, limit: PAGE };
  const [objects, moves, faults] = await Promise.all([
    gather(calls.sessionObjects(narrowed, { signal }), MOST),
    gather(calls.sessionTransitions(narrowed, { signal }), MOST),
    gather(calls.sessionFaults(narrowed, { signal }), MOST),
  ]);
  const whole = objects.whole && moves.whole && faults.whole;
  return { objects: objects.items, moves: moves.items, faults: faults.items, whole };
}
