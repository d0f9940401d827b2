// What came back into a context, and what changed in it: each in its order.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { usePages } from "../loading.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { levelName, objectAddress, REASONS, RETURNED } from "./levels.js";

const PAGE = 25;

/** The object of a row, where the list is not of one object only. */
function ofObject<Row extends { object_id: string }>(session: string): Column<Row> {
  return {
    head: "Object",
    cell: ({ object_id }) => (
      <a href={objectAddress(session, object_id)}>
        <code>{object_id.slice(-12)}</code>
      </a>
    ),
  };
}

const RETURNS: Column<models.Fault>[] = [
  { head: "Turn", cell: (fault) => fault.turn_number, number: true },
  { head: "What", cell: (fault) => RETURNED[fault.fault_type] },
    { head: "Question", cell: (fault) => <Name text={fault.question} most={200} /> },
  { head: "Answer", cell: (fault) => <Name text={fault.answer} most={200} /> },
  { head: "When", cell: (fault) => <Time at={fault.created_at} /> },
];

/** Of the whole session, or of one object. */
export function Returns({ session, object }: { session: string; object?: string }) {
  const columns = object === undefined ? [ofObject<models.Fault>(session), ...RETURNS] : RETURNS;
  const list = usePages(
    (signal) => client().sessions.sessionFaults({ session_id: session, object_id: object, limit: PAGE }, { signal }),
    [session, object],
  );
  return (
    <section aria-labelledby="returns">
      <h2 id="returns">What was brought back or asked</h2>
      {list.items.length > 0 && <Table caption="Brought back or asked" columns={columns} rows={list.items} keyOf={(one) => one.id} />}
      <ListEnd list={list} empty="Nothing yet: what the context shows was enough." />
    </section>
  );
}

const MOVES: Column<models.Transition>[] = [
  { head: "Turn", cell: (move) => move.turn_number, number: true },
    { head: "From", cell: (move) => levelName(move.from_fidelity) },
  { head: "To", cell: (move) => levelName(move.to_fidelity) },
  { head: "Why", cell: (move) => REASONS[move.trigger] },
  { head: "When", cell: (move) => <Time at={move.created_at} /> },
];

export function Moves({ session, object }: { session: string; object?: string }) {
  const columns = object === undefined ? [ofObject<models.Transition>(session), ...MOVES] : MOVES;
  const list = usePages(
    (signal) => client().sessions.sessionTransitions({ session_id: session, object_id: object, limit: PAGE }, { signal }),
    [session, object],
  );
  return (
    <section aria-labelledby="moves">
      <h2 id="moves">What shrank or grew</h2>
      {list.items.length > 0 && <Table caption="Changes" columns={columns} rows={list.items} keyOf={(one) => one.id} />}
      <ListEnd list={list} empty="Nothing: everything is shown as it came." />
    </section>
  );
}
