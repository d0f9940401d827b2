// What waits for a decision, and the decisions.

import { useQuery } from "../address.js";
import { may } from "../connection.js";
import { Choice } from "../parts/field.js";
import { Filter } from "../parts/filter.js";
import { Queue, type Reason } from "./queue.js";
import { Rules } from "./rules.js";

const REASONS: readonly (readonly [Reason | "", string])[] = [
  ["", "everything"],
  ["waiting", "writes that wait"],
  ["near_duplicate", "nearly the same"],
  ["disputed", "disputed facts"],
  ["low_trust", "little trust"],
  ["derived", "learned by consolidation"],
];

export function Review() {
  const [{ kind = "", mission = "", agent = "" }, change] = useQuery();
  return (
    <>
      <h1>Review</h1>
      <section aria-labelledby="queue">
        <h2 id="queue">What waits for a decision</h2>
        <div class="filters">
          <Choice label="Why" value={kind as Reason | ""} options={REASONS} onChange={(value) => change({ kind: value })} />
          <Filter label="Mission" value={mission} onChange={(value) => change({ mission: value })} />
          <Filter label="Agent" value={agent} onChange={(value) => change({ agent: value })} />
        </div>
        <Queue kind={(kind || undefined) as Reason | undefined} mission={mission || undefined} agent={agent || undefined} />
      </section>
      {may("admin") && <Rules />}
    </>
  );
}
