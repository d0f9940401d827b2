// How much of an object a context shows, from all of it to nothing.

import type { models } from "scrubjay";

export const LEVELS = ["Whole", "Detailed summary", "Compact summary", "One line", "Not shown"] as const;

/** A colour of the style sheet for each level that takes tokens. */
export const COLOURS = ["first", "second", "third", "fourth"] as const;

export function levelName(level: number): string {
  return LEVELS[level] ?? String(level);
}

export function objectAddress(session: string, object: string): string {
  return `/console/sessions/${session}/objects/${object}`;
}

/** What became of an object that an agent missed. */
export const RETURNED: Record<models.Fault["fault_type"], string> = {
  full_restore: "brought back whole",
  micro_fault: "asked",
  entropy_triggered: "brought back: the model was unsure",
};

/** Why an object is shown in another way. */
export const REASONS: Record<models.Transition["trigger"], string> = {
  pressure: "room was needed",
  access: "read again, or a newer version came",
  cooperative: "the agent released it",
  fault: "it was brought back",
  goal_change: "the goal changed",
};
