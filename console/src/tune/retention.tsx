// How much a mission may hold and for how long, and what a change would evict.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { useQuery } from "../address.js";
import { client, may } from "../connection.js";
import { useLoad } from "../loading.js";
import { Field } from "../parts/field.js";
import { Filter } from "../parts/filter.js";
import { Problem } from "../parts/problem.js";

const FIELDS = [
  ["token_budget", "Tokens"],
  ["entry_budget", "Entries"],
  ["ttl_hours", "Hours that an entry lives"],
] as const;

type Numbers = Record<(typeof FIELDS)[number][0], number>;

export function Retention() {
  const [{ mission = "" }, change] = useQuery();
  return (
    <section aria-labelledby="retention">
      <h2 id="retention">What a mission keeps</h2>
      <div class="filters">
        <Filter label="Mission" value={mission} onChange={(value) => change({ mission: value })} />
      </div>
      {mission === "" ? <p class="empty">Name a mission to see its limits.</p> : <Limits key={mission} mission={mission} />}
    </section>
  );
}

function Limits({ mission }: { mission: string }) {
  const limits = useLoad((signal) => client().cache.limits({ mission }, { signal }), [mission]);
  if (limits.error !== undefined) return <Problem error={limits.error} retry={limits.reload} />;
  if (limits.data === undefined) return <p class="waiting">Loading …</p>;
  const now = limits.data.data;
  return may("admin") ? (
    <Change mission={mission} now={now} onChanged={limits.reload} />
  ) : (
    <dl class="figures">
      {FIELDS.map(([field, label]) => (
        <div key={field}>
          <dt>{label}</dt>
          <dd>{now[field].toLocaleString("en")}</dd>
        </div>
      ))}
    </dl>
  );
}

function Change({ mission, now, onChanged }: { mission: string; now: models.LimitsInForce; onChanged: () => void }) {
  const [numbers, setNumbers] = useState<Numbers>({
    token_budget: now.token_budget,
    entry_budget: now.entry_budget,
    ttl_hours: now.ttl_hours,
  });
  const [told, setTold] = useState<string | null>(null);
  const [error, setError] = useState<unknown>();
  const send = (dry_run: boolean) => {
    setError(undefined);
    client()
      .cache.setLimits({ mission, ...numbers, dry_run })
      .then(({ data }) => {
        setTold(`${dry_run ? "It would evict" : "Saved. It evicted"} ${data.evicted_count} entries.`);
        if (!dry_run) onChanged();
      }, setError);
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        send(false);
      }}
    >
      <div class="filters">
        {FIELDS.map(([field, label]) => (
          <Field
            key={field}
            label={label}
            type="number"
            min={field === "ttl_hours" ? 0.001 : 1}
            step={field === "ttl_hours" ? "any" : 1}
            required
            value={numbers[field]}
            onInput={(event) => setNumbers({ ...numbers, [field]: Number(event.currentTarget.value) })}
          />
        ))}
      </div>
      <Problem error={error} />
      {told && <p role="status">{told}</p>}
      <div class="buttons">
        <button type="button" onClick={() => send(true)}>
          What would that evict?
        </button>
        <button type="submit">Save</button>
      </div>
    </form>
  );
}
