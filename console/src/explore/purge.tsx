// Erases everything of a scope or a subject, in every service, and shows the receipt.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { Confirm } from "../parts/dialog.js";
import { Choice, Field } from "../parts/field.js";

type Subject = "mission_id" | "agent_name" | "user_id" | "scope";

const SUBJECTS: readonly (readonly [Subject, string])[] = [
  ["mission_id", "A mission"],
  ["agent_name", "An agent"],
  ["user_id", "A user"],
  ["scope", "Another scope"],
];

export function Purge() {
  const [subject, setSubject] = useState<Subject>("mission_id");
  const [name, setName] = useState("");
  const [asking, setAsking] = useState(false);
  const [receipt, setReceipt] = useState<models.Receipt>();
  return (
    <section aria-labelledby="purge">
      <h2 id="purge">Erase</h2>
      <p>Erase everything that is stored of somebody or something, in every store and log. It cannot be brought back.</p>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          setAsking(true);
        }}
      >
        <Choice label="What" value={subject} options={SUBJECTS} onChange={setSubject} />
        <Field label="Its name" required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        <button type="submit">Erase …</button>
      </form>
      {asking && (
        <Asked
          name={name.trim()}
          onConfirm={() => client().purge({ [subject]: name.trim() }).then(setReceipt)}
          onClose={() => setAsking(false)}
        />
      )}
      {receipt && <Erased receipt={receipt} />}
    </section>
  );
}

function Asked({ name, onConfirm, onClose }: { name: string; onConfirm: () => Promise<unknown>; onClose: () => void }) {
  return (
    <Confirm title="Erase all of it?" action="Erase all of it" danger onConfirm={onConfirm} onClose={onClose}>
      <Field label={`Type “${name}” to go on`} required pattern={escaped(name)} autocomplete="off" />
    </Confirm>
  );
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/&~!@#%=<>,;:`'"-]/g, (one) => `\\x${one.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function Erased({ receipt }: { receipt: models.Receipt }) {
  const rows = Object.entries(receipt.erased).flatMap(([service, tables]) =>
    Object.entries(tables).map(([table, count]) => [`${service} ${table}`, count] as const),
  );
  return (
    <div role="status">
      <h3>Erased: {receipt.scope}</h3>
      <ul>
        {rows.map(([what, count]) => (
          <li key={what}>
            {what}: {count}
          </li>
        ))}
      </ul>
    </div>
  );
}
