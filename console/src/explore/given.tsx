// Which answers gave an item to an agent.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { ago, Time } from "../parts/time.js";

const PAGE = 20;

const COLUMNS: Column<models.GivenTo>[] = [
  {
    head: "Answer",
    cell: (one) => (
      <a href={`/console/why/${one.assembly_id}`} aria-label={`Answer ${one.assembly_id}, ${ago(one.created_at)}`}>
        {one.assembly_id}
      </a>
    ),
  },
  { head: "When", cell: (one) => <Time at={one.created_at} /> },
  { head: "To", cell: (one) => <Name text={one.caller} /> },
  { head: "Mission", cell: (one) => <Name text={one.mission_namespace} /> },
  { head: "User", cell: (one) => <Name text={one.user_id} /> },
  { head: "Useful", cell: (one) => (one.used === null ? "not said" : one.used ? "yes" : "no") },
];

export function Given({ handle }: { handle: string }) {
  const list = usePages((signal) => client().given({ handle, limit: PAGE }, { signal }), [handle]);
  return (
    <section aria-labelledby="given">
      <h2 id="given">Who was given it</h2>
      {list.items.length > 0 && (
        <Table caption="Answers that gave it" columns={COLUMNS} rows={list.items} keyOf={(one) => `${one.assembly_id} ${one.handle}`} />
      )}
      <ListEnd list={list} empty="Nobody, as far as the log of answers goes back." />
    </section>
  );
}
