// How much calls of models may cost before they end.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client, may } from "../connection.js";
import { usePages } from "../loading.js";
import { Bar } from "../parts/bars.js";
import { Confirm } from "../parts/dialog.js";
import { Choice, Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { ListEnd, Table, type Column } from "../parts/table.js";

type Period = "day" | "month" | "all";

const PERIODS: readonly (readonly [Period, string])[] = [
  ["day", "in a day"],
  ["month", "in a month"],
  ["all", "in all"],
];

export function Ceilings() {
  // What others spend concerns those alone who set it.
  return may("admin") ? <List /> : null;
}

function List() {
  const list = usePages((signal) => client().ceilings({ limit: 50 }, { signal }), []);
  const [setting, setSetting] = useState(false);
  const [error, setError] = useState<unknown>();
  const remove = (one: models.CeilingState) => client().resetCeiling({ ...subjectOf(one), period: one.period as Period }).then(list.reload, setError);
  const columns: Column<models.CeilingState>[] = [
    { head: "Whose calls", cell: (one) => <Name text={one.subject} /> },
    { head: "Over", cell: (one) => one.period },
    {
      head: "Spent",
      cell: (one) => (
        <Bar
          label=""
          value={Number(one.spent_usd)}
          most={Number(one.limit_usd)}
          kind={one.reached ? "second" : "first"}
          shown={`$${Number(one.spent_usd).toFixed(2)} of $${Number(one.limit_usd).toFixed(2)}${one.reached ? ", reached" : ""}`}
        />
      ),
    },
    { head: "Calls", cell: (one) => one.calls.toLocaleString("en"), number: true },
    {
      head: "Do",
      cell: (one) => (
        <button type="button" aria-label={`remove the ceiling of ${one.subject}`} onClick={() => remove(one)}>
          remove
        </button>
      ),
    },
  ];
  return (
    <>
      <h3>Ceilings</h3>
      <button type="button" onClick={() => setSetting(true)}>
        Set a ceiling
      </button>
      <Problem error={error} />
      {list.items.length > 0 && (
        <Table caption="Ceilings" columns={columns} rows={list.items} keyOf={(one) => `${one.subject} ${one.period}`} />
      )}
      <ListEnd list={list} empty="None is set." />
      {setting && <SetCeiling onSet={list.reload} onClose={() => setSetting(false)} />}
    </>
  );
}

function subjectOf({ subject }: models.CeilingState): { key_id?: number; mission?: string } {
  const [kind, ...rest] = subject.split(":");
  const name = rest.join(":");
  return kind === "key" ? { key_id: Number(name) } : kind === "mission" ? { mission: name } : {};
}

function SetCeiling({ onSet, onClose }: { onSet: () => void; onClose: () => void }) {
  const [mission, setMission] = useState("");
  const [key, setKey] = useState("");
  const [limit, setLimit] = useState("");
  const [period, setPeriod] = useState<Period>("day");
  const save = () =>
    client()
      .setCeiling({ limit_usd: limit, period, ...(mission && { mission }), ...(key && { key_id: Number(key) }) })
      .then(onSet);
  return (
    <Confirm title="Set a ceiling" action="Set it" onConfirm={save} onClose={onClose}>
      <p>Beyond it, no paid model is called: answers name it as degraded, and writes go on.</p>
      <Field label="Mission" hint="Empty, with no key: the whole tenant." value={mission} onInput={(event) => setMission(event.currentTarget.value)} />
      <Field label="Number of a key" type="number" min={1} value={key} onInput={(event) => setKey(event.currentTarget.value)} />
      <Field label="US dollars" required inputMode="decimal" value={limit} onInput={(event) => setLimit(event.currentTarget.value)} />
      <Choice label="Over" value={period} options={PERIODS} onChange={setPeriod} />
    </Confirm>
  );
}
