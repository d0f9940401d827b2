// One session: how full its context is, what stands in it and how that came, and everything that was said.

import type { models } from "scrubjay";
import { useRoute } from "preact-iso";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";
import { Time } from "../parts/time.js";
import { Fill } from "./fill.js";
import { Moves, Returns } from "./histories.js";
import { Objects } from "./objects.js";
import { MOST, pastOf } from "./past.js";
import { Trail } from "./trail.js";
import { Window } from "./window.js";

export function SessionOne() {
  const id = useRoute().params["id"] ?? "";
  const session = useLoad((signal) => client().sessions.sessionGet({ session_id: id }, { signal }), [id]);
  return (
    <>
      <h1>
        Session <Name text={session.data?.data.external_id ?? id} />
      </h1>
      <Problem error={session.error} retry={session.reload} />
      {session.data === undefined
        ? session.loading && <p class="waiting">Loading …</p>
        : <Shown session={session.data.data} />}
    </>
  );
}

function Shown({ session }: { session: models.Session }) {
  const past = useLoad((signal) => pastOf(session.id, signal), [session.id]);
  return (
    <>
      <Summary session={session} />
      <Fill session={session.id} />
      <Problem error={past.error} retry={past.reload} />
      {past.data === undefined && past.loading && <p class="waiting">Loading …</p>}
      {past.data && (
        <>
          {!past.data.whole && (
            <p class="problem">
              It is too long to be read whole: what follows comes from its first {MOST.toLocaleString("en")} objects and changes.
            </p>
          )}
          <Window session={session} past={past.data} />
          <Objects session={session} past={past.data} />
        </>
      )}
      <div class="halves">
        <Returns session={session.id} />
        <Moves session={session.id} />
      </div>
      <Trail session={session.id} />
    </>
  );
}

function Summary({ session }: { session: models.Session }) {
  const answers = `/console/why?${new URLSearchParams({ session: session.external_id })}`;
  return (
    <section aria-labelledby="about">
      <h2 id="about">What it is</h2>
      <dl class="details">
        <Detail name="Agent" text={session.agent_name} />
        <Detail name="Mission" text={session.mission_id} />
        <Detail name="User" text={session.user_id} />
        <Detail name="Model" text={session.model} />
        <Detail name="Goal" text={session.goal} />
        <div>
          <dt>Status</dt>
          <dd>
            <span class={`state ${session.status}`}>{session.status}</span>, last active <Time at={session.last_active_at} />
          </dd>
        </div>
        <Detail name="Turns" text={session.total_turns.toLocaleString("en")} />
        <Detail name="Objects it ever had" text={session.total_objects.toLocaleString("en")} />
        <Detail name="Brought back whole" text={`${session.total_faults.toLocaleString("en")} times`} />
        <Detail name="Asked without being brought back" text={`${session.total_micro_faults.toLocaleString("en")} times`} />
      </dl>
      <p>
        <a href={answers}>Answers that were given in this session</a>
      </p>
    </section>
  );
}

function Detail({ name, text }: { name: string; text: string | null }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Name text={text} most={500} />
      </dd>
    </div>
  );
}
