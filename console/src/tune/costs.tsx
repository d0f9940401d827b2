// What calls of models cost, by whom and by what, and the ceilings that end them.

import type { models } from "scrubjay";

import { useQuery } from "../address.js";
import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Bar } from "../parts/bars.js";
import { Choice } from "../parts/field.js";
import { Filter } from "../parts/filter.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";
import { Calls } from "./calls.js";
import { Ceilings } from "./ceilings.js";
import { Days } from "./days.js";

/** Which calls are counted. All are always there, so that what is loaded again can be told from them. */
export interface CostFilter {
  agent: string | undefined;
  mission: string | undefined;
  model: string | undefined;
}

type By = "agent" | "mission" | "model" | "session" | "kind" | "service";

const BYS: readonly (readonly [By, string])[] = [
  ["agent", "agent"],
  ["mission", "mission"],
  ["model", "model"],
  ["session", "session"],
  ["kind", "kind of call"],
  ["service", "service"],
];

export function Costs() {
  const [query, change] = useQuery();
  const by = (query["by"] ?? "agent") as By;
  const filter = {
    agent: query["of"] || undefined,
    mission: query["for"] || undefined,
    model: query["model"] || undefined,
  };
  const costs = useLoad((signal) => client().costs({ ...filter, by, limit: 50 }, { signal }).page(), [by, ...Object.values(filter)]);
  return (
    <section aria-labelledby="costs">
      <h2 id="costs">What models cost</h2>
      <Problem error={costs.error} retry={costs.reload} />
      {costs.data && <Totals costs={costs.data} />}
      <Days filter={filter} />
      <div class="filters">
        <Filter label="Costs of agent" value={query["of"] ?? ""} onChange={(value) => change({ of: value })} />
        <Filter label="Costs of mission" value={query["for"] ?? ""} onChange={(value) => change({ for: value })} />
        <Filter label="Costs of model" value={query["model"] ?? ""} onChange={(value) => change({ model: value })} />
        <Choice label="By" value={by} options={BYS} onChange={(value) => change({ by: value })} />
      </div>
      {costs.data && <Groups costs={costs.data} />}
      <Calls filter={filter} />
      <Ceilings />
    </section>
  );
}

function Totals({ costs }: { costs: models.Costs }) {
  const spans = [
    ["Today", costs.today],
    ["Last seven days", costs.week],
    ["In 400 days", costs.all],
  ] as const;
  return (
    <>
      <dl class="figures">
        {spans.map(([name, amount]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{dollars(amount)}</dd>
          </div>
        ))}
      </dl>
      {costs.unpriced_models.length > 0 && (
        <p>
          Without a price: <Name text={costs.unpriced_models.join(", ")} most={400} />. Prices are of {costs.prices_as_of}.
        </p>
      )}
    </>
  );
}

function Groups({ costs }: { costs: models.Costs }) {
  const most = Math.max(...costs.data.map((one) => Number(one.week.cost_usd)), 0);
  const columns: Column<models.CostGroup>[] = [
    { head: "Of", cell: (one) => <Name text={one.name} /> },
    { head: "Seven days", cell: (one) => <Bar label="" value={Number(one.week.cost_usd)} most={most} shown={dollars(one.week)} /> },
    { head: "Today", cell: (one) => dollars(one.today), number: true },
    { head: "In all", cell: (one) => dollars(one.all), number: true },
    { head: "Calls", cell: (one) => one.all.calls.toLocaleString("en"), number: true },
  ];
  if (costs.data.length === 0) return <p class="empty">No call of a model was recorded.</p>;
  return <Table caption="Costs" columns={columns} rows={costs.data} keyOf={(one) => one.name ?? ""} />;
}

function dollars(amount: models.Amount): string {
  return `$${Number(amount.cost_usd).toFixed(2)}`;
}
