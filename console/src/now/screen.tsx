// Who is doing what.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { useEvery, useLoad, usePages } from "../loading.js";
import { Bar } from "../parts/bars.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Backlog } from "./backlog.js";
import { Health } from "./health.js";
import { LiveTimeline } from "./timeline.js";

const EVERY_MS = 5_000;

export function Now() {
  return (
    <>
      <h1>Now</h1>
      <Health />
      <div class="columns">
        <div>
          <Agents />
          <Missions />
          <Dispatches />
          <Backlog />
        </div>
        <LiveTimeline />
      </div>
    </>
  );
}

const AGENTS: Column<models.MonitoredAgent>[] = [
  {
    head: "Agent",
    cell: (agent) => (
      <a href={`/console/why?${new URLSearchParams({ caller: agent.agent_name })}`} title="The answers that it was given">
        <Name text={agent.agent_name} />
      </a>
    ),
  },
  { head: "State", cell: (agent) => <span class={`state ${agent.status}`}>{agent.doing ?? agent.status}</span> },
  { head: "Mission", cell: (agent) => <Name text={agent.mission_id} /> },
  { head: "Last", cell: (agent) => <code>{agent.last_event}</code> },
  { head: "When", cell: (agent) => <Time at={agent.at} /> },
  { head: "Dispatches", cell: (agent) => agent.open_dispatches.length, number: true },
  { head: "Today", cell: (agent) => `$${Number(agent.cost_today_usd).toFixed(2)}`, number: true },
];

function Agents() {
  const list = useLoad((signal) => client().monitor({ limit: 50 }, { signal }).page(), []);
  useEvery(EVERY_MS, list.reload);
  const agents = list.data?.data ?? [];
  return (
    <section aria-labelledby="agents">
      <h2 id="agents">Agents</h2>
      <Problem error={list.error} retry={list.reload} />
      {agents.length > 0 && <Table caption="Agents" columns={AGENTS} rows={agents} keyOf={(agent) => agent.agent_name} />}
      {list.data && agents.length === 0 && <p class="empty">No agent has done anything in the last hour.</p>}
      {list.data?.next && <p class="small">The 50 that did something last are shown.</p>}
    </section>
  );
}

const MISSIONS: Column<models.Mission>[] = [
  {
    head: "Mission",
    cell: (mission) => (
      <a href={`/console/explore?${new URLSearchParams({ kind: "entries", mission: mission.mission_id })}`} title="Its entries">
        <Name text={mission.mission_id} />
      </a>
    ),
  },
  {
    head: "Tokens",
    cell: (mission) => (
      <Bar
        label=""
        value={mission.total_tokens}
        most={mission.token_budget}
        shown={`${mission.total_tokens.toLocaleString("en")} of ${mission.token_budget.toLocaleString("en")}`}
      />
    ),
  },
  { head: "Entries", cell: (mission) => mission.entry_count.toLocaleString("en"), number: true },
  { head: "Evicted", cell: (mission) => mission.evicted_count.toLocaleString("en"), number: true },
  { head: "Written", cell: (mission) => <Time at={mission.last_write_at} /> },
];

function Missions() {
  const list = usePages((signal) => client().cache.missions({ limit: 25 }, { signal }), []);
  return (
    <section aria-labelledby="missions">
      <h2 id="missions">Missions</h2>
      {list.items.length > 0 && (
        <Table caption="Missions" columns={MISSIONS} rows={list.items} keyOf={(mission) => mission.mission_id} />
      )}
      <ListEnd list={list} empty="No mission holds anything." />
    </section>
  );
}

const DISPATCHES: Column<models.Dispatch>[] = [
  { head: "Dispatch", cell: (dispatch) => dispatch.id, number: true },
  { head: "Agent", cell: (dispatch) => <Name text={dispatch.agent_name} /> },
  { head: "Mission", cell: (dispatch) => <Name text={dispatch.mission_id} /> },
  { head: "Status", cell: (dispatch) => <span class={`state ${dispatch.status}`}>{dispatch.status}</span> },
  { head: "Heartbeat", cell: (dispatch) => <Time at={dispatch.last_heartbeat} /> },
];

function Dispatches() {
  const list = usePages((signal) => client().dispatch.list({ limit: 25 }, { signal }), []);
  return (
    <section aria-labelledby="dispatches">
      <h2 id="dispatches">Dispatches</h2>
      {list.items.length > 0 && (
        <Table caption="Dispatches" columns={DISPATCHES} rows={list.items} keyOf={(dispatch) => dispatch.id} />
      )}
      <ListEnd list={list} empty="No work was dispatched." />
    </section>
  );
}
