// How much of its budget the context of a session takes.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Bar } from "../parts/bars.js";
import { Problem } from "../parts/problem.js";

// What a zone means: from which share of the budget on it begins, as the service counts it.
const ZONES: Record<models.Pressure["zone"], string> = {
  normal: "There is room.",
  caution: "Half of it is taken.",
  warning: "Little room is left.",
  critical: "It is nearly full.",
  emergency: "It is full: even what is pinned may shrink.",
};

export function Fill({ session }: { session: string }) {
  const found = useLoad((signal) => client().sessions.sessionPressure({ session_id: session }, { signal }), [session]);
  const pressure = found.data;
  return (
    <section aria-labelledby="fill">
      <h2 id="fill">How full its context is</h2>
      <Problem error={found.error} retry={found.reload} />
      {pressure === undefined ? found.loading && <p class="waiting">Loading …</p> : <Figures pressure={pressure} />}
    </section>
  );
}

function Figures({ pressure }: { pressure: models.Pressure }) {
  const most = Math.max(pressure.token_budget, pressure.block_tokens, pressure.total_context_tokens);
  const tokens = (count: number) => `${count.toLocaleString("en")} of ${pressure.token_budget.toLocaleString("en")} tokens`;
  return (
    <>
      <p>
        {Math.round(100 * pressure.share)} % of the budget is taken after {pressure.turn.toLocaleString("en")} turns.{" "}
        <strong>{ZONES[pressure.zone]}</strong>
      </p>
      <Bar label="As sent" value={pressure.block_tokens} most={most} shown={tokens(pressure.block_tokens)} />
      <Bar label="When made anew" value={pressure.total_context_tokens} most={most} shown={tokens(pressure.total_context_tokens)} kind="second" />
      <dl class="figures levels">
        <Figure name="Whole" value={pressure.objects_at_l0} />
        <Figure name="Detailed summary" value={pressure.objects_at_l1} />
        <Figure name="Compact summary" value={pressure.objects_at_l2} />
        <Figure name="One line" value={pressure.objects_at_l3} />
        <Figure name="Not shown" value={pressure.objects_evicted} />
        <Figure name="Pinned" value={pressure.objects_pinned} />
      </dl>
    </>
  );
}

function Figure({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value.toLocaleString("en")}</dd>
    </div>
  );
}
