// One answer: what was in it, what was left out, and why.

import type { models } from "scrubjay";
import { useRoute } from "preact-iso";

import { client, may } from "../connection.js";
import { useLoad } from "../loading.js";
import { Stacked, type Part } from "../parts/bars.js";
import { Problem } from "../parts/problem.js";
import { Name, StoredText } from "../parts/stored.js";
import { Time } from "../parts/time.js";
import { Feedback } from "./feedback.js";
import { BlockItem } from "./item.js";
import { LeftOut } from "./left-out.js";
import { Replaying } from "./replay.js";

// The outcomes of what stands in the block.
export const IN_BLOCK = new Set(["taken", "cut", "background"]);
const KINDS = ["first", "second", "third", "fourth", "fifth"];

export function WhyOne() {
  const id = Number(useRoute().params["id"]);
  const answer = useLoad((signal) => client().explain({ assembly_id: id }, { signal }), [id]);
  return (
    <>
      <h1>Answer {Number.isFinite(id) ? id : ""}</h1>
      <Problem error={answer.error} retry={answer.reload} />
      {answer.data === undefined ? answer.loading && <p class="waiting">Loading …</p> : <Explained answer={answer.data} reload={answer.reload} />}
    </>
  );
}

function Explained({ answer, reload }: { answer: models.Explained; reload: () => void }) {
  const taken = answer.candidates.filter((one) => IN_BLOCK.has(one.outcome));
  return (
    <>
      <Summary answer={answer} taken={taken} />
      <section aria-labelledby="block">
        <h2 id="block">What the agent was given, in this order</h2>
        {taken.length === 0 && <p class="empty">Nothing.</p>}
        <ol class="items">
          {taken.map((candidate) => (
            <BlockItem key={candidate.handle} candidate={candidate} answer={answer} />
          ))}
        </ol>
        {answer.synthesis && (
          <>
            <h3>What the helper model wrote of it</h3>
            <StoredText text={JSON.stringify(answer.synthesis, null, 2)} label="Synthesis" />
          </>
        )}
      </section>
      <LeftOut candidates={answer.candidates} />
      <Replaying answer={answer} />
      {may("write") && <Feedback answer={answer} taken={taken} onGiven={reload} />}
    </>
  );
}

function Summary({ answer, taken }: { answer: models.Explained; taken: models.ExplainedCandidate[] }) {
  return (
    <section aria-labelledby="question">
      <h2 id="question">The question</h2>
      <p>
        <a href={`/console/why?caller=${encodeURIComponent(answer.caller)}`}>
          <Name text={answer.caller} />
        </a>{" "}
        asked <Time at={answer.created_at} /> in mission <Name text={answer.mission_namespace} />
        {answer.user_id && (
          <>
            {" "}
            for user <Name text={answer.user_id} />
          </>
        )}
        . The answer took {answer.retrieval_ms.toFixed(0)} ms. The question itself is not kept.
      </p>
      {answer.low_relevance && <p>Nothing stood out of what any question finds.</p>}
      {answer.degraded.map((one) => (
        <p key={one.source} class="degraded">
          <Name text={one.source} />: <Name text={one.reason} />
        </p>
      ))}
      <p class="small">
        Searched: {answer.scopes.map((scope, place) => (place === 0 ? <Name text={scope} /> : <>, <Name text={scope} /></>))}
      </p>
      <Stacked label={`The budget of ${answer.token_budget.toLocaleString("en")} tokens`} parts={byStore(taken)} most={answer.token_budget} />
    </section>
  );
}

function byStore(taken: models.ExplainedCandidate[]): Part[] {
  const tokens = new Map<string, number>();
  for (const { store, taken: size } of taken) tokens.set(store, (tokens.get(store) ?? 0) + size);
  return [...tokens].map(([label, value], place) => ({ label, value, kind: KINDS[place % KINDS.length] ?? "sixth" }));
}
