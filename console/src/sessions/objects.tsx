// The objects of a session, and the text of each at each level.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Dialog } from "../parts/dialog.js";
import { Problem } from "../parts/problem.js";
import { Name, StoredText } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";
import { LEVELS, tokensAt } from "./window.js";

const AT_FIRST = 50;

export function Objects({
  session,
  objects,
  faults,
}: {
  session: string;
  objects: readonly models.ListedObject[];
  faults: readonly models.Fault[];
}) {
  const [shown, setShown] = useState(AT_FIRST);
  const [open, setOpen] = useState<models.ListedObject | null>(null);
  const newest = [...objects].reverse().slice(0, shown);
  const columns: Column<models.ListedObject>[] = [
    {
      head: "Object",
      cell: (one) => (
        <button type="button" class="link" onClick={() => setOpen(one)}>
          <Name text={one.source_key ?? one.stub} most={80} />
        </button>
      ),
    },
    { head: "Kind", cell: (one) => one.object_type.replaceAll("_", " ") },
    { head: "Level", cell: (one) => (one.pinned ? `${levelOf(one)}, pinned` : levelOf(one)) },
    { head: "Tokens now", cell: (one) => tokensAt(one, one.current_fidelity).toLocaleString("en"), number: true },
    { head: "Whole", cell: (one) => one.tokens_l0.toLocaleString("en"), number: true },
    { head: "Came in turn", cell: (one) => one.created_turn, number: true },
    { head: "Last used in", cell: (one) => one.last_accessed_turn, number: true },
    { head: "Brought back", cell: (one) => faultsOf(one, faults), number: true },
  ];
  return (
    <section aria-labelledby="objects">
      <h2 id="objects">Its objects, the newest first</h2>
      {objects.length === 0 && <p class="empty">It holds none.</p>}
      {newest.length > 0 && <Table caption="Objects" columns={columns} rows={newest} keyOf={(one) => one.id} />}
      {shown < objects.length && (
        <button type="button" onClick={() => setShown(shown + AT_FIRST)}>
          Show more
        </button>
      )}
      {open && <Levels session={session} object={open} onClose={() => setOpen(null)} />}
    </section>
  );
}

function levelOf(object: models.ListedObject): string {
  return LEVELS[object.current_fidelity] ?? "Evicted";
}

function faultsOf(object: models.ListedObject, faults: readonly models.Fault[]): string {
  const turns = faults.filter((one) => one.object_id === object.id && one.fault_type !== "micro_fault");
  return turns.length === 0 ? "–" : `${turns.length} × (turn ${turns.map((one) => one.turn_number).join(", ")})`;
}

function Levels({ session, object, onClose }: { session: string; object: models.ListedObject; onClose: () => void }) {
  return (
    <Dialog title="The object at each level" onClose={onClose}>
      {LEVELS.map((label, fidelity) => (
        <Level key={label} label={label} session={session} object={object} fidelity={fidelity} />
      ))}
      <div class="buttons">
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

function Level({
  label,
  session,
  object,
  fidelity,
}: {
  label: string;
  session: string;
  object: models.ListedObject;
  fidelity: number;
}) {
  const found = useLoad(
    (signal) => client().sessions.sessionObject({ session_id: session, object_id: object.id, fidelity }, { signal }),
    [object.id, fidelity],
  );
  const mark = object.current_fidelity === fidelity ? ", as the context shows it" : "";
  return (
    <>
      <h3>
        {label} ({tokensAt(object, fidelity)} tokens{mark})
      </h3>
      <Problem error={found.error} />
      {found.data && <StoredText text={found.data.data.content ?? ""} label={label} />}
    </>
  );
}
