// What a session's context holds or held.

import type { models } from "scrubjay";

import { useQuery } from "../address.js";
import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Choice } from "../parts/field.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { levelName, LEVELS, objectAddress } from "./levels.js";
import { tokensAt } from "./turns.js";

const PAGE = 20;

function columnsOf(session: string): Column<models.ListedObject>[] {
  return [
    {
      head: "Object",
      cell: (one) => (
        <>
          <a href={objectAddress(session, one.id)}>
            <Name text={one.source_key ?? one.object_type} />
          </a>{" "}
          {one.segment > 0 && <span class="small">part {one.segment + 1}</span>}
        </>
      ),
    },
    { head: "In a line", cell: (one) => <Name text={one.stub} most={160} /> },
    { head: "Shown", cell: (one) => levelName(one.current_fidelity) },
    {
      head: "Tokens",
      cell: (one) => `${tokensAt(one, one.current_fidelity).toLocaleString("en")} of ${one.tokens_l0.toLocaleString("en")}`,
      number: true,
    },
    { head: "Came in turn", cell: (one) => one.created_turn, number: true },
    { head: "Last used", cell: (one) => `turn ${one.last_accessed_turn}`, number: true },
    { head: "Brought back", cell: (one) => one.fault_count, number: true },
    { head: "Notes", cell: (one) => [...(one.pinned ? ["pinned"] : []), ...(one.superseded_by ? ["older version"] : [])].join(", ") },
  ];
}

export function Objects({ session }: { session: string }) {
  const [query, change] = useQuery();
  const level = query["level"] ?? "";
  const list = usePages(
    (signal) => {
      const fidelity = level === "" ? undefined : Number(level);
      return client().sessions.sessionObjects({ session_id: session, fidelity, limit: PAGE }, { signal });
    },
    [session, level],
  );
  const options = LEVELS.map((name, number) => [String(number), name] as const);
  return (
    <section aria-labelledby="objects">
      <h2 id="objects">What it holds</h2>
      <div class="filters">
        <Choice label="Shown" value={level} options={[["", "In any way"], ...options]} onChange={(value) => change({ level: value })} />
      </div>
      {list.items.length > 0 && <Table caption="Objects" columns={columnsOf(session)} rows={list.items} keyOf={(one) => one.id} />}
      <ListEnd list={list} empty="There is no such object." />
    </section>
  );
}
