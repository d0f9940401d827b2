// The calls of models one by one, the newest first.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";
import type { CostFilter } from "./costs.js";

const COLUMNS: Column<models.CostRow>[] = [
  { head: "When", cell: (call) => <Time at={call.created_at} /> },
  { head: "Model", cell: (call) => <Name text={call.model} /> },
  { head: "For", cell: (call) => <Name text={call.kind} /> },
  { head: "Agent", cell: (call) => <Name text={call.agent_name} /> },
  { head: "Mission", cell: (call) => <Name text={call.mission_id} /> },
  { head: "Tokens in", cell: (call) => tokensIn(call).toLocaleString("en"), number: true },
  { head: "Tokens out", cell: (call) => call.output_tokens.toLocaleString("en"), number: true },
  { head: "Cost", cell: (call) => (call.cost_usd === null ? "not known" : `$${Number(call.cost_usd).toFixed(4)}`), number: true },
  { head: "Outcome", cell: (call) => call.outcome },
];

export function Calls({ filter }: { filter: CostFilter }) {
  const list = usePages((signal) => client().costCalls({ ...filter, limit: 25 }, { signal }), Object.values(filter));
  return (
    <>
      <h3>Calls</h3>
      {list.items.length > 0 && <Table caption="Calls of models" columns={COLUMNS} rows={list.items} keyOf={(call) => call.id} />}
      <ListEnd list={list} empty="No call was recorded." />
    </>
  );
}

function tokensIn(call: models.CostRow): number {
  return call.input_tokens + call.cache_read_tokens + call.cache_write_tokens;
}
