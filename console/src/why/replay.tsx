// The same candidates packed again with other weights or another budget, and the question asked as of another time,
// beside what was given.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { useLoad } from "../loading.js";
import { Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { AskingAgain } from "./asking.js";
import { Block } from "./compared.js";
import { IN_BLOCK } from "./one.js";

interface Settings {
  budget: number;
  weights: Record<string, number>;
}

export function Replaying({ answer }: { answer: models.Explained }) {
  const [open, setOpen] = useState(false);
  return (
    <section aria-labelledby="replay">
      <h2 id="replay">What it would have been</h2>
      <p>Pack the same candidates again with another budget or other weights, or ask as of another time. Nothing is changed by it.</p>
      {open ? <Replay answer={answer} /> : (
        <button type="button" onClick={() => setOpen(true)}>
          Replay with other settings
        </button>
      )}
    </section>
  );
}

function Replay({ answer }: { answer: models.Explained }) {
  const start = startOf(answer);
  const before = inBlock(answer.candidates);
  const [settings, setSettings] = useState(start);
  const replay = useLoad(
    (signal) =>
      client().replay({ assembly_id: answer.id, token_budget: settings.budget, weights: changed(settings.weights, start.weights) }, { signal }),
    [JSON.stringify(settings)],
  );
  return (
    <>
      <div class="filters">
        {/* Only where the fields start: an answer that comes while somebody types must not put back what it was. */}
        <Field
          label="Budget in tokens"
          type="number"
          min={1}
          max={16_000}
          defaultValue={start.budget}
          onChange={(event) => setSettings({ ...settings, budget: Number(event.currentTarget.value) })}
        />
        {Object.entries(start.weights).map(([store, weight]) => (
          <Field
            key={store}
            label={`Weight of ${store}`}
            type="number"
            min={0}
            max={2}
            step={0.05}
            defaultValue={weight}
            onChange={(event) =>
              setSettings({ ...settings, weights: { ...settings.weights, [store]: Number(event.currentTarget.value) } })
            }
          />
        ))}
      </div>
      <Problem error={replay.error} />
      {replay.data && (
        <div class="halves" aria-live="polite">
          <Block title={`As it was: ${answer.total_tokens} tokens`} items={before} others={inBlock(replay.data.candidates)} mark="no longer" />
          <Block title={`As it would be: ${replay.data.total_tokens} tokens`} items={inBlock(replay.data.candidates)} others={before} mark="new" />
        </div>
      )}
      <AskingAgain answer={answer} before={before} />
    </>
  );
}

function inBlock(candidates: readonly models.ExplainedCandidate[]): models.ExplainedCandidate[] {
  return candidates.filter((one) => IN_BLOCK.has(one.outcome));
}

/** The budget and the weights that were in force. */
function startOf(answer: models.Explained): Settings {
  const weights: Record<string, number> = {};
  for (const { store, weight } of answer.candidates) if (weight != null) weights[store] ??= weight;
  return { budget: answer.token_budget, weights };
}

function changed(now: Record<string, number>, start: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(now).filter(([store, weight]) => weight !== start[store]));
}
