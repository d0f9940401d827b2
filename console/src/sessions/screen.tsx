// The sessions of agents, the newest first.

import type { models } from "scrubjay";

import { useQuery } from "../address.js";
import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Choice } from "../parts/field.js";
import { Filter } from "../parts/filter.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

type Status = models.Session["status"];

const STATUSES: readonly (readonly [Status | "", string])[] = [
  ["", "All"],
  ["active", "Active"],
  ["completed", "Completed"],
  ["abandoned", "Abandoned"],
];

const COLUMNS: Column<models.Session>[] = [
  {
    head: "Session",
    cell: (one) => (
      <a href={`/console/sessions/${one.id}`}>
        <Name text={one.external_id} />
      </a>
    ),
  },
  { head: "Agent", cell: (one) => <Name text={one.agent_name} /> },
  { head: "Mission", cell: (one) => <Name text={one.mission_id} /> },
  { head: "User", cell: (one) => <Name text={one.user_id} /> },
  { head: "Status", cell: (one) => <span class={`state ${one.status}`}>{one.status}</span> },
  { head: "Turns", cell: (one) => one.total_turns.toLocaleString("en"), number: true },
  { head: "Objects", cell: (one) => one.total_objects.toLocaleString("en"), number: true },
  { head: "Brought back", cell: (one) => one.total_faults.toLocaleString("en"), number: true },
  { head: "Last active", cell: (one) => <Time at={one.last_active_at} /> },
];

export function Sessions() {
  const [query, change] = useQuery();
  const { agent = "", mission = "", user = "" } = query;
  const status = (query["status"] ?? "") as Status | "";
  const list = usePages(
    (signal) =>
      client().sessions.sessionList(
        {
          agent_name: agent || undefined,
          mission: mission || undefined,
          user_id: user || undefined,
          status: status || undefined,
          limit: 50,
        },
        { signal },
      ),
    [agent, mission, user, status],
  );
  return (
    <>
      <h1>Sessions</h1>
      <section aria-labelledby="sessions">
        <h2 id="sessions">Conversations and their contexts, the newest first</h2>
        <div class="filters">
          <Filter label="Agent" value={agent} onChange={(value) => change({ agent: value })} />
          <Filter label="Mission" value={mission} onChange={(value) => change({ mission: value })} />
          <Filter label="User" value={user} onChange={(value) => change({ user: value })} />
          <Choice label="Status" value={status} options={STATUSES} onChange={(value) => change({ status: value })} />
        </div>
        {list.items.length > 0 && <Table caption="Sessions" columns={COLUMNS} rows={list.items} keyOf={(one) => one.id} />}
        <ListEnd list={list} empty="There is no such session that this key may read." />
      </section>
    </>
  );
}
