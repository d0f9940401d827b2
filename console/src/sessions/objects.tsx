// What a session's context holds or held, the newest first.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { useQuery } from "../address.js";
import { Choice } from "../parts/field.js";
import { Name } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";
import { levelName, LEVELS, objectAddress } from "./levels.js";
import type { Past } from "./past.js";
import { tokensAt } from "./turns.js";

const AT_A_TIME = 20;

function columnsOf({ id, total_turns }: models.Session): Column<models.ListedObject>[] {
  return [
    {
      head: "Object",
      cell: (one) => (
        <>
          <a href={objectAddress(id, one.id)}>
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
    { head: "Last used in", cell: (one) => one.last_accessed_turn, number: true },
    { head: "Brought back", cell: (one) => one.fault_count, number: true },
    { head: "Notes", cell: (one) => notes(one, total_turns).join(", ") },
  ];
}

function notes({ pinned, pinned_until, superseded_by }: models.ListedObject, turn: number): string[] {
  const stays = pinned && (pinned_until === null || pinned_until >= turn);
  return [...(stays ? ["pinned"] : []), ...(superseded_by ? ["older version"] : [])];
}

export function Objects({ session, past }: { session: models.Session; past: Past }) {
  const [query, change] = useQuery();
  const [shown, setShown] = useState(AT_A_TIME);
  const level = query["level"] ?? "";
  const found = past.objects.filter((one) => level === "" || one.current_fidelity === Number(level)).reverse();
  const options = LEVELS.map((name, number) => [String(number), name] as const);
  return (
    <section aria-labelledby="objects">
      <h2 id="objects">Its objects, the newest first</h2>
      <div class="filters">
        <Choice label="Shown" value={level} options={[["", "In any way"], ...options]} onChange={(value) => change({ level: value })} />
      </div>
      {found.length === 0 && <p class="empty">There is no such object.</p>}
      {found.length > 0 && (
        <Table caption="Objects" columns={columnsOf(session)} rows={found.slice(0, shown)} keyOf={(one) => one.id} />
      )}
      {found.length > shown && (
        <button type="button" onClick={() => setShown(shown + AT_A_TIME)}>
          Show more
        </button>
      )}
    </section>
  );
}
