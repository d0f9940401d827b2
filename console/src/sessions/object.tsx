// One object of a session: its text at each level, and what happened to it.

import type { models } from "scrubjay";
import { useRoute } from "preact-iso";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Problem } from "../parts/problem.js";
import { Name, StoredText } from "../parts/stored.js";
import { Time } from "../parts/time.js";
import { Moves, Returns } from "./histories.js";
import { levelName } from "./levels.js";

/** The object with its text at each of the four levels. */
async function levelsOf(session_id: string, object_id: string, signal: AbortSignal): Promise<models.SemanticObject[]> {
  const at = (fidelity: number) => client().sessions.sessionObject({ session_id, object_id, fidelity }, { signal });
  return (await Promise.all([0, 1, 2, 3].map(at))).map((answer) => answer.data);
}

export function SessionObject() {
  const { id = "", object = "" } = useRoute().params;
  const found = useLoad((signal) => levelsOf(id, object, signal), [id, object]);
  const [whole] = found.data ?? [];
  return (
    <>
      <h1>
        <Name text={whole?.source_key ?? whole?.object_type ?? object} />
      </h1>
      <p>
        <a href={`/console/sessions/${id}`}>Back to its session</a>
      </p>
      <Problem error={found.error} retry={found.reload} />
      {found.data === undefined && found.loading && <p class="waiting">Loading …</p>}
      {whole && found.data && (
        <>
          <About object={whole} session={id} />
          <div class="halves">
            {found.data.map((one, level) => (
              <AtLevel key={level} object={one} level={level} />
            ))}
          </div>
          <Returns session={id} object={object} />
          <Moves session={id} object={object} />
        </>
      )}
    </>
  );
}

function About({ object, session }: { object: models.SemanticObject; session: string }) {
  const details: [string, string | null][] = [
    ["Kind", object.object_type.replaceAll("_", " ")],
    ["Tool", object.source_tool],
    ["Lines", object.start_line === null ? null : `${object.start_line} to ${object.end_line}`],
    ["Shown", levelName(object.current_fidelity)],
    ["Pinned", pinned(object)],
    ["Came in turn", String(object.created_turn)],
    ["Last used in turn", String(object.last_accessed_turn)],
    ["Brought back", `${object.fault_count} times`],
    ["Asked", `${object.micro_fault_count} times`],
    ["Needed whole when", object.fault_when.join("; ") || null],
    ["Names in it", object.key_entities.join(", ") || null],
    ["Tags", object.tags.join(", ") || null],
  ];
  return (
    <section aria-labelledby="about">
      <h2 id="about">What it is</h2>
      <dl class="details">
        {details.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <Name text={text} most={400} />
            </dd>
          </div>
        ))}
        <div>
          <dt>Stored</dt>
          <dd>
            <Time at={object.created_at} />
          </dd>
        </div>
      </dl>
      {object.superseded_by && (
        <p>
          A newer version came: <a href={`/console/sessions/${session}/objects/${object.superseded_by}`}>see it</a>.
        </p>
      )}
    </section>
  );
}

function pinned({ pinned, pin_reason, pinned_until }: models.SemanticObject): string | null {
  if (!pinned) return null;
  return `${pin_reason ?? "yes"}${pinned_until === null ? "" : `, through turn ${pinned_until}`}`;
}

function AtLevel({ object, level }: { object: models.SemanticObject; level: number }) {
  const tokens = [object.tokens_l0, object.tokens_l1, object.tokens_l2, object.tokens_l3][level];
  const id = `level-${level}`;
  return (
    <section aria-labelledby={id}>
      <h2 id={id}>
        {levelName(level)}{" "}
        <span class="small">
          {tokens == null ? "never made: its line stands for it" : `${tokens.toLocaleString("en")} tokens`}
          {object.current_fidelity === level && " · shown now"}
        </span>
      </h2>
      <StoredText text={object.content ?? ""} label={`${levelName(level)}: its text`} />
      {level === 1 && <Said losses={object.losses_l1} answers={object.can_answer_l1} />}
      {level === 2 && <Said losses={object.losses_l2} answers={object.can_answer_l2} />}
    </section>
  );
}

function Said({ losses, answers }: { losses: readonly string[]; answers: readonly string[] }) {
  return (
    <>
      <Lines head="It does not say" lines={losses} />
      <Lines head="It answers" lines={answers} />
    </>
  );
}

function Lines({ head, lines }: { head: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <>
      <h3>{head}</h3>
      <ul>
        {lines.map((line, place) => (
          <li key={place}>
            <Name text={line} most={300} />
          </li>
        ))}
      </ul>
    </>
  );
}
