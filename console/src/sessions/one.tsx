// One session: its context window over its turns, its objects at each level, and its trail.

import type { models } from "scrubjay";
import { useRoute } from "preact-iso";

import { client } from "../connection.js";
import { useLoad, usePages } from "../loading.js";
import { Stacked } from "../parts/bars.js";
import { Problem } from "../parts/problem.js";
import { Name, StoredText } from "../parts/stored.js";
import { ListEnd } from "../parts/table.js";
import { Time } from "../parts/time.js";
import { Objects } from "./objects.js";
import { LEVELS, tokensAt } from "./window.js";
import { WindowOverTurns } from "./over-turns.js";

// What is read of a session at once. A longer one is shown from its beginning, and says so.
const MOST = 5_000;
const KINDS = ["first", "second", "third", "fourth"];

interface Read {
  session: models.Session;
  pressure: models.Pressure;
  objects: models.ListedObject[];
  transitions: models.Transition[];
  faults: models.Fault[];
}

async function readSession(session_id: string, signal: AbortSignal): Promise<Read> {
  const { sessions } = client();
  const options = { signal };
  const page = { session_id, limit: 200 };
  const [session, pressure, objects, transitions, faults] = await Promise.all([
    sessions.sessionGet({ session_id }, options),
    sessions.sessionPressure({ session_id }, options),
    firstOf(sessions.sessionObjects(page, options)),
    firstOf(sessions.sessionTransitions(page, options)),
    firstOf(sessions.sessionFaults(page, options)),
  ]);
  return { session: session.data, pressure, objects, transitions, faults };
}

async function firstOf<Item>(pages: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of pages) {
    items.push(item);
    if (items.length >= MOST) break;
  }
  return items;
}

export function SessionOne() {
  const id = useRoute().params["id"] ?? "";
  const read = useLoad((signal) => readSession(id, signal), [id]);
  return (
    <>
      <h1>
        Session <Name text={read.data?.session.external_id ?? id} />
      </h1>
      <Problem error={read.error} retry={read.reload} />
      {read.data === undefined ? read.loading && <p class="waiting">Loading …</p> : <Shown read={read.data} />}
    </>
  );
}

function Shown({ read }: { read: Read }) {
  const { session, pressure, objects, transitions, faults } = read;
  const now = LEVELS.map((label, level) => ({
    label,
    value: objects.filter((one) => one.current_fidelity === level).reduce((sum, one) => sum + tokensAt(one, level), 0),
    kind: KINDS[level] ?? "sixth",
  }));
  return (
    <>
      <section aria-labelledby="window">
        <h2 id="window">Its context window</h2>
        <p>
          Agent <Name text={session.agent_name} />, mission <Name text={session.mission_id} />, {session.status}, turn{" "}
          {pressure.turn}, last active <Time at={session.last_active_at} />. The pressure is {pressure.zone}:{" "}
          {Math.round(100 * pressure.share)} % of {pressure.token_budget.toLocaleString("en")} tokens.
          {pressure.objects_evicted > 0 && ` ${pressure.objects_evicted} objects are evicted.`}
        </p>
        <Stacked label="Tokens by level, now" parts={now} most={pressure.token_budget} />
        <WindowOverTurns objects={objects} transitions={transitions} faults={faults} turn={pressure.turn} />
        {objects.length >= MOST && <p class="small">Only the first {MOST.toLocaleString("en")} objects are counted.</p>}
      </section>
      <Objects session={session.id} objects={objects} faults={faults} />
      <Trail session={session.id} />
    </>
  );
}

function Trail({ session }: { session: string }) {
  const list = usePages(
    (signal) => client().sessions.sessionHistory({ session_id: session, limit: 20 }, { signal }),
    [session],
  );
  return (
    <section aria-labelledby="trail">
      <h2 id="trail">What was said</h2>
      <ol class="items">
        {list.items.map((event) => (
          <li class="item" key={event.seq}>
            <h3>
              {event.role} <span class="small">turn {event.turn}, <Time at={event.created_at} /></span>
            </h3>
            <StoredText text={textOf(event)} label={`What ${event.role} said`} />
          </li>
        ))}
      </ol>
      <ListEnd list={list} empty="Nothing was said in it." />
    </section>
  );
}

function textOf(event: models.TrailEvent): string {
  return event.content
    .map((block) => ("text" in block && typeof block.text === "string" ? block.text : JSON.stringify(block, null, 2)))
    .join("\n");
}
