// The sessions of agents, whose contexts the service pages.

import type { models } from "scrubjay";

import { useQuery } from "../address.js";
import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Filter } from "../parts/filter.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

const COLUMNS: Column<models.Session>[] = [
  {
    head: "Session",
    cell: (session) => (
      <a href={`/console/sessions/${session.id}`}>
        <Name text={session.external_id} />
      </a>
    ),
  },
  { head: "Agent", cell: (session) => <Name text={session.agent_name} /> },
  { head: "Mission", cell: (session) => <Name text={session.mission_id} /> },
  { head: "Status", cell: (session) => <span class={`state ${session.status}`}>{session.status}</span> },
  { head: "Turns", cell: (session) => session.total_turns, number: true },
  { head: "Objects", cell: (session) => session.total_objects, number: true },
  { head: "Faults", cell: (session) => session.total_faults, number: true },
  { head: "Last active", cell: (session) => <Time at={session.last_active_at} /> },
];

export function Sessions() {
  const [{ agent = "" }, change] = useQuery();
  const list = usePages(
    (signal) => client().sessions.sessionList({ agent_name: agent || undefined, limit: 50 }, { signal }),
    [agent],
  );
  return (
    <>
      <h1>Sessions</h1>
      <section aria-labelledby="sessions">
        <h2 id="sessions">What sessions hold in their contexts</h2>
        <div class="filters">
          <Filter label="Agent" value={agent} onChange={(value) => change({ agent: value })} />
        </div>
        {list.items.length > 0 && (
          <Table caption="Sessions" columns={COLUMNS} rows={list.items} keyOf={(session) => session.id} />
        )}
        <ListEnd list={list} empty="No session that this key may read." />
      </section>
    </>
  );
}
