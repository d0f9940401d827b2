// What came, moved, was brought back or asked until a turn had ended.

import { useState } from "preact/hooks";

import { Name } from "../parts/stored.js";
import { levelName, objectAddress, REASONS, RETURNED } from "./levels.js";
import type { Past } from "./past.js";

const AT_A_TIME = 30;

interface Happened {
  key: string;
  object: string;
  what: string;
}

function happenedIn({ objects, moves, faults }: Past, turn: number): Happened[] {
  return [
    ...objects.filter((one) => one.created_turn === turn).map(({ id }) => ({ key: id, object: id, what: "came" })),
    ...faults
      .filter((one) => one.turn_number === turn)
      .map((one) => ({ key: one.id, object: one.object_id, what: RETURNED[one.fault_type] })),
    ...moves
      .filter((one) => one.turn_number === turn)
      .map((one) => ({
        key: one.id,
        object: one.object_id,
        what: `${levelName(one.from_fidelity)} → ${levelName(one.to_fidelity)}: ${REASONS[one.trigger]}`,
      })),
  ];
}

export function OfTurn({ session, past, turn }: { session: string; past: Past; turn: number }) {
  const [shown, setShown] = useState(AT_A_TIME);
  const happened = happenedIn(past, turn);
  const stubs = new Map(past.objects.map((object) => [object.id, object.source_key ?? object.stub]));
  return (
    <>
      <h3>What changed then</h3>
      {happened.length === 0 && <p class="empty">Nothing.</p>}
      <ul class="changes">
        {happened.slice(0, shown).map(({ key, object, what }) => (
          <li key={key}>
            <a href={objectAddress(session, object)}>
              <Name text={stubs.get(object) ?? object} most={80} />
            </a>{" "}
            {what}
          </li>
        ))}
      </ul>
      {happened.length > shown && (
        <button type="button" class="quiet" onClick={() => setShown(shown + AT_A_TIME)}>
          Show more ({happened.length - shown} left)
        </button>
      )}
    </>
  );
}
