// The context window over turns: how many tokens stood in it at each level after each turn.

import type { models } from "scrubjay";

/** The levels that take room; what is at level 4 is evicted. */
export const LEVELS = ["Whole", "Detailed summary", "Compact summary", "One line"] as const;

export interface Window {
  turns: number[];
  /** Tokens by level, each over the turns. */
  tokens: number[][];
}

/** An object is whole from its turn on, and changes its level with each transition. */
export function windowOf(
  objects: readonly models.ListedObject[],
  transitions: readonly models.Transition[],
  lastTurn: number,
): Window {
  const changes = new Map<string, models.Transition[]>();
  for (const one of transitions) changes.set(one.object_id, [...(changes.get(one.object_id) ?? []), one]);
  const turns = Array.from({ length: lastTurn + 1 }, (_, turn) => turn);
  const tokens = LEVELS.map(() => new Array<number>(turns.length).fill(0));
  for (const object of objects) {
    let next = 0;
    let level = 0;
    const own = changes.get(object.id) ?? [];
    for (let turn = object.created_turn; turn <= lastTurn; turn += 1) {
      for (let change = own[next]; change !== undefined && change.turn_number <= turn; change = own[next]) {
        level = change.to_fidelity;
        next += 1;
      }
      const row = tokens[level];
      if (row !== undefined) row[turn] = (row[turn] ?? 0) + tokensAt(object, level);
    }
  }
  return { turns, tokens };
}

/** A summary that was never made leaves the line that stands for the object. */
export function tokensAt(object: models.ListedObject, level: number): number {
  switch (level) {
    case 0:
      return object.tokens_l0;
    case 1:
      return object.tokens_l1 ?? object.tokens_l3;
    case 2:
      return object.tokens_l2 ?? object.tokens_l3;
    default:
      return level === 3 ? object.tokens_l3 : 0;
  }
}

/** Each level on top of those before it, for a chart of areas. The first of the list is drawn first: the whole. */
export function stacked(tokens: readonly (readonly number[])[]): number[][] {
  const sums: number[][] = [];
  for (const row of tokens) {
    const below = sums.at(-1);
    sums.push(row.map((value, turn) => value + (below?.[turn] ?? 0)));
  }
  return sums;
}
