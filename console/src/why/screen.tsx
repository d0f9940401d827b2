// Which answers agents were given.

import type { models } from "scrubjay";

import { useQuery } from "../address.js";
import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Filter } from "../parts/filter.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { ago, Time } from "../parts/time.js";

const COLUMNS: Column<models.LogEntry>[] = [
  {
    head: "Answer",
    cell: (entry) => (
      <a href={`/console/why/${entry.id}`} aria-label={`Answer ${entry.id}, ${ago(entry.created_at)}`}>
        {entry.id}
      </a>
    ),
  },
  { head: "When", cell: (entry) => <Time at={entry.created_at} /> },
  { head: "Caller", cell: (entry) => <Name text={entry.caller} /> },
  { head: "Mission", cell: (entry) => <Name text={entry.mission_namespace} /> },
  { head: "Tokens", cell: (entry) => `${entry.total_tokens} of ${entry.token_budget}`, number: true },
  { head: "Took", cell: (entry) => `${entry.retrieval_ms.toFixed(0)} ms`, number: true },
  { head: "Notes", cell: (entry) => notes(entry).join(", ") },
];

export function Why() {
  const [query, change] = useQuery();
  const { caller = "", mission = "", session = "", since = "" } = query;
  const list = usePages(
    (signal) =>
      client().log(
        {
          caller: caller || undefined,
          mission_namespace: mission || undefined,
          session_id: session || undefined,
          since: since ? new Date(since).toISOString() : undefined,
          limit: 50,
        },
        { signal },
      ),
    [caller, mission, session, since],
  );
  return (
    <>
      <h1>Why did my agent see that?</h1>
      <section aria-labelledby="answers">
        <h2 id="answers">Answers, the newest first</h2>
        <div class="filters">
          <Filter label="Caller" value={caller} onChange={(value) => change({ caller: value })} />
          <Filter label="Mission" value={mission} onChange={(value) => change({ mission: value })} />
          <Filter label="Session" value={session} onChange={(value) => change({ session: value })} />
          <Filter label="Since" value={since} type="datetime-local" onChange={(value) => change({ since: value })} />
        </div>
        {list.items.length > 0 && (
          <Table caption="Answers" columns={COLUMNS} rows={list.items} keyOf={(entry) => entry.id} />
        )}
        <ListEnd list={list} empty="No answer was given to such a question." />
      </section>
    </>
  );
}

function notes(entry: models.LogEntry): string[] {
  return [
    ...(entry.low_relevance ? ["nothing relevant"] : []),
    ...(entry.degraded.length > 0 ? [`degraded: ${entry.degraded.map((one) => one.source).join(", ")}`] : []),
    ...(entry.used_source_ids != null ? [`${entry.used_source_ids.length} reported as useful`] : []),
  ];
}
