// Which answers gave an item to an agent.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

const COLUMNS: Column<models.GivenTo>[] = [
  { head: "Answer", cell: (one) => <a href={`/console/why/${one.assembly_id}`}>{one.assembly_id}</a> },
  { head: "When", cell: (one) => <Time at={one.created_at} /> },
  { head: "To", cell: (one) => <Name text={one.caller} /> },
  { head: "Mission", cell: (one) => <Name text={one.mission_namespace} /> },
  { head: "Useful", cell: (one) => (one.used === null ? "not said" : one.used ? "yes" : "no") },
];

export function Given({ handle }: { handle: string }) {
  const list = usePages((signal) => client().given({ handle, limit: 25 }, { signal }), [handle]);
  return (
    <section aria-labelledby="given">
      <h2 id="given">Who was given it</h2>
      {list.items.length > 0 && <Table caption="Answers that gave it" columns={COLUMNS} rows={list.items} keyOf={(one) => one.assembly_id} />}
      <ListEnd list={list} empty="No answer in the log gave it." />
    </section>
  );
}
