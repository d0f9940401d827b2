// How long the blocks of a caller may be.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { useQuery } from "../address.js";
import { client, may } from "../connection.js";
import { useLoad } from "../loading.js";
import { Confirm } from "../parts/dialog.js";
import { Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { Table, type Column } from "../parts/table.js";
import { Time } from "../parts/time.js";

const FIELDS = [
  ["default_budget", "Tokens by default"],
  ["min_budget", "At least, for learning"],
  ["max_budget", "At most, for learning"],
  ["ceiling", "Ceiling for requests"],
] as const;

type Numbers = Partial<Record<(typeof FIELDS)[number][0], string>>;

export function Budgets() {
  const [{ caller = "" }] = useQuery();
  const budgets = useLoad((signal) => client().budgets({ caller: caller || undefined }, { signal }), [caller]);
  const [setting, setSetting] = useState<Partial<models.CallerBudget> | null>(null);
  const [error, setError] = useState<unknown>();
  const reset = (one: models.CallerBudget) => client().resetBudget({ caller: one.caller }).then(budgets.reload, setError);
  const columns: Column<models.CallerBudget>[] = [
    { head: "Caller", cell: (one) => <Name text={one.caller} /> },
    ...FIELDS.map(([field, head]) => ({ head, cell: (one: models.CallerBudget) => one[field]?.toLocaleString("en") ?? "–", number: true })),
    { head: "Set by", cell: (one) => (one.manual ? "hand" : "learning") },
    { head: "Changed", cell: (one) => <Time at={one.updated_at} /> },
    {
      head: "Do",
      cell: (one) =>
        may("admin") && (
          <span class="row-buttons">
            <button type="button" aria-label={`set the budget of ${one.caller}`} onClick={() => setSetting(one)}>
              set
            </button>
            <button type="button" aria-label={`reset the budget of ${one.caller}`} onClick={() => reset(one)}>
              reset
            </button>
          </span>
        ),
    },
  ];
  const rows = budgets.data?.budgets ?? [];
  return (
    <section aria-labelledby="budgets">
      <h2 id="budgets">How long blocks may be</h2>
      {may("admin") && (
        <button type="button" onClick={() => setSetting({ caller })}>
          Set a budget
        </button>
      )}
      <Problem error={error ?? budgets.error} retry={budgets.reload} />
      {rows.length > 0 && <Table caption="Budgets" columns={columns} rows={rows} keyOf={(one) => one.caller} />}
      {budgets.data && rows.length === 0 && <p class="empty">Every caller has the installation's default.</p>}
      {setting && <SetBudget start={setting} onSet={budgets.reload} onClose={() => setSetting(null)} />}
    </section>
  );
}

function SetBudget({ start, onSet, onClose }: { start: Partial<models.CallerBudget>; onSet: () => void; onClose: () => void }) {
  const [caller, setCaller] = useState(start.caller ?? "");
  const [numbers, setNumbers] = useState<Numbers>(
    Object.fromEntries(FIELDS.map(([field]) => [field, start[field] == null ? "" : String(start[field])])),
  );
  const number = (field: keyof Numbers) => (numbers[field] ? Number(numbers[field]) : undefined);
  const save = () =>
    client()
      .setBudget({
        caller,
        default_budget: number("default_budget") ?? 0,
        min_budget: number("min_budget"),
        max_budget: number("max_budget"),
        ceiling: number("ceiling"),
        manual: true,
      })
      .then(onSet);
  return (
    <Confirm title="Set a budget" action="Set it" onConfirm={save} onClose={onClose}>
      <Field label="Caller" required value={caller} onInput={(event) => setCaller(event.currentTarget.value)} />
      {FIELDS.map(([field, label]) => (
        <Field
          key={field}
          label={label}
          type="number"
          min={1}
          max={16_000}
          required={field === "default_budget"}
          value={numbers[field] ?? ""}
          onInput={(event) => setNumbers({ ...numbers, [field]: event.currentTarget.value })}
        />
      ))}
    </Confirm>
  );
}
