// What the context of a session held after each turn, counted from its objects and from what moved.

import type { models } from "scrubjay";

import { LEVELS } from "./levels.js";
import type { Past } from "./past.js";

/** The state once so many turns had ended, with what came until the next one ended. */
export interface Turn {
  turn: number;
  /** Tokens at each level. */
  tokens: number[];
  /** Objects at each level. */
  objects: number[];
  returned: number;
  asked: number;
}

/** How many tokens an object takes at a level. A summary that was never made leaves the line. */
export function tokensAt(object: models.ListedObject, level: number): number {
  const { tokens_l0, tokens_l1, tokens_l2, tokens_l3 } = object;
  return [tokens_l0, tokens_l1 ?? tokens_l3, tokens_l2 ?? tokens_l3, tokens_l3][level] ?? 0;
}

export function turnsOf({ objects, moves, faults }: Past, last: number): Turn[] {
  const turns = Array.from({ length: last + 1 }, (_, turn) => ({ turn, tokens: none(), objects: none(), returned: 0, asked: 0 }));
  const known = new Map(objects.map((object) => [object.id, object]));
  const add = (object: models.ListedObject, turn: number, level: number, sign: 1 | -1) => {
    const at = turns[Math.min(turn, last)];
    if (at === undefined) return;
    at.tokens[level] = (at.tokens[level] ?? 0) + sign * tokensAt(object, level);
    at.objects[level] = (at.objects[level] ?? 0) + sign;
  };
  for (const object of objects) add(object, object.created_turn, 0, 1);
  for (const { object_id, turn_number, from_fidelity, to_fidelity } of moves) {
    const object = known.get(object_id);
    if (object === undefined) continue;
    add(object, turn_number, from_fidelity, -1);
    add(object, turn_number, to_fidelity, 1);
  }
  for (const { turn_number, fault_type } of faults) {
    const at = turns[Math.min(turn_number, last)];
    if (at === undefined) continue;
    if (fault_type === "micro_fault") at.asked += 1;
    else at.returned += 1;
  }
  return summed(turns);
}

function none(): number[] {
  return LEVELS.map(() => 0);
}

/** From what each turn changed to what there was after it. */
function summed(turns: Turn[]): Turn[] {
  for (const [place, turn] of turns.entries()) {
    const before = turns[place - 1];
    if (before === undefined) continue;
    turn.tokens = turn.tokens.map((count, level) => count + (before.tokens[level] ?? 0));
    turn.objects = turn.objects.map((count, level) => count + (before.objects[level] ?? 0));
  }
  return turns;
}

/** No more than `most` columns: each is the last of some turns, with what was brought back and asked in all of them. */
export function columnsOf(turns: readonly Turn[], most: number): Turn[] {
  const step = Math.ceil(turns.length / most);
  const columns: Turn[] = [];
  for (let end = turns.length; end > 0; end -= step) {
    const some = turns.slice(Math.max(0, end - step), end);
    const total = (name: "returned" | "asked") => some.reduce((sum, turn) => sum + turn[name], 0);
    columns.unshift({ ...(some.at(-1) as Turn), returned: total("returned"), asked: total("asked") });
  }
  return columns;
}
