// How the last answers came out: what was away, how long they took, how many found nothing.

import type { models } from "scrubjay";

import { client } from "../connection.js";
import { useEvery, useLoad } from "../loading.js";
import { Chart } from "../parts/chart.js";
import { Problem } from "../parts/problem.js";
import { Name } from "../parts/stored.js";

const LAST = 100;
const LINKED = 5;
const EVERY_MS = 10_000;

export function Health() {
  const list = useLoad((signal) => client().log({ limit: LAST }, { signal }).page(), []);
  useEvery(EVERY_MS, list.reload);
  const answers = list.data?.data ?? [];
  const times = answers.map((answer) => answer.retrieval_ms).sort((a, b) => a - b);
  const degraded = countDegraded(answers);
  const inOrder = [...answers].reverse();
  return (
    <section aria-labelledby="answers">
      <h2 id="answers">The last {answers.length} answers</h2>
      <Problem error={list.error} retry={list.reload} />
      <dl class="figures">
        <Figure name="Median" value={`${at(times, 0.5)} ms`} />
        <Figure name="95th percentile" value={`${at(times, 0.95)} ms`} />
        <Figure name="Nothing relevant" value={String(answers.filter((answer) => answer.low_relevance).length)} />
        <Figure name="Degraded" value={String(answers.filter((answer) => answer.degraded.length > 0).length)} />
      </dl>
      {degraded.length > 0 && (
        <ul class="degraded">
          {degraded.map(([what, count]) => (
            <li key={what}>
              <Name text={what} /> ({count} ×)
            </li>
          ))}
        </ul>
      )}
      {answers.length > 0 && (
        <p>
          The latest:{" "}
          {answers.slice(0, LINKED).map(({ id, caller }) => (
            <>
              <a href={`/console/why/${id}`}>
                {id} to <Name text={caller} most={40} />
              </a>{" "}
            </>
          ))}
        </p>
      )}
      {inOrder.length > 1 && (
        <Chart
          label="Milliseconds of an answer"
          xs={inOrder.map((answer) => new Date(answer.created_at).getTime() / 1_000)}
          lines={[{ label: "milliseconds", values: inOrder.map((answer) => answer.retrieval_ms), colour: "--third" }]}
          height={90}
        />
      )}
    </section>
  );
}

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}

function at(sorted: readonly number[], share: number): string {
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return value === undefined ? "–" : value.toFixed(0);
}

function countDegraded(answers: readonly models.LogEntry[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const { source, reason } of answers.flatMap((answer) => answer.degraded)) {
    const what = `${source}: ${reason}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].sort(([, one], [, other]) => other - one);
}
