// How much of an object a context shows, from all of it to nothing.

export const LEVELS = ["Whole", "Long summary", "Short summary", "One line", "Not shown"] as const;

/** A colour of the style sheet for each level that takes tokens. */
export const COLOURS = ["first", "second", "third", "fourth"] as const;

export function levelName(level: number): string {
  return LEVELS[level] ?? String(level);
}

export function objectAddress(session: string, object: string): string {
  return `/console/sessions/${session}/objects/${object}`;
}
