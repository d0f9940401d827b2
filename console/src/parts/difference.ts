// Which words two texts do not share.

const WORD = /[\p{L}\p{N}_]+(?:[.:-][\p{L}\p{N}_]+)*/gu;

export function differing(one: string, other: string): { one: Set<string>; other: Set<string> } {
  const words = [one, other].map((text) => new Set(text.match(WORD) ?? []));
  const [mine, theirs] = words as [Set<string>, Set<string>];
  return {
    one: new Set([...mine].filter((word) => !theirs.has(word))),
    other: new Set([...theirs].filter((word) => !mine.has(word))),
  };
}

/** The text in pieces: every second one is a word of `marked`. */
export function pieces(text: string, marked: ReadonlySet<string>): string[] {
  const found: string[] = [];
  let end = 0;
  for (const word of text.matchAll(WORD)) {
    if (!marked.has(word[0])) continue;
    found.push(text.slice(end, word.index), word[0]);
    end = word.index + word[0].length;
  }
  return [...found, text.slice(end)];
}
