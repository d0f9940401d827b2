// What admins did: who, what, when, and the settings before and after.

import type { models } from "scrubjay";

import { useQuery } from "../address.js";
import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Filter } from "../parts/filter.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

const COLUMNS: Column<models.AuditRow>[] = [
  { head: "When", cell: (row) => <Time at={row.at} /> },
  { head: "Who", cell: (row) => <Name text={row.agent_name ? `${row.actor}, agent ${row.agent_name}` : row.actor} /> },
  { head: "Did", cell: (row) => row.action.replaceAll("_", " ") },
  { head: "To", cell: (row) => <Name text={row.target} /> },
  { head: "Difference", cell: (row) => <Difference before={row.before} after={row.after} /> },
];

export function Audit() {
  const [{ action = "", actor = "", target = "", since = "" }, change] = useQuery();
  const list = usePages(
    (signal) =>
      client().audit(
        {
          action: (action.replaceAll(" ", "_") || undefined) as models.AuditRow["action"] | undefined,
          actor: actor || undefined,
          target: target || undefined,
          since: since ? new Date(since).toISOString() : undefined,
          limit: 50,
        },
        { signal },
      ),
    [action, actor, target, since],
  );
  return (
    <section aria-labelledby="audit">
      <h2 id="audit">What admins did</h2>
      <div class="filters">
        <Filter label="Action" hint="such as key make" value={action} onChange={(value) => change({ action: value })} />
        <Filter label="Who" hint="such as key:12" value={actor} onChange={(value) => change({ actor: value })} />
        <Filter label="To what" value={target} onChange={(value) => change({ target: value })} />
        <Filter label="Since" type="datetime-local" value={since} onChange={(value) => change({ since: value })} />
      </div>
      {list.items.length > 0 && <Table caption="Audit" columns={COLUMNS} rows={list.items} keyOf={(row) => row.id} />}
      <ListEnd list={list} empty="Nothing of the kind was done." />
    </section>
  );
}

/** Only the settings that differ. */
function Difference({ before, after }: { before: unknown; after: unknown }) {
  if (typeof after !== "object" || after === null) return <Name text={after === null || after === undefined ? null : String(after)} />;
  const old = (typeof before === "object" && before !== null ? before : {}) as Record<string, unknown>;
  const now = after as Record<string, unknown>;
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter((name) => said(old[name]) !== said(now[name]));
  if (names.length === 0) return <span class="none">none</span>;
  return (
    <ul class="difference">
      {names.map((name) => (
        <li key={name}>
          {name}: {name in old && (
            <>
              <del>
                <Name text={said(old[name])} />
              </del>{" "}
            </>
          )}
          <ins>
            <Name text={said(now[name])} />
          </ins>
        </li>
      ))}
    </ul>
  );
}

function said(value: unknown): string {
  return value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
}
