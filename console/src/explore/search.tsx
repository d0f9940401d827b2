// A question to all stores, answered as it would be for an agent, now or at another time. It is not logged: looking here
// teaches nothing.

import { parseBlock } from "scrubjay";
import type { models } from "scrubjay";

import type { Query } from "../address.js";
import { client, connected } from "../connection.js";
import { FactorBars } from "../items/factors.js";
import { useLoad } from "../loading.js";
import { Field } from "../parts/field.js";
import { Problem } from "../parts/problem.js";
import { Name, StoredText } from "../parts/stored.js";
import { Time } from "../parts/time.js";

const BUDGET = 8_000;
const NAMES = ["query", "caller", "mission", "user", "as_of"] as const;

export function Search({ query, change }: { query: Query; change: (changes: Query) => void }) {
  const me = connected().me;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    change(Object.fromEntries(NAMES.map((name) => [name, String(form.get(name) ?? "").trim()])));
  };
  return (
    <section aria-labelledby="search">
      <h2 id="search">Ask as an agent</h2>
      <form class="filters" onSubmit={submit} role="search">
        <Field label="Question" name="query" required defaultValue={query["query"]} />
        <Field label="Agent" name="caller" required defaultValue={query["caller"] ?? me.agent ?? ""} />
        <Field label="Mission" name="mission" defaultValue={query["mission"] ?? only(me.missions)} />
        <Field label="User" name="user" defaultValue={query["user"] ?? only(me.users)} />
        <Field label="As of" name="as_of" type="datetime-local" defaultValue={query["as_of"]} />
        <button type="submit" class="main">
          Search
        </button>
      </form>
      {query["query"] && query["caller"] && <Found query={query} />}
    </section>
  );
}

function only(names: readonly string[] | null | undefined): string {
  return names?.length === 1 ? (names[0] ?? "") : "";
}

function Found({ query }: { query: Query }) {
  const { caller = "", mission, user, as_of } = query;
  const found = useLoad(
    (signal) =>
      client().assemble(
        {
          query: query["query"] ?? "",
          caller,
          mission_namespace: mission || undefined,
          user_id: user || undefined,
          as_of: as_of ? new Date(as_of).toISOString() : undefined,
          token_budget: BUDGET,
          fill: true,
          log: false,
        },
        { signal },
      ),
    [query["query"], caller, mission, user, as_of],
  );
  if (found.error !== undefined) return <Problem error={found.error} retry={found.reload} />;
  return found.data === undefined ? <p class="waiting">Loading …</p> : <Answer answer={found.data} />;
}

function Answer({ answer }: { answer: models.Assembly }) {
  const texts = new Map(parseBlock(answer.context_block, answer.nonce).map((item) => [item.handle, item.text]));
  return (
    <div aria-live="polite">
      <p>
        {answer.sources.length} items, {answer.total_tokens.toLocaleString("en")} tokens.
        {answer.low_relevance && " Nothing stands out of what any question finds."}
        {answer.degraded.map((one) => ` ${one.source}: ${one.reason}.`)}
      </p>
      {answer.graph && answer.graph.length > 0 && <Facts facts={answer.graph} />}
      <ol class="items">
        {answer.sources.map((source) => (
          <li class="item" key={source.handle}>
            <h3>
              <a href={`/console/explore/item/${encodeURIComponent(source.handle)}`}>
                <Name text={source.handle} />
              </a>{" "}
              <span class="small">
                <Name text={source.kind} /> · <Name text={source.agent} /> · <Time at={source.at} />
                {source.was && (
                  <>
                    {" "}
                    · was: <Name text={source.was} />
                  </>
                )}
              </span>
            </h3>
            <div class="halves">
              <StoredText text={texts.get(source.handle) ?? ""} label={source.handle} />
              <FactorBars factors={source} />
            </div>
          </li>
        ))}
      </ol>
    </div>
  );
}

function Facts({ facts }: { facts: readonly models.GraphContextEntry[] }) {
  return (
    <ul aria-label="Facts">
      {facts.map((fact) => (
        <li key={fact.id}>
          <a href={`/console/explore/facts/${encodeURIComponent(fact.subject)}`}>
            <Name text={fact.subject} />
          </a>{" "}
          <Name text={fact.predicate} /> <Name text={fact.object} />
        </li>
      ))}
    </ul>
  );
}
