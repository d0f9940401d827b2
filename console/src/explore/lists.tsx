// Everything of a kind, the newest first, a page at a time.

import type { models, Pages } from "scrubjay";

import type { Query } from "../address.js";
import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Filter } from "../parts/filter.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

export type Kind = "entries" | "memories" | "knowledge" | "preference" | "summary" | "episode" | "commitment" | "facts" | "files";

export const KINDS: readonly (readonly [Kind, string])[] = [
  ["entries", "Entries of missions"],
  ["memories", "What agents learned"],
  ["knowledge", "Knowledge"],
  ["preference", "Preferences"],
  ["summary", "Summaries"],
  ["episode", "Episodes"],
  ["commitment", "Commitments"],
  ["facts", "Facts"],
  ["files", "Files of the vault"],
];

const PAGE = 50;

interface Known {
  key: string | number;
  /** Where the item has a page of its own. */
  href: string | null;
  what: string;
  text: string;
  of: string | null | undefined;
  by: string | null | undefined;
  at: string;
}

const COLUMNS: Column<Known>[] = [
  { head: "Item", cell: (one) => (one.href ? <a href={one.href}><Name text={one.what} /></a> : <Name text={one.what} />) },
  { head: "Text", cell: (one) => <Name text={one.text} most={240} /> },
  { head: "Of", cell: (one) => <Name text={one.of} /> },
  { head: "By", cell: (one) => <Name text={one.by} /> },
  { head: "Stored", cell: (one) => <Time at={one.at} /> },
];

export function KnownList({ kind, query, change }: { kind: Kind; query: Query; change: (changes: Query) => void }) {
  return kind === "entries" ? (
    <Narrowed kind={kind} names={["mission", "agent"]} query={query} change={change} />
  ) : kind === "memories" ? (
    <Narrowed kind={kind} names={["agent"]} query={query} change={change} />
  ) : kind === "facts" ? (
    <Narrowed kind={kind} names={["entity", "user"]} query={query} change={change} />
  ) : kind === "files" ? (
    <Narrowed kind={kind} names={["folder"]} query={query} change={change} />
  ) : (
    <Narrowed kind={kind} names={["scope", "user"]} query={query} change={change} />
  );
}

const LABELS: Record<string, string> = { mission: "Mission", agent: "Agent", entity: "Entity", user: "User", folder: "Folder", scope: "Scope" };

function Narrowed({ kind, names, query, change }: { kind: Kind; names: string[]; query: Query; change: (changes: Query) => void }) {
  const values = names.map((name) => query[name] ?? "");
  const list = usePages((signal) => pagesOf(kind, query, signal), [kind, ...values]);
  return (
    <>
      <div class="filters">
        {names.map((name) => (
          <Filter key={name} label={LABELS[name] ?? name} value={query[name] ?? ""} onChange={(value) => change({ [name]: value })} />
        ))}
      </div>
      {list.items.length > 0 && (
        <Table caption={kind} columns={COLUMNS} rows={list.items.map((item) => ROW[kind](item as never))} keyOf={(one) => one.key} />
      )}
      <ListEnd list={list} empty="There is none that this key may read." />
    </>
  );
}

type AnyPages = Pages<{ data: readonly unknown[]; next?: string | null }, unknown>;

function pagesOf(kind: Kind, query: Query, signal: AbortSignal): AnyPages {
  const value = (name: string) => query[name] || undefined;
  const options = { signal };
  switch (kind) {
    case "entries":
      return client().cache.entries({ mission: value("mission"), agent_name: value("agent"), limit: PAGE }, options);
    case "memories":
      return client().agentMemory.list({ agent_name: value("agent"), limit: PAGE }, options);
    case "facts":
      return client().kg.query({ entity: value("entity"), user_id: value("user"), limit: PAGE }, options);
    case "files":
      return client().vault.list({ folder: value("folder"), limit: PAGE }, options);
    default:
      return client().memory.list({ kind, in_scope: value("scope"), user_id: value("user"), limit: PAGE }, options);
  }
}

const item = (handle: string) => `/console/explore/item/${encodeURIComponent(handle)}`;

const longTerm = (one: models.LongTermMemory): Known => ({
  key: one.id,
  href: item(`memory:${one.id}`),
  what: `memory:${one.id}`,
  text: one.content,
  of: one.scope,
  by: one.agent_name,
  at: one.created_at,
});

const ROW = {
  entries: (one: models.CacheEntry): Known => ({
    key: one.id,
    href: item(`cache:${one.id}`),
    what: `cache:${one.id} ${one.context_type}`,
    text: one.content,
    of: one.mission_id,
    by: one.agent_name,
    at: one.created_at,
  }),
  memories: (one: models.AgentMemory): Known => ({
    key: one.id,
    href: item(`own:${one.id}`),
    what: `own:${one.id} ${one.memory_type}`,
    text: one.content,
    of: one.agent_name,
    by: one.written_by,
    at: one.created_at,
  }),
  facts: (one: models.Fact): Known => ({
    key: one.id,
    href: `/console/explore/facts/${encodeURIComponent(one.subject)}`,
    what: one.subject,
    text: `${one.predicate} ${one.object}${one.disputed ? " (disputed)" : ""}`,
    of: one.scope,
    by: one.agent_name ?? one.written_by,
    at: one.recorded_at,
  }),
  files: (one: models.VaultFile): Known => ({
    key: one.path,
    href: one.ids[0] === undefined ? null : item(`vault:${one.ids[0]}`),
    what: one.path,
    text: one.title,
    of: `${one.lines} lines`,
    by: one.agent_name ?? one.written_by,
    at: one.created_at,
  }),
  knowledge: longTerm,
  preference: longTerm,
  summary: longTerm,
  episode: longTerm,
  commitment: longTerm,
} satisfies Record<Kind, (one: never) => Known>;
