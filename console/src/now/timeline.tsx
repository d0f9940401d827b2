// The live timeline, with its filters and rates.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { Chart } from "../parts/chart.js";
import { Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { Time } from "../parts/time.js";
import { SECONDS, useLive } from "./live.js";

export function LiveTimeline() {
  const [mission, setMission] = useState("");
  const [kind, setKind] = useState("");
  const [paused, setPaused] = useState(false);
  const live = useLive({ mission: mission || undefined, kind: kind || undefined }, paused);
  const end = Math.floor(Date.now() / 1_000);
  const xs = Array.from({ length: live.writes.length }, (_, place) => end - SECONDS + 1 + place);
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">What happens</h2>
      <Chart
        label={`Events a second (${live.count.toLocaleString("en")} since this screen was opened)`}
        xs={xs}
        lines={[
          { label: "writes", values: live.writes, colour: "--first" },
          { label: "questions and others", values: live.others, colour: "--second" },
        ]}
      />
      <div class="filters">
        <Filter label="Mission" onChange={setMission} />
        <Filter label="Kind" hint="such as cache_write" onChange={setKind} />
        <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
          {paused ? "Go on" : "Pause"}
        </button>
      </div>
      <Problem error={live.error} />
      <ol class="events" aria-label="Latest events, the newest first" tabIndex={0}>
        {live.events.map((event) => (
          <EventRow key={event.seq} event={event} />
        ))}
      </ol>
      {live.events.length === 0 && <p class="empty">Nothing has happened since this screen was opened.</p>}
    </section>
  );
}

function Filter({ label, hint, onChange }: { label: string; hint?: string; onChange: (value: string) => void }) {
  return (
    <Field label={label} hint={hint} type="search" onChange={(event) => onChange(event.currentTarget.value.trim())} />
  );
}

function EventRow({ event }: { event: models.Event }) {
  return (
    <li>
      <Time at={event.created_at} /> <code>{event.kind}</code> <Name text={event.agent_name} /> <Name text={event.scope} />
      <span class="payload">
        <Name text={JSON.stringify(event.payload)} most={160} />
      </span>
    </li>
  );
}
