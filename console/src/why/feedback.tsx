// Tells the service which items of an answer were useful. Learning follows from it.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";

export function Feedback({
  answer,
  taken,
  onGiven,
}: {
  answer: models.Explained;
  taken: readonly models.ExplainedCandidate[];
  onGiven: () => void;
}) {
  const [error, setError] = useState<unknown>();
  const given = new Set(answer.used_source_ids ?? []);
  if (taken.length === 0) return null;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const used = new FormData(event.currentTarget as HTMLFormElement).getAll("used").map(String);
    client().feedback({ assembly_id: answer.id, used_source_ids: used }).then(onGiven, setError);
  };
  return (
    <section aria-labelledby="feedback">
      <h2 id="feedback">Which items were useful?</h2>
      <form onSubmit={submit}>
        <fieldset class="choices">
          <legend class="unseen">Useful items</legend>
          {taken.map(({ handle }) => (
            <label key={handle}>
              <input type="checkbox" name="used" value={handle} defaultChecked={given.has(handle)} /> <Name text={handle} />
            </label>
          ))}
        </fieldset>
        <Problem error={error} />
        <button type="submit">{answer.used_source_ids == null ? "Give feedback" : "Change the feedback"}</button>
      </form>
    </section>
  );
}
