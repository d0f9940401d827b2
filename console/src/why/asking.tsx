// The question asked again, as of another time: the log keeps no question, so a person types it.

import type { models } from "scrubjay";
import { useState } from "preact/hooks";

import { client } from "../connection.js";
import { Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { Block, type Shown } from "./compared.js";

export function AskingAgain({ answer, before }: { answer: models.Explained; before: readonly Shown[] }) {
  const [found, setFound] = useState<models.Assembly>();
  const [error, setError] = useState<unknown>();
  const ask = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const asOf = String(form.get("as_of") ?? "");
    client()
      .assemble({
        query: String(form.get("query")),
        caller: answer.caller,
        mission_namespace: answer.mission_namespace,
        user_id: answer.user_id,
        session_id: answer.session_id,
        token_budget: answer.token_budget,
        as_of: asOf === "" ? null : new Date(asOf).toISOString(),
        log: false,
      })
      .then((given) => {
        setError(undefined);
        setFound(given);
      }, setError);
  };
  const after = found?.sources.map(({ handle, score, tokens }) => ({ handle, score, taken: tokens })) ?? [];
  return (
    <>
      <h3>At another time</h3>
      <form class="filters" onSubmit={ask}>
        <Field label="Question" name="query" required hint="The log keeps no question: type it again." />
        <Field label="As of" name="as_of" type="datetime-local" hint="Empty: now." />
        <button type="submit">Ask again</button>
      </form>
      <Problem error={error} />
      {found && (
        <div class="halves" aria-live="polite">
          <Block title={`As it was: ${answer.total_tokens} tokens`} items={before} others={after} mark="no longer" />
          <Block title={`As it would be: ${found.total_tokens} tokens`} items={after} others={before} mark="new" />
        </div>
      )}
    </>
  );
}
