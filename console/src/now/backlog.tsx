// What waits for its vectors. The service tells it to keys without bounds only.

import type { models } from "scrubjay";

import { client, connected } from "../connection.js";
import { useEvery, useLoad } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

const EVERY_MS = 10_000;

const COLUMNS: Column<models.StoreWaiting>[] = [
  { head: "Store", cell: (store) => <Name text={store.store} /> },
  { head: "Items", cell: (store) => store.items.toLocaleString("en"), number: true },
  { head: "Ready", cell: (store) => (store.expected_at === null ? "not known" : <Time at={store.expected_at} />) },
];

export function Backlog() {
  const { agent, missions, users } = connected().me;
  return agent === null && missions === null && users === null ? <Waiting /> : null;
}

function Waiting() {
  const backlog = useLoad((signal) => client().backlog({}, { signal }), []);
  useEvery(EVERY_MS, backlog.reload);
  const waiting = backlog.data?.stores.filter((store) => store.items > 0) ?? [];
  const missing = backlog.data?.degraded ?? [];
  return (
    <section aria-labelledby="backlog">
      <h2 id="backlog">Waiting for vectors</h2>
      <Problem error={backlog.error} retry={backlog.reload} />
      {missing.length > 0 && (
        <ul class="degraded">
          {missing.map(({ source, reason }) => (
            <li key={source}>
              <Name text={source} />: <Name text={reason} />
            </li>
          ))}
        </ul>
      )}
      {waiting.length > 0 && (
        <>
          <p class="small">Until then they are found by their words.</p>
          <Table caption="Waiting for vectors" columns={COLUMNS} rows={waiting} keyOf={(store) => store.store} />
        </>
      )}
      {backlog.data && waiting.length === 0 && missing.length === 0 && <p class="empty">Nothing waits.</p>}
    </section>
  );
}
