// What a strict compiler takes, and what it refuses.

import { parseBlock, Scrubjay, type models, type Pages } from "scrubjay";

const jay = new Scrubjay({ url: "http://localhost:8080", token: "key", timeoutMs: 1_000 });
const scout = jay.agent("scout", { mission: "checkout" });

export async function taken(): Promise<void> {
  const entry: models.Decision = {
    context_type: "decision",
    content: "Roll back",
    decision_rationale: "4.3.0 drops the header",
  };
  const written: models.WriteAnswer = await scout.cache.write({ ...entry, wait: "indexed" });
  const id: number = written.data.id;
  const found = await scout.assemble({ query: `What came of ${id}?` }, { timeoutMs: 2_000 });
  for (const { handle, text } of parseBlock(found.context_block, found.nonce)) console.log(handle, text);
  const listed: Pages<models.EntriesAnswer, models.CacheEntry> = scout.cache.entries();
  for await (const one of listed) console.log(one.content);
  for await (const event of jay.events({ kind: "cache_write" })) console.log(event.seq, event.payload);
}

export function refused(): void {
  // @ts-expect-error It asks nothing.
  void jay.assemble({});
  // @ts-expect-error No such argument.
  void jay.assemble({ query: "why", qeury: "why" });
  // @ts-expect-error No such type of an entry.
  void jay.cache.write({ context_type: "rumour", content: "x" });
  // @ts-expect-error Not a number.
  void jay.explain({ assembly_id: "12" });
  // @ts-expect-error An answer has no such field.
  void jay.cache.stats({ mission: "m" }).then((answer) => answer.date);
  // @ts-expect-error A list is not awaited for its items.
  for (const one of jay.cache.entries()) void one;
}
