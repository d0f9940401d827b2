// What was believed of an entity, and when: facts that no longer hold stand beside those that do.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

const PAGE = 25;

const COLUMNS: Column<models.Fact>[] = [
  {
    head: "Fact",
    cell: (fact) => (
      <a href={`/console/explore/item/kg:${fact.id}`}>
        <Name text={`${fact.subject} – ${fact.predicate} – ${fact.object}`} most={240} />
      </a>
    ),
  },
  { head: "Holds since", cell: (fact) => <Time at={fact.valid_from} /> },
  { head: "Until", cell: (fact) => (fact.valid_to === null ? "now" : <Time at={fact.valid_to} />) },
  { head: "Recorded", cell: (fact) => <Time at={fact.recorded_at} /> },
  { head: "By", cell: (fact) => <Name text={fact.agent_name ?? fact.written_by} /> },
  { head: "Notes", cell: (fact) => notes(fact).join(", ") },
];

/** Of one attribute or relation of the entity, or of all. */
export function History({ entity, predicate }: { entity: string; predicate?: string }) {
  const list = usePages(
    (signal) => client().kg.timeline({ entity, predicate, limit: PAGE }, { signal }),
    [entity, predicate],
  );
  return (
    <section aria-labelledby="history">
      <h2 id="history">{predicate === undefined ? "What was believed of it over time" : "What was believed in its place"}</h2>
      {list.items.length > 0 && <Table caption="History" columns={COLUMNS} rows={list.items} keyOf={(fact) => fact.id} />}
      <ListEnd list={list} empty="Nothing that this key may read." />
    </section>
  );
}

function notes(fact: models.Fact): string[] {
  return [
    ...(fact.disputed ? ["disputed"] : []),
    ...(fact.superseded_at ? ["no longer believed"] : []),
    ...(fact.closed_by ? ["closed by hand or by a newer one"] : []),
  ];
}
