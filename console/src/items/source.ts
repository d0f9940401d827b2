// What stands behind a handle: its text, what else is known of it, and how it is forgotten.

import type { models } from "scrubjay";

import { client } from "../connection.js";

type Fields = Record<string, unknown>;

/** The record of the item: some stores answer it within a field of that name. */
export function recordOf(source: models.SourceItem): Fields {
  const item = asFields(source.item);
  for (const inner of ["memory", "data", "object", "fact"]) {
    if (typeof item[inner] === "object" && item[inner] !== null) return asFields(item[inner]);
  }
  return item;
}

/** The text that somebody stored. A fact is read as a sentence. */
export function textOf(source: models.SourceItem): string {
  const record = recordOf(source);
  for (const name of ["content", "text", "rendered", "profile"]) {
    if (typeof record[name] === "string") return record[name];
  }
  if ("subject" in record) return [record["subject"], record["predicate"], record["object"]].map(String).join(" – ");
  return typeof source.item === "string" ? source.item : JSON.stringify(source.item, null, 2);
}

const SHOWN_ELSEWHERE = new Set(["content", "text", "rendered", "profile"]);

/** Everything else that is known of it, by the names of the API. */
export function detailsOf(source: models.SourceItem): [string, string][] {
  return Object.entries(recordOf(source))
    .filter(([name, value]) => !SHOWN_ELSEWHERE.has(name) && value !== null && value !== undefined)
    .map(([name, value]) => [name.replaceAll("_", " "), typeof value === "string" ? value : JSON.stringify(value)]);
}

/** How the item is erased, or null where the API has no way for one item of its store. */
export function forgetting(source: models.SourceItem): (() => Promise<unknown>) | null {
  const record = recordOf(source);
  const id = Number(record["id"]);
  switch (source.handle.split(":", 1)[0]) {
    case "cache":
      return () => client().cache.deleteEntry({ entry_id: id });
    case "own":
    case "peer":
      return () => client().agentMemory.delete({ memory_id: id });
    case "memory":
      return () => client().memory.delete({ memory_id: id });
    case "persistent":
      return () => client().persistentObjects.forget({ persistent_id: String(record["id"]) });
    case "kg":
      return () => client().kg.invalidate({ id });
    case "vault":
      return typeof record["path"] === "string" ? () => client().vault.remove({ path: String(record["path"]) }) : null;
    default:
      return null;
  }
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
